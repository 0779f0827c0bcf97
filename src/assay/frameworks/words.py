"""Text into folded words with their places, so that "Sub-Processor's" and "subprocessor" can be compared.

Folding never moves an offset: each word is folded by itself and keeps its place in the original text.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import lru_cache

# Words may hold soft hyphens and combining marks, as PDF text does; apostrophes only between letters.
# "sub-processor" is one word: it is no processor, and "the sub- processor shall" is not the processor's duty.
_WORD = re.compile(
    r"\d+(?:[.,]\d+)*"
    r"|(?:[Ss][Uu][Bb][-\u2010-\u2013\s]{1,2}(?=[^\W\d_]))?"
    r"[^\W\d_](?:[\w\u00ad\u200b-\u200d\u0300-\u036f]|['\u2019\u02bc](?=\w))*"
    r"|[%§]"
)
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200d\s\u2010-\u2013-]")
_POSSESSIVE = re.compile(r"['\u2019\u02bc]s$|['\u2019\u02bc]")

_MOST_KNOWN = 100_000

# British and American spelling, folded to one of them. Stems with a wildcard (`authoriz*`) pass here too,
# so a rule must also hold at the end of a stem.
_SPELLING = (
    (re.compile(r"(?<=[a-z]{3})iz(?=$|e|i|a|o)"), "is"),
    (re.compile(r"(?<=[a-z]{2})yz(?=$|e|i)"), "ys"),
    (re.compile(r"(behavi|endeav|neighb|fav|hon|col|lab|harb)our"), r"\1or"),
    (re.compile(r"^(licen|defen|offen|preten|practi)s(?=$|e|i|a|o)"), r"\1c"),
    (re.compile(r"^(fulfil|enrol|instal|skil)l(?=$|m|f)"), r"\1"),
    (re.compile(r"^(cancel|label|travel|model|signal|counsel|channel|tunnel|fulfil)l(?=e|i|a)"), r"\1"),
    (re.compile(r"(judg|ledg)e(?=ment)"), r"\1"),
    (re.compile(r"^programme"), "program"),
    (re.compile(r"^(cent|met|theat|fib)re(?=$|s$|d$)"), r"\1er"),
    (re.compile(r"^(catalog|dialog|analog)ue"), r"\1"),
)


@lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """One spelling for a word: lower case, composed, without soft hyphens, possessive or British u."""
    word = unicodedata.normalize("NFKC", _INVISIBLE.sub("", word)).casefold()
    word = _POSSESSIVE.sub("", word)
    for pattern, replacement in _SPELLING:
        word = pattern.sub(replacement, word)
    return word


class WordIndex:
    """All words and stems that a set of phrases uses, a bit for each.

    The bits of a clause then tell at once which phrases cannot stand in it, and that is nearly all of them.
    """

    __slots__ = ("_exact", "_known", "_longest", "_parts", "_prefixes", "_suffixes", "size")

    def __init__(self) -> None:
        self._exact: dict[str, int] = {}
        self._prefixes: dict[str, int] = {}
        self._suffixes: dict[str, int] = {}
        self._parts: dict[str, int] = {}
        self.size = 0
        self._longest = 0
        self._known: dict[str, int] = {}

    def bit(self, stem: str, *, open_start: bool, open_end: bool) -> int:
        table = self._table(open_start=open_start, open_end=open_end)
        if stem not in table:
            table[stem] = 1 << self.size
            self.size += 1
            self._longest = max(self._longest, len(stem))
            self._known.clear()
        return table[stem]

    def bits(self, words: Iterable[str]) -> int:
        """Every bit whose word or stem fits one of the words."""
        found = 0
        for word in words:
            bits = self._known.get(word)
            if bits is None:
                if len(self._known) > _MOST_KNOWN:
                    self._known.clear()
                bits = self._known[word] = self._fitting(word)
            found |= bits
        return found

    def _table(self, *, open_start: bool, open_end: bool) -> dict[str, int]:
        if open_start:
            return self._parts if open_end else self._suffixes
        return self._prefixes if open_end else self._exact

    def _fitting(self, word: str) -> int:
        found = self._exact.get(word, 0)
        # A hostile "word" may be as long as the text: no stem is.
        for length in range(1, min(len(word), self._longest) + 1):
            found |= self._prefixes.get(word[:length], 0) | self._suffixes.get(word[-length:], 0)
        for part, bit in self._parts.items():
            if part in word:
                found |= bit
        return found


class Clause:
    """A stretch of text made ready once, to be matched by many expressions. Not to be shared by threads."""

    __slots__ = ("_bits", "ends", "found", "index", "starts", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        places = [match.span() for match in _WORD.finditer(text)]
        self.starts = [start for start, _ in places]
        self.ends = [end for _, end in places]
        self.words = [fold(text[start:end]) for start, end in places]
        self.index: dict[str, list[int]] = {}
        for position, word in enumerate(self.words):
            self.index.setdefault(word, []).append(position)
        self.found: dict[object, list[tuple[int, int]]] = {}
        self._bits: dict[WordIndex, tuple[int, int]] = {}

    def bits(self, index: WordIndex) -> int:
        """The bits of its words. Asked again when the index has grown: expressions may be compiled later."""
        size, bits = self._bits.get(index, (0, 0))
        if size != index.size:
            bits = index.bits(self.index)
            self._bits[index] = index.size, bits
        return bits

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets into the text of the words `start` up to, not including, `end`."""
        return self.starts[start], self.ends[end - 1]

    def positions(self, stem: str, *, open_start: bool, open_end: bool) -> list[int]:
        """Where a word or stem stands, in order."""
        if not open_start and not open_end:
            return self.index.get(stem, [])
        fits = _fits(stem, open_start=open_start, open_end=open_end)
        return sorted(place for word, places in self.index.items() if fits(word) for place in places)


def _fits(stem: str, *, open_start: bool, open_end: bool) -> Callable[[str], bool]:
    if open_start and open_end:
        return lambda word: stem in word
    return (lambda word: word.endswith(stem)) if open_start else (lambda word: word.startswith(stem))


def nearest_before(places: list[int], limit: int) -> int | None:
    """The last of the sorted places that is at most `limit`."""
    at = bisect_left(places, limit + 1)
    return places[at - 1] if at else None
