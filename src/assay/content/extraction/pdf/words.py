"""The text layer of one page as fragments: stretches of a line with place, size and weight.

PDFium finds the characters; this module asks where each word stands (two boxes a word, not one for
each character), sets apart what may be hidden, and joins neighbouring words. Places are in the
frame of the text itself: whichever way a page or its text is turned, `left` to `right` follows the
line and `baseline` grows down the page.
"""

import ctypes
import math
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from operator import sub
from statistics import median
from typing import NamedTuple

from assay.content.extraction.pdf import native
from assay.content.extraction.pdf.styles import Style, StyleReader

HYPHEN = "\ufffe"  # PDFium's mark for a hyphen at the end of a line
_WORD = re.compile(rf"[^\s{HYPHEN}]+{HYPHEN}?|{HYPHEN}")
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_UNMAPPED = re.compile("[\x00\ue000-\uf0a6\uf0b8-\uf8ff\ufffd]")
_NO_SPACE_BEFORE = frozenset(",.;:)]}%\u2019”»?!" + HYPHEN)
_NO_SPACE_AFTER = frozenset("([{«“")
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_WORD_GAP = 0.7  # of the font size: a wider gap may part columns or cells
_OVERLAP = -0.35
_MISSING_SPACE = 0.15
_SAME_LINE = 0.15
_SIZE_STEP = 0.12
_LONG_WORD = 64
_UNSEEN = frozenset({"off the page", "under 1 pt"})

Box = tuple[float, float, float, float]  # left, bottom, right, top in the page's own space


@dataclass(slots=True)
class Fragment:
    """Part of a line. `turn` counts quarter turns of the text against the page, or is TURNED."""

    text: str
    left: float
    right: float
    baseline: float
    size: float
    bold: bool
    turn: int = 0
    table: int | None = None  # stands for a line of this table, which is laid out apart

    @property
    def top(self) -> float:
        return self.baseline - 0.8 * self.size

    @property
    def bottom(self) -> float:
        return self.baseline + 0.25 * self.size


@dataclass(slots=True)
class TextLayer:
    """`doubtful` holds, by reason, what stands on the page but may not be seen, with its box."""

    fragments: list[Fragment] = field(default_factory=list)
    hidden: Counter[str] = field(default_factory=Counter)
    doubtful: dict[str, list[tuple[Fragment, Box]]] = field(default_factory=dict)
    characters: int = 0
    unmapped: int = 0


def is_rtl(text: str) -> bool:
    return _RTL.search(text) is not None


def frame_point(turn: int, page: Box, x: float, y: float) -> tuple[float, float]:
    """A point of the page's own space in the frame of text that is turned so."""
    left, bottom, right, top = page
    if turn == 1:
        return y - bottom, x - left
    if turn == 2:
        return right - x, y - bottom
    if turn == 3:
        return top - y, right - x
    return x - left, top - y


def frame_box(turn: int, page: Box, box: Box) -> Box:
    """A box of the page's own space as left, top, right, bottom in the frame of the text."""
    x1, y1 = frame_point(turn, page, box[0], box[1])
    x2, y2 = frame_point(turn, page, box[2], box[3])
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


class _Word(NamedTuple):
    text: str
    start: int
    box: Box
    style: Style
    spaced: bool  # white space stands before it


