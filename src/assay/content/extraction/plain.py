"""Plain text: its paragraphs, headings, list items and pages, as blank lines and numbering show them."""

import re
from collections.abc import Iterable
from itertools import pairwise

from assay.content.extraction import charset as charsets
from assay.content.extraction import language
from assay.content.extraction.assembly import Draft, assemble
from assay.content.extraction.printed_numbers import BULLET, leading
from assay.content.models import BlockKind, NoText, Text, UnreadableDocument

_PAGE_END = "\f"
_RULE = re.compile(r"([=\-~*_#^])\1{2,}\s*")
_HASHES = re.compile(r"(#{1,6})\s+(?=\S)")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff]")
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")
_SENTENCE_END = (".", ";", ",", "!", "?", ":")
_HEADING_LENGTH = 100
# Lines that are wrapped by hand or by a mail program end before this column.
_WRAPPED_WITHIN = 120
_FULL_LINE = 0.6


def read(data: bytes, *, charset: str | None = None) -> Text:
    """The text of these bytes. What is not text, by its control characters, is refused."""
    text = charsets.decode(data, charset)
    if len(_CONTROL.findall(text)) * 200 > len(text) or "\x00" in text:
        raise UnreadableDocument("The file is not text: it holds binary data.")
    pages = _LINE_ENDS.sub("\n", text).split(_PAGE_END)
    paged = len(pages) > 1
    found = [
        draft
        for number, page in enumerate(pages, 1)
        for draft in drafts(page, page=number if paged else None)
    ]
    if not found:
        raise NoText("The file holds no text.")
    return assemble(
        found,
        language=language.settle(None, text),
        title=_title(found),
        page_count=len(pages) if paged else 0,
    )


def drafts(text: str, *, page: int | None = None) -> list[Draft]:
    """The blocks of a text, or of one page of it."""
    lines = [_INVISIBLE.sub("", line).expandtabs().rstrip() for line in text.split("\n")]
    width = _width(lines)
    result: list[Draft] = []
    for group in _groups(lines, width):
        result.extend(_drafted(group, width, page))
    return result


def _title(found: list[Draft]) -> str | None:
    return found[0].text if found[0].kind is BlockKind.HEADING else None


def _width(lines: list[str]) -> int:
    """The column at which lines are wrapped; 0 when every line is a paragraph."""
    lengths = sorted(len(line) for line in lines if line.strip())
    if not lengths:
        return 0
    usual = lengths[len(lengths) * 9 // 10]
    return usual if usual <= _WRAPPED_WITHIN else 0


def _groups(lines: Iterable[str], width: int) -> list[list[str]]:
    """Lines that belong together: up to a blank line, a number, a bullet or a change of the margin."""
    groups: list[list[str]] = [[]]
    for line in lines:
        here = groups[-1]
        if not line.strip():
            groups.append([])
        elif _RULE.fullmatch(line.strip()):
            groups[-1] = [*here, line]
            groups.append([])
        elif here and _begins(line, here[-1], width):
            groups.append([line])
        else:
            here.append(line)
    return [group for group in groups if group]


def _begins(line: str, before: str, width: int) -> bool:
    """Whether a line that follows another one directly begins a block of its own."""
    if not width or BULLET.match(line.strip()):
        return True
    if leading(line.strip()) is None:
        return False
    # A number in the middle of a sentence may stand at the start of a line by chance.
    return before.endswith(_SENTENCE_END) or len(before) < _FULL_LINE * width


def _drafted(group: list[str], width: int, page: int | None) -> list[Draft]:
    rule = _RULE.fullmatch(group[-1].strip())
    lines = group[:-1] if rule else group
    if not lines:
        return []
    if rule and len(lines) == 1:
        return [_heading(lines[0].strip(), 1 if rule[1] in "=*#" else 2, page)]
    text = _joined(lines, width)
    hashes = _HASHES.match(text)
    if hashes and len(lines) == 1:
        return [_heading(text[hashes.end() :].rstrip("# "), len(hashes[1]), page)]
    bullet = BULLET.match(text)
    if bullet:
        text = text[bullet.end() :]
        return [Draft(BlockKind.LIST_ITEM, text, level=1, number=leading(text), page=page)] if text else []
    if len(lines) == 1 and _may_be_heading(text):
        return [_heading(text, _depth(text), page)]
    number = leading(text)
    kind = BlockKind.LIST_ITEM if number is not None else BlockKind.PARAGRAPH
    return [Draft(kind, text, level=1 if number is not None else None, number=number, page=page)]


def _heading(text: str, level: int, page: int | None) -> Draft:
    return Draft(BlockKind.HEADING, text, level=level, number=leading(text, heading=True), page=page)


def _may_be_heading(text: str) -> bool:
    if len(text) > _HEADING_LENGTH or text.endswith(_SENTENCE_END) or not any(map(str.isalpha, text)):
        return False
    numbered = leading(text, heading=True)
    if numbered is not None:
        # "(a) the parties" is an item; "4.1 Sub-processors" and "Article 5" are headings.
        return (
            numbered[0] not in "(["
            and not numbered.endswith(")")
            and not text[len(numbered) :].lstrip(" .:").islower()
        )
    return text.isupper() and len(text) > 3


def _depth(text: str) -> int:
    number = leading(text, heading=True)
    return min(1 + number.count("."), 6) if number is not None else 1


def _joined(lines: list[str], width: int) -> str:
    """One paragraph: the end of a full line is a space, the end of a short one stays a line end."""
    pieces = [" ".join(lines[0].split())]
    for before, line in pairwise(lines):
        pieces.append(" " if len(before) >= _FULL_LINE * width else "\n")
        pieces.append(" ".join(line.split()))
    return "".join(pieces)
