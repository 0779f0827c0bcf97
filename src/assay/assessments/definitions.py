"""Names that a document gives to its parties: “Acme” is the processor, so Acme's duty is the processor's."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from assay.frameworks import phrases
from assay.frameworks.evidence import Lexicon
from assay.frameworks.words import Clause, fold

_QUOTED = r"[\"“„«'‘]\s*([^\"“”„«»'‘’]{2,60}?)\s*[\"”“»'’]"
_NAME = r"([A-ZÄÖÜ][\w&.-]*(?:\s+(?:[A-ZÄÖÜ][\w&.-]*|of|and|und|&)){0,5})"
_BRACKETS = re.compile(r"\(([^()]{2,200})\)")
_PROPER = re.compile(_NAME)
_MEANS = re.compile(
    rf"{_QUOTED}\s+(?:means?|shall mean|refers? to|bedeutet|bezeichnet|ist|is)\s+([^.;]{{2,120}})"
)
_ACTS_AS = re.compile(
    rf"{_NAME}\s+(?:is|acts?|will act|shall act|ist|handelt)\s+(?:(?:as|als)\s+)?"
    r"(?:an?|the|ein|der|die)?\s*([^.;,]{3,60})"
)
_EACH_QUOTED = re.compile(_QUOTED)
_LONGEST_ALIAS = 4  # words
_LONGEST_ROLE = 4
_NEAR = 160
_COMMON = frozenset(
    {
        *("agreement", "addendum", "contract", "dpa", "vertrag", "data", "service", "services", "party"),
        *("parties", "the", "this", "each", "such", "any", "it", "in"),
    }
)


@dataclass(frozen=True, slots=True)
class Naming:
    """Two names of one person, as some clause says."""

    one: str
    other: str


def namings(texts: Iterable[str]) -> Iterator[Naming]:
    """Where a text says that one name stands for another."""
    for text in texts:
        for found in _MEANS.finditer(text):
            yield Naming(found[1], found[2])
        for found in _ACTS_AS.finditer(text):
            yield Naming(found[1], found[2])
        for found in _BRACKETS.finditer(text):
            yield from _bracketed(text[max(0, found.start() - _NEAR) : found.start()], found[1])


def _bracketed(before: str, inside: str) -> Iterator[Naming]:
    """As in: Acme GmbH, a company in Graz (“Acme”, the “Processor”)."""
    person = _PROPER.search(re.split(r"[().;]", before)[-1])
    for quoted in _EACH_QUOTED.finditer(inside):
        yield Naming(quoted[1], inside)
        if person:
            yield Naming(person[0], quoted[1])


def aliases(texts: Iterable[str], lexicon: Lexicon) -> Mapping[tuple[str, ...], str]:
    """Folded words of a name → the first word of the party that it stands for in this framework."""
    found: dict[tuple[str, ...], str] = {}
    for naming in namings(texts):
        for name, role in ((naming.one, naming.other), (naming.other, naming.one)):
            party = _party(role, lexicon)
            key = tuple(word for word in Clause(name).words if word not in {"the", "der", "die"})
            if party and 0 < len(key) <= _LONGEST_ALIAS and _is_name(name, key, lexicon):
                found.setdefault(key, party)
    return found


def _is_name(name: str, key: tuple[str, ...], lexicon: Lexicon) -> bool:
    """A proper name: not a word that the framework uses itself, nor one that every contract uses for things.

    A sub-processor is a processor to its own definition, and must not become the processor by it.
    """
    if not name[:1].isupper() or any(word in _COMMON for word in key):
        return False
    clause = Clause(name)
    return not any(phrases.find(choice, clause) for choice in lexicon.vocabulary.names.values())


def _party(role: str, lexicon: Lexicon) -> str | None:
    """The one party that a few words name; none where they name two, or say more than a name."""
    clause = Clause(role)
    if len(clause.words) > _LONGEST_ROLE:
        return None
    named = {
        name: min(start for start, _ in places)
        for name, choice in lexicon.parties.items()
        if (places := phrases.find(choice, clause))
    }
    if len(named) != 1:
        return None
    return clause.words[next(iter(named.values()))]


def resolve(clause: Clause, names: Mapping[tuple[str, ...], str]) -> Clause:
    """The clause with each such name read as its party. Offsets stay those of the text."""
    at = 0
    while at < len(clause.words):
        for key, party in names.items():
            if clause.words[at] == key[0] and tuple(clause.words[at : at + len(key)]) == key:
                clause.words[at : at + len(key)] = [fold(party)]
                clause.ends[at : at + len(key)] = [clause.ends[at + len(key) - 1]]
                clause.starts[at : at + len(key)] = [clause.starts[at]]
                break
        at += 1
    clause.index.clear()
    for position, word in enumerate(clause.words):
        clause.index.setdefault(word, []).append(position)
    return clause
