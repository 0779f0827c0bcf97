"""What experts teach about a criterion: a threshold from five opinions, a scorer from twenty documents.

Pure: opinions in, a lesson out. It works on the features that were kept with findings, never on text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from assay.assessments.judging import NO_ADJUSTMENT, Adjustment, replaying
from assay.assessments.judging.learning import FARTHEST_SHIFT, Regression, fit
from assay.assessments.models import Opinion
from assay.frameworks.models import Criterion

# From so many opinions on a criterion its threshold is refitted; from so many documents it gets a scorer.
OPINIONS_FOR_A_THRESHOLD = 5
DOCUMENTS_FOR_A_SCORER = 20
_FOLDS = 5
_STEP = 0.05
_SHIFTS = sorted(
    (step * _STEP for step in range(-round(FARTHEST_SHIFT / _STEP), round(FARTHEST_SHIFT / _STEP) + 1)),
    key=lambda shift: (abs(shift), shift),
)


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was learned, and how often experts agree without it and, on documents held out, with it."""

    shift: float = 0.0
    scorer: Regression | None = None
    opinions: int = 0
    documents: int = 0
    agreed_before: int = 0
    agreed_after: int = 0

    @property
    def adjustment(self) -> Adjustment:
        return Adjustment(self.shift, self.scorer) if self.scorer or self.shift else NO_ADJUSTMENT


@dataclass(frozen=True, slots=True)
class Pupil:
    """The engine as it judges one criterion, held against what experts said."""

    framework: str
    criterion: Criterion

    def agreed(self, opinions: Sequence[Opinion], adjustment: Adjustment) -> int:
        """How many of the opinions the engine would share under this adjustment."""
        return sum(
            replaying.category(self.framework, self.criterion, opinion.features, adjustment)
            is opinion.category
            for opinion in opinions
        )

    def learn(self, opinions: Sequence[Opinion]) -> Lesson:
        """The same opinions teach the same, whatever their order in time."""
        before = self.agreed(opinions, NO_ADJUSTMENT)
        documents = sorted({opinion.document for opinion in opinions})
        if len(opinions) < OPINIONS_FOR_A_THRESHOLD:
            return Lesson(0.0, None, len(opinions), len(documents), before, before)
        folds = _folds(opinions, documents)
        after = sum(self.agreed(held, self._threshold(rest)) for rest, held in folds)
        lesson = self._threshold(opinions)
        if len(documents) >= DOCUMENTS_FOR_A_SCORER:
            by_scorer = sum(self.agreed(held, self._scorer(rest)) for rest, held in folds)
            if by_scorer > after:
                after, lesson = by_scorer, self._scorer(opinions)
        scorer = lesson.scorer
        assert scorer is None or isinstance(scorer, Regression)
        return Lesson(lesson.shift, scorer, len(opinions), len(documents), before, after)

    def _threshold(self, opinions: Sequence[Opinion]) -> Adjustment:
        """Where the bar agrees best; among equals the one that was moved least."""
        tried = [Adjustment(shift) for shift in _SHIFTS]
        return max(tried, key=lambda adjustment: self.agreed(opinions, adjustment))

    def _scorer(self, opinions: Sequence[Opinion]) -> Adjustment:
        name = f"feedback {self.criterion.code_name} {mark(opinions)[:12]}"
        return Adjustment(scorer=fit(name, [(_seen(opinion), opinion.category) for opinion in opinions]))


def _seen(opinion: Opinion) -> dict[str, float]:
    """What a scorer is given when it judges: `presence` is drawn from the rest, and not among it."""
    return {name: value for name, value in opinion.features.items() if name != "presence"}


def _folds(
    opinions: Sequence[Opinion], documents: Sequence[str]
) -> list[tuple[list[Opinion], list[Opinion]]]:
    """The rest and the held-out part, by document: what is known of a document never helps to judge it."""
    folds = []
    for first in range(min(_FOLDS, len(documents))):
        held = set(documents[first::_FOLDS])
        folds.append(
            (
                [opinion for opinion in opinions if opinion.document not in held],
                [opinion for opinion in opinions if opinion.document in held],
            )
        )
    return folds


def mark(opinions: Sequence[Opinion]) -> str:
    """Names what was learned from: the same opinions, the same mark."""
    said = sorted(f"{opinion.id} {opinion.document} {opinion.category}" for opinion in opinions)
    return sha256("\n".join(said).encode()).hexdigest()
