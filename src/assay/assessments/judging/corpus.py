"""Everything that is read for an assessment: passages of all sources, ready to be searched and matched.

Built once, then asked for every criterion. Not to be shared by threads: clauses keep what was found in them.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.assessments import definitions, passages
from assay.assessments.judging.trained import Weights
from assay.assessments.models import Source, Unreadable
from assay.assessments.passages import Passage
from assay.assessments.retrieval import Index
from assay.content.models import Text
from assay.frameworks.evidence import Lexicon
from assay.frameworks.words import Clause, WordIndex

# Caveats of a text that mean: something that a reader sees was not read.
_UNREAD = frozenset(
    {"unreadable_page", "no_text_layer", "unmapped_text", "unread_part", "damaged", "script_shell"}
)
# Clauses kept ready: enough for a thousand pages; beyond that they are made anew: memory stays bounded.
_CLAUSES_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class View:
    """The passages as one framework in one language sees them: the bits of each, and names of its parties."""

    bits: Sequence[int]
    names: Mapping[tuple[str, ...], str]


@dataclass(slots=True, eq=False)
class Corpus:
    """The sources with their passages, and what could not be read of them."""

    sources: tuple[Source, ...]
    passages: tuple[Passage, ...]
    index: Index
    unreadable: tuple[Unreadable, ...] = ()
    _clauses: OrderedDict[tuple[int, bool, int], Clause] = field(default_factory=OrderedDict)
    _views: dict[WordIndex, View] = field(default_factory=dict)
    _scores: dict[str, list[list[float]]] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[tuple[Source, Text]], unreadable: Iterable[Unreadable] = ()) -> "Corpus":
        """All that can be judged; `unreadable` names sources that gave no text at all."""
        sources: list[Source] = []
        found: list[Passage] = []
        unread = list(unreadable)
        for source, text in texts:
            sources.append(source)
            found += passages.split(text, source)
            unread += [
                Unreadable(source.name, caveat.page, caveat.message)
                for caveat in text.caveats
                if caveat.code in _UNREAD
            ]
        index = Index(f"{passage.title or ''} {passage.lead_in} {passage.text}" for passage in found)
        return cls(tuple(sources), tuple(found), index, tuple(unread))

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the sources, each once."""
        return tuple(sorted({passage.language for passage in self.passages if passage.language}))

    def view(self, lexicon: Lexicon) -> View:
        """Made at the first question of a framework, when all its phrases have been read into the index."""
        index = lexicon.vocabulary.index
        if index not in self._views:
            names = definitions.aliases((passage.text for passage in self.passages), lexicon)
            named = View([], names)
            bits = [self.clause(at, named).bits(index) for at in range(len(self.passages))]
            self._views[index] = View(bits, names)
        return self._views[index]

    def clause(self, at: int, view: View, *, titled: bool = False) -> Clause:
        """A passage with its lead-in, and with the title of its section if asked for."""
        key = (at, titled, id(view.names))
        clause = self._clauses.get(key)
        if clause is None:
            clause = Clause(self.before(at, titled=titled) + self.passages[at].text)
            clause = definitions.resolve(clause, view.names) if view.names else clause
            self._clauses[key] = clause
            if len(self._clauses) > _CLAUSES_KEPT:
                self._clauses.popitem(last=False)
        else:
            self._clauses.move_to_end(key)
        return clause

    def scored(self, weights: Weights, view: View) -> list[list[float]]:
        """What trained weights say of every passage, by their heads."""
        if weights.name not in self._scores:
            clauses = (self.clause(at, view) for at in range(len(self.passages)))
            self._scores[weights.name] = [weights.scores(clause) for clause in clauses]
        return self._scores[weights.name]

    def before(self, at: int, *, titled: bool = False) -> str:
        """What stands before the passage's own words in its clause."""
        passage = self.passages[at]
        title = f"{passage.title}. " if titled and passage.title else ""
        return title + (f"{passage.lead_in} " if passage.lead_in else "")
