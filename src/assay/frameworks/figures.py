"""Numbers and times in a clause: "72", "seventy-two (72) hours", "dreißig Tage"."""

from collections.abc import Iterator

from assay.frameworks.models import Comparison, Deadline, Figure
from assay.frameworks.words import Clause, fold

HOURS = {"hour": 1.0, "day": 24.0, "week": 168.0, "month": 730.0, "year": 8760.0}

_UNITS = {
    fold(word): HOURS[unit]
    for unit, words in {
        "hour": "hour hours hr hrs h stunde stunden std",
        "day": "day days tag tage tagen werktag werktage werktagen arbeitstag arbeitstage arbeitstagen",
        "week": "week weeks woche wochen",
        "month": "month months monat monate monaten",
        "year": "year years jahr jahre jahren",
    }.items()
    for word in words.split()
}
_SMALL = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL_GERMAN = [
    "ein",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
]
_TENS_GERMAN = {"vierzehn": 14, "fünfzehn": 15, "zwanzig": 20, "dreißig": 30, "sechzig": 60, "neunzig": 90}
_NUMBERS = (
    {word: value for value, word in enumerate(_SMALL, 1)}
    | {word: 10 * value for value, word in enumerate(_TENS, 2)}
    | {fold(word): value for value, word in enumerate(_SMALL_GERMAN, 1)}
    | {fold(word): value for word, value in _TENS_GERMAN.items()}
    | {"a": 1, "an": 1, "eine": 1, "einen": 1, "einem": 1, "einer": 1, "eines": 1, "hundred": 100}
)
_BETWEEN = frozenset(
    ["business", "working", "calendar", "consecutive", "clear", "full", "or", "und", "volle"]
)


def hours(amount: int, unit: str) -> float:
    """A time of a framework file in hours."""
    return amount * HOURS[unit.removesuffix("s")]


def deadlines(clause: Clause, deadline: Deadline) -> list[tuple[int, int]]:
    """Where a time stands that fits."""
    wanted = hours(deadline.amount, deadline.unit) if deadline.amount and deadline.unit else 0.0
    return [(start, end) for value, start, end in _times(clause) if _fits(value, deadline.comparison, wanted)]


def counted(clause: Clause, figure: Figure, units: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where a number stands right before one of the `units` and fits."""
    found = []
    for start, end in units:
        number = _number_before(clause.words, start)
        if number and _fits(number[0], figure.comparison, figure.amount or 0.0):
            found.append((number[1], end))
    return found


def _times(clause: Clause) -> Iterator[tuple[float, int, int]]:
    """Each time in hours with its words. Business days count as days."""
    for unit in sorted(_UNITS.keys() & clause.index.keys()):
        for at in clause.index[unit]:
            number = _number_before(clause.words, at)
            if number:
                yield number[0] * _UNITS[unit], number[1], at + 1


def _number_before(words: list[str], at: int) -> tuple[float, int] | None:
    """The number that ends before `at`, and where it begins; digits win over the words beside them."""
    first = at
    while first > 0 and at - first < 3 and words[first - 1] in _BETWEEN:
        first -= 1
    if first == 0:
        return None
    digits = _digits(words[first - 1])
    if digits is not None:
        return digits, first - 1
    return _spelled(words, first)


def _spelled(words: list[str], end: int) -> tuple[float, int] | None:
    last = _NUMBERS.get(words[end - 1])
    if last is None:
        return None
    tens = _NUMBERS.get(words[end - 2], 0) if end > 1 else 0
    if last < 10 and tens in range(20, 100, 10):
        return float(tens + last), end - 2
    return float(last), end - 1


def _digits(word: str) -> float | None:
    """`72`, `99.9` and `1,000`; a German `99,9` too."""
    if not word[0].isdigit():
        return None
    head, _, tail = word.replace(".", ",").rpartition(",")
    grouped = head and len(tail) == 3
    plain = (
        word.replace(",", "").replace(".", "") if grouped or not head else f"{head.replace(',', '')}.{tail}"
    )
    return float(plain) if plain.replace(".", "").isascii() and len(plain) < 20 else None


def _fits(value: float, comparison: Comparison, wanted: float) -> bool:
    match comparison:
        case Comparison.ANY:
            return True
        case Comparison.AT_MOST:
            return value <= wanted
        case Comparison.AT_LEAST:
            return value >= wanted
        case Comparison.LESS_THAN:
            return value < wanted
        case Comparison.MORE_THAN:
            return value > wanted
