"""Where sentences and the points of a list within a sentence begin and end, as offsets."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

Bounds = tuple[int, int]

# Only the first of a run of points may begin an end: dotted leaders are long, trying each takes ages.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*(?=\s+[\"'“„‘«(\[]*[A-ZÀ-ÞА-Я0-9])")
# A point after one of these ends no sentence.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"“„])(?:e\.g|i\.e|cf|etc|no|nos|art|arts|sec|secs|sect|para|paras|cl|p|pp|inc|ltd|co|corp|llc|plc"
    r"|mr|mrs|ms|dr|prof|st|vs|v|approx|dept|est|fig|vol|ref|tel|attn|u\.s|u\.k|e\.u|d\.c|a\.m|p\.m"
    r"|abs|nr|bzw|z\.\s?b|d\.\s?h|u\.\s?a|ggf|inkl|lit|ziff|s|vgl|usw|sog|[a-z]|\d{1,3}(?:\.\d{1,2})*)$",
    re.IGNORECASE,
)
_MARKER = re.compile(r"(?<![\w)])\((?:([a-z]{1,2}|[ivx]{1,6})|(\d{1,2}))\)(?=\s*\S)", re.IGNORECASE)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
_FEWEST_POINTS = 2


def split(text: str) -> list[Bounds]:
    """The sentences of a paragraph, each without the space around it; together they hold all its words."""
    cuts = [0, *(match.end() for match in _END.finditer(text) if not _is_abbreviated(text, match)), len(text)]
    return [bounds for start, end in pairwise(cuts) if (bounds := trimmed(text, start, end))]


def points(text: str) -> list[Bounds]:
    """The stretches of a sentence that counts its points, (a) … (b) …: what leads in, then each point.

    Empty where it counts none. Markers must follow one another, so "under (b) above" begins no point.
    """
    starts = _markers(text)
    if len(starts) < _FEWEST_POINTS:
        return []
    cuts = [0, *starts, len(text)]
    return [bounds for start, end in pairwise(cuts) if (bounds := trimmed(text, start, end))]


def trimmed(text: str, start: int, end: int) -> Bounds | None:
    """The same stretch without white space at its ends; None where nothing is left."""
    piece = text[start:end]
    inner = piece.strip()
    if not inner:
        return None
    start += piece.index(inner[0])
    return start, start + len(inner)


def _is_abbreviated(text: str, match: re.Match[str]) -> bool:
    if match.group()[0] != ".":
        return False
    return _ABBREVIATION.search(text[max(0, match.start() - 12) : match.start()]) is not None


def _markers(text: str) -> list[int]:
    """The longest run of markers in their order: a b c, i ii iii or 1 2 3."""
    found = [(match.start(), (match[1] or match[2]).lower()) for match in _MARKER.finditer(text)]
    return max((_run(found, series) for series in _series()), key=len, default=[])


def _series() -> Iterator[Sequence[str]]:
    yield [chr(letter) for letter in range(ord("a"), ord("z") + 1)]
    yield _ROMAN
    yield [str(number) for number in range(1, 40)]


def _run(found: Sequence[tuple[int, str]], series: Sequence[str]) -> list[int]:
    starts: list[int] = []
    for start, label in found:
        if len(starts) < len(series) and label == series[len(starts)]:
            starts.append(start)
    return starts
