"""Assessment feedback over HTTP."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StrictInt
from pydantic.alias_generators import to_camel

from assay.assessments import service as assessments
from assay.assessments.models import Category, UnknownAssessment, UnknownFinding
from assay.audit.models import Action
from assay.errors import TooLarge
from assay.feedback import service, store
from assay.frameworks.models import UnknownFramework
from assay.identity.models import Scope
from assay.web.caller import Caller, DatabaseDep, SettingsDep, WitnessDep
from assay.web.openapi import failure
from assay.web.routing import guarded

router = APIRouter(prefix="/api/v1", tags=["feedback"], route_class=guarded(Scope.FEEDBACK))


class ApiModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class AssessmentFeedbackRequestDTO(ApiModel):
    expert_id: str = Field(
        min_length=1, max_length=255, description="ID of the expert who rates the assessment"
    )
    rational_feedback: str = Field(
        min_length=1, description="The expert's feedback on the rationale provided"
    )
    assessment_response_id: StrictInt | None = Field(
        None,
        ge=-(2**63),
        lt=2**63,
        description="ID of the assessment response being rated",
        json_schema_extra={"format": "int64"},
    )
    category_feedback: Category | None = Field(None, description="The category as corrected by the expert")


class FeedbackOut(ApiModel):
    id: int
    expert_id: str
    rational_feedback: str
    assessment_response_id: int | None
    category_feedback: Category | None
    created_at: datetime


class AgreementOut(ApiModel):
    criterion_code_name: str
    feedback: int = Field(description="How many experts' opinions there are.")
    with_category: int = Field(description="How many of them name a category.")
    agreed: int = Field(description="How many of those name the category that was found.")
    agreement: float | None = Field(description="agreed / withCategory; null where nobody named one.")


@router.post(
    "/assessmentFeedback",
    summary="Submit assessment feedback",
    responses={200: {"description": "Kept."}, **failure(UnknownFinding), **failure(TooLarge)},
    response_class=Response,
)
def give(
    request: Request,
    body: AssessmentFeedbackRequestDTO,
    caller: Caller,
    database: DatabaseDep,
    settings: SettingsDep,
    witness: WitnessDep,
) -> Response:
    """Say what an expert thinks of a finding, and which category it should have."""
    limit = settings.limits.feedback_bytes
    if len(body.rational_feedback.encode()) > limit:
        raise TooLarge(f"rationalFeedback may be at most {limit:,} bytes.")
    finding_id = body.assessment_response_id
    with witness.of_deed(Action.GIVE_FEEDBACK, finding_id), database.write() as tx:
        service.give(
            tx,
            caller.subject,
            expert_id=body.expert_id,
            rational_feedback=body.rational_feedback,
            finding_id=finding_id,
            category=body.category_feedback,
            learner=request.app.state.learner,
        )
        witness.note(tx, Action.GIVE_FEEDBACK, finding_id)
    return Response(status_code=200)


@router.get("/assessmentFeedback", summary="List assessment feedback", responses=failure(UnknownAssessment))
def list_feedback(
    process_id: Annotated[str, Query(alias="assessmentProcessId")], caller: Caller, database: DatabaseDep
) -> list[FeedbackOut]:
    """What was said of the findings of an assessment, the oldest first."""
    with database.read() as tx:
        assessments.get(tx, caller.subject, process_id.lower())
        given = store.list_(tx, caller.subject, process_id.lower())
    return [
        FeedbackOut(
            id=feedback.id,
            expert_id=feedback.expert_id,
            rational_feedback=feedback.rational_feedback,
            assessment_response_id=feedback.finding_id,
            category_feedback=feedback.category,
            created_at=feedback.created_at,
        )
        for feedback in given
    ]


@router.get(
    "/frameworks/{frameworkId}/agreement",
    summary="Agreement of experts",
    responses=failure(UnknownFramework),
)
def agreement(
    frameworkId: str,  # noqa: N803  # the interface's name
    caller: Caller,
    database: DatabaseDep,
) -> list[AgreementOut]:
    """For each criterion, how often this partner's experts named the category that was found."""
    with database.read() as tx:
        found = service.agreement(tx, caller.subject, frameworkId)
    return [
        AgreementOut(
            criterion_code_name=one.criterion_code_name,
            feedback=one.feedback,
            with_category=one.with_category,
            agreed=one.agreed,
            agreement=one.share,
        )
        for one in found
    ]
