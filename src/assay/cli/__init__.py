"""The command `assay`."""

import sys
from typing import Annotated

import typer

from assay import __version__, server, settings
from assay.cli import (
    assessments,
    audit,
    documents,
    feedback,
    frameworks,
    housekeeping,
    keys,
    partners,
    serving,
)
from assay.cli.terminal import complaints, out
from assay.errors import ServiceError

app = typer.Typer(
    help="Tells whether documents say what a regulation demands.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(serving.serve)
app.command()(serving.api)
app.command()(serving.work)
app.command()(serving.migrate)
app.command()(documents.extract)
app.command()(assessments.assess)
app.command()(housekeeping.housekeeping)
app.add_typer(partners.app, name="partners")
app.add_typer(keys.app, name="keys")
app.add_typer(audit.app, name="audit")
app.add_typer(frameworks.app, name="frameworks")
app.add_typer(feedback.app, name="feedback")


def main() -> None:
    """Entry point: errors are sentences, never tracebacks."""
    try:
        app()
    except (settings.WrongSetting, server.CannotStart, ServiceError) as error:
        complaints.print(str(error), style="red", markup=False)
        sys.exit(2)


def _version(asked: bool) -> None:
    if asked:
        out.print(f"assay {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _show: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
