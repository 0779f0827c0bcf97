"""Content processing over HTTP."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Connection

from assay.audit.models import Action
from assay.content import service, store
from assay.content.extraction import markdown
from assay.content.forms import FileForm
from assay.content.models import (
    ContentJob,
    ContentNotReady,
    Received,
    Status,
    Text,
    UnknownContentJob,
    UnsupportedDocument,
)
from assay.content.representation import (
    BatchStatusRequestDTO,
    ContentProcessingResponseDTO,
    UrlSubmitRequestDTO,
    content_out,
)
from assay.content.service import Desk
from assay.content.uploads import too_large
from assay.database.core import Database, after_commit
from assay.errors import InvalidRequest, TooLarge, UnsupportedType
from assay.identity.gateway import is_uuid
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

PREFIX = "/api/v1/content-processing"
RETRY_SECONDS = "1"
PLAIN = "text/plain; charset=utf-8"
# What a form may weigh beyond its file: boundaries, part headers.
FORM_BYTES = 128 * 1024

router = APIRouter(prefix=PREFIX, tags=["content"], route_class=guarded(Scope.CONTENT))


_RECORD = {"model": ContentProcessingResponseDTO}
_ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        **_RECORD,
        "description": "Accepted and kept.",
        "headers": {"Location": LOCATION, "Retry-After": RETRY_AFTER},
    },
    **failure(RequestInFlight),
    **failure(IdempotencyKeyReused),
}
_UNKNOWN = failure(UnknownContentJob)
_FILE_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "The PDF or DOCX document.",
                        }
                    },
                }
            }
        },
    }
}


@router.post(
    "/file",
    status_code=202,
    summary="Submit file",
    responses={**_ACCEPTED, **failure(TooLarge), **failure(UnsupportedDocument)},
    openapi_extra=_FILE_BODY,
)
async def submit_file(
    request: Request,
    caller: Caller,
    database: DatabaseDep,
    settings: SettingsDep,
    witness: WitnessDep,
    key: IdempotencyKey = None,
) -> Response:
    """Upload a PDF or DOCX document; its text is extracted in the background."""
    desk: Desk = request.app.state.desk
    limits = settings.limits
    with (
        request.app.state.in_flight.holding(caller.subject, key),
        FileForm(desk.blobs, caller.subject, limits.file_bytes) as form,
    ):
        await multipart.receive(
            request,
            form,
            max_bytes=limits.file_bytes + FORM_BYTES,
            too_large=too_large(limits.file_bytes),
            idle_seconds=limits.upload_idle_seconds,
        )
        submission = _FileSubmission(desk, caller.subject, settings.location_prefix, witness)
        return await run_in_threadpool(submission.accept, form, database, key)


class _FileSubmission:
    """Bytes in the store that wait for their job, and are erased if they do not get one."""

    def __init__(self, desk: Desk, subject: str, prefix: str, witness: Witness) -> None:
        self._witness = witness
        self._desk = desk
        self._subject = subject
        self._prefix = prefix
        self._adopted = False

    def accept(self, form: FileForm, database: Database, key: str | None) -> Response:
        """In one go: were it two calls, the end of the service between them would leave bytes behind."""
        received = form.received()
        mark = fingerprint("POST", f"{PREFIX}/file", received.file_name or "", received.blob.digest)
        try:
            with self._witness.of_deed(Action.SUBMIT_CONTENT):
                return once(database, self._subject, key, mark, partial(self._act, received)).response()
        finally:
            if not self._adopted:
                self._desk.discard(received.blob)

    def _act(self, received: Received, tx: Connection) -> Answer:
        job = self._desk.submit_file(tx, self._subject, file_name=received.file_name, blob=received.blob)
        after_commit(tx, self._note_adoption)  # a transaction that is rolled back adopts nothing
        self._witness.note(tx, Action.SUBMIT_CONTENT, job.uuid)
        return _accepted(job, self._prefix)

    def _note_adoption(self) -> None:
        self._adopted = True


def _accepted(job: ContentJob, prefix: str) -> Answer:
    headers = {"Location": f"{prefix}{PREFIX}/{job.uuid}/status", "Retry-After": RETRY_SECONDS}
    return Answer(202, _json(job), headers)


def _json(job: ContentJob) -> bytes:
    return ContentProcessingResponseDTO.model_validate(job).model_dump_json(by_alias=True).encode()


@router.post(
    "/url", status_code=202, summary="Submit URL", responses={**_ACCEPTED, **failure(UnsupportedType)}
)
def submit_url(
    request: Request,
    body: UrlSubmitRequestDTO,
    caller: Caller,
    database: DatabaseDep,
    settings: SettingsDep,
    witness: WitnessDep,
    key: IdempotencyKey = None,
) -> Response:
    """Name a web page, or a document on the web; it is fetched and read in the background."""
    desk: Desk = request.app.state.desk

    def act(tx: Connection) -> Answer:
        job = desk.submit_url(tx, caller.subject, url)
        witness.note(tx, Action.SUBMIT_CONTENT, job.uuid)
        return _accepted(job, settings.location_prefix)

    with request.app.state.in_flight.holding(caller.subject, key), witness.of_deed(Action.SUBMIT_CONTENT):
        url = desk.checked(body.url)
        mark = fingerprint("POST", f"{PREFIX}/url", body.url)
        return once(database, caller.subject, key, mark, act).response()


@router.get(
    "/{uuid}/status",
    summary="Get status",
    responses={
        200: {**_RECORD, "description": "In progress, or failed.", "headers": {"Retry-After": RETRY_AFTER}},
        303: {
            **_RECORD,
            "description": "Completed; the text is at Location.",
            "headers": {"Location": LOCATION},
        },
        304: {"description": "Not changed since the ETag that was sent."},
        **_UNKNOWN,
    },
)
async def status(
    request: Request,
    uuid: str,
    caller: Caller,
    database: DatabaseDep,
    settings: SettingsDep,
    prefer: Prefer = None,  # noqa: ARG001  # declared for the document; read with its repetitions below
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The job while it is in progress; when it has completed, a redirect to its text."""
    seconds = preferred_seconds(request)
    job = await request.app.state.waiting.for_change(
        caller.subject,
        uuid.lower(),
        seconds,
        look=_look(database, uuid.lower(), caller.subject),
        settled=_is_settled,
    )
    headers = {"ETag": quoted(f"{job.uuid}-{job.version}"), "Cache-Control": "private, no-cache"}
    if seconds:
        headers["Preference-Applied"] = f"wait={seconds}"
    if matches(if_none_match, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    if job.status is Status.COMPLETED:
        headers["Location"] = f"{settings.location_prefix}{PREFIX}/{job.uuid}/content"
        return Answer(303, _json(job), headers).response()
    if not job.status.is_settled:
        headers["Retry-After"] = RETRY_SECONDS
    return Answer(200, _json(job), headers).response()


def _look(database: Database, uuid: str, subject: str) -> Callable[[], ContentJob]:
    def look() -> ContentJob:
        with database.read() as tx:
            return store.get(tx, uuid, subject)

    return look


def _is_settled(job: ContentJob) -> bool:
    return job.status.is_settled


@router.post("/status/batch", summary="Batch status")
def batch_status(
    body: BatchStatusRequestDTO, caller: Caller, database: DatabaseDep, settings: SettingsDep
) -> list[ContentProcessingResponseDTO]:
    """The jobs that are known, in the order asked, each once."""
    most = settings.limits.batch_identifiers
    if len(body.uuids) > most:
        raise InvalidRequest(f"A batch may name at most {most:,} identifiers.")
    asked = list(dict.fromkeys(uuid.lower() for uuid in body.uuids if is_uuid(uuid)))
    with database.read() as tx:
        found = store.list_(tx, asked, caller.subject)
    return [ContentProcessingResponseDTO.model_validate(found[uuid]) for uuid in asked if uuid in found]


@router.get(
    "/{uuid}/content",
    summary="Get content",
    response_class=Response,
    responses={
        200: {
            "description": "The extracted text.",
            "content": {
                "text/plain": {"schema": {"type": "string"}},
                "text/markdown": {"schema": {"type": "string"}},
                "application/json": {"schema": {"$ref": "#/components/schemas/ContentOut"}},
            },
        },
        304: {"description": "Not changed since the ETag that was sent."},
        **_UNKNOWN,
        **failure(ContentNotReady),
    },
)
def content(
    request: Request,
    uuid: str,
    caller: Caller,
    database: DatabaseDep,
    witness: WitnessDep,
    form: Annotated[Literal["text", "markdown", "json"], Query(alias="format")] = "text",
    digest: Annotated[str | None, Query(description="Which text, where a refresh brought another.")] = None,
    revisions: Annotated[
        Literal["accepted", "original"],
        Query(description="Tracked changes of a DOCX: as accepted, or as the document was before them."),
    ] = "accepted",
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The extracted text of a completed job: plain by default, or with its structure."""
    with witness.of_read(Action.READ_CONTENT, uuid):
        with database.read() as tx:
            job = store.get(tx, uuid.lower(), caller.subject)
            named = service.text_digest(job, digest)
            headers = {"ETag": quoted(f"{named}-{form}-{revisions}"), "Cache-Control": "private, no-cache"}
            if matches(if_none_match, headers["ETag"]):
                return Response(status_code=304, headers=headers)  # nothing is handed out
            is_plain = form == "text" and revisions == "accepted"
            plain = store.get_plain(tx, job.uuid, named) if is_plain else b""
            text = None if is_plain else store.get_text(tx, job.uuid, named)
        if revisions == "original" and text is not None and service.has_revisions(text):
            text = request.app.state.processor.read_original(job)  # slow, so no transaction is open
    body, media_type = _rendered(text, job.uuid, form) if text is not None else (plain, PLAIN)
    witness.note_read(Action.READ_CONTENT, job.uuid)
    return Response(body, headers={**headers, "Content-Type": media_type})


def _rendered(text: Text, uuid: str, form: str) -> tuple[bytes, str]:
    if form == "text":
        return text.text.encode(), PLAIN
    if form == "markdown":
        return markdown.render(text).encode(), "text/markdown; charset=utf-8"
    return content_out(text, uuid).model_dump_json(by_alias=True).encode(), "application/json"


@router.delete(
    "/{uuid}",
    summary="Cancel",
    responses={200: {"description": "Gone."}, **_UNKNOWN},
    response_class=Response,
)
def cancel(
    request: Request, uuid: str, caller: Caller, database: DatabaseDep, witness: WitnessDep
) -> Response:
    """Stop the work, whatever its state, and erase the job with its bytes and its text."""
    desk: Desk = request.app.state.desk
    with witness.of_deed(Action.CANCEL_CONTENT, uuid), database.write() as tx:
        desk.cancel(tx, caller.subject, uuid.lower())
        witness.note(tx, Action.CANCEL_CONTENT, uuid)
    return Response(status_code=200)


@router.post("/{uuid}/refresh", status_code=202, summary="Refresh", responses={**_ACCEPTED, **_UNKNOWN})
def refresh(
    request: Request,
    uuid: str,
    caller: Caller,
    database: DatabaseDep,
    settings: SettingsDep,
    witness: WitnessDep,
    key: IdempotencyKey = None,
) -> Response:
    """Read the source again: after a failure, or because a page may have changed."""
    desk: Desk = request.app.state.desk

    def act(tx: Connection) -> Answer:
        job = desk.refresh(tx, caller.subject, uuid.lower())
        witness.note(tx, Action.REFRESH_CONTENT, job.uuid)
        return _accepted(job, settings.location_prefix)

    with (
        request.app.state.in_flight.holding(caller.subject, key),
        witness.of_deed(Action.REFRESH_CONTENT, uuid),
    ):
        mark = fingerprint("POST", f"{PREFIX}/{uuid.lower()}/refresh")
        return once(database, caller.subject, key, mark, act).response()
