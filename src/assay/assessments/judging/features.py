"""A criterion over a corpus as numbers: what scorers, learned from examples or from feedback, decide by."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.assessments.judging import trained
from assay.assessments.judging.aspects import Reading
from assay.assessments.judging.corpus import Corpus, View
from assay.assessments.judging.trained import Weights
from assay.frameworks.evidence import SHOWS

_TOP = 3
_LOWEST = -8.0


@dataclass(frozen=True, slots=True)
class PassageScores:
    """What trained weights say of each passage: log-odds that it speaks to the criterion, and against it."""

    relevant: Sequence[float]
    opposite: Sequence[float] | None

    def ranked(self) -> list[int]:
        return sorted(range(len(self.relevant)), key=lambda at: (-self.relevant[at], at))


def passage_scores(weights: Weights, criterion: str, corpus: Corpus, view: View) -> PassageScores | None:
    relevant = weights.head(criterion, trained.RELEVANT)
    if relevant is None:
        return None
    opposite = weights.head(criterion, trained.OPPOSITE)
    scores = corpus.scored(weights, view)
    return PassageScores(
        [row[relevant] for row in scores], None if opposite is None else [row[opposite] for row in scores]
    )


def of_readings(readings: Sequence[Reading]) -> dict[str, float]:
    """For each aspect how firmly it is shown and contradicted, and by how many clauses."""
    features: dict[str, float] = {}
    for at, reading in enumerate(readings):
        features[f"shown{at}"] = reading.shown
        features[f"contradicted{at}"] = reading.contradicted
        features[f"clauses{at}"] = math.log1p(sum(bearing.strength >= SHOWS for bearing in reading.shows))
        features[f"hints{at}"] = math.log1p(len(reading.shows))
        features[f"against{at}"] = math.log1p(len(reading.contradicts))
    return features


def of_passages(scores: PassageScores) -> dict[str, float]:
    """The best clauses, how many there are, and which way they speak."""
    top = scores.ranked()[: _TOP * 2]
    best = [scores.relevant[at] for at in top] + [_LOWEST] * (_TOP * 2 - len(top))
    features = {f"relevant{at}": max(best[at], _LOWEST) for at in range(_TOP)}
    features["relevant_sum"] = math.log(sum(math.exp(value) for value in best) + math.exp(_LOWEST))
    if scores.opposite is not None and top:
        chances = [_chance(scores.relevant[at]) for at in top]
        against = [_chance(scores.opposite[at]) for at in top]
        features["opposite"] = scores.opposite[top[0]]
        features["opposite_mean"] = sum(a * b for a, b in zip(chances, against, strict=True)) / sum(chances)
        features["opposite_best"] = max(a * b for a, b in zip(chances, against, strict=True))
        features["agrees_best"] = max(a * (1 - b) for a, b in zip(chances, against, strict=True))
    return features


def of_both(readings: Sequence[Reading], scores: PassageScores) -> dict[str, float]:
    """Whether the clauses that authored evidence names are those that trained weights name too."""
    features: dict[str, float] = {}
    for at, reading in enumerate(readings):
        shows = [bearing.at for bearing in reading.shows if bearing.strength >= SHOWS]
        against = [bearing.at for bearing in reading.contradicts]
        features[f"shown_relevant{at}"] = _best(scores.relevant, shows)
        features[f"against_relevant{at}"] = _best(scores.relevant, against)
        if scores.opposite is not None:
            features[f"shown_opposite{at}"] = _best(scores.opposite, shows)
            features[f"against_opposite{at}"] = _best(scores.opposite, against)
    return features


def _best(values: Sequence[float], places: Sequence[int]) -> float:
    return max([_LOWEST, *(values[at] for at in places)])


def _chance(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))
