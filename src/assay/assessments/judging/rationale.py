"""Verdicts in words: markdown that an expert can follow from verdict to clause, and no legal advice."""

import re
from collections.abc import Sequence

from assay.assessments.judging.settling import Point
from assay.assessments.models import Absence, AspectStatus, Category, Citation
from assay.frameworks.models import Criterion

_LONGEST_QUOTE = 280
_MARKS = re.compile(r"([\\`*_\[\]<>|#])")
_VERDICTS = {
    Category.SUFFICIENTLY_REGULATED: "Sufficiently regulated.",
    Category.NOT_SUFFICIENTLY_REGULATED: "Not sufficiently regulated.",
    Category.MISSING: "Missing.",
}


def of_points(
    criterion: Criterion,
    category: Category,
    points: Sequence[tuple[Point, Sequence[Citation]]],
    absence: Absence | None,
    cautions: Sequence[str],
) -> str:
    """The verdict in a sentence, each point with its finding and quote, what is missing, what to look at."""
    settled = [point for point, _ in points]
    parts = [
        f"**{_VERDICTS[category]}** {_sentence(criterion, settled, category)}",
        "\n".join(_line(point, cited) for point, cited in points),
        _searched(absence) if absence else "",
        _to_look_at(_open_questions(settled, absence), cautions),
    ]
    return "\n\n".join(part for part in parts if part)


def of_guess(
    criterion: Criterion,
    category: Category,
    citations: Sequence[Citation],
    absence: Absence | None,
    caution: str,
) -> str:
    """The words for a criterion without authored points: the closest passages, and that it is a guess."""
    guess = (
        "nothing comes close to its words"
        if category is Category.MISSING
        else "some passages use its words; whether they meet it needs a reader"
    )
    lines = [f"- {quoted(citation)}" for citation in citations]
    parts = [
        f"**{_VERDICTS[category]}** A guess: “{_plain(criterion.name)}” lists no points, and {guess}.",
        "\n".join(["Closest passages:", "", *lines]) if lines else "",
        _searched(absence) if absence else "",
        _to_look_at([], [caution]),
    ]
    return "\n\n".join(part for part in parts if part)


def quoted(citation: Citation) -> str:
    """A quote, shortened for reading, and where it stands."""
    words = " ".join(citation.quote.split())
    if len(words) > _LONGEST_QUOTE:
        words = words[:_LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"
    return f"“{_plain(words)}” ({place(citation)})"


def place(citation: Citation) -> str:
    parts = [_plain(citation.source)]
    if citation.section:
        parts.append(f"section {_plain(citation.section)}")
    if citation.page is not None:
        parts.append(f"page {citation.page}")
    return ", ".join(parts)


def _plain(text: str) -> str:
    """Words of a document or a file name, so that none of them is read as markdown."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def _sentence(criterion: Criterion, points: Sequence[Point], category: Category) -> str:
    name = f"“{_plain(criterion.name)}”" + (
        f" ({_plain(criterion.reference)})" if criterion.reference else ""
    )
    mandatory = [point for point in points if point.mandatory]
    covered = sum(point.status is AspectStatus.COVERED for point in mandatory)
    against = sum(point.status is AspectStatus.CONTRADICTED for point in points)
    if category is Category.MISSING:
        return f"No clause was found that regulates {name}."
    if category is Category.SUFFICIENTLY_REGULATED:
        return f"Everything that {name} demands was found."
    if against:
        return f"A clause says the opposite of what {name} demands."
    if not covered:
        return f"Only an additional point of {name} was found, and nothing that it demands."
    return f"{covered} of {len(mandatory)} points that {name} demands were found."


def _line(point: Point, cited: Sequence[Citation]) -> str:
    aspect = point.reading.aspect
    title = f"- **{_plain(aspect.name)}**" + ("" if point.mandatory else " (additional)")
    quote = f" {quoted(cited[0])}" if cited else ""
    if point.status is AspectStatus.COVERED:
        return f"{title}: {_firmness(point)}{quote}"
    if point.status is AspectStatus.CONTRADICTED:
        return f"{title}: contradicted by{quote}. Demanded: {_plain(aspect.demand)}"
    return f"{title}: not found. Demanded: {_plain(aspect.demand)}"


def _firmness(point: Point) -> str:
    if point.strength >= 0.8:
        return "covered by"
    return "covered, though not in firm words, by" if point.strength >= 0.5 else "covered, as it seems, by"


def _searched(absence: Absence) -> str:
    count = absence.passages_searched
    lines = [f"Searched: {count:,} passage{'s' * (count != 1)}."]
    if absence.closest:
        lines += ["", "Closest, but not enough:", "", *(f"- {quoted(one)}" for one in absence.closest)]
    return "\n".join(lines)


def _open_questions(points: Sequence[Point], absence: Absence | None) -> list[str]:
    soft = [point for point in points if point.status is AspectStatus.COVERED and 0.5 <= point.strength < 0.7]
    questions = [
        f"Whether the words on “{_plain(point.reading.aspect.name)}” bind firmly enough."
        for point in soft[:3]
    ]
    hinted = [
        point
        for point in points
        if point.status is AspectStatus.NOT_FOUND and point.reading.shows and not absence
    ]
    questions += [
        f"A clause comes near “{_plain(point.reading.aspect.name)}” without saying it."
        for point in hinted[:3]
    ]
    return questions


def _to_look_at(questions: Sequence[str], cautions: Sequence[str]) -> str:
    lines = [*questions, *cautions]
    return "\n".join(["To look at:", "", *(f"- {line}" for line in lines)]) if lines else ""
