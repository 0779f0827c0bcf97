"""What the local engine would say of a finding under an adjustment, from the features that were kept with it.

Learning needs many such answers and no text: the rules see of a document what its features hold.
"""

from collections.abc import Mapping

from assay.assessments.judging import Adjustment, settling, trained
from assay.assessments.judging.aspects import Bearing, Reading
from assay.assessments.models import Category
from assay.frameworks.models import Aspect, Criterion


def category(
    framework: str, criterion: Criterion, features: Mapping[str, float], adjustment: Adjustment
) -> Category:
    """As `LocalJudge.judge` decides; `framework` is a code name."""
    weights = trained.find(framework)
    scorer = adjustment.scorer or (weights.scorers.get(criterion.code_name) if weights else None)
    if scorer is not None:
        return settling.decided(scorer.probabilities(features), adjustment.shift)
    readings = [_reading(aspect, features, at) for at, aspect in enumerate(criterion.aspects)]
    return settling.category(settling.settle(readings, adjustment.shift))


def _reading(aspect: Aspect, features: Mapping[str, float], at: int) -> Reading:
    """A reading as firm as the one that the features were taken from; in which clauses does not matter."""
    shown, contradicted = features.get(f"shown{at}", 0.0), features.get(f"contradicted{at}", 0.0)
    return Reading(
        aspect,
        (Bearing(0, shown, ()),) if shown else (),
        (Bearing(1, contradicted, ()),) if contradicted else (),
    )
