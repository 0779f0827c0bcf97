"""How assessments are shown outside: what we promise, as pydantic classes."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from assay.assessments.models import AspectStatus, Assessment, Category, Finding, Status


class ApiModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


class CitationOut(ApiModel):
    quote: str
    source: str = Field(examples=["dpa.pdf"])
    content_uuid: str
    content_digest: str
    page: int | None
    section: str | None
    start: int
    end: int


class AspectOut(ApiModel):
    name: str
    mandatory: bool
    status: AspectStatus
    citations: list[int]


class UnreadableOut(ApiModel):
    source: str
    page: int | None
    reason: str


class AbsenceOut(ApiModel):
    passages_searched: int
    closest: list[CitationOut]
    unreadable: list[UnreadableOut]


class SourceOut(ApiModel):
    source: str
    digest: str


class ProvenanceOut(ApiModel):
    engine: str
    engine_version: str
    model: str | None
    prompt_version: str | None
    framework_version: str
    sources: list[SourceOut]


class FindingOut(ApiModel):
    id: int
    assessment_process_id: str
    expert_id: str
    framework_code_name: str
    criterion_code_name: str
    file_names: list[str]
    urls: list[str]
    category: Category
    rationale: str = Field(description="Markdown.")
    citations: list[CitationOut]
    input_tokens: int
    output_tokens: int
    processing_time_ms: int
    confidence: float = Field(ge=0, le=1)
    needs_review: bool
    aspects: list[AspectOut]
    absence: AbsenceOut | None
    provenance: ProvenanceOut
    superseded_by: int | None
    created_at: datetime


class AssessmentOut(ApiModel):
    """An assessment. A record always carries all its fields; what is not known is null."""

    assessment_process_id: str
    status: Status
    completion: float = Field(ge=0, le=1)
    error: str | None
    created_at: datetime
    completed_at: datetime | None
    assessments: list[FindingOut] = Field(description="The findings, filled when COMPLETED.")


def finding_out(finding: Finding) -> FindingOut:
    verdict, provenance = finding.verdict, finding.provenance
    return FindingOut(
        id=finding.id,
        assessment_process_id=finding.process_id,
        expert_id=finding.expert_id,
        framework_code_name=finding.framework_code_name,
        criterion_code_name=finding.criterion_code_name,
        file_names=list(finding.file_names),
        urls=list(finding.urls),
        category=verdict.category,
        rationale=verdict.rationale,
        citations=[CitationOut.model_validate(citation) for citation in verdict.citations],
        input_tokens=verdict.input_tokens,
        output_tokens=verdict.output_tokens,
        processing_time_ms=finding.processing_time_ms,
        confidence=verdict.confidence,
        needs_review=verdict.needs_review,
        aspects=[
            AspectOut(
                name=aspect.name,
                mandatory=aspect.mandatory,
                status=aspect.status,
                citations=list(aspect.citations),
            )
            for aspect in verdict.aspects
        ],
        absence=AbsenceOut.model_validate(verdict.absence) if verdict.absence else None,
        provenance=ProvenanceOut(
            engine=provenance.engine,
            engine_version=provenance.engine_version,
            model=provenance.model,
            prompt_version=provenance.prompt_version,
            framework_version=provenance.framework_version,
            sources=[
                SourceOut(source=source.name, digest=source.content_digest) for source in provenance.sources
            ],
        ),
        superseded_by=finding.superseded_by,
        created_at=finding.created_at,
    )


def assessment_out(record: Assessment, findings: list[Finding]) -> AssessmentOut:
    shown = findings if record.status is Status.COMPLETED else []
    return AssessmentOut(
        assessment_process_id=record.process_id,
        status=record.status,
        completion=record.completion,
        error=record.error,
        created_at=record.created_at,
        completed_at=record.completed_at,
        assessments=[finding_out(finding) for finding in shown],
    )
