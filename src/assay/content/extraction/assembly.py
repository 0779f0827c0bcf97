"""Drafts of blocks, in reading order, become one text with exact offsets.

Every reader (PDF, DOCX, HTML, plain text) hands over drafts; offsets are computed here and nowhere
else, so `text[block.start:block.end]` is exact by construction and the blocks, joined, are the text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.content.models import Block, BlockKind, Caveat, Page, Span, Text

SEPARATOR = "\n\n"
ROW_SEPARATOR = "\n"
CELL_SEPARATOR = "\t"


@dataclass(frozen=True, slots=True)
class Draft:
    """A block that does not know its place yet. A full stop after its number is print, not number.

    A table row's text is its cells joined by a tab. `page_breaks` are (offset into `text`, number of
    the page that begins there), for a paragraph that runs over the end of a page.
    """

    kind: BlockKind
    text: str
    level: int | None = None
    number: str | None = None
    page: int | None = None
    cells: tuple[str, ...] = ()
    page_breaks: tuple[tuple[int, int], ...] = ()


def row(cells: Sequence[str], page: int | None = None) -> Draft:
    """A table row of these cells."""
    return Draft(BlockKind.TABLE_ROW, CELL_SEPARATOR.join(cells), page=page, cells=tuple(cells))


def assemble(
    drafts: Iterable[Draft],
    *,
    title: str | None = None,
    language: str | None = None,
    caveats: Iterable[Caveat] = (),
    page_count: int = 0,
) -> Text:
    """Join the drafts; those without text are left out."""
    kept = [draft for draft in drafts if draft.text.strip()]
    pieces: list[str] = []
    blocks: list[Block] = []
    starts: dict[int, int] = {}
    position = 0
    previous: Draft | None = None
    for draft in kept:
        if previous is not None:
            separator = _separator(previous, draft)
            pieces.append(separator)
            position += len(separator)
        blocks.append(_placed(draft, position))
        if draft.kind not in {BlockKind.HEADER, BlockKind.FOOTER}:
            _note_pages(starts, draft, position)
        pieces.append(draft.text)
        position += len(draft.text)
        previous = draft
    body_end = next(
        (block.start for block in blocks if block.kind in {BlockKind.HEADER, BlockKind.FOOTER}), position
    )
    return Text(
        text="".join(pieces),
        title=title,
        language=language,
        pages=_pages(starts, page_count, body_end),
        blocks=tuple(blocks),
        caveats=tuple(caveats),
    )


def _separator(before: Draft, after: Draft) -> str:
    in_table = before.kind is BlockKind.TABLE_ROW and after.kind is BlockKind.TABLE_ROW
    return ROW_SEPARATOR if in_table else SEPARATOR


def _placed(draft: Draft, start: int) -> Block:
    cells: list[Span] = []
    position = start
    for cell in draft.cells:
        cells.append(Span(position, position + len(cell)))
        position += len(cell) + len(CELL_SEPARATOR)
    return Block(
        kind=draft.kind,
        start=start,
        end=start + len(draft.text),
        level=draft.level,
        number=draft.number.rstrip(".:") if draft.number else None,
        page=draft.page,
        cells=tuple(cells),
    )


def _note_pages(starts: dict[int, int], draft: Draft, position: int) -> None:
    if draft.page is not None:
        starts.setdefault(draft.page, position)
    for offset, page in draft.page_breaks:
        starts.setdefault(page, position + offset)


def _pages(starts: dict[int, int], page_count: int, end: int) -> tuple[Page, ...]:
    """Pages without text are empty spans at the place where their text would stand."""
    pages: list[Page] = []
    for number in range(page_count, 0, -1):
        start = min(starts.get(number, end), end)
        pages.append(Page(number, start, end))
        end = start
    return tuple(reversed(pages))
