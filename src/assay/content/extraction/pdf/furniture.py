"""Running headers, footers and page numbers: rows at the edge of a page that come back on others."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assay.content.extraction.pdf.joining import clean
from assay.content.extraction.pdf.lines import line_of, rows_of
from assay.content.extraction.pdf.words import Fragment

_EDGE = 0.2  # of the height, at the top and at the bottom
_MOST_ROWS = 8
_SHIFT = 6.0  # points
_REACH = 2  # pages on either side: left and right pages differ
_NUMBERS = re.compile(r"\d+")
_OF = r"(?:of|von|de|sur|di|van|av|af|od|z|/|\|)"
_PAGE_NUMBER = re.compile(
    rf"[-\u2013—\s]*(?P<word>page|seite|p(?:á|a)gina|pagina|strana|sida|side|s\.|p\.|pg\.?)?\s*"
    rf"(?P<number>\d{{1,5}})\s*(?P<total>{_OF}\s*\d{{1,5}})?[-\u2013—\s]*$",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Furniture:
    """What runs along the pages, each once: the place of its first page, and its wording there."""

    headers: list[tuple[int, str]] = field(default_factory=list)
    footers: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Row:
    text: str
    shape: str  # the text with its numbers blanked
    numbers: tuple[int, ...]
    level: float
    fragments: tuple[Fragment, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page: its height, its fragments, and those that run another way than the rest."""

    height: float
    fragments: list[Fragment]
    turned: list[list[Fragment]] = field(default_factory=list)


def take_furniture(sheets: Sequence[Sheet]) -> Furniture:
    """Take running rows off the sheets, which change, and return them."""
    furniture = Furniture()
    edges = [(_rows(sheet, top=True), _rows(sheet, top=False)) for sheet in sheets]
    taken: list[set[int]] = [set() for _ in sheets]
    for side, kept in ((0, furniture.headers), (1, furniture.footers)):
        seen: set[str] = set()
        for page, sheet in enumerate(sheets):
            running = list(_running([edge[side] for edge in edges], page, sheet.height))
            for row in running if side == 0 else reversed(running):
                taken[page].update(id(item) for item in row.fragments)
                if row.shape not in seen:
                    seen.add(row.shape)
                    kept.append((page, row.text))
    for sheet, ids in zip(sheets, taken, strict=True):
        if ids:
            sheet.fragments[:] = [item for item in sheet.fragments if id(item) not in ids]
    furniture.headers.extend(_take_watermarks(sheets))
    return furniture


def _take_watermarks(sheets: Sequence[Sheet]) -> list[tuple[int, str]]:
    """Text that runs across or up the page, alike on several pages."""
    pages: dict[str, list[int]] = {}
    for page, sheet in enumerate(sheets):
        for text in {clean(item.text): None for group in sheet.turned for item in group}:
            pages.setdefault(text, []).append(page)
    for sheet in sheets:
        for group in sheet.turned:
            group[:] = [item for item in group if len(pages[clean(item.text)]) < 2]
    return [(found[0], text) for text, found in pages.items() if len(found) > 1]


def _rows(sheet: Sheet, *, top: bool) -> list[_Row]:
    """The outermost rows, from the edge inwards."""
    limit = _EDGE * sheet.height
    if top:
        near = [item for item in sheet.fragments if item.baseline < limit]
    else:
        near = [item for item in sheet.fragments if item.baseline > sheet.height - limit]
    rows = rows_of(near)
    outermost = rows[:_MOST_ROWS] if top else rows[::-1][:_MOST_ROWS]
    return [_row(row) for row in outermost]


def _row(fragments: Sequence[Fragment]) -> _Row:
    line = line_of(fragments)
    text = clean(line.text)
    numbers = tuple(int(number) for number in _NUMBERS.findall(text) if len(number) < 10)
    return _Row(text, _NUMBERS.sub("#", text).casefold(), numbers, line.baseline, tuple(fragments))


def _running(edges: Sequence[Sequence[_Row]], page: int, height: float) -> Iterator[_Row]:
    """Rows of this page that run, inwards from the edge up to the first that does not."""
    for position, row in enumerate(edges[page]):
        if not (_comes_back(edges, page, row) or _is_page_number(row, page, height, alone=position == 0)):
            return
        yield row


def _comes_back(edges: Sequence[Sequence[_Row]], page: int, row: _Row) -> bool:
    for other in range(max(0, page - _REACH), min(len(edges), page + _REACH + 1)):
        if other != page and any(_same(row, twin, other - page) for twin in edges[other]):
            return True
    return False


def _same(row: _Row, twin: _Row, distance: int) -> bool:
    """Alike but for numbers that count the pages; a row of figures in a long table is not."""
    if (
        row.shape != twin.shape
        or abs(row.level - twin.level) > _SHIFT
        or len(row.numbers) != len(twin.numbers)
    ):
        return False
    steps = [after - before for before, after in zip(row.numbers, twin.numbers, strict=True)]
    return all(step in {0, distance} for step in steps) and (
        any(c.isalpha() for c in row.shape) or _counts(row)
    )


def _counts(row: _Row) -> bool:
    return bool(_PAGE_NUMBER.match(row.text))


def _is_page_number(row: _Row, page: int, height: float, *, alone: bool) -> bool:
    """A page number by its form, where no other page bears it out."""
    match = _PAGE_NUMBER.match(row.text)
    if match is None or not alone:
        return False
    at_edge = row.level < 0.1 * height or row.level > 0.9 * height
    return at_edge and (bool(match["word"] or match["total"]) or int(match["number"]) == page + 1)
