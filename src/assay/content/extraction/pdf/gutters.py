"""White strips down a page that part columns or the cells of a table."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean

from assay.content.extraction.pdf.lines import is_label, rows_of
from assay.content.extraction.pdf.words import Fragment

_LEAST_GAP = 0.7  # of the font size
_LEAST_STRIP = 0.5
_BESIDE = 0.75
_TRIES = 12
_NEIGHBOURS = 60  # looked at on either side: what has more on one height is no page of text
_MOST = 5_000  # fragments of a page that are searched for columns


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbours on about the same height, with white between them."""

    before: Fragment
    after: Fragment

    @property
    def left(self) -> float:
        return self.before.right

    @property
    def right(self) -> float:
        return self.after.left

    @property
    def level(self) -> float:
        return max(self.before.baseline, self.after.baseline)


@dataclass(frozen=True, slots=True)
class Gutter:
    """A strip around `x` that nothing crosses between `top` and `bottom` (baselines)."""

    x: float
    top: float
    bottom: float
    pairs: tuple[Pair, ...]


def find_gutter(fragments: Sequence[Fragment]) -> Gutter | None:
    """The strip that parts most neighbours, unless what it parts are labels or the words of a line."""
    pairs = _pairs(fragments) if len(fragments) <= _MOST else []
    for _ in range(_TRIES):
        if len(pairs) < 2:
            return None
        x, stabbed = _densest(pairs)
        if len(stabbed) < 2:
            return None
        band = _widest_band(fragments, x, stabbed)
        if len(band) >= 2 and _parts(band, fragments):
            return Gutter(x, band[0].level, band[-1].level, tuple(band))
        tried = {id(pair) for pair in (stabbed if len(band) < 2 else band)}
        pairs = [pair for pair in pairs if id(pair) not in tried]
    return None


def _parts(band: Sequence[Pair], fragments: Sequence[Fragment]) -> bool:
    wide = _strip(band) >= _least_strip(len(band)) * band[0].before.size
    return wide and not _labels(band) and not _justified(band, fragments)


def _pairs(fragments: Sequence[Fragment]) -> list[Pair]:
    ordered = sorted(fragments, key=lambda item: item.baseline)
    pairs: list[Pair] = []
    for index, fragment in enumerate(ordered):
        beside: Fragment | None = None
        for other in _near(ordered, index):
            if other.left >= fragment.right and (beside is None or other.left < beside.left):
                beside = other
        if beside is not None and beside.left - fragment.right >= _LEAST_GAP * max(
            fragment.size, beside.size
        ):
            pairs.append(Pair(fragment, beside))
    return pairs


def _near(ordered: Sequence[Fragment], index: int) -> list[Fragment]:
    """What stands on about the same height as the fragment at this index."""
    here = ordered[index]
    near: list[Fragment] = []
    for step in (-1, 1):
        position = index + step
        while 0 <= position < len(ordered) and abs(position - index) <= _NEIGHBOURS:
            other = ordered[position]
            if abs(other.baseline - here.baseline) > _BESIDE * max(here.size, other.size):
                break
            near.append(other)
            position += step
    return near


def _densest(pairs: Sequence[Pair]) -> tuple[float, list[Pair]]:
    """The place that lies in the white of most pairs, and those pairs from the top down."""
    edges = sorted([(pair.left, 0) for pair in pairs] + [(pair.right, 1) for pair in pairs])
    depth = best = 0
    start = end = 0.0
    rising = False
    for x, closes in edges:
        depth += -1 if closes else 1
        if closes and rising:
            end, rising = x, False
        if depth > best:
            best, start, rising = depth, x, True
    middle = (start + end) / 2
    inside = [pair for pair in pairs if pair.left <= middle <= pair.right]
    return middle, sorted(inside, key=lambda pair: pair.level)


def _widest_band(fragments: Sequence[Fragment], x: float, pairs: Sequence[Pair]) -> list[Pair]:
    """The most pairs without anything across the strip between them."""
    across = sorted(item.baseline for item in fragments if item.left < x - 1 and item.right > x + 1)
    best: list[Pair] = []
    band: list[Pair] = []
    for pair in pairs:
        if band and bisect_left(across, pair.level) > bisect_right(across, band[-1].level):
            band = []
        band.append(pair)
        if len(band) > len(best):
            best = list(band)
    return best


def _labels(band: Sequence[Pair]) -> bool:
    """Numbers and bullets before their text are no column."""
    marks = sum(1 for pair in band if is_label(pair.before.text))
    return marks * 2 > len(band)


def _justified(band: Sequence[Pair], fragments: Sequence[Fragment]) -> bool:
    """Whether the white is that between words of lines stretched to full width: the same all along a line."""
    top = min(min(pair.before.baseline, pair.after.baseline) for pair in band)
    rows = rows_of(item for item in fragments if top <= item.baseline <= band[-1].level)
    gaps = [
        [after.left - before.right for before, after in pairwise(sorted(row, key=lambda item: item.left))]
        for row in rows
        if len(row) > 3
    ]
    even = sum(1 for row in gaps if 0 < max(row) < 1.4 * min(row))
    return even * 2 > len(band)


def _least_strip(count: int) -> float:
    """Words of justified lines leave wide gaps, which now and then stand over each other by chance."""
    return max(_LEAST_STRIP, 2.4 - 0.4 * count)


def _strip(band: Sequence[Pair]) -> float:
    return min(pair.right for pair in band) - max(pair.left for pair in band)


def is_prose(fragments: Sequence[Fragment]) -> bool:
    """Whether these read as running text in a column: several lines, of words, that fill its width."""
    rows = rows_of(fragments)
    if len(rows) < 3:
        return False
    left = min(item.left for item in fragments)
    width = max(item.right for item in fragments) - left
    size = mean(item.size for item in fragments)
    split = sum(1 for row in rows if _has_wide_gap(row))
    if split * 2 > len(rows):
        return _in_columns(fragments)
    filled = mean((max(i.right for i in row) - min(i.left for i in row)) / width for row in rows)
    words = mean(sum(_words(item.text) for item in row) for row in rows)
    return filled >= 0.5 and words >= 3 and width >= 10 * size


def _in_columns(fragments: Sequence[Fragment]) -> bool:
    pairs = _pairs(fragments)
    if len(pairs) < 3:
        return False
    x, _ = _densest(pairs)
    left = [item for item in fragments if item.right <= x + 1]
    right = [item for item in fragments if item.left >= x - 1]
    both = len(left) + len(right) == len(fragments) and len(left) > 2 and len(right) > 2
    return both and is_prose(left) and is_prose(right)


def _has_wide_gap(row: Sequence[Fragment]) -> bool:
    ordered = sorted(row, key=lambda item: item.left)
    return any(
        after.left - before.right >= 1.2 * after.size and not is_label(before.text)
        for before, after in pairwise(ordered)
    )


def _words(text: str) -> int:
    """Words, or for scripts without spaces a third of the letters."""
    return text.count(" ") + 1 if text.isascii() or " " in text else max(1, len(text) // 3)


def may_part(fragments: Sequence[Fragment]) -> bool:
    """Whether it is worth while to look for drawn lines: something stands beside something else."""
    if len(fragments) > _MOST:
        return False
    return sum(1 for pair in _pairs(fragments) if not is_label(pair.before.text)) >= 2
