"""Weights trained on labelled examples, where a framework has them: which clauses bear on a criterion.

A clause is scored by its words and pairs of words, hashed; the weights are a sparse table, so that scoring is
a few additions a word and needs no library. See docs/reference/nda-model-card.md.
"""

import itertools
import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assay.assessments.judging.learning import Regression
from assay.frameworks.words import Clause

FOLDER = Path(__file__).with_name("weights")
# Heads of a criterion: whether a clause speaks to it at all, and whether it says the opposite.
RELEVANT, OPPOSITE = "relevant", "opposite"


@dataclass(frozen=True, slots=True)
class Head:
    """One yes-or-no question to a clause."""

    criterion: str
    question: str
    bias: float


@dataclass(frozen=True, slots=True)
class Weights:
    """What was trained for a framework: a table of hashed words to (head, weight), a scorer a criterion."""

    name: str
    buckets: int
    heads: tuple[Head, ...]
    table: Mapping[int, Sequence[tuple[int, float]]]
    scorers: Mapping[str, Regression]

    def scores(self, clause: Clause) -> list[float]:
        """The log-odds of every head for a clause."""
        words = hashed(clause.words, self.buckets)
        sums = [0.0] * len(self.heads)
        for word in words:
            for head, weight in self.table.get(word, ()):
                sums[head] += weight
        scale = 1 / math.sqrt(len(words)) if words else 0.0
        return [head.bias + scale * value for head, value in zip(self.heads, sums, strict=True)]

    def head(self, criterion: str, question: str) -> int | None:
        return next(
            (
                at
                for at, head in enumerate(self.heads)
                if (head.criterion, head.question) == (criterion, question)
            ),
            None,
        )


def hashed(words: Sequence[str], buckets: int) -> list[int]:
    """The words of a clause and its pairs, also over one word between, as numbers, each once and sorted."""
    plain = ["#" if word[0].isdigit() else word for word in words]
    names = set(plain)
    names.update(f"{one} {other}" for one, other in itertools.pairwise(plain))
    names.update(f"{one} _ {other}" for one, other in zip(plain, plain[2:], strict=False))
    return sorted({zlib.crc32(name.encode()) % buckets for name in names})


def find(framework: str) -> Weights | None:
    """The weights that ship for a framework, by its code name."""
    return _load(framework.lower())


@cache
def _load(stem: str) -> Weights | None:
    path = FOLDER / f"{stem}.json.z"
    if not path.is_file():
        return None
    data = json.loads(zlib.decompress(path.read_bytes()))
    heads = tuple(Head(*row) for row in data["heads"])
    table: dict[int, list[tuple[int, float]]] = {}
    for at, (places, values, unit) in enumerate(data["table"]):
        for place, value in zip(_sums(places), values, strict=True):
            table.setdefault(place, []).append((at, value * unit))
    scorers = {name: Regression.of_json(scorer) for name, scorer in data["scorers"].items()}
    return Weights(data["name"], data["buckets"], heads, table, scorers)


def _sums(steps: Iterable[int]) -> Iterable[int]:
    """Places are stored as steps from one to the next: smaller numbers pack better."""
    place = 0
    for step in steps:
        place += step
        yield place
