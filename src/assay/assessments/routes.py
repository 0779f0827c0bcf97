"""Assessments over HTTP."""

import json
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import TypeAdapter
from sqlalchemy import Connection, Row

from assay.assessments import report, service, store
from assay.assessments.models import (
    AssessmentCancelled,
    AssessmentNotReady,
    Finding,
    InvalidAssessment,
    Status,
    UnknownAssessment,
)
from assay.assessments.representation import AssessmentOut, FindingOut, assessment_out, finding_out
from assay.assessments.service import Docket, Order
from assay.assessments.submissions import Configuration, SubmissionForm
from assay.audit.models import Action
from assay.database.core import Database, after_commit
from assay.errors import TooLarge, UnsupportedType
from assay.identity.models import Scope
from assay.web import multipart
from assay.web.caller import Caller, DatabaseDep, SettingsDep, WitnessDep
from assay.web.conditional import matches, quoted
from assay.web.idempotency import Answer, IdempotencyKeyReused, RequestInFlight, fingerprint, once
from assay.web.openapi import LOCATION, RETRY_AFTER, failure
from assay.web.parameters import IdempotencyKey, IfNoneMatch, Prefer
from assay.web.routing import guarded
from assay.web.waiting import preferred_seconds
from assay.web.witness import Witness

PREFIX = "/api/v1/assessments"
RETRY_SECONDS = "1"
# What a form may weigh beyond its documents: configuration, addresses, boundaries.
FORM_BYTES = 4 * 2**20

router = APIRouter(prefix=PREFIX, tags=["assessments"], route_class=guarded(Scope.ASSESSMENTS))

_FINDINGS = TypeAdapter(list[FindingOut])
_RECORD = {"model": AssessmentOut}
_UNKNOWN = failure(UnknownAssessment)
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["configuration"],
                    "additionalProperties": False,
                    "properties": {
                        "configuration": Configuration.model_json_schema(by_alias=True),
                        "documents": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "PDF or DOCX documents; the part may be repeated.",
                        },
                        "urls": {
                            "type": "array",
                            "items": {"type": "string", "format": "uri"},
                            "description": "One JSON array, or repeated plain parts.",
                        },
                        "contentUuids": {
                            "type": "array",
                            "items": {"type": "string", "format": "uuid"},
                            "description": "Content jobs that are there already.",
                        },
                    },
                },
                "encoding": {"configuration": {"contentType": "application/json"}},
            }
        },
    }
}


@router.post(
    "",
    status_code=202,
    summary="Submit assessment",
    responses={
        202: {
            **_RECORD,
            "description": "Accepted and kept.",
            "headers": {"Location": LOCATION, "Retry-After": RETRY_AFTER},
        },
        **failure(InvalidAssessment),
        **failure(UnknownAssessment, "No content processing job has this identifier."),
        **failure(AssessmentCancelled),
        **failure(TooLarge),
        **failure(UnsupportedType),
        **failure(RequestInFlight),
        **failure(IdempotencyKeyReused),
    },
    openapi_extra=_FORM,
)
async def submit(
    request: Request,
    caller: Caller,
    database: DatabaseDep,
    settings: SettingsDep,
    witness: WitnessDep,
    key: IdempotencyKey = None,
) -> Response:
    """Hold documents, web pages or content jobs against the criteria of a framework."""
    docket: Docket = request.app.state.docket
    with (
        request.app.state.in_flight.holding(caller.subject, key),
        SubmissionForm(docket.desk, caller.subject, settings.limits) as form,
    ):
        await multipart.receive(
            request,
            form,
            max_bytes=settings.limits.assessment_bytes + FORM_BYTES,
            too_large=TooLarge(f"Documents may be {settings.limits.assessment_bytes:,} bytes together."),
            idle_seconds=settings.limits.upload_idle_seconds,
        )
        submission = _Submission(docket, caller.subject, settings.location_prefix, witness)
        return await run_in_threadpool(submission.accept, form, database, key)


class _Submission:
    """Documents in the store that wait for their assessment, and are erased if they do not get one."""

    def __init__(self, docket: Docket, subject: str, prefix: str, witness: Witness) -> None:
        self._witness = witness
        self._docket = docket
        self._subject = subject
        self._prefix = prefix
        self._accepted = False

    def accept(self, form: SubmissionForm, database: Database, key: str | None) -> Response:
        """In one go: were it two calls, the end of the service between them would leave bytes behind."""
        try:
            with self._witness.of_deed(Action.SUBMIT_ASSESSMENT):
                return self._accept(form, database, key)
        finally:
            if not self._accepted:
                for document in form.documents:
                    self._docket.desk.discard(document.blob)

    def _accept(self, form: SubmissionForm, database: Database, key: str | None) -> Response:
        order = form.order(by_model_unless_told=False)
        if order.by_model:
            raise InvalidAssessment("llmCall: No language model is configured on this service.")
        for url in order.urls:
            self._docket.desk.checked(url)
        return once(database, self._subject, key, _mark(order), partial(self._act, order)).response()

    def _act(self, order: Order, tx: Connection) -> Answer:
        row = self._docket.submit(tx, self._subject, order)
        after_commit(tx, self._note_acceptance)  # a transaction that is rolled back accepts nothing
        self._witness.note(tx, Action.SUBMIT_ASSESSMENT, row.process_id)
        location = f"{self._prefix}{PREFIX}/{row.process_id}/status"
        return Answer(202, _json(row, []), {"Location": location, "Retry-After": RETRY_SECONDS})

    def _note_acceptance(self) -> None:
        self._accepted = True


