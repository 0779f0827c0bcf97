"""The fragments of a table as rows of cells."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from assay.content.extraction.pdf.lines import Line, lines_of, rows_of
from assay.content.extraction.pdf.words import Box, Fragment

_LEAST_WHITE = 0.3  # of the font size, between columns
_ROW_GAP = 1.3  # times the pitch of lines inside a cell


@dataclass(slots=True)
class Table:
    """Rows of cells; a cell is its lines from the top down."""

    rows: list[list[list[Line]]] = field(default_factory=list)
    baseline: float = 0.0


def table_of(fragments: Sequence[Fragment], rules: Sequence[Box]) -> Table:
    """`rules` are drawn lines and edges in the frame of the text: left, top, right, bottom."""
    columns = _columns(fragments)
    levels = _levels(fragments, rules, columns)
    bands = _ruled(fragments, levels) if levels else _unruled(fragments, columns)
    rows = [_cells(band, columns) for band in bands if band]
    return Table(rows, min(item.baseline for item in fragments))


def _columns(fragments: Sequence[Fragment]) -> list[tuple[float, float]]:
    """Where the columns stand: intervals that no white strip cuts."""
    columns: list[tuple[float, float]] = []
    for item in sorted(fragments, key=lambda item: item.left):
        if columns and item.left < columns[-1][1] + _LEAST_WHITE * item.size:
            columns[-1] = (columns[-1][0], max(columns[-1][1], item.right))
        else:
            columns.append((item.left, item.right))
    return columns


def _levels(
    fragments: Sequence[Fragment], rules: Sequence[Box], columns: Sequence[tuple[float, float]]
) -> list[float]:
    """Heights of drawn lines that run over at least two columns, between the first and the last line."""
    top = min(item.baseline for item in fragments)
    bottom = max(item.baseline for item in fragments)
    levels: list[float] = []
    for left, rule_top, right, rule_bottom in sorted(rules, key=lambda rule: rule[1]):
        spanned = sum(1 for column in columns if left < column[1] and right > column[0])
        level = (rule_top + rule_bottom) / 2
        if spanned > len(columns) / 2 and top < level < bottom and (not levels or level - levels[-1] > 3):
            levels.append(level)
    return levels


def _ruled(fragments: Sequence[Fragment], levels: Sequence[float]) -> list[list[Fragment]]:
    bands: list[list[Fragment]] = [[] for _ in range(len(levels) + 1)]
    for item in fragments:
        middle = item.baseline - 0.3 * item.size
        bands[sum(1 for level in levels if level < middle)].append(item)
    return bands


def _unruled(fragments: Sequence[Fragment], columns: Sequence[tuple[float, float]]) -> list[list[Fragment]]:
    """A row begins after a larger gap, or wherever the first column has text if gaps are all alike."""
    lines = rows_of(fragments)
    pitches = [after[0].baseline - before[0].baseline for before, after in pairwise(lines)]
    if not pitches:
        return lines
    pitch = min(pitches)
    uneven = max(pitches) > _ROW_GAP * pitch and sum(1 for gap in pitches if gap <= _ROW_GAP * pitch) > 0
    bands = [lines[0]]
    for line, gap in zip(lines[1:], pitches, strict=True):
        first = any(item.left <= columns[0][1] for item in line)
        if (gap > _ROW_GAP * pitch if uneven else first) or (first and len(line) == len(columns)):
            bands.append(line)
        else:
            bands[-1] = bands[-1] + line
    return bands


def _cells(band: Sequence[Fragment], columns: Sequence[tuple[float, float]]) -> list[list[Line]]:
    cells: list[list[Fragment]] = [[] for _ in columns]
    for item in band:
        index = sum(1 for column in columns[1:] if column[0] <= item.left + 0.5)
        cells[index].append(item)
    return [lines_of(cell) for cell in cells]