class LayerReader:
    """Reads one page. Handles of PDFium are valid only while the page is open."""

    def __init__(self, text_page: int, text: str, page_box: Box) -> None:
        self._page = text_page
        self._text = text
        self._box = page_box
        self._styles = StyleReader(text_page)
        self._floats = native.Floats(4)
        self._letters = native.Floats(4 * _LONG_WORD)
        self._doubles = native.Floats(2, ctypes.c_double)
        self._doubles_at = self._doubles.at
        self._last_line: tuple[Style | None, float, float] = (None, 0.0, 0.0)

    def read(self) -> TextLayer:
        layer = TextLayer(characters=len(self._text), unmapped=len(_UNMAPPED.findall(self._text)))
        current: Fragment | None = None
        style: Style | None = None
        level, edge, offset = 0.0, 0.0, self._box[0]
        for word in self._words():
            box = word.box
            if current is not None and word.style is style and box[1] == level and style.turn == 0:
                gap = box[0] - edge
                if 0 <= gap <= _WORD_GAP * style.size:  # the next word of the same line: nearly all of them
                    current.text += " " + word.text if word.spaced else word.text
                    edge = box[2]
                    current.right = edge - offset
                    continue
            known = self._kept(layer, word, current, style)
            if known is not None:
                current, style, level, edge = known, word.style, box[1], known.right + offset
        layer.fragments = _each_once(layer.fragments)
        return layer

    def _kept(
        self, layer: TextLayer, word: _Word, current: Fragment | None, style: Style | None
    ) -> Fragment | None:
        """The fragment that now holds the word, or None when no reader sees it."""
        doubt = self._doubt(word)
        if doubt in _UNSEEN:
            layer.hidden[doubt] += len(word.text)
            return None
        placed = self._placed(word)
        if (
            current is not None
            and style is not None
            and doubt == style.doubt
            and _joins(current, placed, spaced=word.spaced)
        ):
            _append(current, placed, spaced=word.spaced)
            return current
        if doubt is None:
            layer.fragments.append(placed)
        else:
            layer.doubtful.setdefault(doubt, []).append((placed, word.box))
        return placed

    def _words(self) -> Iterator[_Word]:
        page, styles = self._page, self._styles.known
        spans = [match.span() for match in _WORD.finditer(self._text)]
        starts = [start for start, _ in spans]
        lasts = [stop - 1 for _, stop in spans]
        owners = map(native.char_object, repeat(page), starts)
        last_owners = map(native.char_object, repeat(page), lasts)
        end = 0
        for (start, stop), first, last, owner, last_owner in zip(
            spans, self._boxes(starts), self._boxes(lasts), owners, last_owners, strict=True
        ):
            left, top, right, bottom = first
            left2, top2, right2, bottom2 = last
            spaced, end = start > end, stop
            style = styles.get(owner) or self._styles.of(owner or 0, start, top - bottom)
            if last_owner != owner:
                uneven = abs(bottom2 - bottom) + abs(top2 - top) > 0.1 * style.size
                if uneven or self._parted(start, stop, style, backwards=left2 < left):
                    yield from self._parts(start, stop, spaced=spaced)
                    continue
            if bottom == bottom2 and left <= left2:
                box = (left, bottom, right2, top)
            else:
                box = _union((left, bottom, right, top), (left2, bottom2, right2, top2))
            yield _Word(self._text[start:stop], start, box, style, spaced)

    def _boxes(self, indexes: Sequence[int]) -> Iterator[Box]:
        """The box of each character asked for, as PDFium orders it: left, top, right, bottom."""
        room = native.Floats(4 * len(indexes))
        at = room.start
        ends = range(at, at + 16 * len(indexes), 16)
        deque(map(native.char_box, repeat(self._page), indexes, ends), maxlen=0)
        values = room.values[:]
        return zip(values[0::4], values[1::4], values[2::4], values[3::4], strict=True)

    def _parted(self, start: int, stop: int, style: Style, *, backwards: bool) -> bool:
        """Whether a word drawn in several pieces has white in it; asked of every such word, so fast."""
        count = stop - start
        if style.turn != 0 or count > _LONG_WORD:
            return True
        at = self._letters.start
        deque(
            map(native.char_box, repeat(self._page), range(start, stop), range(at, at + 16 * count, 16)),
            maxlen=0,
        )
        lefts = self._letters.values[0 : 4 * count : 4]
        rights = self._letters.values[2 : 4 * count : 4]
        gaps = map(sub, lefts, rights[1:]) if backwards else map(sub, lefts[1:], rights)
        return bool(max(gaps) > _MISSING_SPACE * style.size)

    def _parts(self, start: int, stop: int, *, spaced: bool) -> Iterator[_Word]:
        """A word of several text objects: apart where the size or line changes or a space is missing."""
        letters = list(self._each_letter(start, stop))
        letters[0] = letters[0]._replace(spaced=spaced)
        wide = _MISSING_SPACE + max(0.0, median(map(_gap, letters, letters[1:])))
        word = letters[0]
        for before, letter in pairwise(letters):
            size = max(letter.style.size, before.style.size)
            shifted = abs(letter.box[1] - before.box[1]) > 0.2 * size
            parted = _gap(before, letter) > wide
            parted = parted and letter.text not in _NO_SPACE_BEFORE and before.text not in _NO_SPACE_AFTER
            if shifted or parted or letter.style.doubt != before.style.doubt:
                yield word
                word = letter._replace(spaced=parted and not shifted)
            else:
                word = word._replace(text=word.text + letter.text, box=_union(word.box, letter.box))
        yield word

    def _each_letter(self, start: int, stop: int) -> Iterator[_Word]:
        floats, at = self._floats.values, self._floats.start
        for index in range(start, stop):
            owner = native.char_object(self._page, index) or 0
            native.char_box(self._page, index, at)
            left, top, right, bottom = floats[:4]
            style = self._styles.known.get(owner) or self._styles.of(owner, index, top - bottom)
            yield _Word(self._text[index], index, (left, bottom, right, top), style, spaced=False)

    def _doubt(self, word: _Word) -> str | None:
        left, bottom, right, top = self._box
        box = word.box
        # Written so that a box which is not a number is off the page too.
        if not (box[2] > left and box[0] < right and box[3] > bottom and box[1] < top):
            return "off the page"
        return "under 1 pt" if word.style.size < 1 else word.style.doubt

    def _placed(self, word: _Word) -> Fragment:
        style, box = word.style, word.box
        if style.turn != 0:
            left, _, right, _ = frame_box(style.turn, self._box, box)
        else:
            left, right = box[0] - self._box[0], box[2] - self._box[0]
        last_style, last_bottom, baseline = self._last_line
        if last_style is not style or last_bottom != box[1] or style.turn != 0:
            x, y = self._origin(word)
            _, baseline = frame_point(style.turn, self._box, x, y)
            self._last_line = (style, box[1], baseline)
        return Fragment(word.text, left, right, baseline, style.size, style.bold, style.turn)

    def _origin(self, word: _Word) -> tuple[float, float]:
        if not native.char_origin(self._page, word.start, *self._doubles_at):
            return word.box[0], word.box[1]
        x, y = self._doubles.values
        return (x, y) if math.isfinite(x) and math.isfinite(y) else (word.box[0], word.box[1])


