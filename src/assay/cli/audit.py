"""`assay audit`: who did what."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from assay import settings
from assay.audit import service, store
from assay.cli.terminal import DataDir, complaints, opened, out, say

app = typer.Typer(help="Check and export the audit trail.", no_args_is_help=True)


@app.command()
def verify(
    contains: Annotated[
        str | None, typer.Option(help="A hash noted earlier (of a receipt, of an export) that must be there.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Follow the chain of hashes; exit 1 at the first entry that was changed, moved or removed."""
    with opened(settings.load(data_dir=data_dir)) as database, database.read() as tx:
        verdict = service.verify(tx, contains)
    if verdict.complaint is not None:
        complaints.print(f"{verdict.complaint} {verdict.entries:,} entries before it hold.", style="red")
        raise typer.Exit(1)
    out.print(f"{verdict.entries:,} entries hold. The last has the hash {verdict.head}.", markup=False)


@app.command()
def export(
    since: Annotated[
        datetime | None, typer.Option(help="Only what happened at this time (UTC) or later.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Print the entries, the oldest first, one JSON object a line."""
    moment = since.replace(tzinfo=UTC) if since else None
    with opened(settings.load(data_dir=data_dir)) as database, database.read() as tx:
        for entry in store.list_(tx, moment):
            say(entry.to_json())
