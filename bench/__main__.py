"""Run the measurements, show their tables, and keep them in docs/reference/benchmarks.md."""

import importlib
import pkgutil
import sys
from collections.abc import Callable

import rich.table
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

import bench
from bench import page
from bench.table import Table, shown

console = Console()


def measurements() -> dict[str, Callable[[], Table]]:
    """Every module of this package that measures something, by name."""
    names = sorted(found.name for found in pkgutil.iter_modules(bench.__path__) if found.name != "__main__")
    modules = {name: importlib.import_module(f"bench.{name}") for name in names}
    return {name: module.measure for name, module in modules.items() if hasattr(module, "measure")}


def main(chosen: list[str]) -> int:
    known = measurements()
    strangers = [name for name in chosen if name not in known]
    if strangers:
        console.print(f"There is no measurement {strangers[0]!r}; there are {', '.join(known)}.", style="red")
        return 2
    tables = run({name: known[name] for name in chosen or known})
    for table in tables.values():
        console.print(drawn(table))
    page.update(page.PAGE, tables)
    console.print(f"Written to {page.PAGE.relative_to(page.PAGE.parents[2])}.")
    return 0


def run(asked: dict[str, Callable[[], Table]]) -> dict[str, Table]:
    """One after the other: two at once would measure each other."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    tables = {}
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=len(asked))
        for name, measure in asked.items():
            progress.update(task, description=f"measuring {name}")
            tables[name] = measure()
            progress.advance(task)
        progress.update(task, description="measured")
    return tables


def drawn(table: Table) -> rich.table.Table:
    grid = rich.table.Table(title=table.title, caption=table.note, caption_justify="left")
    for index, column in enumerate(table.columns):
        grid.add_column(column, justify="right" if index else "left")
    for row in table.rows:
        grid.add_row(*map(shown, row))
    return grid


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