def _gap(before: _Word, after: _Word) -> float:
    """The white between two letters, in parts of the font size, whichever way they run."""
    if before.style.turn in {1, 3}:
        white = max(after.box[1] - before.box[3], before.box[1] - after.box[3])
    else:
        white = max(after.box[0] - before.box[2], before.box[0] - after.box[2])
    return white / max(before.style.size, after.style.size)


def _union(one: Box, other: Box) -> Box:
    return (
        min(one[0], other[0]),
        min(one[1], other[1]),
        max(one[2], other[2]),
        max(one[3], other[3]),
    )


def _joins(current: Fragment, word: Fragment, *, spaced: bool) -> bool:
    if current.turn != word.turn:
        return False
    size = max(current.size, word.size)
    drop = current.baseline - word.baseline
    raised = not spaced and word.size < 0.85 * current.size and 0.1 * size < drop < 0.6 * size
    if not raised and (abs(drop) > _SAME_LINE * size or abs(current.size - word.size) > _SIZE_STEP * size):
        return False
    if _OVERLAP * size <= word.left - current.right <= _WORD_GAP * size:
        return True
    if _OVERLAP * size <= current.left - word.right <= _WORD_GAP * size:
        return is_rtl(current.text) or is_rtl(word.text)
    return False


def _append(current: Fragment, word: Fragment, *, spaced: bool) -> None:
    text = word.text
    if word.size < 0.85 * current.size and current.baseline - word.baseline > 0.1 * current.size:
        text = text.translate(SUPERSCRIPT)
    elif len(text) > len(current.text):
        current.size = word.size
    current.text += " " + text if spaced else text
    current.left = min(current.left, word.left)
    current.right = max(current.right, word.right)
    current.bold = current.bold and word.bold


def _each_once(fragments: list[Fragment]) -> list[Fragment]:
    """Without the second copy of what was drawn twice to look bold or to cast a shadow."""
    seen: dict[tuple[str, int, int, int], Fragment] = {}
    kept: list[Fragment] = []
    for fragment in fragments:
        reach = max(0.2 * fragment.size, 0.01)
        column, row = int(fragment.left / reach), int(fragment.baseline / reach)
        twins = (
            seen.get((fragment.text, fragment.turn, column + x, row + y))
            for x in (0, -1, 1)
            for y in (0, -1, 1)
        )
        if any(twins):
            continue
        seen[fragment.text, fragment.turn, column, row] = fragment
        kept.append(fragment)
    return kept