def _mark(order: Order) -> str:
    """Every list on its own: a name must not pass for an address, nor the end of one list for the next."""
    documents = [[document.file_name, document.blob.digest] for document in order.documents]
    facts = [
        [order.expert_id, order.framework_code_name, order.process_id, order.by_model],
        order.criteria_code_names,
        documents,
        order.urls,
        order.content_uuids,
    ]
    return fingerprint("POST", PREFIX, json.dumps(facts))


def _json(row: Row[Any], findings: list[Finding]) -> bytes:
    return assessment_out(store.record(row), findings).model_dump_json(by_alias=True).encode()


@router.get(
    "/{assessmentProcessId}/status",
    summary="Poll assessment status",
    responses={
        200: {**_RECORD, "description": "Not completed.", "headers": {"Retry-After": RETRY_AFTER}},
        303: {
            **_RECORD,
            "description": "Completed; the results are at Location.",
            "headers": {"Location": LOCATION},
        },
        304: {"description": "Not changed since the ETag that was sent."},
        **_UNKNOWN,
    },
)
async def status(
    request: Request,
    assessmentProcessId: str,  # noqa: N803  # the interface's name
    caller: Caller,
    database: DatabaseDep,
    settings: SettingsDep,
    witness: WitnessDep,
    prefer: Prefer = None,  # noqa: ARG001  # declared for the document; read with its repetitions below
    if_none_match: IfNoneMatch = None,
) -> Response:
    """How far the assessment has come; when it has completed, a redirect to its results."""
    process_id = assessmentProcessId.lower()

    def look() -> Row[Any]:
        with database.read() as tx:
            return store.get(tx, caller.subject, process_id)

    row = await run_in_threadpool(look)
    seconds = preferred_seconds(request)
    if seconds:  # a plain poll has seen what there is to see
        row = await request.app.state.waiting.for_change(
            caller.subject, row.id, seconds, look=look, settled=_is_settled
        )
    headers = {"ETag": quoted(f"{row.id}-{row.version}"), "Cache-Control": "private, no-cache"}
    if seconds:
        headers["Preference-Applied"] = f"wait={seconds}"
    if matches(if_none_match, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return await run_in_threadpool(_status, database, row, headers, settings.location_prefix, witness)


def _is_settled(row: Row[Any]) -> bool:
    return Status(row.status).is_settled


def _status(
    database: Database, row: Row[Any], headers: dict[str, str], prefix: str, witness: Witness
) -> Response:
    if row.status != Status.COMPLETED:
        if not _is_settled(row):
            headers["Retry-After"] = RETRY_SECONDS
        return Answer(200, _json(row, []), headers).response()
    with database.read() as tx:
        findings = store.list_findings(tx, row.id)
    witness.note_read(Action.READ_RESULTS, row.process_id)  # the record of a completed one carries them
    headers["Location"] = f"{prefix}{PREFIX}/{row.process_id}/results"
    return Answer(303, _json(row, findings), headers).response()


@router.get(
    "/{assessmentProcessId}/results",
    summary="Get assessment results",
    response_model=list[FindingOut],
    responses={
        200: {
            "description": "The findings, one for each criterion.",
            "content": {
                "text/html": {"schema": {"type": "string"}},
                "text/csv": {"schema": {"type": "string"}},
            },
        },
        **_UNKNOWN,
        **failure(AssessmentNotReady),
    },
)
def results(
    assessmentProcessId: str,  # noqa: N803  # the interface's name
    caller: Caller,
    database: DatabaseDep,
    witness: WitnessDep,
    partial: Annotated[  # noqa: FBT002  # a query parameter
        bool, Query(description="Give what there is, also before the end.")
    ] = False,
    form: Annotated[Literal["json", "html", "csv"], Query(alias="format")] = "json",
) -> Response:
    """The findings: as JSON, as a report page, or as a table."""
    with witness.of_read(Action.READ_RESULTS, assessmentProcessId), database.read() as tx:
        findings = service.results(tx, caller.subject, assessmentProcessId.lower(), partial=partial)
        texts = service.texts_of(tx, findings) if form == "html" else {}
    witness.note_read(Action.READ_RESULTS, assessmentProcessId)
    if form == "html":
        policy = {"Content-Security-Policy": report.POLICY}
        return Response(report.page(findings, texts), media_type="text/html", headers=policy)
    if form == "csv":
        disposition = {"Content-Disposition": 'attachment; filename="findings.csv"'}
        return Response(report.table(findings), media_type="text/csv", headers=disposition)
    shown = [finding_out(finding) for finding in findings]
    return Response(_FINDINGS.dump_json(shown, by_alias=True), media_type="application/json")


@router.delete(
    "/{assessmentProcessId}",
    summary="Cancel assessment",
    responses={200: {"description": "Cancelled, or gone."}, **_UNKNOWN},
    response_class=Response,
)
def cancel(
    request: Request,
    assessmentProcessId: str,  # noqa: N803  # the interface's name
    caller: Caller,
    database: DatabaseDep,
    witness: WitnessDep,
) -> Response:
    """Stop an assessment that is in progress; erase one that is finished, with all its findings."""
    docket: Docket = request.app.state.docket
    with witness.of_deed(Action.CANCEL_ASSESSMENT, assessmentProcessId), database.write() as tx:
        docket.cancel(tx, caller.subject, assessmentProcessId.lower())
        witness.note(tx, Action.CANCEL_ASSESSMENT, assessmentProcessId)
    return Response(status_code=200)
