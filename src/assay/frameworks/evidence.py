"""Finds the evidence of a framework file in a clause: expressions are compiled once, then matched many times.

Pure and deterministic. Work grows with the length of the clause times the size of the expression, whatever
the text: there is no going back as in regular expressions.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.frameworks import figures, modality, phrases
from assay.frameworks.modality import Grammar, Voice
from assay.frameworks.models import (
    AllOf,
    AnyOf,
    Aspect,
    Deadline,
    Duty,
    Expression,
    Figure,
    Framework,
    Modality,
    Phrase,
    Qualified,
)
from assay.frameworks.words import Clause, WordIndex, nearest_before

# At or above this strength a match shows its aspect; below, it only points to where to look.
SHOWS = 0.5

_FIRM = 1.0
_PLAIN = 0.85  # "the processor notifies": a duty by its place in a contract, not by its words
_SOFT = 0.6  # "reasonable efforts"
_WEAK = 0.4  # marked so by the author

_FARTHEST_ACTOR = 30
_FARTHEST_AGENT = 10  # "… is notified, without undue delay, by the processor"
_NEAREST_ACTORS = 4


@dataclass(frozen=True, slots=True)
class Match:
    """How strongly a clause shows something, 0 to 1, and the words that do, as offsets into its text."""

    strength: float
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """One place, as numbers of words; `pieces` are the words to show."""

    start: int
    end: int
    strength: float
    pieces: tuple[tuple[int, int], ...]


Finder = Callable[[Clause], list[Hit]]


@dataclass(frozen=True, slots=True, eq=False)
class Matcher:
    """An expression ready to be matched. A clause that misses one of the `gates` altogether cannot match."""

    find: Finder
    gates: tuple[int, ...]
    index: WordIndex

    def hits(self, clause: Clause) -> list[Hit]:
        bits = clause.bits(self.index)
        for gate in self.gates:
            if not bits & gate:
                return []
        return self.find(clause)


@dataclass(frozen=True, slots=True)
class CompiledAspect:
    """The evidence of an aspect in one language, ready for `match`. None where the file says nothing."""

    shows: Matcher | None
    contradicts: Matcher | None


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What expressions of one framework in one language share: synonyms, parties and grammar."""

    vocabulary: phrases.Vocabulary
    parties: Mapping[str, phrases.Choice]
    grammar: Grammar

    @classmethod
    def of(cls, framework: Framework, language: str) -> "Lexicon":
        vocabulary = phrases.Vocabulary()
        for name, texts in framework.vocabulary.get(language, {}).items():
            vocabulary.define(name, texts)
        parties = {name: vocabulary.names[name] for name in framework.parties if name in vocabulary.names}
        return cls(vocabulary, parties, modality.GRAMMARS.get(language, modality.UNKNOWN))


def compile_aspect(aspect: Aspect, language: str, lexicon: Lexicon) -> CompiledAspect:
    """Both sides of an aspect. Raises phrases.PhraseError for what `files.parse` would refuse."""
    sides = (aspect.evidence.get(language, ()), aspect.contradicted_by.get(language, ()))
    shows, contradicts = (compile_(AnyOf(side), lexicon) if side else None for side in sides)
    return CompiledAspect(shows, contradicts)


def compile_(expression: Expression, lexicon: Lexicon) -> Matcher:
    """An expression made ready. Raises phrases.PhraseError."""
    match expression:
        case Phrase(text):
            choice = phrases.read(text, lexicon.vocabulary)
            find, gates = _phrase(choice), choice.gates
        case AnyOf(members):
            find, gates = _any([compile_(member, lexicon) for member in members])
        case AllOf(members, within):
            find, gates = _all([compile_(member, lexicon) for member in members], within)
        case Duty():
            find, gates = _duty(expression, lexicon)
        case Deadline():
            find, gates = (lambda clause: _plain(figures.deadlines(clause, expression))), ()
        case Figure():
            find, gates = _figure(expression, phrases.read(expression.of, lexicon.vocabulary))
        case Qualified(inner, unless, weak):
            without = [compile_(member, lexicon) for member in unless]
            find, gates = _qualified(compile_(inner, lexicon), without, weak=weak)
    return Matcher(find, gates, lexicon.vocabulary.index)


def match(matcher: Matcher, clause: Clause | str) -> Match | None:
    """What the clause shows, by its strongest places. Prepare a Clause when matching it more than once."""
    clause = Clause(clause) if isinstance(clause, str) else clause
    hits = matcher.hits(clause)
    if not hits:
        return None
    strength = max(hit.strength for hit in hits)
    pieces = {piece for hit in hits if hit.strength == strength for piece in hit.pieces}
    return Match(strength, tuple(clause.span(start, end) for start, end in _merged(pieces)))


