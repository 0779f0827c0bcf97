"""Tables: rows as they are printed, merged cells once, tables in cells where they stand."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from assay.content.extraction.assembly import Draft, row
from assay.content.extraction.docx.names import (
    ALTERNATE,
    SHD,
    TBL_PR,
    TC,
    TC_PR,
    TR,
    TR_PR,
    VAL,
    Element,
    alternative,
    child_of,
    leading,
    number,
    switched,
    value,
    w,
)
from assay.content.extraction.docx.styles import fills, is_filled
from assay.content.models import BlockKind

_SPAN, _BEFORE, _STYLE = w("gridSpan"), w("gridBefore"), w("tblStyle")
_HIDDEN, _CELL_DELETED, _CELL_INSERTED = w("hidden"), w("cellDel"), w("cellIns")
_WIDEST = 63  # columns that Word allows

ReadCell = Callable[[Element, bool], list[Draft]]


@dataclass(frozen=True, slots=True)
class Cell:
    drafts: list[Draft]
    columns: int

    def text(self) -> str:
        return "\n".join(draft.text for draft in self.drafts if draft.kind is not BlockKind.FOOTNOTE)


@dataclass(frozen=True, slots=True)
class Table:
    """Reads one table. `hide` receives the text of rows that are hidden."""

    gone: frozenset[str]
    read_cell: ReadCell
    hide: Callable[[str], None]
    original: bool

    def read(self, table: Element, *, backed: bool) -> list[Draft]:
        properties = child_of(table, TBL_PR)
        backed = backed or is_filled(properties) or value(properties, _STYLE) is not None
        rows = [cells for each in self._of(table, TR) if (cells := self._cells(each, backed=backed))]
        if _is_frame(rows):
            return [draft for cells in rows for draft in cells[0].drafts]
        return [draft for cells in rows for draft in _drafts(cells)]

    def _of(self, parent: Element, wanted: str) -> Iterator[Element]:
        """Rows of a table or cells of a row, also within content controls."""
        for child in parent:
            if child.tag == wanted:
                yield child
            elif child.tag == ALTERNATE:
                branch = alternative(child)
                if branch is not None:
                    yield from self._of(branch, wanted)
            elif child.tag not in self.gone and child.tag not in _PROPERTIES:
                yield from self._of(child, wanted)

    def _cells(self, element: Element, *, backed: bool) -> list[Cell]:
        properties = child_of(element, TR_PR)
        if properties is not None and any(child.tag in self.gone for child in properties):
            return []
        before = min(number(value(properties, _BEFORE)) or 0, _WIDEST)
        cells = [Cell([], 1)] * max(before, 0)
        cells += [cell for each in self._of(element, TC) if (cell := self._cell(each, backed=backed))]
        if switched(properties, _HIDDEN):
            self.hide(" ".join(cell.text() for cell in cells))
            return []
        return cells

    def _cell(self, element: Element, *, backed: bool) -> Cell | None:
        said = {child.tag: child for child in _children(leading(element, TC_PR))}
        if (_CELL_INSERTED if self.original else _CELL_DELETED) in said:
            return None
        columns = (number(said[_SPAN].get(VAL)) or 1) if _SPAN in said else 1
        backed = backed or (SHD in said and fills(said[SHD]))
        return Cell(self.read_cell(element, backed), min(max(columns, 1), _WIDEST))


def _children(element: Element | None) -> Iterable[Element]:
    return () if element is None else element


_PROPERTIES = frozenset({TBL_PR, TR_PR, TC_PR, w("tblGrid"), w("tblPrEx"), w("sdtPr"), w("sdtEndPr")})


def _is_frame(rows: list[list[Cell]]) -> bool:
    """One column around headings or several paragraphs is a box around text, not a table."""
    if any(len(cells) != 1 for cells in rows):
        return False
    inside = [[draft for draft in cells[0].drafts if draft.kind is not BlockKind.FOOTNOTE] for cells in rows]
    return any(len(drafts) > 1 or any(d.kind is BlockKind.HEADING for d in drafts) for drafts in inside)


def _drafts(cells: list[Cell]) -> Iterator[Draft]:
    texts: list[str] = []
    for cell in cells:
        texts.append(cell.text())
        texts.extend([""] * (cell.columns - 1))
    while texts and not texts[-1]:
        texts.pop()
    first = next((cell.drafts[0] for cell in cells if cell.text()), None)
    yield replace(row(texts), number=None if first is None else first.number)
    for cell in cells:
        yield from (draft for draft in cell.drafts if draft.kind is BlockKind.FOOTNOTE)


def plain(drafts: list[Draft]) -> str:
    """Blocks as lines, for places that are one block whatever is in them."""
    return "\n".join(draft.text for draft in drafts if draft.text.strip())
