"""Form values and annotations take their place among the lines of the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from assay.content.extraction.pdf.forms import CHECKED, UNCHECKED
from assay.content.extraction.pdf.layout import Flow, Region
from assay.content.extraction.pdf.lines import Line
from assay.content.extraction.pdf.tables import Table
from assay.content.extraction.pdf.words import Box, Fragment
from assay.content.models import BlockKind

_CLOSE = 3.0  # of the font size
_OTHER_COLUMN = 1000.0
_FIRST = (-1, -1)  # above everything

Extent = tuple[float, float, float]  # top, left and right of a line or row


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """A mark with its box in the frame of the text: left, top, right, bottom."""

    kind: BlockKind
    text: str
    box: Box

    @property
    def middle(self) -> float:
        return (self.box[1] + self.box[3]) / 2


def inline(marks: Sequence[PlacedMark], fragments: list[Fragment]) -> list[PlacedMark]:
    """Put values that stand within a line into that line; return the others."""
    apart: list[PlacedMark] = []
    added: list[Fragment] = []
    for mark in marks:
        within = _within(mark, fragments) if mark.kind is BlockKind.FORM_FIELD else None
        if within is None:
            apart.append(mark)
        else:
            added.append(within)
    fragments.extend(added)
    return apart


def _within(mark: PlacedMark, fragments: Sequence[Fragment]) -> Fragment | None:
    left, _, right, _ = mark.box
    beside = [item for item in fragments if item.top - 2 < mark.middle < item.bottom + 2]
    before = max(
        (item for item in beside if item.right <= left + 2), key=lambda item: item.right, default=None
    )
    after = min((item for item in beside if item.left >= right - 2), key=lambda item: item.left, default=None)
    if after is None or after.left - right > _CLOSE * after.size:
        return None
    ticked = mark.text in {CHECKED, UNCHECKED}
    if not ticked and (before is None or left - before.right > _CLOSE * before.size):
        return None
    return Fragment(mark.text, left, right, after.baseline, after.size, bold=False)


def place(regions: Sequence[Region], marks: Sequence[PlacedMark]) -> list[Region]:
    """Each mark after the line, or the row of a table, that it stands beside or under."""
    extents = [_extents(region) for region in regions]
    found: dict[tuple[int, int], list[Line]] = {}
    for mark in sorted(marks, key=lambda mark: (mark.middle, mark.box[0])):
        line = Line(mark.text, mark.box[0], mark.box[2], mark.middle, 0.0, bold=False, kind=mark.kind)
        found.setdefault(_spot(extents, mark), []).append(line)
    first = found.get(_FIRST, [])
    placed: list[Region] = [Flow(first)] if first else []
    for index, region in enumerate(regions):
        here = {at: lines for (number, at), lines in found.items() if number == index}
        placed.extend(_with_marks(region, here) if here else [region])
    return placed


def _with_marks(region: Region, marks: dict[int, list[Line]]) -> list[Region]:
    """The region with lines put in after the lines or rows of these numbers."""
    if isinstance(region, Flow):
        lines = [each for number, line in enumerate(region.lines) for each in (line, *marks.get(number, ()))]
        return [Flow(lines, region.aside)]
    parts: list[Region] = []
    start = 0
    for number in sorted(marks):
        parts.extend([Table(region.rows[start : number + 1], region.baseline), Flow(marks[number])])
        start = number + 1
    return [*parts, Table(region.rows[start:], region.baseline)] if start < len(region.rows) else parts


def _spot(extents: Sequence[Sequence[Extent]], mark: PlacedMark) -> tuple[int, int]:
    """The last line that begins above the middle of the mark, by preference in its own column."""
    best, spot = float("inf"), _FIRST
    for index, region in enumerate(extents):
        for position, (top, left, right) in enumerate(region):
            if top > mark.middle:
                continue
            apart = mark.box[2] < left - 20 or mark.box[0] > max(right + 200, left)
            distance = mark.middle - top + (_OTHER_COLUMN if apart else 0.0)
            if distance <= best:
                best, spot = distance, (index, position)
    return spot


def _extents(region: Region) -> list[Extent]:
    """Top, left and right of each line or row."""
    if isinstance(region, Flow):
        return [(line.baseline - 0.8 * line.size, line.left, line.right) for line in region.lines]
    extents: list[Extent] = []
    for cells in region.rows:
        lines = [line for cell in cells for line in cell]
        top = min((line.baseline - 0.8 * line.size for line in lines), default=region.baseline)
        extents.append(
            (
                top,
                min((line.left for line in lines), default=0.0),
                max((line.right for line in lines), default=0.0),
            )
        )
    return extents
