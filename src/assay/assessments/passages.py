"""Text into clauses with exact offsets: list items know their lead-in, and all know section, title and page.

A passage is a sentence, a short paragraph, an item of a list or a row of a table. What is judged is the
passage with its context: `context` stands before it in the clause that evidence is matched against.
"""

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assay.assessments import sentences
from assay.assessments.models import Source
from assay.content.models import Block, BlockKind, Text

# A paragraph up to this length is one clause; a longer one is cut into its sentences.
SHORT_PARAGRAPH = 240
# A sentence that counts its points and is longer than this is cut into them.
LONG_SENTENCE = 320
LONGEST_LEAD_IN = 400
# A heading longer than this is a clause that happens to be printed in bold.
_LONGEST_TITLE = 90
_FURNITURE = frozenset({BlockKind.HEADER, BlockKind.FOOTER})
_OPEN_END = re.compile(r"(?::|\b(?:shall|will|must|may|following|hat|dass)[,–—-]?)$")
_LONGEST_END = 120
# Words before a list that say nothing about its items.
_CEREMONY = re.compile(
    r"(?:\b(?:agrees?|agreed|covenant|declare)\b[^.;]{0,40}\bfollow(?:s|ing)|\bwhereas|witnesseth|\bbetween|recitals)\s?:?$",
    re.IGNORECASE,
)
_ITEM_START = re.compile(
    r"(?:\(?(?:[a-z]{1,2}|[ivx]{1,5}|\d{1,2})[).]\s|[•·▪●○–—-]\s|[a-zà-þ])", re.IGNORECASE
)
# A letter, digit or comma at the end, or a point that belongs to an abbreviation: the sentence is not over.
_BROKEN_OFF = re.compile(r"(?:[\w,’']|\b(?:Art|Arts|No|Sec|e\.g|i\.e|incl|Abs|Nr)\.)$")
_GOES_ON = re.compile(r"[a-zà-þ]|\d{1,3}\b(?![.)])")
_ITEM_NUMBER = re.compile(r"\(?([a-z]{1,2}|[ivxl]{1,7}|\d{1,3})[).]?", re.IGNORECASE)
_DIGITS = re.compile(r"\d")
_BREAK = re.compile(r"\n[ \t]*\n|\f")


@dataclass(frozen=True, slots=True)
class Passage:
    """A clause: `text[start:end]` of its source. `lead_in` and `title` stand elsewhere, as context."""

    source: Source
    start: int
    end: int
    text: str
    kind: BlockKind = BlockKind.PARAGRAPH
    page: int | None = None
    section: str | None = None
    title: str | None = None
    lead_in: str = ""
    language: str | None = None


@dataclass(slots=True)
class _Place:
    """Where in the document the reader is: section, title, and the lists that are open."""

    section: str | None = None
    title: str | None = None
    lead_ins: list["_LeadIn"] = field(default_factory=list)
    open_list: bool = False  # paragraphs that begin like items may still belong to the list
    unfinished: str = (
        ""  # a paragraph that was cut in the middle of a sentence, as page ends and odd line ends do
    )

    def heading(self, block: Block, words: str) -> None:
        self.title = words
        self.section = block.number or self.section_of_title(words)
        self.lead_ins = []
        self.open_list = False

    def section_of_title(self, words: str) -> str | None:
        first = words.split(" ", 1)[0].rstrip(".")
        return first if _DIGITS.match(first) and len(first) < 10 else None

    def lead_in(self, level: int, style: str) -> str:
        """The words that lead to an item of this level, outermost first.

        A list that began with (a) ends where 7. stands, though readers of PDFs call both items of one level.
        """
        while self.lead_ins and not self.lead_ins[-1].leads_to(level, style):
            self.lead_ins.pop()
        return " ".join(one.words for one in self.lead_ins)[-LONGEST_LEAD_IN:]

    def opens(self, level: int, words: str) -> None:
        while self.lead_ins and self.lead_ins[-1].level >= level:
            self.lead_ins.pop()
        self.lead_ins.append(_LeadIn(level, words[-LONGEST_LEAD_IN:]))


@dataclass(slots=True)
class _LeadIn:
    """Words that open a list: the level of its items, and how they are numbered, once one has come."""

    level: int
    words: str
    style: str | None = None

    def leads_to(self, level: int, style: str) -> bool:
        if self.level < level:
            return True
        if self.level > level:
            return False
        self.style = self.style or style
        return self.style == style


def split(text: Text, source: Source) -> tuple[Passage, ...]:
    """Every clause of the text, in its order. `text.text[p.start:p.end] == p.text`, always."""
    return tuple(_Splitter(text, source).passages())


