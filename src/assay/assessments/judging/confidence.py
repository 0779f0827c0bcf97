"""How sure the local engine is, 0 to 1. Of verdicts with confidence 0.8 about four in five should hold.

Where a scorer was trained, its calibrated probability is the confidence. Where rules decide, the figures
below do: set by hand from how firm the words are, and checked on labelled agreements by `make eval`.
"""

from collections.abc import Sequence

from assay.assessments.judging.settling import Point
from assay.assessments.models import AspectStatus, Category

# Below this a person should look before anybody relies on the verdict.
REVIEW_BELOW = 0.65
# No rule is surer than this: what decides is words, not what was meant.
_SUREST = 0.95
# An imported criterion has no authored evidence; its verdict is a guess from likeness of words.
GUESS = 0.35

_ANOTHER_LANGUAGE = 0.5
_UNREAD = 0.75


def of_points(points: Sequence[Point], category: Category, *, other_language: bool, unread: bool) -> float:
    """From the firmness of the evidence: of the weakest point for a yes, of the strongest hint for a no."""
    if category is Category.MISSING:
        sure = _of_absence(points) * (_UNREAD if unread else 1.0)
    elif category is Category.SUFFICIENTLY_REGULATED:
        sure = min(_of_presence(point) for point in points if point.mandatory)
    else:
        sure = _of_shortfall(points) * (_UNREAD if unread else 1.0)
    return round(min(sure, _SUREST) * (_ANOTHER_LANGUAGE if other_language else 1.0), 3)


def _of_presence(point: Point) -> float:
    """Firm duties .87, plain statements .8, hints from a title .76, mere efforts .6; a second clause adds."""
    return 0.4 + 0.47 * point.strength + (0.05 if len(point.bearings) > 1 else 0.0)


def _of_absence(points: Sequence[Point]) -> float:
    """Nothing at all .84; a hint that was not enough brings doubt."""
    hint = max((point.reading.shown for point in points), default=0.0)
    return 0.84 - 0.45 * min(hint, 0.5)


def _of_shortfall(points: Sequence[Point]) -> float:
    """Something is there, something is not: sure only if both hold."""
    there = max(
        (_of_presence(point) for point in points if point.status is not AspectStatus.NOT_FOUND), default=0.0
    )
    gaps = [point for point in points if point.mandatory and point.status is AspectStatus.NOT_FOUND]
    return min(there, _of_absence(gaps)) if gaps else there
