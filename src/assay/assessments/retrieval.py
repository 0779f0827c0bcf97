"""Which clauses bear on a question: BM25 over all passages, built once and asked for every criterion."""

import math
import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from assay.frameworks.words import fold

# The usual constants: how soon repeating a word stops counting, and how much long passages are held back.
_SATURATION = 1.2
_LENGTH_PENALTY = 0.75

_WORD = re.compile(r"[^\W_](?:[\w\u00ad]|['\u2019](?=\w))*")
# Words that say nothing about a clause's subject.
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by for from has have he her his if in into is it its of on or other "
        "our such than that the their them then there these they this those to under was we were what when "
        "which who will with would you your shall may must can not no any all each der die das den dem des "
        "ein eine einer eines einem und oder von zu mit für auf ist sind im in am an als auch sich nicht "
        "wird werden",
    )
)
_ENDINGS = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "ies",
    "ied",
    "ers",
    "er",
    "ed",
    "es",
    "s",
    "en",
    "e",
    "y",
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage by its place in the index, and how well it fits."""

    at: int
    score: float


def terms(text: str) -> list[str]:
    """The words of a text that say something about its subject, without their endings."""
    return [stem(word) for found in _WORD.findall(text) if (word := fold(found)) not in _STOP]


def stem(word: str) -> str:
    """A word without its ending, crudely: notify and notifies meet, and so do process and processing."""
    for ending in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


class Index:
    """Passages by their words. Its size grows with the text, a few bytes a word."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._places: dict[str, array[int]] = {}
        self._counts: dict[str, array[int]] = {}
        self._lengths = array("I")
        for at, text in enumerate(texts):
            self._add(at, Counter(terms(text)))
        self._mean = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0

    def __len__(self) -> int:
        return len(self._lengths)

    def _add(self, at: int, counts: Counter[str]) -> None:
        self._lengths.append(counts.total())
        for term, count in counts.items():
            if term not in self._places:
                self._places[term], self._counts[term] = array("I"), array("H")
            self._places[term].append(at)
            self._counts[term].append(min(count, 65_535))

    def search(self, query: str, limit: int = 5) -> list[Ranked]:
        """The passages that fit best, best first; equal ones in the order of the text."""
        best = nsmallest(limit, self.scores(query).items(), key=lambda pair: (-pair[1], pair[0]))
        return [Ranked(at, score) for at, score in best]

    def scores(self, query: str) -> dict[int, float]:
        """How well each passage fits that has a word of the query at all."""
        scores: dict[int, float] = {}
        for term in sorted(set(terms(query))):
            self._score(term, scores)
        return scores

    def share(self, query: str, at: int) -> float:
        """How much of what the query asks for stands in a passage: 0 to 1, rare words counting more."""
        asked = sorted(set(terms(query)))
        weights = {term: self._rarity(term) for term in asked}
        found = sum(weight for term, weight in weights.items() if self._holds(term, at))
        return found / max(sum(weights.values()), 1e-9)

    def _holds(self, term: str, at: int) -> bool:
        places = self._places.get(term)
        if places is None:
            return False
        spot = bisect_left(places, at)
        return spot < len(places) and places[spot] == at

    def _rarity(self, term: str) -> float:
        count = len(self._places.get(term, ()))
        return math.log(1 + (len(self) - count + 0.5) / (count + 0.5))

    def _score(self, term: str, scores: dict[int, float]) -> None:
        places: Sequence[int] = self._places.get(term, array("I"))
        if not places:
            return
        rarity = self._rarity(term)
        for at, count in zip(places, self._counts[term], strict=True):
            length = 1 - _LENGTH_PENALTY + _LENGTH_PENALTY * self._lengths[at] / self._mean
            scores[at] = scores.get(at, 0.0) + rarity * count * (_SATURATION + 1) / (
                count + _SATURATION * length
            )
