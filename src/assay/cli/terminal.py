"""What the commands share: how they speak, and how they reach the data."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from assay import server, settings
from assay.app import open_database
from assay.database.core import Database

out = Console(highlight=False, soft_wrap=True)
complaints = Console(stderr=True, highlight=False, soft_wrap=True)

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Where everything is kept (ASSAY_DATA_DIR; ./data).")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def say(text: str) -> None:
    """As it is: rich would wrap and colour it."""
    sys.stdout.write(f"{text}\n")


def progress() -> Progress:
    """A bar on standard error, gone when the work is done; nothing where nobody looks on."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=complaints, transient=True, disable=not complaints.is_terminal)


@contextmanager
def opened(config: settings.Settings) -> Iterator[Database]:
    """The database of the settings; one in the data directory is made and brought up to date."""
    if config.database.url is None:
        server.prepare_folder(config.data_dir)
    database = open_database(config)
    try:
        if config.database.url is None:
            database.migrate()
        elif not database.is_current():
            raise server.CannotStart("The database is behind this version; run `assay migrate`.")
        yield database
    finally:
        database.close()
