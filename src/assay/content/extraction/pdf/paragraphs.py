"""Lines in reading order become paragraphs, also over the end of a column or a page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median_low

from assay.content.extraction.pdf.layout import Region
from assay.content.extraction.pdf.lines import Line, is_cjk
from assay.content.extraction.pdf.tables import Table
from assay.content.extraction.pdf.words import HYPHEN, is_rtl

_LOOSE = 1.3  # times the usual pitch of lines
_WIDEST_PITCH = 2.0  # of the font size
_INDENT = 1.0  # of the font size
_STEP = 0.15  # relative difference of size between two kinds of text
_PARTED = re.compile(rf"[^\W_][-\u2010\u00ad{HYPHEN}]$")
_END = re.compile(r"[.;:!?。\uff1b\uff1a\uff01\uff1f…][\"'”\u2019»)\]]*$")
_OPEN = re.compile(r"[;:]$|[,;]?\s(?:and|or|und|oder|et|ou|y|o)$")
BULLET = re.compile(r"[•◦▪▫●○■□‣\u2043∙·\u2212\u2013—➢✓✔►▶❖*\uf0a7\uf0b7-](?=\s)|o(?=\s[A-Z])")
LIST_LABEL = re.compile(
    r"(?:\([A-Za-z]{1,2}\)|\([ivxlc]{1,6}\)|\(\d{1,3}\)|(?:[a-z]{1,2}|[ivxlc]{1,6})[.)]|\d{1,3}\))(?=\s|$)"
)
NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})+\.?(?=\s|$)|\d{1,3}\.(?=\s|$)|[IVXLC]{1,6}\.(?=\s)|[A-Z]\.(?=\s)")
KEYWORD = re.compile(
    r"(?:§+\s*\d+[a-z]?|第[\d一二三四五六七八九十百]+[条條章節节款]|(?:article|artikel|art\.|section|clause|klausel|chapter|kapitel|abschnitt|schedule|annex|"
    r"appendix|exhibit|anlage|anhang|part|teil|titre|titel|chapitre|artículo|articolo|annexe|anexo|allegato)"
    r"\s+(?:\d+(?:\.\d+)*[a-z]?|[IVXLC]+|[A-Z])\b)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Paragraph:
    lines: list[Line]
    pages: list[int]
    column: "Column"
    aside: bool = False
    low: bool = False  # begins in the lower half of its page


@dataclass(slots=True)
class Rows:
    table: Table
    page: int


@dataclass(slots=True)
class PageLayout:
    number: int
    height: float
    regions: list[Region] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Column:
    """The edges between which lines run, and their usual distance."""

    left: float
    right: float
    pitch: float


Item = Paragraph | Rows


def label_of(text: str) -> str | None:
    """The bullet, number or letter that a line begins with."""
    for pattern in (BULLET, LIST_LABEL, NUMBER, KEYWORD):
        match = pattern.match(text)
        if match:
            return match[0]
    return None


def gather(pages: Sequence[PageLayout], body_size: float) -> list[Item]:
    """All paragraphs and tables in reading order. Smaller print than the body never continues it."""
    gatherer = _Gatherer(body_size)
    for page in pages:
        for region in page.regions:
            gatherer.add(region, page)
    return gatherer.items


class _Gatherer:
    def __init__(self, body_size: float) -> None:
        self.items: list[Item] = []
        self._body_size = body_size
        self._open: Paragraph | None = None  # the last paragraph of the body, which may run on

    def add(self, region: Region, page: PageLayout) -> None:
        if isinstance(region, Table):
            self.items.append(Rows(region, page.number))
            self._open = None
            return
        column = _column(region.lines)
        current: Paragraph | None = None
        for line in region.lines:
            if line.kind is not None:
                self.items.append(Paragraph([line], [page.number], column, aside=True))
            elif current is not None and _continues(current, line):
                _extend(current, line, page.number)
            elif current is None and not region.aside and self._resumes(line, page.number):
                current = self._open
                assert current is not None
                _extend(current, line, page.number)
                current.column = column
            else:
                current = Paragraph(
                    [line], [page.number], column, aside=region.aside, low=line.baseline > page.height / 2
                )
                self.items.append(current)
                if not region.aside and line.size > 0.92 * self._body_size:
                    self._open = current

    def _resumes(self, line: Line, page: int) -> bool:
        """Whether a line at the top of a column goes on with the paragraph before it."""
        if self._open is None:
            return False
        last = self._open.lines[-1]
        if self._open.pages[-1] == page and 0 < line.baseline - last.baseline < 3 * line.size:
            return _overlap(last, line) and _continues(self._open, line)
        if not _alike(last, line) or last.bold != line.bold:
            return False
        if _PARTED.search(last.text):
            return True
        if _END.search(last.text) or label_of(line.text):
            return False
        first = line.text.lstrip("\"'“„«([")[:1]
        return first.islower() or not _fits(last, line, self._open.column)


def _extend(paragraph: Paragraph, line: Line, page: int) -> None:
    paragraph.lines.append(line)
    paragraph.pages.append(page)


def _column(lines: Sequence[Line]) -> Column:
    printed = [line for line in lines if line.kind is None]
    if not printed:
        return Column(0.0, 0.0, 0.0)
    pitches = [
        after.baseline - before.baseline
        for before, after in pairwise(printed)
        if 0 < after.baseline - before.baseline < _WIDEST_PITCH * after.size
    ]
    return Column(
        left=min(line.left for line in printed),
        right=max(line.right for line in printed),
        pitch=median_low(pitches) if pitches else 0.0,
    )


def _alike(one: Line, other: Line, step: float = _STEP) -> bool:
    return abs(one.size - other.size) <= step * max(one.size, other.size)


def _overlap(one: Line, other: Line) -> bool:
    return min(one.right, other.right) > max(one.left, other.left)


def _continues(paragraph: Paragraph, line: Line) -> bool:
    last = paragraph.lines[-1]
    gap = line.baseline - last.baseline
    pitch = max(paragraph.column.pitch, 1.05 * line.size)
    fits = _fits(last, line, paragraph.column)
    ended = _END.search(last.text) is not None
    # A heading set in the same line as its text: the print changes where no line ends.
    alike = _alike(last, line) or (not fits and not ended and _alike(last, line, 2 * _STEP))
    if not alike or not 0 < gap <= _LOOSE * pitch:
        return False
    if last.bold != line.bold and (fits or ended):
        return False
    if _PARTED.search(last.text):
        return True
    indent = _indent(paragraph, line)
    if label_of(line.text) and _starts_item(last, line, fits=fits, ended=ended):
        return False
    if fits:
        return line.text[:1].islower() and not ended
    return not (ended and indent)


def _starts_item(last: Line, line: Line, *, fits: bool, ended: bool) -> bool:
    """Whether a number or bullet at the start of a line is a label and not just where the line broke."""
    moved = abs(line.left - last.left) > 0.5 * line.size
    return (
        fits or ended or moved or BULLET.match(line.text) is not None or _OPEN.search(last.text) is not None
    )


def _fits(last: Line, line: Line, column: Column) -> bool:
    """Whether the first word of a line would have fitted on the one before, so that the break was meant."""
    word = line.text[0] if is_cjk(line.text[0]) else line.text.split(" ", 1)[0]
    per_letter = (line.right - line.left) / max(len(line.text), 1)
    needed = per_letter * (min(len(word), 24) + 1) + 0.6 * line.size
    room = last.left - column.left if is_rtl(last.text) else column.right - last.right
    return room > needed


def _indent(paragraph: Paragraph, line: Line) -> bool:
    """Whether the line stands in or out against a paragraph whose left edge is known."""
    if is_rtl(line.text):
        return False
    first = paragraph.lines[0]
    if len(paragraph.lines) == 1:  # what stands left of an item of one line is no part of it
        return label_of(first.text) is not None and line.left < first.left - _INDENT * line.size
    return abs(line.left - paragraph.lines[-1].left) > _INDENT * line.size