class _Splitter:
    def __init__(self, text: Text, source: Source) -> None:
        self.text = text
        self.source = source
        self.page_starts = [page.start for page in text.pages]
        self.place = _Place()

    def passages(self) -> Iterator[Passage]:
        for block in self.text.blocks or _blocks(self.text.text):
            words = self.text.text[block.start : block.end]
            if block.kind in _FURNITURE or not words.strip():
                continue
            if block.kind is BlockKind.HEADING and len(words) <= _LONGEST_TITLE:
                self.place.heading(block, words.strip())
                continue
            yield from self._of(block, words)

    def _of(self, block: Block, words: str) -> Iterator[Passage]:
        item_level = self._item_level(block, words)
        lead_in = self.place.lead_in(item_level, _style(words)) if item_level else self._continued(words)
        section = self._section(block, is_item=bool(item_level))
        if not item_level:
            self.place.lead_ins = []
        for start, end, own_lead_in in _clauses(words, block):
            together = " ".join(filter(None, (lead_in, own_lead_in)))[-LONGEST_LEAD_IN:]
            yield self._passage(block, (block.start + start, block.start + end), section, together)
        self.place.unfinished = _unfinished(words)
        tail = words.rstrip()[-_LONGEST_END:]
        if _OPEN_END.search(tail) and not _CEREMONY.search(tail):
            last = sentences.split(words)[-1:] or [(0, len(words))]
            self.place.opens(item_level + 1, words[last[0][0] : last[0][1]].strip())
            self.place.open_list = True

    def _continued(self, words: str) -> str:
        """The words before the cut, where these go on with the sentence."""
        return self.place.unfinished if _GOES_ON.match(words.lstrip()) else ""

    def _item_level(self, block: Block, words: str) -> int:
        """How deep in a list the block stands; 0 where it stands in none."""
        if block.kind is BlockKind.LIST_ITEM:
            return block.level or 1
        continues = self.place.open_list and self.place.lead_ins and _ITEM_START.match(words.lstrip())
        if (
            block.kind is BlockKind.PARAGRAPH
            and continues
            and words.lstrip()[0] not in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        ):
            return self.place.lead_ins[-1].level
        self.place.open_list = False
        return 0

    def _section(self, block: Block, *, is_item: bool) -> str | None:
        number = block.number
        if number is None:
            return self.place.section
        if is_item and not re.search(r"\d\.\d", number) and (label := _ITEM_NUMBER.fullmatch(number.strip())):
            return f"{self.place.section or ''}({label[1]})"
        self.place.section = number
        return number

    def _passage(self, block: Block, bounds: tuple[int, int], section: str | None, lead_in: str) -> Passage:
        start, end = bounds
        return Passage(
            source=self.source,
            start=start,
            end=end,
            text=self.text.text[start:end],
            kind=block.kind,
            page=self._page(start, block),
            section=section,
            title=self.place.title,
            lead_in=lead_in,
            language=self.text.language,
        )

    def _page(self, start: int, block: Block) -> int | None:
        at = bisect_right(self.page_starts, start)
        return self.text.pages[at - 1].number if at else block.page


def _blocks(text: str) -> Sequence[Block]:
    """Paragraphs of a text that came without structure; lines, where no blank line parts it."""
    pattern = _BREAK if _BREAK.search(text) else re.compile(r"\n")
    cuts = [0, *(match.end() for match in pattern.finditer(text)), len(text)]
    bounds = (sentences.trimmed(text, start, end) for start, end in itertools.pairwise(cuts))
    return [Block(BlockKind.PARAGRAPH, *found) for found in bounds if found]


def _style(words: str) -> str:
    """How an item is numbered: its digits and letters made alike, (a) and (b) but not 7."""
    found = re.match(r"\(?(?:\d{1,2}(?:\.\d{1,2})*|[a-zA-Z]{1,5})[.)]", words.lstrip())
    if found is None:
        return ""
    return re.sub(r"\d+", "1", re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", found.group())))


def _unfinished(words: str) -> str:
    """The last sentence of a paragraph that breaks off in it; empty where it does not."""
    last = sentences.split(words)[-1:]
    if not last or not _BROKEN_OFF.search(words.rstrip()):
        return ""
    return words[slice(*last[0])][-LONGEST_LEAD_IN:]


def _clauses(words: str, block: Block) -> Iterator[tuple[int, int, str]]:
    """The clauses of a block as (start, end, what leads in to them within the block)."""
    if block.kind is BlockKind.TABLE_ROW or len(words) <= SHORT_PARAGRAPH:
        bounds = sentences.trimmed(words, 0, len(words))
        whole = [bounds] if bounds else []
    else:
        whole = sentences.split(words)
    for start, end in whole:
        yield from _points(words, start, end)


def _points(words: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    sentence = words[start:end]
    found = sentences.points(sentence) if len(sentence) > LONG_SENTENCE else []
    if not found:
        yield start, end, ""
        return
    has_lead_in = not sentence.startswith("(")
    lead_in = sentence[slice(*found[0])] if has_lead_in else ""
    for at, (first, last) in enumerate(found):
        yield start + first, start + last, "" if at == 0 else lead_in
