"""Tables of data as rows of cells; tables that only lay out a page are none."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from assay.content.extraction.assembly import Draft, row
from assay.content.extraction.html.tree import Node

_MAX_COLUMNS = 100
_MAX_ROWS_SPANNED = 1000
# Empty cells for each real one, at most.
_PADDING = 4
# A cell that is longer than this is a column of a page, not an entry of a table.
_LONG_CELL = 4000
_FRAME = frozenset({"table", "thead", "tbody", "tfoot", "tr"})
_CELLS = frozenset({"td", "th"})


def is_data(table: Node) -> bool:
    """Whether the rows and columns of this table mean something."""
    # The first table within ends the search, so that nested tables cost no more than flat ones.
    if any(node.tag == "table" for node in islice(table.walk(), 1, None)):
        return False
    if table.roles & {"presentation", "none"} or _has_strays(table):
        return False
    lines = [_cells(line) for line in _lines(table)]
    if all(len(line) < 2 for line in lines):
        return False
    if any(node.tag in {"th", "thead", "caption"} for node in table.walk()):
        return True
    longest = max(cell.chars for line in lines for cell in line)
    return len(lines) > 1 and longest <= _LONG_CELL


def rows(table: Node, cell_text: Callable[[Node], str]) -> Iterator[Draft]:
    """Its rows in reading order. A cell over several columns or rows stands in the first of them."""
    lines = _lines(table)
    grid = _Grid(_PADDING * (100 + sum(len(_cells(line)) for line in lines)))
    for line in lines:
        cells = grid.row((cell, cell_text(cell)) for cell in _cells(line))
        if any(cells):
            yield row(cells)


class _Grid:
    """Knows for how many more rows a cell from above stands in a column."""

    def __init__(self, padding: int) -> None:
        self._taken: dict[int, int] = {}
        # Spans that claim more empty cells than this are nonsense or hostile.
        self._padding = padding

    def row(self, cells: Iterable[tuple[Node, str]]) -> list[str]:
        texts: list[str] = []
        for cell, text in cells:
            self._skip(texts)
            width = self._span(cell.get("colspan"), _MAX_COLUMNS)
            height = self._span(cell.get("rowspan"), _MAX_ROWS_SPANNED)
            self._taken.update(dict.fromkeys(range(len(texts), len(texts) + width), height))
            texts.extend([text, *[""] * (width - 1)])
        self._skip(texts)
        self._taken = {column: left - 1 for column, left in self._taken.items() if left > 1}
        return texts

    def _skip(self, texts: list[str]) -> None:
        while self._taken.get(len(texts), 0) > 0 and self._padding > 0:
            texts.append("")
            self._padding -= 1

    def _span(self, stated: str, most: int) -> int:
        if not stated.isascii() or not stated.isdecimal() or len(stated) > 5:
            return 1
        span = max(1, min(most, int(stated)))
        self._padding -= span - 1 if most == _MAX_COLUMNS else 0
        return span if self._padding > 0 else 1


def _lines(table: Node) -> list[Node]:
    """Rows as they are shown: a foot stands last wherever it is written."""
    lines = [node for node in table.walk() if node.tag == "tr"]
    return sorted(lines, key=lambda line: line.parent is not None and line.parent.tag == "tfoot")


def _cells(line: Node) -> list[Node]:
    return [child for child in line.children if child.tag in _CELLS]


def _has_strays(table: Node) -> bool:
    """Whether text stands beside the cells; a browser shows it, so it must not be lost."""
    stack = [table]
    while stack:
        node = stack.pop()
        if node.text.strip() or any(child.tail.strip() for child in node.children):
            return True
        for child in node.children:
            if child.tag in _FRAME:
                stack.append(child)
            elif child.chars and child.tag != "caption" and not (child.tag in _CELLS and node.tag == "tr"):
                return True
    return False
