"""What an assessment thinks in: sources, findings and what they stand on, and the ways in which it fails."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from assay.errors import Conflict, Invalid, Unknown


class Category(StrEnum):
    SUFFICIENTLY_REGULATED = "SUFFICIENTLY_REGULATED"
    NOT_SUFFICIENTLY_REGULATED = "NOT_SUFFICIENTLY_REGULATED"
    MISSING = "MISSING"


class AspectStatus(StrEnum):
    COVERED = "COVERED"
    NOT_FOUND = "NOT_FOUND"
    CONTRADICTED = "CONTRADICTED"


class Status(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_settled(self) -> bool:
        return self not in {Status.PENDING, Status.RUNNING}


@dataclass(frozen=True, slots=True)
class Source:
    """A text that is judged: `name` is the file name or URL that a reader knows it by."""

    name: str
    content_uuid: str
    content_digest: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A stretch of a source's text. `quote` is `text[start:end]`, always."""

    quote: str
    source: str
    content_uuid: str
    content_digest: str
    start: int
    end: int
    page: int | None = None
    section: str | None = None


@dataclass(frozen=True, slots=True)
class AspectFinding:
    """What became of one point that the criterion demands; `citations` are places in the verdict's list."""

    name: str
    mandatory: bool
    status: AspectStatus
    citations: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A source, or a page of one, that nobody could read."""

    source: str
    page: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Absence:
    """How MISSING was concluded: what was searched, what came closest, what could not be read."""

    passages_searched: int
    closest: tuple[Citation, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of one criterion over all the sources."""

    category: Category
    confidence: float
    needs_review: bool
    rationale: str
    citations: tuple[Citation, ...] = ()
    aspects: tuple[AspectFinding, ...] = ()
    absence: Absence | None = None
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a finding can be reproduced from."""

    engine: str
    engine_version: str
    framework_version: str
    sources: tuple[Source, ...]
    model: str | None = None
    prompt_version: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict, kept: its `id` is what feedback refers to."""

    id: int
    process_id: str
    expert_id: str
    framework_code_name: str
    criterion_code_name: str
    verdict: Verdict
    provenance: Provenance
    file_names: tuple[str, ...]
    urls: tuple[str, ...]
    processing_time_ms: int
    created_at: datetime
    superseded_by: int | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """A process: what a partner submitted under one identifier, and how far it has come."""

    process_id: str
    subject: str
    status: Status
    created_at: datetime
    completion: float = 0.0
    error: str | None = None
    completed_at: datetime | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class Topic:
    """What can be learned about: one criterion, for one partner, as these versions read it."""

    subject: str
    framework_code_name: str
    framework_version: str
    criterion_code_name: str
    engine_version: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """The category that an expert gave to a finding, and the finding as numbers; `document` is its text."""

    id: int
    document: str
    category: Category
    features: Mapping[str, float]


class UnknownAssessment(Unknown):
    """No assessment has this identifier."""


class UnknownFinding(Unknown):
    """No finding of an assessment has this identifier."""


class AssessmentNotReady(Conflict):
    """The assessment has not been completed, so there are no results yet."""


class AssessmentCancelled(Conflict):
    """The assessment was cancelled, so nothing can be added to it."""


class InvalidAssessment(Invalid):
    """The assessment is not one that can be carried out."""


class NothingReadable(Invalid):
    """None of the sources could be read."""
