"""Tables that are drawn: lines across and down make a grid, and each fragment lies in one of its cells."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from assay.content.extraction.pdf.lines import lines_of
from assay.content.extraction.pdf.tables import Table
from assay.content.extraction.pdf.words import Box, Fragment

_THIN = 3.0
_SHORT = 12.0
_TOUCH = 3.0
_LEAST_CELL = 6.0
_MOST = 600  # lines in one direction; a page with more is a drawing


@dataclass(slots=True)
class Stroke:
    """A drawn line: its place (`at`) across its direction, and where it runs `start` to `end`."""

    at: float
    start: float
    end: float


@dataclass
class Grid:
    """Lines that touch each other. The box is asked for once the grid is complete."""

    across: list[Stroke] = field(default_factory=list)
    down: list[Stroke] = field(default_factory=list)

    @cached_property
    def box(self) -> Box:
        """Left, top, right, bottom."""
        return (
            min([*(line.start for line in self.across), *(bar.at for bar in self.down)]),
            min(line.at for line in self.across),
            max([*(line.end for line in self.across), *(bar.at for bar in self.down)]),
            max(line.at for line in self.across),
        )

    def holds(self, item: Fragment) -> bool:
        left, top, right, bottom = self.box
        middle = (item.left + item.right) / 2
        return left <= middle <= right and top <= item.baseline - 0.3 * item.size <= bottom


def grids_of(rules: Iterable[Box]) -> list[Grid]:
    """Grids of at least two columns, from the top down. `rules` are left, top, right, bottom."""
    across: list[Stroke] = []
    down: list[Stroke] = []
    for left, top, right, bottom in rules:
        if bottom - top <= _THIN and right - left >= _SHORT:
            across.append(Stroke((top + bottom) / 2, left, right))
        elif right - left <= _THIN and bottom - top >= _LEAST_CELL:
            down.append(Stroke((left + right) / 2, top, bottom))
    across, down = _merged(across), _merged(down)
    if not across or not down or max(len(across), len(down)) > _MOST:
        return []
    grids = [grid for grid in _connected(across, down) if len(_columns(grid)) >= 2]
    return sorted(grids, key=lambda grid: grid.box[1])


def _merged(strokes: list[Stroke]) -> list[Stroke]:
    """Pieces of one line as one: borders are often drawn cell by cell."""
    merged: list[Stroke] = []
    for stroke in sorted(strokes, key=lambda stroke: (round(stroke.at), stroke.start)):
        last = merged[-1] if merged else None
        if (
            last
            and abs(last.at - stroke.at) <= 1
            and last.start - _TOUCH <= stroke.start <= last.end + _TOUCH
        ):
            last.end = max(last.end, stroke.end)
        else:
            merged.append(Stroke(stroke.at, stroke.start, stroke.end))
    return merged


def _connected(across: Sequence[Stroke], down: Sequence[Stroke]) -> list[Grid]:
    """Lines that touch belong together."""
    grids: list[Grid] = []
    for line in across:
        touching = [bar for bar in down if _touch(line, bar)]
        if not touching:
            continue
        known = {id(bar) for bar in touching}
        mine = [grid for grid in grids if any(id(bar) in known for bar in grid.down)]
        whole = Grid([line], [])
        for grid in mine:
            whole.across.extend(grid.across)
            whole.down.extend(grid.down)
            grids.remove(grid)
        have = {id(bar) for bar in whole.down}
        whole.down.extend(bar for bar in touching if id(bar) not in have)
        grids.append(whole)
    return [grid for grid in grids if len(grid.across) >= 2]


def _touch(line: Stroke, bar: Stroke) -> bool:
    return (
        line.start - _TOUCH <= bar.at <= line.end + _TOUCH
        and bar.start - _TOUCH <= line.at <= bar.end + _TOUCH
    )


def _places(values: Iterable[float]) -> list[float]:
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > _LEAST_CELL:
            places.append(value)
    return places


def _columns(grid: Grid) -> list[float]:
    """Left edges of the columns."""
    left, _, right, _ = grid.box
    return [x for x in _places([left, *(bar.at for bar in grid.down)]) if x < right - _LEAST_CELL]


def table_in(grid: Grid, fragments: Sequence[Fragment]) -> Table:
    """The table that these fragments make; a merged cell stands in the first row and column it spans."""
    columns = _columns(grid)
    levels = _places(line.at for line in grid.across)
    cells: dict[tuple[int, int], list[Fragment]] = {}
    for fragment in fragments:
        for item in _cut(fragment, grid):
            row = _last(levels, _row_edge(item, grid))
            column = _last(columns, _column_edge(item, grid))
            cells.setdefault((row, column), []).append(item)
    rows = [
        [lines_of(cells.get((row, column), [])) for column in range(len(columns))]
        for row in range(len(levels))
    ]
    used = [column for column in range(len(columns)) if any(row[column] for row in rows)]
    return Table([[row[column] for column in used] for row in rows if any(row)], grid.box[1])


def _row_edge(item: Fragment, grid: Grid) -> float:
    middle = item.baseline - 0.3 * item.size
    x = (item.left + item.right) / 2
    above = [line.at for line in grid.across if line.at <= middle and line.start - 1 <= x <= line.end + 1]
    return max(above, default=grid.box[1])


def _column_edge(item: Fragment, grid: Grid) -> float:
    middle = item.baseline - 0.3 * item.size
    edge = item.left + min(2.0, (item.right - item.left) / 2)
    before = [bar.at for bar in grid.down if bar.at <= edge and bar.start - 1 <= middle <= bar.end + 1]
    return max(before, default=grid.box[0])


def _last(places: Sequence[float], value: float) -> int:
    return max(sum(1 for place in places if place <= value + 1) - 1, 0)


def _cut(item: Fragment, grid: Grid) -> list[Fragment]:
    """Apart where a line runs down through it: two cells so close that they read as one line."""
    middle = item.baseline - 0.3 * item.size
    for bar in grid.down:
        if item.left + 3 < bar.at < item.right - 3 and bar.start <= middle <= bar.end:
            share = (bar.at - item.left) / (item.right - item.left)
            spaces = [index for index, letter in enumerate(item.text) if letter == " "]
            if not spaces:
                continue
            at = min(spaces, key=lambda index: abs(index / len(item.text) - share))
            before = Fragment(item.text[:at], item.left, bar.at - 1, item.baseline, item.size, item.bold)
            after = Fragment(item.text[at + 1 :], bar.at + 1, item.right, item.baseline, item.size, item.bold)
            return [before, *_cut(after, grid)]
    return [item]
