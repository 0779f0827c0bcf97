"""The nodes of a page, in reading order, as drafts of blocks."""

import re
from dataclasses import dataclass, field

from assay.content.extraction import plain
from assay.content.extraction.assembly import Draft
from assay.content.extraction.html.lists import markers
from assay.content.extraction.html.tables import is_data, rows
from assay.content.extraction.html.tree import BLOCKS, HEADINGS, PREFORMATTED, Node
from assay.content.extraction.printed_numbers import BULLET, leading
from assay.content.models import BlockKind

_LISTS = frozenset({"ul", "ol", "menu", "dir", "dl"})
_ITEMS = frozenset({"li", "dt", "dd"})
_LOUD = frozenset({"b", "strong"})
_FOOTNOTES = frozenset({"footnote", "footnotes", "endnote", "endnotes"})
# Controls, soft hyphen, zero width space, joiner of words, byte order mark.
_INVISIBLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff]")
_SENTENCE_END = (".", ";", ",", "!", "?", "…", "。", "\uff1b")
# Longer than this, bold type or a summary is emphasis, not a heading.
_HEADING_LENGTH = 150
# After a line that is longer than this and ends a sentence, a line break begins a paragraph.
_LINE_LENGTH = 60


def drafts(body: Node) -> list[Draft]:
    """Everything below this node."""
    writer = _Writer()
    stack: list[tuple[str, Node]] = [("open", body)]
    while stack:
        action, node = stack.pop()
        if action == "close":
            writer.close(node)
        elif action == "tail":
            writer.write(node.tail)
        elif writer.open(node):
            stack.append(("close", node))
            for child in reversed(node.children):
                stack.append(("tail", child))
                stack.append(("open", child))
    return writer.drafts


@dataclass(slots=True)
class _Place:
    """What the text that comes next is part of; an item waits until its first block carries its marker."""

    kind: BlockKind = BlockKind.PARAGRAPH
    level: int | None = None
    marker: str = ""


