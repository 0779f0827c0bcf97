"""What an evaluation gives: tables, shown on the screen and kept in docs/reference/quality.md."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from bench.table import Cell, Table

_HEAD = """# Quality

Written by `make eval`: a run replaces only the tables that it made. The data is not part of the project;
where it comes from and what may be done with it is said below each table.
"""
# The marks are invisible when the page is shown, and survive a change of title.
_SECTION = re.compile(r"<!-- eval: (\w+) -->\n(.*?)<!-- end -->\n", re.DOTALL)


def shown(cell: Cell) -> str:
    return f"{cell:.3f}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else cell


def update(page: Path, measured: Mapping[str, Table]) -> None:
    """Write these tables into the page, and leave everything else as it is, also what people wrote below."""
    text = page.read_text("utf-8") if page.exists() else _HEAD
    known = dict(_SECTION.findall(text))
    known.update((name, _section(table)) for name, table in measured.items())
    written = _SECTION.split(text)[0].rstrip() if known and _SECTION.search(text) else text.rstrip()
    after = _SECTION.split(text)[-1].strip() if _SECTION.search(text) else ""
    parts = [written]
    parts += [f"<!-- eval: {name} -->\n{section}<!-- end -->" for name, section in sorted(known.items())]
    parts += [after] if after else []
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n\n".join(parts) + "\n", "utf-8")


def _section(table: Table) -> str:
    lines = [
        f"## {table.title}",
        "",
        _line(table.columns),
        _line(["---"] + ["---:"] * (len(table.columns) - 1)),
        *(_line([shown(cell) for cell in row]) for row in table.rows),
        "",
        *([table.note, ""] if table.note else []),
        f"Measured on {datetime.now(UTC).date()}.",
        "",
    ]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
