"""The phrases of a framework file: words in order, with gaps, wildcards, alternatives and named synonyms.

`prior ... written (consent | authorisation)` has a gap of at most 5 words and two alternatives;
`<processor> ...12 notif*` has synonyms by name, a gap of at most 12 words and a word family;
`sub-processor*` also finds "subprocessors" and "sub processor".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.frameworks.words import Clause, WordIndex, fold, nearest_before

DEFAULT_GAP = 5
LONGEST_GAP = 40
SHORTEST_STEM = 3
LONGEST_PHRASE = 2_000
DEEPEST_GROUP = 8

_PIECE = re.compile(
    r"\s*(?:(?P<gap>\.\.\.|…)(?P<size>\d*)|(?P<open>\()|(?P<close>\))|(?P<bar>\|)|<(?P<name>[^<>]*)>"
    r"|(?P<word>\d+(?:[.,]\d+)+|\*?[\w%§'\u2019\u02bc]+(?:[-\u2010\u2011\u2013][\w%§'\u2019\u02bc]+)*\*?)|(?P<other>\S))",
)
_HYPHEN = re.compile(r"[-\u2010\u2011\u2013]")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PART = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_][\w'\u2019\u02bc]*|[%§]")


class PhraseError(ValueError):
    """A phrase that cannot be read; `remedy` says what to write instead."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


# Compared by identity: a clause remembers what it has found for each, and hashing deep trees would cost more.
@dataclass(frozen=True, slots=True, eq=False)
class Word:
    stem: str
    bit: int
    open_start: bool = False
    open_end: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Parts one after the other; `gaps[i]` is how many words may stand before part i (0 for the first).

    A clause whose bits miss one of the `gates` altogether cannot hold it.
    """

    parts: tuple["Word | Choice", ...]
    gaps: tuple[int, ...]
    gates: tuple[int, ...]
    index: WordIndex


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    runs: tuple[Run, ...]
    gate: int  # a clause must have one of these bits

    @property
    def gates(self) -> tuple[int, ...]:
        return self.runs[0].gates if len(self.runs) == 1 else (self.gate,)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The named synonyms of one language, and the index of the words in all phrases read with them."""

    names: dict[str, Choice] = field(default_factory=dict)
    index: WordIndex = field(default_factory=WordIndex)

    def define(self, name: str, texts: Iterable[str]) -> None:
        """Name some phrases. They may use the names that are already there, so there can be no circle."""
        self.names[name] = _choice([run for text in texts for run in read(text, self).runs])


def read(text: str, vocabulary: Vocabulary) -> Choice:
    """A phrase ready to be found. Raises PhraseError with a remedy."""
    if len(text) > LONGEST_PHRASE:
        raise PhraseError("The phrase is too long.", f"Use at most {LONGEST_PHRASE:,} characters.")
    reader = _Reader(text, vocabulary)
    choice = _choice([reader.run(depth=0)])
    if reader.kind is not None:
        raise PhraseError(
            f"There is a {reader.shown} too many in “{text}”.", "Put alternatives in ( a | b )."
        )
    return choice


def is_name(name: str) -> bool:
    """Whether `name` can name an entry of the vocabulary."""
    return bool(_NAME.fullmatch(name))