def _merged(pieces: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _plain(spans: Iterable[tuple[int, int]]) -> list[Hit]:
    return [Hit(start, end, _FIRM, ((start, end),)) for start, end in spans]


def _phrase(choice: phrases.Choice) -> Finder:
    return lambda clause: _plain(phrases.find(choice, clause))


def _figure(figure: Figure, of: phrases.Choice) -> tuple[Finder, tuple[int, ...]]:
    return (lambda clause: _plain(figures.counted(clause, figure, phrases.find(of, clause)))), of.gates


def _any(members: Sequence[Matcher]) -> tuple[Finder, tuple[int, ...]]:
    def find(clause: Clause) -> list[Hit]:
        return [hit for member in members for hit in member.hits(clause)]

    return find, (phrases.either(member.gates for member in members),)


def _all(members: Sequence[Matcher], within: int | None) -> tuple[Finder, tuple[int, ...]]:
    def find(clause: Clause) -> list[Hit]:
        found: list[list[Hit]] = []
        for member in members:
            hits = member.hits(clause)
            if not hits:
                return []
            found.append(hits)
        if within is None:
            return [_joined([max(hits, key=lambda hit: hit.strength) for hits in found])]
        return _close(found, within)

    return find, phrases.in_order({gate for member in members for gate in member.gates})


def _close(found: Sequence[list[Hit]], within: int) -> list[Hit]:
    """The strongest group, one hit of each member, inside a window of words. One sweep, by start."""
    last: list[Hit | None] = [None] * len(found)
    best: Hit | None = None
    in_order = sorted(
        ((hit, at) for at, hits in enumerate(found) for hit in hits),
        key=lambda pair: (pair[0].start, pair[0].end, pair[1]),
    )
    for hit, at in in_order:
        last[at] = hit
        group = [member for member in last if member is not None]
        if len(group) < len(found):
            continue
        joined = _joined(group)
        if joined.end - joined.start <= within and (best is None or joined.strength > best.strength):
            best = joined
    return [best] if best else []


def _joined(group: Sequence[Hit]) -> Hit:
    return Hit(
        min(hit.start for hit in group),
        max(hit.end for hit in group),
        min(hit.strength for hit in group),
        tuple(piece for hit in group for piece in hit.pieces),
    )


def _qualified(inner: Matcher, unless: Sequence[Matcher], *, weak: bool) -> tuple[Finder, tuple[int, ...]]:
    def find(clause: Clause) -> list[Hit]:
        hits = inner.hits(clause)
        if not hits or any(member.hits(clause) for member in unless):
            return []
        if not weak:
            return hits
        return [Hit(hit.start, hit.end, hit.strength * _WEAK, hit.pieces) for hit in hits]

    return find, inner.gates


def _duty(duty: Duty, lexicon: Lexicon) -> tuple[Finder, tuple[int, ...]]:
    who = phrases.read(duty.who, lexicon.vocabulary)
    action = phrases.read(duty.action, lexicon.vocabulary)
    own = {name for name in lexicon.parties if f"<{name}>" in duty.who}
    others = [choice for name, choice in lexicon.parties.items() if name not in own]
    reading = _DutyReading(duty.modality, lexicon.grammar, others)

    def find(clause: Clause) -> list[Hit]:
        actions = phrases.find(action, clause)
        actors = phrases.find(who, clause) if actions else []
        return reading.hits(clause, actors, actions) if actors else []

    return find, phrases.in_order({*who.gates, *action.gates})


@dataclass(frozen=True, slots=True)
class _DutyReading:
    """Pairs an actor with an action and reads what stands between them."""

    modality: Modality
    grammar: Grammar
    others: Sequence[phrases.Choice]

    def hits(
        self, clause: Clause, actors: list[tuple[int, int]], actions: list[tuple[int, int]]
    ) -> list[Hit]:
        others = sorted(start for choice in self.others for start, _ in phrases.find(choice, clause))
        starts = [start for start, _ in actors]
        found = []
        for action in actions:
            at = bisect_right(starts, action[0])
            before = actors[max(0, at - _NEAREST_ACTORS) : at]
            after = actors[at : at + 1]
            for actor in before:
                found += self._active(clause, actor, action, others)
            for actor in after:
                found += self._passive(clause, actor, action)
        return found

    def _active(
        self, clause: Clause, actor: tuple[int, int], action: tuple[int, int], others: list[int]
    ) -> list[Hit]:
        """As in: the processor shall … notify."""
        start, end = actor[1], action[0]
        if not 0 <= end - start <= _FARTHEST_ACTOR or self._is_taken(clause, start, end, others):
            return []
        return self._hit(clause, clause.words[start:end], actor, action)

    def _is_taken(self, clause: Clause, start: int, end: int, others: list[int]) -> bool:
        """Another party stands between the actor and the word that says must or may: it is their duty."""
        modal = self.grammar.is_modal
        at = next((at for at in range(end - 1, start - 1, -1) if modal(clause.words[at])), end)
        before = nearest_before(others, at - 1)
        return before is not None and before >= start

    def _passive(self, clause: Clause, actor: tuple[int, int], action: tuple[int, int]) -> list[Hit]:
        """As in: … shall be notified by the processor; and German: unterrichtet der Auftragsverarbeiter."""
        distance = actor[0] - action[1]
        by = not self.grammar.by.isdisjoint(clause.words[max(action[1] - 1, actor[0] - 3) : actor[0]])
        if not 0 <= distance <= _FARTHEST_AGENT or not (by or self.grammar.free_order):
            return []
        lead = clause.words[max(0, action[0] - 8) : action[0]]
        return self._hit(clause, lead + clause.words[action[1] : actor[0]], actor, action)

    def _hit(
        self, clause: Clause, between: list[str], actor: tuple[int, int], action: tuple[int, int]
    ) -> list[Hit]:
        strength = self._strength(modality.voice(between, self.grammar))
        if not strength:
            return []
        start, end = min(actor[0], action[0]), max(actor[1], action[1])
        if modality.is_soft(f" {' '.join(clause.words[start:end])} ", self.grammar):
            strength *= _SOFT
        return [Hit(start, end, strength, (actor, action))]

    def _strength(self, voice: Voice) -> float:
        if self.modality is Modality.DOES:
            return 0.0 if voice in {Voice.MUST_NOT, Voice.NEED_NOT} else _FIRM
        if self.modality is Modality.MUST and voice is Voice.PLAIN:
            return _FIRM if self.grammar.free_order else _PLAIN
        wanted = {Modality.MUST: Voice.MUST, Modality.MAY: Voice.MAY, Modality.MUST_NOT: Voice.MUST_NOT}
        return _FIRM if voice is wanted[self.modality] else 0.0
