"""What a measurement gives: one table."""

from collections.abc import Sequence
from dataclasses import dataclass

Cell = str | int | float


@dataclass(frozen=True, slots=True)
class Table:
    """One table of figures. `note` says how they were taken and what is aimed at, in markdown."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


def shown(cell: Cell) -> str:
    """A figure as people read it: three digits of a fraction, commas in what is large."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 1000:
        return f"{cell:,.0f}"
    return f"{cell:.3g}"
