"""Measure quality on the data in ASSAY_EVAL_DIR, show the tables, and keep them in docs/reference/quality.md.

`python -m evaluation` measures everything that is there; `python -m evaluation dpa nda` only these.
"""

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import rich.table
from evaluation import tables
from evaluation.tables import Table, shown
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "quality.md"
# What is measured, and the folder of the data that it needs.
PARTS = {"dpa": "dpa", "nda": "contract-nli", "web": "web", "documents": "documents"}

console = Console()


def main(chosen: list[str]) -> int:
    strangers = [name for name in chosen if name not in PARTS]
    if strangers:
        console.print(f"There is no evaluation {strangers[0]!r}; there are {', '.join(PARTS)}.", style="red")
        return 2
    root = Path(os.environ.get("ASSAY_EVAL_DIR", "../shared/eval"))
    found: dict[str, Table] = {}
    for name in chosen or PARTS:
        found |= measured(name, root / PARTS[name])
    for table in found.values():
        console.print(drawn(table))
    if found:
        tables.update(PAGE, found)
        console.print(f"Written to {PAGE.relative_to(PAGE.parents[2])}.")
    return 0


def measured(name: str, folder: Path) -> dict[str, Table]:
    """The tables of one part; none, and a word, where its data or its module is not there."""
    if not folder.is_dir():
        console.print(f"{name}: there is no folder {folder.name} in ASSAY_EVAL_DIR; skipped.", style="yellow")
        return {}
    measure = _measure(name)
    if measure is None:
        console.print(f"{name}: nothing measures it yet; skipped.", style="yellow")
        return {}
    counted = TextColumn("{task.completed:.0f} documents")
    columns = (SpinnerColumn(), TextColumn("{task.description}"), counted, TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(f"measuring {name}", total=None)
        result = _with_progress(measure, folder, lambda: progress.advance(task))
    return result if isinstance(result, dict) else {name: _as_table(name, result)}


def _measure(name: str) -> Callable[..., Any] | None:
    try:
        module = importlib.import_module(f"evaluation.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"evaluation.{name}":
            raise
        return None
    return getattr(module, "measure", None)


def _with_progress(measure: Callable[..., Any], folder: Path, advance: Callable[[], None]) -> Any:
    """Measurements that report each document are told how; the others take the folder alone."""
    if measure.__code__.co_argcount > 1:
        return measure(folder, advance)
    return measure(folder)


def _as_table(name: str, rows: list[Any]) -> Table:
    """A list of dataclasses as a table: their fields are its columns."""
    first = rows[0]
    assert is_dataclass(first)
    names = [field.name for field in fields(first)]
    return Table(
        f"Extraction of {name}",
        [column.replace("_", " ") for column in names],
        [[getattr(row, column) for column in names] for row in rows],
    )


def drawn(table: Table) -> rich.table.Table:
    grid = rich.table.Table(title=table.title, caption=table.note, caption_justify="left")
    for index, column in enumerate(table.columns):
        grid.add_column(column, justify="right" if index else "left")
    for row in table.rows:
        grid.add_row(*map(shown, row))
    return grid


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
