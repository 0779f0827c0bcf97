"""The fragments of a page in reading order: columns one after the other, tables row by row."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median

from assay.content.extraction.pdf.grids import grids_of, table_in
from assay.content.extraction.pdf.gutters import Gutter, find_gutter, is_prose
from assay.content.extraction.pdf.lines import Line, lines_of, rows_of
from assay.content.extraction.pdf.tables import Table, table_of
from assay.content.extraction.pdf.words import Box, Fragment

_COLUMN_GAP = 3.2  # of the font size: white inside one column, at most
_TABLE_GAP = 1.6
_NOTE_WIDTH = 0.4
_DEPTH = 40


@dataclass(slots=True)
class Flow:
    """Lines that are read one after the other. An aside stands beside the text and is no part of it."""

    lines: list[Line] = field(default_factory=list)
    aside: bool = False

    @property
    def baseline(self) -> float:
        return self.lines[0].baseline


Region = Flow | Table


def lay_out(fragments: Sequence[Fragment], rules: Sequence[Box]) -> list[Region]:
    """The page in reading order. `rules` are its drawn lines in the frame of the text.

    A drawn table takes part in the search for columns as lines of its width, and is then put in their place.
    """
    rest = list(fragments)
    tables: list[Table] = []
    for grid in grids_of(rules) if fragments else ():
        held = [item for item in rest if item.table is None and grid.holds(item)]
        table = table_in(grid, held) if held else Table()
        if sum(1 for row in table.rows for cell in row if cell) < 2:
            continue
        chosen = {id(item) for item in held}
        rest = [item for item in rest if id(item) not in chosen]
        rest.extend(_stand_ins(held, grid.box, len(tables)))
        tables.append(table)
    regions = arrange(rest, rules)
    return regions if not tables else _with_tables(regions, tables)


def _stand_ins(held: Sequence[Fragment], box: Box, index: int) -> list[Fragment]:
    return [
        Fragment("a row of a table", box[0], box[2], row[0].baseline, row[0].size, bold=False, table=index)
        for row in rows_of(held)
    ]


def _with_tables(regions: Sequence[Region], tables: Sequence[Table]) -> list[Region]:
    placed: list[Region] = []
    done: set[int] = set()
    for region in regions:
        if not isinstance(region, Flow):
            placed.append(region)
            continue
        for index, group in groupby(region.lines, key=lambda line: line.table):
            if index is None:
                placed.append(Flow(list(group), region.aside))
            elif index not in done:
                done.add(index)
                placed.append(tables[index])
    return placed


def arrange(fragments: Sequence[Fragment], rules: Sequence[Box], depth: int = 0) -> list[Region]:
    if not fragments:
        return []
    gutter = find_gutter(fragments) if depth < _DEPTH else None
    if gutter is None:
        return [flow_of(fragments)]
    ruled = _rules_across(gutter, rules)
    inside = _inside(fragments, gutter, ruled)
    chosen = {id(item) for item in inside}
    first = min(item.baseline for item in inside)
    rest = [item for item in fragments if id(item) not in chosen]
    above = [item for item in rest if item.baseline < first]
    below = [item for item in rest if item.baseline >= first]
    return [
        *arrange(above, rules, depth + 1),
        *_parted(inside, gutter, rules, ruled=bool(ruled), depth=depth + 1),
        *arrange(below, rules, depth + 1),
    ]


def flow_of(fragments: Sequence[Fragment]) -> Flow:
    return Flow(lines_of(fragments))


def _sides(fragments: Sequence[Fragment], x: float) -> tuple[list[Fragment], list[Fragment]]:
    left = [item for item in fragments if (item.left + item.right) / 2 < x]
    right = [item for item in fragments if (item.left + item.right) / 2 >= x]
    return left, right


def _rules_across(gutter: Gutter, rules: Sequence[Box]) -> list[float]:
    """Heights of drawn lines that run across the strip with a line of text close by, from the top down."""
    size = gutter.pairs[0].before.size
    return sorted(
        (top + bottom) / 2
        for left, top, right, bottom in rules
        if left < gutter.x < right and gutter.top - 4 * size < (top + bottom) / 2 < gutter.bottom + 4 * size
    )


def _inside(fragments: Sequence[Fragment], gutter: Gutter, ruled: Sequence[float]) -> list[Fragment]:
    """What belongs to the region that the strip parts: the pairs, and what continues a side of it."""
    free = [item for item in fragments if not (item.left < gutter.x - 1 and item.right > gutter.x + 1)]
    across = [item.baseline for item in fragments if item.left < gutter.x - 1 and item.right > gutter.x + 1]
    ceiling = max((level for level in across if level < gutter.top), default=-1e9)
    floor = min((level for level in across if level > gutter.bottom), default=1e9)
    band = [item for item in free if ceiling < item.baseline < floor]
    top = min(min(pair.before.baseline, pair.after.baseline) for pair in gutter.pairs)
    core = [item for item in band if top <= item.baseline <= gutter.bottom]
    if len(ruled) >= 2:
        return [
            item
            for item in band
            if top <= item.baseline <= gutter.bottom or ruled[0] < item.baseline < ruled[-1] + 1
        ]
    reach = _COLUMN_GAP if _is_columns(core, gutter, ruled) else _TABLE_GAP
    left, right = _sides(band, gutter.x)
    return [
        *_run(left, top, gutter.bottom, reach, upwards=False),
        *_run(right, top, gutter.bottom, reach, upwards=True),
    ]


def _run(
    side: Sequence[Fragment], top: float, bottom: float, reach: float, *, upwards: bool
) -> list[Fragment]:
    """One side of the strip: what lies between the heights, and what follows on without a break."""
    core = [item for item in side if top <= item.baseline <= bottom]
    edge = max((item.baseline for item in core), default=bottom)
    for item in sorted((item for item in side if item.baseline > bottom), key=lambda item: item.baseline):
        if item.baseline - edge > reach * item.size:
            break
        core.append(item)
        edge = item.baseline
    edge = min((item.baseline for item in core), default=top)
    above = sorted((item for item in side if item.baseline < top), key=lambda item: -item.baseline)
    for item in above if upwards else ():
        if edge - item.baseline > reach * item.size:
            break
        core.append(item)
        edge = item.baseline
    return core


def _is_columns(fragments: Sequence[Fragment], gutter: Gutter, ruled: Sequence[float]) -> bool:
    if any(gutter.top < level < gutter.bottom for level in ruled):
        return False
    left, right = _sides(fragments, gutter.x)
    return is_prose(left) and is_prose(right)


def _parted(
    fragments: Sequence[Fragment], gutter: Gutter, rules: Sequence[Box], *, ruled: bool, depth: int
) -> list[Region]:
    left, right = _sides(fragments, gutter.x)
    if not left or not right:
        return [flow_of(fragments)]
    if _is_columns(fragments, gutter, _rules_across(gutter, rules)):
        if _right_to_left(fragments):
            left, right = right, left
        return [*arrange(left, rules, depth), *arrange(right, rules, depth)]
    if not ruled:
        if _is_notes(left, right):
            return _with_notes(right, left)
        if _is_notes(right, left):
            return _with_notes(left, right)
    if any(item.table is not None for item in fragments):
        return [flow_of(fragments)]
    table = table_of(fragments, rules)
    return [table] if len(table.rows) > 1 else [flow_of(fragments)]


def _right_to_left(fragments: Sequence[Fragment]) -> bool:
    letters = sum(len(item.text) for item in fragments)
    return (
        sum(len(item.text) for item in fragments if any("\u0590" <= c <= "\u08ff" for c in item.text)) * 2
        > letters
    )


def _is_notes(notes: Sequence[Fragment], body: Sequence[Fragment]) -> bool:
    """Short remarks in smaller print beside running text."""
    if not is_prose(body):
        return False
    width = max(item.right for item in notes) - min(item.left for item in notes)
    body_width = max(item.right for item in body) - min(item.left for item in body)
    smaller = median(item.size for item in notes) < 0.95 * median(item.size for item in body)
    return smaller and width < _NOTE_WIDTH * body_width


def _with_notes(body: Sequence[Fragment], notes: Sequence[Fragment]) -> list[Region]:
    """Each note before the paragraph that begins beside it, so that no sentence is cut."""
    lines = lines_of(body)
    pitches = [after.baseline - before.baseline for before, after in pairwise(lines)]
    usual = median(pitches) if pitches else 0.0
    breaks = [0, *(index + 1 for index, pitch in enumerate(pitches) if pitch > 1.25 * usual)]
    placed: dict[int, list[Flow]] = {}
    for note in _clusters(notes):
        level = note[0].baseline + note[0].size
        at = max((index for index in breaks if lines[index].baseline <= level), default=0)
        placed.setdefault(at, []).append(Flow(note, aside=True))
    regions: list[Region] = []
    start = 0
    for at in sorted(placed):
        if at > start:
            regions.append(Flow(lines[start:at]))
        regions.extend(placed[at])
        start = at
    return [*regions, Flow(lines[start:])]


def _clusters(fragments: Sequence[Fragment]) -> list[list[Line]]:
    clusters: list[list[Line]] = []
    for line in lines_of(fragments):
        if clusters and line.baseline - clusters[-1][-1].baseline < 1.7 * line.size:
            clusters[-1].append(line)
        else:
            clusters.append([line])
    return clusters
