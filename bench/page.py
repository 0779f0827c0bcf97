"""The page of all figures: each measurement owns one section of it, and replaces only that one."""

import os
import platform
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from bench.table import Table, shown

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "benchmarks.md"

_HEAD = """# Benchmarks

Written by `make bench`; `python -m bench NAME …` replaces only the sections that it names. Each
figure is a ratio taken in one run, so that the machine cancels out: compare ratios, never times.
"""
# The marks are invisible when the page is shown, and survive a change of title.
_SECTION = re.compile(r"<!-- bench: (\w+) -->\n(.*?)<!-- end -->\n", re.DOTALL)


def update(path: Path, measured: dict[str, Table]) -> None:
    """Write these tables into the page, and leave every other one as it is."""
    known = dict(_SECTION.findall(path.read_text("utf-8"))) if path.exists() else {}
    known.update((name, _section(table)) for name, table in measured.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    sections = (f"\n<!-- bench: {name} -->\n{text}<!-- end -->\n" for name, text in sorted(known.items()))
    path.write_text(_HEAD + "".join(sections), "utf-8")


def _section(table: Table) -> str:
    lines = [
        f"## {table.title}",
        "",
        _line(table.columns),
        _line(["---"] + ["---:"] * (len(table.columns) - 1)),
        *(_line([shown(cell) for cell in row]) for row in table.rows),
        "",
        *([table.note, ""] if table.note else []),
        f"Measured {_conditions()}.",
        "",
    ]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _conditions() -> str:
    """When and on what, without a word that names the machine."""
    return (
        f"on {datetime.now(UTC).date()} with {os.cpu_count()} CPUs ({platform.machine()}), "
        f"{platform.python_implementation()} {platform.python_version()}"
    )
