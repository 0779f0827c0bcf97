"""Lines become one string: hyphens at line ends, ligatures, and where a page begins in the middle."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property

from assay.content.extraction.pdf.lines import is_cjk
from assay.content.extraction.pdf.words import HYPHEN

_SOFT = "\u00ad"
_HYPHENS = frozenset("-\u2010" + HYPHEN + _SOFT)
_WORDS = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_LAST = re.compile(r"([^\W_]+)[-\u2010\ufffe\u00ad]$")
_FIRST = re.compile(r"[^\W\d_]+")
_SUSPENDED = frozenset(
    {"und", "oder", "bzw", "sowie", "and", "or", "et", "ou", "y", "o", "e", "en", "of", "to", "bis"}
)
_HYPHENATED = frozenset({"non", "self", "quasi"})
_WHOLE = frozenset(
    {"with", "there", "here", "where", "not", "under", "over", "any", "some", "every", "out", "none", "when"}
)
_FRENCH = frozenset(
    {
        "ci",
        "là",
        "il",
        "ils",
        "elle",
        "elles",
        "on",
        "vous",
        "nous",
        "je",
        "tu",
        "moi",
        "toi",
        "lui",
        "même",
        "mêmes",
        "dire",
    }
)
_FORMS = re.compile("[\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]")
_DROPPED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u2060\ufeff\uffff\u00ad\ud800-\udfff]")
_BULLETS = str.maketrans(
    {"\uf0b7": "•", "\uf0a7": "▪", HYPHEN: "-", "\u00a0": " ", "\u2028": " ", "\u2029": " "}
)


class Vocabulary:
    """The words of the document itself: whether it writes a word with a hyphen or without."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    @cached_property
    def _known(self) -> set[str]:
        """Without the halves of words that line ends part."""
        known: set[str] = set()
        broken = False
        for line in self._lines:
            words = _WORDS.findall(line.lower())
            starts, broken = broken, line[-1:] in _HYPHENS
            known.update(words[1 if starts else 0 : len(words) - 1 if broken else None])
        return known

    def keeps_hyphen(self, before: str, after: str) -> bool:
        """Whether the hyphen between two halves of a word, parted by a line end, is its own."""
        first, second = before.lower(), after.lower()
        if not first.isalpha():
            return True
        if first + second in self._known:
            return False
        if first in _HYPHENATED or {f"{first}-{second}", f"{first}\u2010{second}"} & self._known:
            return True
        if after[0].isupper():
            return not (before.isupper() and after.isupper())
        return first not in _WHOLE and not before[0].isupper() and self._compound(first, second)

    def _compound(self, first: str, second: str) -> bool:
        """Whether two words make one with a hyphen: a guess by language where the document is silent."""
        if {"les", "des"} <= self._known:
            return second in _FRENCH
        words = len(first) > 3 and len(second) > 3 and {first, second} <= self._known
        return words and "the" in self._known and "und" not in self._known


def clean(text: str) -> str:
    """Ligatures and positional letter forms as plain letters; marks without ink left out."""
    if text.isascii() and text.isprintable():
        return text
    text = _FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return " ".join(_DROPPED.sub("", text.translate(_BULLETS)).split())


def join(lines: Sequence[str], vocabulary: Vocabulary) -> tuple[str, list[int]]:
    """The lines as running text, and the offset at which each begins in it."""
    pieces: list[str] = []
    offsets: list[int] = []
    position = 0
    for index, line in enumerate(lines):
        body, glue = line, ""
        if index + 1 < len(lines):
            body, glue = _seam(line, lines[index + 1], vocabulary)
        piece = clean(body) + glue
        offsets.append(position)
        pieces.append(piece)
        position += len(piece)
    return "".join(pieces), offsets


def _seam(line: str, following: str, vocabulary: Vocabulary) -> tuple[str, str]:
    """The line as it stands before the next one, and what stands between the two."""
    if not line or not following:
        return line, " " if line else ""
    if line[-1] not in _HYPHENS:
        return line, "" if _runs_on_in_cjk(line[-1], following[0]) else " "
    before, after = _LAST.search(line), _FIRST.match(following)
    if line[-1] == _SOFT:
        return line[:-1], ""
    if before is None or after is None:
        return line, "" if before and following[0].isdigit() else " "
    if after[0].lower() in _SUSPENDED:
        return line, " "
    return (line if vocabulary.keeps_hyphen(before[1], after[0]) else line[:-1]), ""


def _runs_on_in_cjk(last: str, first: str) -> bool:
    """Scripts without spaces, where figures stand among the letters too."""
    if not is_cjk(last):
        return last.isdigit() and is_cjk(first)
    return is_cjk(first) or first.isdigit()
