"""What importers share: their result, their limits, and the conversion of foreign identifiers."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from assay.frameworks.files import LONGEST_CODE_NAME, LONGEST_NAME, LONGEST_TEXT, code_name_of
from assay.frameworks.models import MOST_CRITERIA, Complaint, Criterion, Framework, FrameworkFileError

MOST_BYTES = 64 * 2**20
_SENTENCE_END = re.compile(r"(?<=[.;:!?])\s|\n")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something in the file that did not become a criterion, and why."""

    identifier: str
    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    framework: Framework
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A foreign requirement on its way to a criterion, with its place for complaints."""

    identifier: str
    name: str
    description: str
    reference: str = ""
    context: tuple[str, ...] = ()
    line: int | None = None
    column: int | None = None
    path: str = ""


def criteria_of(found: Iterable[Found], file: str) -> tuple[Criterion, ...]:
    """Criteria under converted code names. Raises FrameworkFileError for collisions and for too many."""
    criteria: dict[str, Criterion] = {}
    origins: dict[str, Found] = {}
    complaints = []
    for one in found:
        code_name = code_name_of(one.identifier)
        problem = _problem(code_name, one, origins.get(code_name))
        if problem:
            complaints.append(Complaint(file, one.line, one.column, *problem, path=one.path))
            continue
        if len(criteria) >= MOST_CRITERIA:
            raise FrameworkFileError([_too_many(one, file)])
        origins[code_name] = one
        criteria[code_name] = _criterion(code_name, one)
    if complaints:
        raise FrameworkFileError(complaints)
    if not criteria:
        nothing = "There is nothing in it that a document could be assessed against."
        raise FrameworkFileError([Complaint(file, None, None, nothing, "Choose a file with requirements.")])
    return tuple(criteria.values())


def _problem(code_name: str, one: Found, earlier: Found | None) -> tuple[str, str] | None:
    if not code_name:
        return f"“{one.identifier}” holds no letter or digit.", "Give the requirement an identifier."
    if len(code_name) > LONGEST_CODE_NAME:
        return f"“{one.identifier[:50]}…” is too long.", f"Use at most {LONGEST_CODE_NAME} characters."
    if earlier is not None:
        return (
            f"“{one.identifier}” and “{earlier.identifier}” would both be {code_name}.",
            "Change one of the identifiers in the file.",
        )
    return None


def _too_many(one: Found, file: str) -> Complaint:
    message = f"There are more than {MOST_CRITERIA:,} requirements."
    return Complaint(file, one.line, one.column, message, "Split the file.", path=one.path)


def _criterion(code_name: str, one: Found) -> Criterion:
    name = " ".join(one.name.split()) or first_sentence(one.description)
    return Criterion(
        code_name=code_name,
        name=shortened(name, LONGEST_NAME),
        description=shortened(one.description.strip() or name, LONGEST_TEXT),
        reference=one.reference,
        context=tuple(title for title in one.context if title),
    )


def first_sentence(text: str) -> str:
    """What names a requirement that has no name."""
    return shortened(" ".join(_SENTENCE_END.split(text.strip(), maxsplit=1)[0].split()), 120)


def shortened(text: str, longest: int) -> str:
    """The text, cut between words where it is too long, with a mark that it was."""
    if len(text) <= longest:
        return text
    return text[: longest - 1].rsplit(maxsplit=1)[0] + "…"
