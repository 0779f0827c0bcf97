"""`assay assess`: documents held against a framework, without a server."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter
from rich.progress import Progress
from rich.table import Column, Table
from rich.text import Text as Styled

from assay import logs, server, settings
from assay.assessments import report, service
from assay.assessments.judging import ENGINE, ENGINE_VERSION, Corpus
from assay.assessments.judging.local import LocalJudge
from assay.assessments.models import (
    Category,
    Finding,
    InvalidAssessment,
    NothingReadable,
    Provenance,
    Source,
    Unreadable,
)
from assay.assessments.representation import FindingOut, finding_out
from assay.cli.documents import extracted
from assay.cli.terminal import AsJson, DataDir, complaints, opened, out, progress, say
from assay.content.models import Text, UnreadableDocument
from assay.database.core import sqlite_url
from assay.frameworks import files, importers, store
from assay.frameworks import service as frameworks
from assay.frameworks.models import Framework

# There is no process and no expert where there is no server; the fields are filled all the same.
_NO_PROCESS = "00000000-0000-0000-0000-000000000000"
_NOBODY = "assay assess"
_LONGEST_QUOTE = 240
_FINDINGS = TypeAdapter(list[FindingOut])
_SIGNS = {
    Category.SUFFICIENTLY_REGULATED: ("✓ sufficient", "green"),
    Category.NOT_SUFFICIENTLY_REGULATED: ("◐ not sufficient", "yellow"),
    Category.MISSING: ("✗ missing", "red"),
}


def assess(
    sources: Annotated[
        list[str], typer.Argument(help="PDF, DOCX, HTML or text files, or addresses of pages.")
    ],
    framework: Annotated[str | None, typer.Option(help="The code name of a framework.")] = None,
    framework_file: Annotated[Path | None, typer.Option(help="A framework file instead.")] = None,
    criteria: Annotated[str | None, typer.Option(help="Code names, separated by commas; else all.")] = None,
    as_json: AsJson = False,
    html: Annotated[Path | None, typer.Option(help="Write a report page to this file.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Say whether documents regulate what a framework demands; exit with 1 if a criterion falls short."""
    config = settings.load(data_dir=data_dir)
    logs.configure(config.logs)
    chosen = _framework(config, framework, framework_file)
    names = service.chosen_criteria(chosen, _split(criteria))
    with progress() as bar:
        texts, gaps = _read(config, sources, bar)
        findings = _judge(chosen, names, texts, gaps, bar)
    if html is not None:
        _write(html, report.page(findings, {_key(source): text for source, text in texts}))
    if as_json:
        shown = _FINDINGS.dump_json([finding_out(finding) for finding in findings], by_alias=True)
        say(shown.decode())
    else:
        _show(chosen, findings, gaps)
    sufficient = {finding.verdict.category for finding in findings} <= {Category.SUFFICIENTLY_REGULATED}
    raise typer.Exit(0 if sufficient else 1)