class _Reader:
    """Reads one phrase, piece by piece."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.text = text
        self.vocabulary = vocabulary
        self.pieces = [match for match in _PIECE.finditer(text) if match.lastgroup]
        self.at = 0

    @property
    def piece(self) -> re.Match[str]:
        return self.pieces[self.at]

    @property
    def kind(self) -> str | None:
        if self.at == len(self.pieces):
            return None
        return "gap" if self.piece["gap"] else self.piece.lastgroup

    @property
    def shown(self) -> str:
        return f"“{self.piece.group().strip()}”"

    def run(self, depth: int) -> Run:
        parts: list[Word | Choice] = []
        gaps: list[int] = []
        gap = 0
        while self.kind not in {None, "bar", "close"}:
            if self.kind == "gap":
                gap = self._gap(after_gap=gap > 0 or not parts)
                continue
            found = self._parts(depth)
            parts += found
            gaps += [gap] + [0] * (len(found) - 1)
            gap = 0
        if gap or not parts:
            raise PhraseError(
                f"“{self.text}” has an end or an alternative without words.",
                "Begin and end a phrase, and each alternative, with a word.",
            )
        return _run(parts, gaps, self.vocabulary.index)

    def _gap(self, *, after_gap: bool) -> int:
        size = (
            int(self.piece["size"] or DEFAULT_GAP) if len(self.piece["size"] or "") < 4 else LONGEST_GAP + 1
        )
        if after_gap or not 0 < size <= LONGEST_GAP:
            raise PhraseError(
                f"“{self.text}” has a gap that cannot be read.",
                f"Write it between two words, as ... or as ...12 for at most 12 words (1 to {LONGEST_GAP}).",
            )
        self.at += 1
        return size

    def _parts(self, depth: int) -> list[Word | Choice]:
        kind = self.kind
        if kind == "open":
            return [self._group(depth + 1)]
        if kind == "name":
            return [self._reference()]
        if kind == "word":
            word = self.piece["word"]
            self.at += 1
            return _words(word, self.text, self.vocabulary.index)
        raise PhraseError(
            f"{self.shown} in “{self.text}” means nothing in a phrase.",
            "Write words, gaps (...), families (notif*), alternatives ( a | b ) and names (<processor>).",
        )

    def _reference(self) -> Choice:
        name = self.piece["name"].strip()
        if name not in self.vocabulary.names:
            raise UnknownNameError(name, self.vocabulary.names)
        self.at += 1
        return self.vocabulary.names[name]

    def _group(self, depth: int) -> Choice:
        if depth > DEEPEST_GROUP:
            raise PhraseError("Groups are nested too deeply.", "Name a part of it in the vocabulary.")
        self.at += 1
        runs = [self.run(depth)]
        while self.kind == "bar":
            self.at += 1
            runs.append(self.run(depth))
        if self.kind != "close":
            raise PhraseError(f"A group in “{self.text}” is not closed.", "Add the missing “)”.")
        self.at += 1
        return _choice(runs)


class UnknownNameError(PhraseError):
    """A phrase uses a name that the vocabulary does not have."""

    def __init__(self, name: str, known: Mapping[str, object]) -> None:
        self.name = name
        super().__init__(
            f"“<{name}>” is not in the vocabulary.",
            f"Define it there, or use one of: {', '.join(sorted(known)) or 'none is defined'}.",
        )


def _run(parts: Sequence[Word | Choice], gaps: Sequence[int], index: WordIndex) -> Run:
    gates = {part.bit if isinstance(part, Word) else part.gate for part in parts}
    return Run(tuple(parts), tuple(gaps), in_order(gates), index)


def _choice(runs: Sequence[Run]) -> Choice:
    return Choice(tuple(runs), either(run.gates for run in runs))


def in_order(gates: Iterable[int]) -> tuple[int, ...]:
    """The narrowest gate first: it turns away most."""
    return tuple(sorted(gates, key=lambda gate: (gate.bit_count(), gate)))


def either(several: Iterable[tuple[int, ...]]) -> int:
    """One gate for alternatives, from the narrowest of each; all bits where one has none."""
    gate = 0
    for gates in several:
        gate |= gates[0] if gates else -1
    return gate


def _words(written: str, text: str, index: WordIndex) -> list[Word | Choice]:
    """The words of one written piece; with hyphens, either apart or in one."""
    opens = (written.startswith("*"), written.endswith("*"))
    stem = written.strip("*")
    apart = [part for piece in _HYPHEN.split(stem) for part in _PART.findall(piece)]
    if not apart or (any(opens) and len("".join(apart)) < SHORTEST_STEM):
        raise PhraseError(
            f"“{written}” in “{text}” is too short for a word family.",
            f"Give at least {SHORTEST_STEM} letters before or after the *.",
        )
    split = _run_of(apart, opens, index)
    if len(apart) == 1 or not _HYPHEN.search(stem):
        return list(split.parts)
    return [_choice([split, _run_of(["".join(apart)], opens, index)])]


def _run_of(parts: Sequence[str], opens: tuple[bool, bool], index: WordIndex) -> Run:
    last = len(parts) - 1
    words = []
    for at, part in enumerate(parts):
        open_start, open_end = opens[0] and at == 0, opens[1] and at == last
        stem = fold(part)
        bit = index.bit(stem, open_start=open_start, open_end=open_end)
        words.append(Word(stem, bit, open_start, open_end))
    return _run(words, [0] * len(words), index)


def find(part: Word | Choice, clause: Clause) -> list[tuple[int, int]]:
    """Where it stands, as numbers of words (start, end), by start; for each end the nearest start."""
    known = clause.found.get(part)
    if known is None:
        known = _find_word(part, clause) if isinstance(part, Word) else _find_choice(part, clause)
        clause.found[part] = known
    return known


def _find_word(word: Word, clause: Clause) -> list[tuple[int, int]]:
    places = clause.positions(word.stem, open_start=word.open_start, open_end=word.open_end)
    return [(place, place + 1) for place in places]


def _find_choice(choice: Choice, clause: Clause) -> list[tuple[int, int]]:
    if not choice.runs:
        return []
    bits = clause.bits(choice.runs[0].index)
    found: list[tuple[int, int]] = []
    for run in choice.runs:
        for gate in run.gates:
            if not bits & gate:
                break
        else:
            found += _find_run(run, clause)
    return sorted(set(found)) if found else found


def _find_run(run: Run, clause: Clause) -> list[tuple[int, int]]:
    """One pass over the places of each part: no going back, so the work is linear in the clause."""
    reached = {end: start for start, end in find(run.parts[0], clause)}
    for part, gap in zip(run.parts[1:], run.gaps[1:], strict=True):
        if not reached:
            return []
        reached = _step(reached, find(part, clause), gap)
    return [(start, end) for end, start in reached.items()]


def _step(reached: dict[int, int], spans: list[tuple[int, int]], gap: int) -> dict[int, int]:
    """Ends after one more part, each with the nearest start that leads to it."""
    ends = sorted(reached)
    further: dict[int, int] = {}
    for start, end in spans:
        before = nearest_before(ends, start)
        if before is not None and start - before <= gap:
            further[end] = max(further.get(end, 0), reached[before])
    return further
