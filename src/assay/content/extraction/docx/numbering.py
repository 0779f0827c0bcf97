"""Numbers of clauses as Word prints them: they stand nowhere in the text and have to be counted."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from assay.content.extraction.docx.names import ALTERNATE as _ALTERNATE
from assay.content.extraction.docx.names import (
    OFF,
    R_PR,
    VAL,
    VANISH,
    Element,
    alternative,
    child_of,
    number,
    switched,
    value,
    w,
)
from assay.content.extraction.docx.numerals import numeral
from assay.content.extraction.docx.styles import Styles
from assay.content.extraction.docx.symbols import holds_codes, is_symbol_font, translate
from assay.content.models import DamagedDocument, OverLimit

_LEVELS = 9
_MAX_LABEL = 500
_MAX_LABELS_TOTAL = 20_000_000
_PLACE = re.compile(r"%([1-9])")
_SUFFIXES = {"tab": " ", "space": " ", "nothing": ""}
_NUM_ID, _ABSTRACT_ID, _LEVEL = w("numId"), w("abstractNumId"), w("ilvl")
_NUM, _ABSTRACT, _LVL, _OVERRIDE = w("num"), w("abstractNum"), w("lvl"), w("lvlOverride")
_START_OVERRIDE, _LINKED_STYLE, _STYLE_LINK = w("startOverride"), w("pStyle"), w("numStyleLink")
_TEXT, _SUFFIX, _LEGAL, _RESTART, _START = w("lvlText"), w("suff"), w("isLgl"), w("lvlRestart"), w("start")
_NUMBER_FORMAT, _FONTS, _ASCII = w("numFmt"), w("rFonts"), w("ascii")
_PATTERN, _PICTURE = w("format"), w("lvlPicBulletId")


@dataclass(frozen=True, slots=True)
class Level:
    start: int = 1
    style: str = "decimal"
    text: str = ""
    suffix: str = " "
    legal: bool = False
    restart: int | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """What stands in front of a paragraph. A bullet is printed too, but is no number to cite."""

    text: str
    suffix: str
    level: int
    is_bullet: bool


@dataclass(slots=True)
class List:
    """A list as a paragraph names it. Levels are read when the first paragraph needs them: few ever are."""

    abstract_id: str
    elements: dict[int, Element]
    starts: dict[int, int] = field(default_factory=dict)
    linked: dict[str, int] = field(default_factory=dict)
    _levels: dict[int, Level | None] = field(default_factory=dict)

    def level(self, index: int) -> Level | None:
        if index not in self._levels:
            self._levels[index] = self._read(index)
        return self._levels[index]

    def level_or_plain(self, index: int) -> Level:
        return self.level(index) or _PLAIN

    def _read(self, index: int) -> Level | None:
        element = self.elements.get(index)
        start = self.starts.get(index)
        if element is None:
            return None if start is None else replace(_PLAIN, start=start)
        level = _level(element)
        return level if start is None else replace(level, start=start)


_PLAIN = Level()


@dataclass(slots=True)
class Numbering:
    """The definitions, opened when the first list is met. Counting is done by `Counters`."""

    open_part: Callable[[], Element | None]
    styles: Styles
    printed: int = 0
    _abstracts: dict[str, Element] = field(default_factory=dict)
    _elements: dict[str, Element] = field(default_factory=dict)
    _lists: dict[str, List | None] = field(default_factory=dict)
    _is_open: bool = False

    def find(self, num_id: str) -> List | None:
        """The list of this id; `0` and unknown ids mean no list."""
        if num_id not in self._lists:
            self._open()
            self._lists[num_id] = self._resolve(num_id)
        return self._lists[num_id]

    def linked_level(self, num_id: str, lineage: tuple[str, ...]) -> int | None:
        """The level of a list that is tied to a style, or to one that it is based on."""
        found = self.find(num_id)
        if found is None or not found.linked:
            return None
        return next((found.linked[style] for style in lineage if style in found.linked), None)

    def _open(self) -> None:
        root = None if self._is_open else self.open_part()
        self._is_open = True
        if root is not None:
            self._abstracts = {each.get(_ABSTRACT_ID, ""): each for each in root.iterchildren(_ABSTRACT)}
            self._elements = {each.get(_NUM_ID, ""): each for each in root.iterchildren(_NUM)}

    def _resolve(self, num_id: str) -> List | None:
        element = self._elements.get(num_id)
        abstract_id = None if element is None or num_id == "0" else self._abstract_id(num_id)
        if element is None or abstract_id is None:
            return None
        found = List(abstract_id, _by_index(self._abstracts[abstract_id]))
        for override in element.iterchildren(_OVERRIDE):
            index = number(override.get(_LEVEL)) or 0
            start = number(value(override, _START_OVERRIDE))
            own = child_of(override, _LVL)
            if own is not None:
                found.elements[index] = own
            if start is not None:
                found.starts[index] = start
        for index, each in found.elements.items():
            style = value(each, _LINKED_STYLE)
            if style:
                found.linked.setdefault(style, index)
        return found

    def _abstract_id(self, num_id: str) -> str | None:
        """The definition with levels in it; a list may name a style that names a list, and so on."""
        seen: set[str] = set()
        current: str | None = num_id
        while current is not None and current not in seen and current in self._elements:
            seen.add(current)
            abstract_id = value(self._elements[current], _ABSTRACT_ID) or ""
            abstract = self._abstracts.get(abstract_id)
            if abstract is None:
                return None
            linked = value(abstract, _STYLE_LINK)
            if linked is None or child_of(abstract, _LVL) is not None:
                return abstract_id
            current = self.styles.numbering(linked).num_id
        return None


def _by_index(abstract: Element) -> dict[int, Element]:
    return {number(each.get(_LEVEL)) or 0: each for each in abstract.iterchildren(_LVL)}


def _level(element: Element) -> Level:
    said = {child.tag: child for child in element}
    values = {tag: child.get(VAL) for tag, child in said.items()}
    text = values.get(_TEXT) or ""
    if len(text) > _MAX_LABEL:
        raise DamagedDocument("A list of the DOCX has a longer label than Word allows.")
    style = _format(said)
    run = said.get(R_PR)
    if style == "bullet":
        text = _bullet(text, run, is_picture=_PICTURE in said)
    start = number(values.get(_START))
    return Level(
        start=1 if start is None else start,
        style=style,
        text=text,
        suffix=_SUFFIXES.get(values.get(_SUFFIX) or "tab", " "),
        legal=_LEGAL in said and (values[_LEGAL] or "1") not in OFF,
        restart=number(values.get(_RESTART)),
        hidden=bool(switched(run, VANISH)),
    )


def _format(said: dict[str, Element]) -> str:
    """The number format; `zeros3` stands for a custom one, such as `001, 002, …`."""
    found = said.get(_NUMBER_FORMAT)
    if found is None and _ALTERNATE in said:
        branch = alternative(said[_ALTERNATE])
        found = None if branch is None else child_of(branch, _NUMBER_FORMAT)
    if found is None:
        return "decimal"
    style = str(found.get(VAL, "decimal"))
    zeros = re.match(r"0+(?=1)", found.get(_PATTERN, "")) if style == "custom" else None
    return f"zeros{len(zeros[0]) + 1}" if zeros else style


def _bullet(text: str, run: Element | None, *, is_picture: bool) -> str:
    fonts = child_of(run, _FONTS)
    font = None if fonts is None else fonts.get(_ASCII)
    if is_picture:
        return "•"
    if is_symbol_font(font) or holds_codes(text):
        return translate(text, font).replace("\N{REPLACEMENT CHARACTER}", "•")
    # The hollow bullet of Word's own templates is a letter, which would read as a word.
    return "◦" if text == "o" else text


@dataclass(slots=True)
class Counters:
    """Where each list stands. Lists of one abstract definition count on together, as they do in Word."""

    numbering: Numbering
    _counts: dict[str, list[int | None]] = field(default_factory=dict)
    _begun: set[tuple[str, int]] = field(default_factory=set)

    def label(self, num_id: str, index: int) -> Label | None:
        """Count one paragraph and say what is printed in front of it."""
        found = self.numbering.find(num_id)
        if found is None or not 0 <= index < _LEVELS:
            return None
        level = found.level(index)
        if level is None:
            return None
        counts = self._counts.setdefault(found.abstract_id, [None] * _LEVELS)
        self._advance(found, num_id, counts, index)
        text = "" if level.hidden else _printed(found, counts, index).strip()
        self.numbering.printed += len(text)
        if self.numbering.printed > _MAX_LABELS_TOTAL:
            raise OverLimit("The numbers of the lists in the DOCX are longer than 20 MB.")
        return Label(text, level.suffix if text else "", index + 1, level.style == "bullet")

    def _advance(self, found: List, num_id: str, counts: list[int | None], index: int) -> None:
        for above in range(index):
            # A level that was skipped counts as used: after "1.1" the next chapter is 2.
            if counts[above] is None:
                counts[above] = found.level_or_plain(above).start
        restarted = index in found.starts and (num_id, index) not in self._begun
        self._begun.add((num_id, index))
        before = counts[index]
        counts[index] = found.level_or_plain(index).start if before is None or restarted else before + 1
        for below in range(index + 1, _LEVELS):
            if counts[below] is None:
                continue
            restart = found.level_or_plain(below).restart
            if restart is None or index < restart:
                counts[below] = None


def _printed(found: List, counts: list[int | None], index: int) -> str:
    own = found.level_or_plain(index)

    def place(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        level = found.level_or_plain(at)
        count = counts[at]
        style = "decimal" if own.legal and level.style not in {"bullet", "none"} else level.style
        return _numeral(level.start if count is None else count, style)

    return own.text if own.style == "bullet" else _PLACE.sub(place, own.text)


def _numeral(count: int, style: str) -> str:
    if style.startswith("zeros"):
        return f"{count:0{min(int(style[5:]), 9)}d}"
    return numeral(count, style)
