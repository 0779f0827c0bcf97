"""What a framework is: criteria, their aspects, and the evidence that shows an aspect in a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from assay.errors import Conflict, Detail, Invalid, Unknown

# A framework of more criteria than this is a mistake or an attack.
MOST_CRITERIA = 10_000


class Modality(StrEnum):
    """What a clause lays on the one it names: the words of a framework file."""

    MUST = "must"
    MAY = "may"
    MUST_NOT = "must_not"
    DOES = "does"


class Comparison(StrEnum):
    """How a figure in a clause is held against the framework's. `ANY` asks only that there is one."""

    ANY = "any"
    AT_MOST = "at most"
    AT_LEAST = "at least"
    LESS_THAN = "less than"
    MORE_THAN = "more than"


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in their order: `prior ... written (consent | authorisation)`. See `phrases.py`."""

    text: str


@dataclass(frozen=True, slots=True)
class AnyOf:
    members: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every member in one clause; with `within`, inside a window of that many words."""

    members: tuple["Expression", ...]
    within: int | None = None


@dataclass(frozen=True, slots=True)
class Duty:
    """Who must, may or must not do what. `who` and `action` are phrases."""

    who: str
    modality: Modality
    action: str


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time that stands in the clause: `at most 72 hours`. `amount` is None when any will do."""

    comparison: Comparison
    amount: int | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A number and what it counts: `at least 99 (% | percent)`."""

    comparison: Comparison
    amount: float | None
    of: str


@dataclass(frozen=True, slots=True)
class Qualified:
    """An expression that counts only where none of `unless` stands in the clause, or counts but weakly."""

    expression: "Expression"
    unless: tuple["Expression", ...] = ()
    weak: bool = False


Expression = Phrase | AnyOf | AllOf | Duty | Deadline | Figure | Qualified
# By language; each member alone is enough.
Evidence = Mapping[str, tuple[Expression, ...]]
# By language, then by name: the phrases that `<name>` stands for.
Vocabulary = Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Aspect:
    """One point that a document must regulate, and what shows that it does or does the opposite."""

    name: str
    demand: str
    mandatory: bool = True
    evidence: Evidence = field(default_factory=dict)
    contradicted_by: Evidence = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Criterion:
    """What a document must contain. `context` holds the titles above an imported one, outermost first."""

    code_name: str
    name: str
    description: str
    reference: str = ""
    context: tuple[str, ...] = ()
    aspects: tuple[Aspect, ...] = ()


@dataclass(frozen=True, slots=True)
class Framework:
    """`parties` names vocabulary entries that are persons: between one and its "shall" no other may stand."""

    code_name: str
    name: str
    version: str
    description: str
    language: str
    source: str = ""
    parties: tuple[str, ...] = ()
    vocabulary: Vocabulary = field(default_factory=dict)
    criteria: tuple[Criterion, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A framework in the catalogue, without its content."""

    id: int
    code_name: str
    subject: str | None
    version_id: int
    version: str
    name: str
    criteria_count: int
    aspects_count: int


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that is wrong in a file, where (lines and columns count from 1), and what to do about it."""

    file: str
    line: int | None
    column: int | None
    message: str
    remedy: str
    path: str = ""

    @property
    def place(self) -> str:
        """`gdpr.yaml:12:5`, or the file and the path within it where there is no line."""
        numbers = [str(number) for number in (self.line, self.column) if number is not None]
        return ":".join([self.file, *numbers]) + (f" ({self.path})" if self.path else "")

    def __str__(self) -> str:
        return f"{self.place}: {self.message} {self.remedy}".rstrip()


class FrameworkFileError(Invalid):
    """The framework file is not valid."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        self.complaints = tuple(complaints)
        more = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
        super().__init__(
            f"{complaints[0]}{more}",
            details=[
                Detail(complaint.place, f"{complaint.message} {complaint.remedy}") for complaint in complaints
            ],
        )

    @property
    def file(self) -> str:
        return self.complaints[0].file

    @property
    def line(self) -> int | None:
        return self.complaints[0].line

    @property
    def column(self) -> int | None:
        return self.complaints[0].column

    @property
    def remedy(self) -> str:
        return self.complaints[0].remedy


class UnknownFramework(Unknown):
    """No framework has this number or code name."""


class UnknownVersion(Unknown):
    """The framework has no version of this name."""


class CodeNameTaken(Conflict):
    """Another framework has this code name already."""