def _split(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _framework(config: settings.Settings, code_name: str | None, file: Path | None) -> Framework:
    if (code_name is None) == (file is None):
        raise InvalidAssessment("Name a framework by --framework, or a file by --framework-file.")
    if file is not None:
        return importers.import_(file).framework
    assert code_name is not None
    shipped = {path.stem.upper(): path for path in frameworks.CATALOGUE.glob("*.yaml")}
    if code_name in shipped:
        return files.parse(shipped[code_name].read_text(), shipped[code_name].name)
    return _from_catalogue(config, code_name, sorted(shipped))


def _from_catalogue(config: settings.Settings, code_name: str, shipped: list[str]) -> Framework:
    """One that the operator has imported. A database is not made for the sake of looking into it."""
    known = shipped
    if (
        config.database.url is not None
        or Path(sqlite_url(config.data_dir).removeprefix("sqlite:///")).exists()
    ):
        with opened(config) as database, database.read() as tx:
            entry = store.find(tx, code_name, None)
            if entry is not None:
                return frameworks.read(tx, entry.version_id)
            known = sorted({*shipped, *(found.code_name for found in store.list_(tx, None))})
    raise service.unknown_name("framework", "framework", code_name, known)


def _read(
    config: settings.Settings, names: Sequence[str], bar: Progress
) -> tuple[list[tuple[Source, Text]], list[Unreadable]]:
    """The texts, by the same code as in the service. What cannot be read is a gap, unless it is all."""
    texts: list[tuple[Source, Text]] = []
    gaps: list[Unreadable] = []
    for number, name in enumerate(names, 1):
        try:
            text = extracted(config, name, bar)
        except UnreadableDocument as error:
            gaps.append(Unreadable(name, None, error.message))
        else:
            shown = name if "://" in name else Path(name).name
            texts.append((Source(shown, f"source-{number}", text.digest), text))
    if not texts:
        raise NothingReadable(" ".join(f"{gap.source}: {gap.reason}" for gap in gaps))
    return texts, gaps


def _judge(
    framework: Framework,
    names: Sequence[str],
    texts: Sequence[tuple[Source, Text]],
    gaps: Sequence[Unreadable],
    bar: Progress,
) -> list[Finding]:
    corpus, judge = Corpus.of(texts, unreadable=gaps), LocalJudge()
    chosen = [criterion for criterion in framework.criteria if criterion.code_name in set(names)]
    findings = []
    for number, criterion in enumerate(bar.track(chosen, description="Judging"), 1):
        started = time.perf_counter()
        findings.append(
            Finding(
                id=number,
                process_id=_NO_PROCESS,
                expert_id=_NOBODY,
                framework_code_name=framework.code_name,
                criterion_code_name=criterion.code_name,
                verdict=judge.judge(framework, criterion, corpus),
                provenance=Provenance(
                    ENGINE,
                    ENGINE_VERSION,
                    framework.version,
                    corpus.sources,
                    model=judge.model(framework, criterion),
                ),
                file_names=tuple(source.name for source, _ in texts if "://" not in source.name),
                urls=tuple(source.name for source, _ in texts if "://" in source.name),
                processing_time_ms=round((time.perf_counter() - started) * 1000),
                created_at=datetime.now(UTC),
            )
        )
    return findings


def _key(source: Source) -> tuple[str, str]:
    return source.content_uuid, source.content_digest


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise server.CannotStart(f"{path} cannot be written: {reason}.") from None
    complaints.print(f"The report is in {path}.", markup=False)


def _show(framework: Framework, findings: Sequence[Finding], gaps: Sequence[Unreadable]) -> None:
    table = Table(Column("criterion", overflow="fold"), Column("verdict", no_wrap=True), "sure", "best quote")
    for finding in findings:
        label, colour = _SIGNS[finding.verdict.category]
        sure = f"{finding.verdict.confidence:.2f}" + (" ?" if finding.verdict.needs_review else "")
        table.add_row(
            Styled(finding.criterion_code_name),
            Styled(label, style=colour),
            sure,
            Styled(_best_quote(finding)),
        )
    out.print(table, soft_wrap=False)
    counts = [
        f"{sum(finding.verdict.category is category for finding in findings)} {label[2:]}"
        for category, (label, _) in _SIGNS.items()
    ]
    out.print(f"{framework.code_name} {framework.version}: {', '.join(counts)}.", markup=False)
    if any(finding.verdict.needs_review for finding in findings):
        out.print("? A person should look at these before anybody relies on them.", markup=False)
    for gap in gaps:
        complaints.print(f"Not read: {gap.source}: {gap.reason}", style="yellow", markup=False)


def _best_quote(finding: Finding) -> str:
    """The first citation, cut to what a table can hold, and where it stands."""
    if not finding.verdict.citations:
        return ""
    best = finding.verdict.citations[0]
    words = " ".join(best.quote.split())
    quote = words if len(words) <= _LONGEST_QUOTE else f"{words[:_LONGEST_QUOTE].rsplit(' ', 1)[0]} …"
    place = [best.source, f"page {best.page}" if best.page else "", best.section or ""]
    return f"“{quote}” ({', '.join(part for part in place if part)})"
