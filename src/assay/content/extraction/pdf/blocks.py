"""Paragraphs and tables become blocks: headings with level and number, list items, notes, rows."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from assay.content.extraction.assembly import Draft, row
from assay.content.extraction.pdf.joining import Vocabulary, join
from assay.content.extraction.pdf.lines import Line
from assay.content.extraction.pdf.paragraphs import (
    BULLET,
    KEYWORD,
    LIST_LABEL,
    NUMBER,
    Item,
    Paragraph,
    Rows,
)
from assay.content.models import BlockKind

_LARGER = 1.12  # than the body: a heading
_SMALLER = 0.93
_DEEPEST = 6
_MOST_SIZES = 3  # larger sizes that count as levels of their own
_LONGEST_HEADING = 200
_PLAIN_HEADING = 80
_PLAIN_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})*(?=\s)")
_NOTE = re.compile(r"(?:([⁰¹²³⁴-⁹]{1,3})\s?|(\d{1,3})\)?\s|\[(\d{1,3})\]\s|([*†‡]{1,3})\s?)(?=\S)")
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_MONTH = re.compile(
    r"\d{1,2}\.\s(?:januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.,;]$")


class Styles:
    """Which sizes of print the document uses, and for what."""

    def __init__(self, lines: Iterable[Line]) -> None:
        letters: Counter[float] = Counter()
        for line in lines:
            letters[round(line.size * 2) / 2] += len(line.text)
        self.body = letters.most_common(1)[0][0] if letters else 10.0
        larger = sorted((size for size in letters if size >= _LARGER * self.body), reverse=True)
        self._levels = {size: min(index, _MOST_SIZES - 1) + 1 for index, size in enumerate(larger)}
        self.deepest = min(len(larger), _MOST_SIZES)

    def level(self, size: float) -> int | None:
        """The level of a heading in this size; None for the size of the body."""
        return self._levels.get(round(size * 2) / 2)


def drafts(items: Sequence[Item], styles: Styles, vocabulary: Vocabulary) -> Iterator[Draft]:
    for item in items:
        if isinstance(item, Rows):
            yield from _rows(item, vocabulary)
        else:
            yield _draft(item, styles, vocabulary)


def _rows(rows: Rows, vocabulary: Vocabulary) -> Iterator[Draft]:
    for cells in rows.table.rows:
        texts = [join([line.text for line in cell], vocabulary)[0].replace("\t", " ") for cell in cells]
        if any(texts):
            yield row(texts, page=rows.page)


def _draft(paragraph: Paragraph, styles: Styles, vocabulary: Vocabulary) -> Draft:
    text, offsets = join([line.text for line in paragraph.lines], vocabulary)
    page_breaks = tuple(
        (offset, page)
        for offset, page, before in zip(offsets[1:], paragraph.pages[1:], paragraph.pages, strict=False)
        if page != before
    )
    kind, level, number = _role(paragraph, text, styles)
    return Draft(kind, text, level=level, number=number, page=paragraph.pages[0], page_breaks=page_breaks)


def _role(paragraph: Paragraph, text: str, styles: Styles) -> tuple[BlockKind, int | None, str | None]:
    first = paragraph.lines[0]
    note = _note(paragraph, text, styles)
    if first.kind is not None or note is not None:
        return first.kind or BlockKind.FOOTNOTE, None, note
    bullet = BULLET.match(text) if all(line.bold for line in paragraph.lines) else None
    number = _number(text[bullet.end() :].lstrip() if bullet else text)
    if _is_heading(paragraph, text, number, styles):
        number = number or _bare_number(text)
        return BlockKind.HEADING, _level(first, number, styles), number
    label = LIST_LABEL.match(text)
    if label or BULLET.match(text):
        return BlockKind.LIST_ITEM, None, label[0].removesuffix(".") if label else None
    return BlockKind.PARAGRAPH, None, number


def _note(paragraph: Paragraph, text: str, styles: Styles) -> str | None:
    """The mark of a note at the foot of a page."""
    match = _NOTE.match(text)
    small = paragraph.lines[0].size <= _SMALLER * styles.body
    if match is None or not small or not paragraph.low or paragraph.lines[0].kind is not None:
        return None
    return str(match[match.lastindex or 0]).translate(_SUPERSCRIPT)


def _number(text: str) -> str | None:
    match = KEYWORD.match(text) or NUMBER.match(text)
    if match is None or _MONTH.match(text):
        return None
    return match[0].removesuffix(".")


def _bare_number(text: str) -> str | None:
    match = _PLAIN_NUMBER.match(text)
    return match[0] if match else None


def _is_heading(paragraph: Paragraph, text: str, number: str | None, styles: Styles) -> bool:
    lines = paragraph.lines
    wordy = len(text) > _LONGEST_HEADING or len(lines) > 4 or not any(map(str.isalpha, text))
    listed = BULLET.match(text) and number is None  # a bullet before a numbered title is decoration
    if paragraph.aside or wordy or listed or LIST_LABEL.match(text):
        return False
    if styles.level(lines[0].size) is not None:
        return True
    stopped = _STOP.search(text) is not None
    short = len(text) <= _PLAIN_HEADING
    if all(line.bold for line in lines):
        return not stopped or (number is not None and short)
    if stopped or text.endswith(":") or len(lines) > 2 or lines[0].size < _SMALLER * styles.body:
        return False
    if text.isupper():
        return len(text) > 3
    reaches = lines[0].right - paragraph.column.left > 0.75 * (paragraph.column.right - paragraph.column.left)
    title = text[len(number or "") :].lstrip(" .:\u2013-")[:1].isupper()
    return number is not None and len(lines) == 1 and short and title and not reaches


def _level(line: Line, number: str | None, styles: Styles) -> int:
    by_size = styles.level(line.size)
    if by_size is not None:
        return by_size
    depth = number.count(".") + 1 if number and any(map(str.isdigit, number)) else 1
    return min(styles.deepest + depth, _DEEPEST)