@dataclass(slots=True)
class _Writer:
    drafts: list[Draft] = field(default_factory=list)
    places: list[_Place] = field(default_factory=lambda: [_Place()])
    waiting: list[_Place] = field(default_factory=list)
    markers: dict[Node, str] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    depth: int = 0
    loud: int = 0
    loud_chars: int = 0
    heading_level: int = 1

    def open(self, node: Node) -> bool:
        """Begin this node; whether what is below it is still to be written."""
        if node.tag == "table" and is_data(node):
            self._table(node)
            return False
        if node.tag in PREFORMATTED:
            self.flush()
            self.drafts.extend(plain.drafts(node.verbatim()))
            return False
        if node.tag in BLOCKS:
            self._enter(node)
        self.loud += node.tag in _LOUD
        self.write(_before(node))
        self.write(node.text)
        return True

    def close(self, node: Node) -> None:
        self.write(_after(node))
        self.loud -= node.tag in _LOUD
        if node.tag in BLOCKS:
            self.flush()
            place = self.places.pop()
            self.depth -= node.tag in _LISTS
            if node.tag in _ITEMS and self.waiting and self.waiting[-1] is place:
                self.waiting.pop()

    def write(self, text: str) -> None:
        if text:
            self.pieces.append(text)
            if self.loud:
                self.loud_chars += len(text.strip())

    def flush(self) -> None:
        """End the block in progress."""
        if not self.pieces:
            return
        text, loud = "".join(self.pieces), self.loud_chars
        self.pieces.clear()
        self.loud_chars = 0
        if text.isspace():
            return
        lines = [_shown(line) for line in text.split("\n")]
        all_loud = loud >= 0.9 * sum(map(len, lines))
        if self.places[-1].kind is BlockKind.HEADING:
            self._draft(" ".join(filter(None, lines)), all_loud=False)
            return
        for paragraph in _paragraphs(lines):
            self._draft(paragraph, all_loud=all_loud)

    def _draft(self, text: str, *, all_loud: bool) -> None:
        place = self.places[-1]
        kind, level = place.kind, place.level
        bullet = BULLET.match(text)
        if bullet is not None and kind is not BlockKind.HEADING:
            text = text[bullet.end() :]
            kind, level = BlockKind.LIST_ITEM, max(self.depth, 1)
        elif kind is BlockKind.PARAGRAPH and all_loud and _may_be_heading(text):
            kind, level = BlockKind.HEADING, min(self.heading_level + 1, 6)
        if not text:
            return
        number = leading(text, heading=kind is BlockKind.HEADING)
        if self.waiting:
            marker = " ".join(item.marker for item in self.waiting if item.marker)
            if kind is BlockKind.PARAGRAPH:
                kind, level = BlockKind.LIST_ITEM, self.waiting[-1].level
            if marker and number is None:
                text, number = f"{marker} {text}", marker.rstrip(".")
            self.waiting.clear()
        self.drafts.append(Draft(kind, text, level=level, number=number))

    def _enter(self, node: Node) -> None:
        self.flush()
        self.depth += node.tag in _LISTS
        if node.tag == "ol":
            self.markers.update(markers(node))
        self.places.append(self._place(node))
        if node.tag in _ITEMS:
            self.waiting.append(self.places[-1])

    def _place(self, node: Node) -> _Place:
        above = self.places[-1]
        if node.tag in _ITEMS and above.kind is BlockKind.PARAGRAPH:
            level = max(self.depth, 1) + (node.tag == "dd")
            return _Place(BlockKind.PARAGRAPH, level, self.markers.pop(node, ""))
        level = self._heading(node)
        if level:
            return _Place(BlockKind.HEADING, level)
        if node.words & _FOOTNOTES or node.roles & {"doc-footnote", "doc-endnotes"}:
            return _Place(BlockKind.FOOTNOTE)
        if above.kind is not BlockKind.PARAGRAPH:
            return _Place(above.kind, above.level)
        return _Place()

    def _heading(self, node: Node) -> int:
        """The level of the heading that this node is, or 0."""
        if node.tag in HEADINGS:
            self.heading_level = HEADINGS[node.tag]
            return self.heading_level
        if "heading" in node.roles:
            stated = node.get("aria-level")
            return int(stated) if stated in {"1", "2", "3", "4", "5", "6"} else 2
        if node.tag == "summary" and node.chars <= _HEADING_LENGTH:
            return min(self.heading_level + 1, 6)
        return 0

    def _table(self, table: Node) -> None:
        self.flush()
        self.waiting.clear()
        for node in table.walk():
            if node.tag == "caption":
                self.drafts.append(Draft(BlockKind.PARAGRAPH, _cell(node)))
        self.drafts.extend(rows(table, _cell))


def _cell(node: Node) -> str:
    """A cell on one line: what parts its blocks must not look like the end of a row."""
    if not node.children:
        return _shown(node.text)
    return " ".join(" ".join(draft.text.split()) for draft in drafts(node))


def _shown(line: str) -> str:
    line = " ".join(line.split())
    return line if line.isprintable() else " ".join(_INVISIBLE.sub("", line).split())


def _before(node: Node) -> str:
    if node.tag == "br":
        return "\n"
    return {"q": "“", "button": " "}.get(node.tag, "")


def _after(node: Node) -> str:
    return {"q": "”", "button": " "}.get(node.tag, "")


def _may_be_heading(text: str) -> bool:
    return len(text) <= _HEADING_LENGTH and not text.endswith(_SENTENCE_END) and any(map(str.isalpha, text))


def _paragraphs(lines: list[str]) -> list[str]:
    """Lines parted by breaks: an empty line, a number or a finished sentence begins a paragraph."""
    groups: list[list[str]] = [[]]
    for line in lines:
        before = groups[-1][-1] if groups[-1] else ""
        finished = len(before) > _LINE_LENGTH and before.endswith(_SENTENCE_END)
        if not line or finished or BULLET.match(line) or leading(line):
            groups.append([])
        if line:
            groups[-1].append(line)
    return ["\n".join(group) for group in groups if group]
