"""`assay frameworks`: the catalogue, and framework files."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column, Table

from assay import settings
from assay.cli.terminal import AsJson, DataDir, complaints, opened, out, say
from assay.frameworks import files, importers, service, store
from assay.frameworks.imports import Imported
from assay.frameworks.models import Framework, FrameworkFileError
from assay.identity import store as identity_store

app = typer.Typer(help="List, show, check, import and export frameworks.", no_args_is_help=True)

File = Annotated[
    Path, typer.Argument(help="A framework file, an OSCAL catalog or profile, a CISO Assistant library.")
]
CodeName = Annotated[str, typer.Argument(help="Number or code name.")]
Beside = Annotated[
    list[Path] | None, typer.Option(help="A catalog that an OSCAL profile imports from; may be repeated.")
]
Partner = Annotated[str | None, typer.Option(help="The partner (name or subject) whose own it is.")]


@app.command("list")
def list_(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """List the catalogue, every partner's own frameworks included."""
    config = settings.load(data_dir=data_dir)
    with opened(config) as database:
        service.synchronise(database, config.frameworks.folder)
        with database.read() as tx:
            entries = store.list_all(tx)
            names = {partner.subject: partner.name or partner.subject for partner in identity_store.list_(tx)}
    rows = [
        {
            "id": entry.id,
            "codeName": entry.code_name,
            "version": entry.version,
            "criteria": entry.criteria_count,
            "aspects": entry.aspects_count,
            "partner": names.get(entry.subject, entry.subject) if entry.subject else None,
            "name": entry.name,
        }
        for entry in entries
    ]
    if as_json:
        say(json.dumps(rows, ensure_ascii=False))
        return
    table = Table(
        "id", Column("code name", no_wrap=True), "version", "criteria", "aspects", "partner", "name"
    )
    for row in rows:
        cells = {
            **row,
            "aspects": row["aspects"] or "none: judged by likeness only",
            "partner": row["partner"] or "all",
        }
        table.add_row(*map(str, cells.values()))
    out.print(table)


@app.command()
def show(code_name: CodeName, partner: Partner = None, data_dir: DataDir = None) -> None:
    """Show the criteria of a framework, with the points that each demands."""
    framework = _framework(code_name, partner, data_dir)
    out.print(f"{framework.name} ({framework.code_name} {framework.version})", style="bold", markup=False)
    out.print(framework.description, markup=False)
    for criterion in framework.criteria:
        reference = f" [{criterion.reference}]" if criterion.reference else ""
        out.print(f"\n{criterion.code_name}: {criterion.name}{reference}", style="bold", markup=False)
        for aspect in criterion.aspects:
            out.print(f"  {'must' if aspect.mandatory else 'may '}  {aspect.demand}", markup=False)
        if not criterion.aspects:
            out.print("  (no aspects: judged by likeness only)", markup=False)


@app.command()
def check(file: File, beside: Beside = None) -> None:
    """Say what is wrong with a framework file, each with its line and a remedy."""
    try:
        imported = importers.import_(file, beside=tuple(beside or ()))
    except FrameworkFileError as error:
        for complaint in error.complaints:
            complaints.print(str(complaint), markup=False)
        raise typer.Exit(2) from None
    _report(imported, "is in order")


@app.command("import")
def import_(
    file: File,
    beside: Beside = None,
    code_name: Annotated[str | None, typer.Option(help="Another code name than the file's.")] = None,
    partner: Partner = None,
    data_dir: DataDir = None,
) -> None:
    """Take a framework into the catalogue: for all partners, or for one alone."""
    config = settings.load(data_dir=data_dir)
    with opened(config) as database:
        service.synchronise(database, config.frameworks.folder)
        with database.write() as tx:
            subject = identity_store.get(tx, partner).subject if partner else None
            imported = service.import_file(
                tx, file, beside=beside or (), code_name=code_name, subject=subject
            )
    _report(imported, "is in the catalogue")


def _report(imported: Imported, outcome: str) -> None:
    framework = imported.framework
    aspects = sum(len(criterion.aspects) for criterion in framework.criteria)
    out.print(
        f"{framework.code_name} {framework.version} {outcome}: {len(framework.criteria)} criteria, "
        + (f"{aspects} aspects." if aspects else "no aspects, so they are judged by likeness only."),
        markup=False,
    )
    for left_out in imported.left_out:
        place = f" (line {left_out.line})" if left_out.line else ""
        complaints.print(
            f"Left out {left_out.identifier}{place}: {left_out.reason}", style="yellow", markup=False
        )


@app.command()
def export(code_name: CodeName, partner: Partner = None, data_dir: DataDir = None) -> None:
    """Print a framework as a file that can be changed and imported again."""
    say(files.dump(_framework(code_name, partner, data_dir)).rstrip())


def _framework(code_name: str, partner: str | None, data_dir: Path | None) -> Framework:
    config = settings.load(data_dir=data_dir)
    with opened(config) as database:
        service.synchronise(database, config.frameworks.folder)
        with database.read() as tx:
            subject = identity_store.get(tx, partner).subject if partner else None
            return service.read(tx, store.get(tx, code_name, subject).version_id)
