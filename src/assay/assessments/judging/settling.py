"""From readings to a category: the rule of the contract, and how a scorer's category is told in aspects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.assessments.judging.aspects import Bearing, Reading
from assay.assessments.models import AspectStatus, Category
from assay.frameworks.evidence import SHOWS

_MOST_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Point:
    """One aspect settled: what became of it, and the clauses that say so, best first."""

    reading: Reading
    mandatory: bool
    status: AspectStatus
    bearings: tuple[Bearing, ...] = ()

    @property
    def strength(self) -> float:
        return self.bearings[0].strength if self.bearings else 0.0


def settle(readings: Sequence[Reading], shift: float = 0.0) -> list[Point]:
    """Each aspect by its evidence alone. `shift` moves the strength from which on something is shown."""
    any_mandatory = any(reading.aspect.mandatory for reading in readings)
    bar = SHOWS + shift
    return [
        # Where an author marked nothing as mandatory, every point is: else nothing could be sufficient.
        _point(reading, bar, mandatory=reading.aspect.mandatory or not any_mandatory)
        for reading in readings
    ]


def _point(reading: Reading, bar: float, *, mandatory: bool) -> Point:
    contradicted, shown = reading.contradicted, reading.shown
    if contradicted >= bar or (contradicted and shown < bar):
        return Point(reading, mandatory, AspectStatus.CONTRADICTED, _against(reading))
    if shown and shown >= bar:
        shows = tuple(bearing for bearing in reading.shows if bearing.strength >= bar)
        return Point(reading, mandatory, AspectStatus.COVERED, shows[:_MOST_SHOWN])
    return Point(reading, mandatory, AspectStatus.NOT_FOUND)


def _against(reading: Reading) -> tuple[Bearing, ...]:
    shown_at = {bearing.at: bearing.strength for bearing in reading.shows}
    return tuple(one for one in reading.contradicts if one.strength > shown_at.get(one.at, 0.0))[:_MOST_SHOWN]


def category(points: Sequence[Point]) -> Category:
    """All mandatory points covered; some of them, or one contradicted, or only an optional one; none."""
    if all(point.status is AspectStatus.COVERED for point in points if point.mandatory):
        return Category.SUFFICIENTLY_REGULATED
    if any(point.status is not AspectStatus.NOT_FOUND for point in points):
        return Category.NOT_SUFFICIENTLY_REGULATED
    return Category.MISSING


def presence(readings: Sequence[Reading]) -> float:
    """How firmly anything that the criterion asks for stands there, either way: 0 to 1, the bar being 0.5."""
    return max((max(reading.shown, _contradiction(reading)) for reading in readings), default=0.0)


def _contradiction(reading: Reading) -> float:
    """A weak contradiction decides where nothing shows the point, so it reaches the bar."""
    return max(reading.contradicted, SHOWS) if reading.contradicted else 0.0


def decided(probabilities: Mapping[Category, float], shift: float = 0.0) -> Category:
    """The category of a scorer; `shift` moves the bar between MISSING and the likelier of the others."""
    if scored_presence(probabilities) < SHOWS + shift:
        return Category.MISSING
    sufficient = probabilities[Category.SUFFICIENTLY_REGULATED]
    insufficient = probabilities[Category.NOT_SUFFICIENTLY_REGULATED]
    return (
        Category.SUFFICIENTLY_REGULATED if sufficient >= insufficient else Category.NOT_SUFFICIENTLY_REGULATED
    )


def scored_presence(probabilities: Mapping[Category, float]) -> float:
    missing = probabilities[Category.MISSING]
    there = max(share for category, share in probabilities.items() if category is not Category.MISSING)
    return there / max(there + missing, 1e-12)


def told(points: Sequence[Point], wanted: Category, fallback: Sequence[Bearing]) -> list[Point]:
    """The points, so that they give the wanted category; `fallback` stands in where evidence found none."""
    if category(points) is wanted:
        return list(points)
    if wanted is Category.MISSING:
        return [Point(point.reading, point.mandatory, AspectStatus.NOT_FOUND) for point in points]
    if wanted is Category.SUFFICIENTLY_REGULATED:
        return [_covered(point, fallback) if point.mandatory else point for point in points]
    return _insufficient(points, fallback)


def _covered(point: Point, fallback: Sequence[Bearing]) -> Point:
    shows = point.reading.shows or tuple(fallback)
    return Point(point.reading, point.mandatory, AspectStatus.COVERED, shows[:_MOST_SHOWN])


def _insufficient(points: Sequence[Point], fallback: Sequence[Bearing]) -> list[Point]:
    """The mandatory point with the least to show for it is the one that is contradicted."""
    weakest = min(
        (at for at, point in enumerate(points) if point.mandatory),
        key=lambda at: (points[at].reading.shown - points[at].reading.contradicted, at),
    )
    point = points[weakest]
    against = _against(point.reading) or tuple(fallback)[:_MOST_SHOWN]
    settled = list(points)
    settled[weakest] = Point(point.reading, point.mandatory, AspectStatus.CONTRADICTED, against)
    return settled
