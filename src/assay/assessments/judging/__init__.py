"""The seam of judging: a criterion and the passages of all sources in, a verdict out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from assay.assessments.judging.corpus import Corpus
from assay.assessments.models import Category, Verdict
from assay.frameworks.models import Criterion, Framework

__all__ = ["ENGINE", "ENGINE_VERSION", "NO_ADJUSTMENT", "Adjustment", "Corpus", "Judge", "Scorer"]

# The local engine. The version names its rules: raise it with every change that can change a verdict.
ENGINE = "local"
ENGINE_VERSION = "1.0.0"


class Scorer(Protocol):
    """Gives a probability to each category from the features of a criterion (`local.LocalJudge.features`)."""

    @property
    def name(self) -> str:
        """What `provenance.model` calls it."""
        ...

    def probabilities(self, features: Mapping[str, float]) -> Mapping[Category, float]: ...


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What the corrections of one partner's experts have taught about one criterion.

    `shift` moves the bar that presence must reach (0.5) before something counts as there: a positive shift
    asks for more, so that more is MISSING. `scorer`, where one was trained, decides the category instead.
    """

    shift: float = 0.0
    scorer: Scorer | None = None


NO_ADJUSTMENT = Adjustment()


class Judge(Protocol):
    """Says what the sources regulate. The local engine gives the same verdict for the same inputs."""

    def judge(
        self,
        framework: Framework,
        criterion: Criterion,
        corpus: Corpus,
        adjustment: Adjustment = NO_ADJUSTMENT,
    ) -> Verdict: ...

    def model(
        self, framework: Framework, criterion: Criterion, adjustment: Adjustment = NO_ADJUSTMENT
    ) -> str | None:
        """The name of what scores this criterion, for the provenance; None where rules alone do."""
        ...
