"""How languages say must, may and must not: enough to tell a duty from a permission, by the words alone."""

from dataclasses import dataclass, field
from enum import Enum, auto

from assay.frameworks.words import fold


class Voice(Enum):
    """What the words between an actor and an action make of it."""

    MUST = auto()
    MAY = auto()
    MUST_NOT = auto()
    NEED_NOT = auto()
    PLAIN = auto()  # no such word: "the processor notifies"


def _set(words: str) -> frozenset[str]:
    return frozenset(fold(word) for word in words.split())


@dataclass(frozen=True, slots=True)
class Grammar:
    """The words that carry modality. `free_order`: the actor may follow its verb (German)."""

    must: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    negation: frozenset[str] = frozenset()
    harmless: tuple[tuple[str, ...], ...] = ()  # a negation in these says nothing about the duty
    soft: tuple[str, ...] = ()
    by: frozenset[str] = field(default_factory=frozenset)  # "notified by the processor"
    free_order: bool = False

    def is_modal(self, word: str) -> bool:
        return word in self.must or word in self.may


_ENGLISH = Grammar(
    must=_set(
        "shall will must agrees agree undertakes undertake commits commit committed warrants warrant "
        "covenants ensures ensure obliged obligated required responsible undertaken obligation duty",
    ),
    may=_set("may can could might entitled permitted allowed right"),
    never=_set("cannot prohibited forbidden refrain refrains barred"),
    negation=_set("not never neither nor no"),
    harmless=(
        ("not", "limited", "to"),
        ("not", "later", "than"),
        ("no", "later", "than"),
        ("not", "only"),
        ("or", "not"),
        ("no", "less"),
        ("not", "less"),
        ("no", "event", "later"),
        ("no", "case", "later"),
    ),
    soft=(
        " reasonable efforts ", " best efforts ", " reasonable endeavors ", " best endeavors ",
        " commercially reasonable ", " endeavor ", " where practicable ", " where feasible ",
        " try to ", " seek to ", " aim to ", " strive ",
    ),
    by=_set("by through"),
)  # fmt: skip

_GERMAN = Grammar(
    must=_set(
        "muss müssen hat haben verpflichtet verpflichten soll sollen wird werden stellt gewährleistet "
        "sichert verpflichtung",
    ),
    may=_set("kann können darf dürfen berechtigt befugt gestattet erlaubt"),
    never=_set("untersagt verboten unzulässig"),
    negation=_set("nicht kein keine keinen keiner keinerlei nie niemals weder"),
    harmless=(("nicht", "nur"), ("nicht", "beschränkt"), ("oder", "nicht"), ("nicht", "später")),
    soft=(" angemessene bemühungen ", " nach möglichkeit ", " soweit möglich ", " bemüht sich ", " bemühen "),
    by=_set("durch von vom seitens"),
    free_order=True,
)

GRAMMARS = {"en": _ENGLISH, "de": _GERMAN}
UNKNOWN = Grammar(free_order=True)


def voice(words: list[str], grammar: Grammar) -> Voice:
    """What stands nearest to the action decides: read backwards from it to the actor."""
    negated = False
    for at in range(len(words) - 1, -1, -1):
        word = words[at]
        if word in grammar.negation and not _is_harmless(words, at, grammar):
            negated = True
        elif word in grammar.never:
            return Voice.MUST_NOT
        elif word in grammar.must:
            return _denied(words, at, grammar, Voice.MUST if not negated else Voice.MUST_NOT)
        elif word in grammar.may:
            before = _negated_before(words, at, grammar)
            return Voice.MUST_NOT if negated or before else Voice.MAY
    return Voice.MUST_NOT if negated else Voice.PLAIN


def is_soft(joined: str, grammar: Grammar) -> bool:
    """Whether the words promise an effort rather than the thing."""
    return any(words in joined for words in grammar.soft)


def _denied(words: list[str], at: int, grammar: Grammar, otherwise: Voice) -> Voice:
    """As in: is not required to, which lays no duty on anyone."""
    return Voice.NEED_NOT if _negated_before(words, at, grammar) else otherwise


def _negated_before(words: list[str], at: int, grammar: Grammar) -> bool:
    return at > 0 and words[at - 1] in grammar.negation


def _is_harmless(words: list[str], at: int, grammar: Grammar) -> bool:
    return any(
        tuple(words[at - shift : at - shift + len(sample)]) == sample
        for sample in grammar.harmless
        for shift in range(len(sample))
        if at >= shift
    )
