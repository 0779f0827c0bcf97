"""The engine that runs anywhere: authored evidence, matched clause by clause, and the rule of the contract.

Offline, without chance and without a clock: the same inputs give the same verdict, to the byte.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.assessments import citations
from assay.assessments.judging import (
    NO_ADJUSTMENT,
    Adjustment,
    Corpus,
    Scorer,
    aspects,
    confidence,
    features,
    guessing,
    rationale,
    settling,
    trained,
)
from assay.assessments.judging.aspects import Bearing, Reading
from assay.assessments.judging.settling import Point
from assay.assessments.models import Absence, AspectFinding, AspectStatus, Category, Citation, Verdict
from assay.frameworks.models import Criterion, Framework

MOST_CITATIONS = 10
# A verdict that stands on fewer clauses also shows those that come near, up to so many.
_FILLED_UP_TO = 5
_MOST_CLOSEST = 3
_FALLBACKS = 2


@dataclass(frozen=True, slots=True)
class _Case:
    """One criterion over one corpus, read."""

    framework: Framework
    criterion: Criterion
    corpus: Corpus
    readings: list[Reading]
    scores: features.PassageScores | None
    likeness: dict[int, float]  # BM25 of each passage that shares a word with the criterion
    scorer: Scorer | None

    @property
    def other_languages(self) -> list[str]:
        """Languages of sources for which the framework has no evidence."""
        served = aspects.languages(self.criterion, self.framework, self.corpus)
        return [language for language, by in served.items() if by != language.split("-", maxsplit=1)[0]]

    def features(self) -> dict[str, float]:
        found = features.of_readings(self.readings)
        if self.scores is not None:
            found |= features.of_passages(self.scores) | features.of_both(self.readings, self.scores)
        return found

    def fallback(self) -> list[Bearing]:
        """Clauses to stand on where evidence points to none: those that trained weights or likeness name."""
        if self.scores is not None:
            best = self.scores.ranked()[:_FALLBACKS]
        else:
            best = [ranked.at for ranked in self.corpus.index.search(_question(self.criterion), _FALLBACKS)]
        return [Bearing(at, 0.0, ()) for at in best]


class LocalJudge:
    """Keeps the frameworks that it has made ready, so make one and keep it. Not to be shared by threads."""

    def __init__(self) -> None:
        self._library = aspects.Library()

    def judge(
        self,
        framework: Framework,
        criterion: Criterion,
        corpus: Corpus,
        adjustment: Adjustment = NO_ADJUSTMENT,
    ) -> Verdict:
        if not criterion.aspects:
            return guessing.judge(criterion, corpus)
        case = self._case(framework, criterion, corpus, adjustment)
        if case.scorer is not None and (fallback := case.fallback()):
            return _scored(case, case.scorer, adjustment.shift, fallback)
        # Without a clause to stand on there is nothing that a scorer could find.
        points = settling.settle(case.readings, adjustment.shift)
        return _verdict(case, settling.category(points), points)

    def features(self, framework: Framework, criterion: Criterion, corpus: Corpus) -> dict[str, float]:
        """The criterion over this corpus as numbers; the bar of an Adjustment is held against `presence`."""
        case = self._case(framework, criterion, corpus, NO_ADJUSTMENT)
        found = case.features()
        if case.scorer is None:
            return found | {"presence": settling.presence(case.readings)}
        return found | {"presence": settling.scored_presence(case.scorer.probabilities(found))}

    def model(
        self, framework: Framework, criterion: Criterion, adjustment: Adjustment = NO_ADJUSTMENT
    ) -> str | None:
        scorer = _scorer(framework, criterion, adjustment)
        return scorer.name if scorer else None

    def _case(
        self, framework: Framework, criterion: Criterion, corpus: Corpus, adjustment: Adjustment
    ) -> _Case:
        weights = trained.find(framework.code_name)
        scores = None
        if weights is not None:
            view = corpus.view(self._library.get(framework, framework.language).lexicon)
            scores = features.passage_scores(weights, criterion.code_name, corpus, view)
        return _Case(
            framework,
            criterion,
            corpus,
            aspects.read(self._library, framework, criterion, corpus),
            scores,
            corpus.index.scores(_question(criterion)),
            _scorer(framework, criterion, adjustment),
        )


def _scored(case: _Case, scorer: Scorer, shift: float, fallback: Sequence[Bearing]) -> Verdict:
    """The category that a scorer gives, told in points that lead to it by the rule."""
    probabilities = scorer.probabilities(case.features())
    category = settling.decided(probabilities, shift)
    found = settling.settle(case.readings)
    points = settling.told(found, category, fallback)
    disagree = settling.category(found) is not category
    return _verdict(case, category, points, round(probabilities[category], 3), disagree=disagree)


def _scorer(framework: Framework, criterion: Criterion, adjustment: Adjustment) -> Scorer | None:
    if adjustment.scorer is not None:
        return adjustment.scorer
    weights = trained.find(framework.code_name)
    return weights.scorers.get(criterion.code_name) if weights else None


def _question(criterion: Criterion) -> str:
    return " ".join([criterion.name, criterion.description, *(aspect.demand for aspect in criterion.aspects)])


def _verdict(
    case: _Case,
    category: Category,
    points: Sequence[Point],
    sure: float | None = None,
    *,
    disagree: bool = False,
) -> Verdict:
    unread, other = bool(case.corpus.unreadable), case.other_languages
    if sure is None:
        sure = confidence.of_points(points, category, other_language=bool(other), unread=unread)
    cited = _Cited(case)
    # Mandatory points first: their clauses are the ones to read first.
    places = {id(point): cited.places(point) for point in sorted(points, key=lambda one: not one.mandatory)}
    absence = _absence(case) if category is Category.MISSING else None
    if absence is None:
        cited.fill()
    told = [(point, [cited.citations[at] for at in places[id(point)]]) for point in points]
    incomplete = unread and category is not Category.SUFFICIENTLY_REGULATED
    # Words that show a point are there, whatever the scorer makes of them: that is no plain silence.
    doubtful = disagree and category is Category.MISSING
    return Verdict(
        category=category,
        confidence=sure,
        needs_review=sure < confidence.REVIEW_BELOW or bool(other) or incomplete or doubtful,
        rationale=rationale.of_points(
            case.criterion, category, told, absence, _cautions(case, other, sure, disagree=disagree)
        ),
        citations=tuple(cited.citations),
        aspects=tuple(
            AspectFinding(point.reading.aspect.name, point.mandatory, point.status, tuple(places[id(point)]))
            for point in points
        ),
        absence=absence,
    )


class _Cited:
    """The citations of a verdict, best first, each clause once."""

    def __init__(self, case: _Case) -> None:
        self.case = case
        self.citations: list[Citation] = []
        self._places: dict[int, int] = {}

    def places(self, point: Point) -> list[int]:
        """Where the clauses of a point stand in the list; they are added as they come."""
        if point.status is AspectStatus.NOT_FOUND:
            return []
        ranked = sorted(point.bearings, key=lambda one: (-self._rank(one), one.at))
        return [place for bearing in ranked if (place := self._place(bearing)) is not None]

    def fill(self) -> None:
        """Further clauses to read: those that hint at a point, then those most like the criterion."""
        hints = [bearing for reading in self.case.readings for bearing in reading.shows]
        like = sorted(self.case.likeness, key=lambda at: (-self.case.likeness[at], at))[:_FILLED_UP_TO]
        for bearing in [
            *sorted(hints, key=lambda one: (-self._rank(one), one.at)),
            *(Bearing(at, 0.0, ()) for at in like),
        ]:
            if len(self.citations) >= _FILLED_UP_TO:
                return
            self._place(bearing)

    def _rank(self, bearing: Bearing) -> float:
        """Firm words first; among them the clause that is most like the criterion, or that weights name."""
        like = self.case.likeness.get(bearing.at, 0.0) / max(self.case.likeness.values(), default=1.0)
        if self.case.scores is not None:
            return bearing.strength + self.case.scores.relevant[bearing.at]
        return bearing.strength + like

    def _place(self, bearing: Bearing) -> int | None:
        if bearing.at not in self._places:
            if len(self.citations) >= MOST_CITATIONS:
                return None
            self._places[bearing.at] = len(self.citations)
            self.citations.append(citations.cite(self.case.corpus.passages[bearing.at], bearing.spans))
        return self._places[bearing.at]


def _absence(case: _Case) -> Absence:
    hints = [bearing.at for reading in case.readings for bearing in reading.shows[:1]]
    like = sorted(case.likeness, key=lambda at: (-case.likeness[at], at))
    closest = list(dict.fromkeys([*hints, *like]))[:_MOST_CLOSEST]
    return Absence(
        passages_searched=len(case.corpus.passages),
        closest=tuple(citations.cite(case.corpus.passages[at]) for at in closest),
        unreadable=case.corpus.unreadable,
    )


def _cautions(case: _Case, other: Iterable[str], sure: float, *, disagree: bool) -> list[str]:
    found = [
        f"The text is in “{language}”, for which the framework has no evidence; "
        f"it was searched in “{case.framework.language}”."
        for language in other
    ]
    found += guessing.unread_cautions(case.corpus)
    if disagree:
        found.append(
            "A scorer learned from labelled documents decided against the words of the evidence alone."
        )
    elif sure < confidence.REVIEW_BELOW and not found:
        found.append("The engine is not sure of this verdict; please read the clauses before relying on it.")
    return found
