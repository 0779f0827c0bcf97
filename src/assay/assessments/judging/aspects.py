"""What the clauses say about each point of a criterion: shown, contradicted, or only hinted at."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.assessments.judging.corpus import Corpus, View
from assay.frameworks import evidence
from assay.frameworks.evidence import SHOWS, CompiledAspect, Lexicon, Matcher
from assay.frameworks.models import Aspect, Criterion, Framework

# A clause that shows a point only together with the title of its section shows it a little less.
_TITLED = 0.8
_FRAMEWORKS_KEPT = 16
_MOST_BEARINGS = 20


@dataclass(frozen=True, slots=True)
class Bearing:
    """A clause that bears on a point: the passage's place, how strongly, and which of its words do."""

    at: int
    strength: float
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that bears on one aspect, strongest first."""

    aspect: Aspect
    shows: tuple[Bearing, ...]
    contradicts: tuple[Bearing, ...]

    @property
    def shown(self) -> float:
        return self.shows[0].strength if self.shows else 0.0

    @property
    def contradicted(self) -> float:
        """How firmly it is contradicted; not by a clause that shows the point as firmly itself."""
        if not self.contradicts:
            return 0.0
        shown_at = {bearing.at: bearing.strength for bearing in self.shows}
        return max(
            (one.strength for one in self.contradicts if one.strength > shown_at.get(one.at, 0.0)),
            default=0.0,
        )


@dataclass(frozen=True, slots=True)
class Compiled:
    """A framework made ready in one language."""

    framework: Framework
    lexicon: Lexicon
    aspects: Mapping[tuple[str, str], CompiledAspect]


class Library:
    """The last few frameworks, made ready: reading their phrases takes longer than matching a page."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, str], Compiled] = OrderedDict()

    def get(self, framework: Framework, language: str) -> Compiled:
        # By identity, for frameworks hold dictionaries; what is kept keeps its framework alive, so its id.
        key = (id(framework), language)
        if key not in self._kept:
            self._kept[key] = _compile(framework, language)
            if len(self._kept) > _FRAMEWORKS_KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]


def _compile(framework: Framework, language: str) -> Compiled:
    lexicon = Lexicon.of(framework, language)
    aspects = {
        (criterion.code_name, aspect.name): evidence.compile_aspect(aspect, language, lexicon)
        for criterion in framework.criteria
        for aspect in criterion.aspects
    }
    return Compiled(framework, lexicon, aspects)


def languages(criterion: Criterion, framework: Framework, corpus: Corpus) -> dict[str, str]:
    """For each language of the sources the one whose evidence serves: its own, or else the framework's."""
    spoken = {language for aspect in criterion.aspects for language in aspect.evidence}
    served = {}
    for language in corpus.languages or (framework.language,):
        base = language.split("-", maxsplit=1)[0]
        served[language] = next((one for one in (language, base) if one in spoken), framework.language)
    return served


def read(library: Library, framework: Framework, criterion: Criterion, corpus: Corpus) -> list[Reading]:
    """A reading of each aspect over all passages, each in the language of its source."""
    served = languages(criterion, framework, corpus)
    readers = {
        language: _Reader(library.get(framework, language), corpus)
        for language in sorted(set(served.values()))
    }
    by_language = {
        language: [
            at
            for at, one in enumerate(corpus.passages)
            if served.get(one.language or "", framework.language) == language
        ]
        for language in readers
    }
    return [
        Reading(
            aspect,
            *(
                _strongest(
                    bearing
                    for language, reader in readers.items()
                    for bearing in reader.bearings(
                        criterion, aspect, by_language[language], contradicting=contradicting
                    )
                )
                for contradicting in (False, True)
            ),
        )
        for aspect in criterion.aspects
    ]


def _strongest(bearings: Iterable[Bearing]) -> tuple[Bearing, ...]:
    return tuple(sorted(bearings, key=lambda bearing: (-bearing.strength, bearing.at)))[:_MOST_BEARINGS]


class _Reader:
    """One framework in one language, held against the passages in it."""

    def __init__(self, compiled: Compiled, corpus: Corpus) -> None:
        self.compiled = compiled
        self.corpus = corpus
        self.view: View = corpus.view(compiled.lexicon)

    def bearings(
        self, criterion: Criterion, aspect: Aspect, places: Iterable[int], *, contradicting: bool
    ) -> list[Bearing]:
        ready = self.compiled.aspects[criterion.code_name, aspect.name]
        matcher = ready.contradicts if contradicting else ready.shows
        if matcher is None:
            return []
        places = list(places)
        found = self._matched(matcher, places, titled=False)
        if not contradicting and not any(bearing.strength >= SHOWS for bearing in found):
            known = {bearing.at for bearing in found}
            found += self._matched(matcher, [at for at in places if at not in known], titled=True)
        return found

    def _matched(self, matcher: Matcher, places: Iterable[int], *, titled: bool) -> list[Bearing]:
        gates = () if titled else matcher.gates
        bits = self.view.bits
        found = []
        for at in places:
            if titled and not self.corpus.passages[at].title:
                continue
            if all(bits[at] & gate for gate in gates):
                bearing = self._bearing(matcher, at, titled=titled)
                if bearing:
                    found.append(bearing)
        return found

    def _bearing(self, matcher: Matcher, at: int, *, titled: bool) -> Bearing | None:
        match = evidence.match(matcher, self.corpus.clause(at, self.view, titled=titled))
        if match is None:
            return None
        before = len(self.corpus.before(at, titled=titled))
        own = tuple((max(0, start - before), end - before) for start, end in match.spans if end > before)
        # What stands in the lead-in or the title alone was said there, not here.
        return Bearing(at, match.strength * (_TITLED if titled else 1.0), own) if own else None
