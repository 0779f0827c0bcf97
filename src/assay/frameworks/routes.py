"""Frameworks and their criteria over HTTP: read-only, as the interface says."""

import hashlib
import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from assay.frameworks import service, store
from assay.frameworks.models import UnknownFramework
from assay.identity.models import Scope
from assay.web.caller import Caller, DatabaseDep
from assay.web.conditional import matches, quoted
from assay.web.openapi import failure
from assay.web.parameters import IfNoneMatch
from assay.web.routing import guarded

router = APIRouter(prefix="/api/v1/frameworks", tags=["frameworks"], route_class=guarded(Scope.FRAMEWORKS))


class ApiModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class AspectOut(ApiModel):
    name: str
    demand: str
    mandatory: bool


class CriterionOut(ApiModel):
    name: str = Field(examples=["Documented instructions"])
    code_name: str = Field(examples=["DOCUMENTED_INSTRUCTIONS"])
    description: str
    aspects: list[AspectOut] | None = Field(None, description="Only with `?expand=aspects`.")


class FrameworkOut(ApiModel):
    id: int = Field(examples=[1])
    name: str = Field(examples=["Data processing agreements (GDPR Article 28)"])
    code_name: str = Field(examples=["GDPR_ART_28"])
    description: str
    criteria: list[CriterionOut]


Expand = Annotated[
    Literal["aspects"] | None, Query(description="Show the points that each criterion demands.")
]
_UNCHANGED: dict[int | str, dict[str, Any]] = {
    304: {"description": "Not changed since the ETag that was sent."}
}


@router.get("", summary="List all frameworks", response_model=list[FrameworkOut], responses=_UNCHANGED)
def list_frameworks(
    request: Request,
    caller: Caller,
    database: DatabaseDep,
    expand: Expand = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Every framework that the partner can assess against, with its criteria in the framework's own order."""
    listings: service.Listings = request.app.state.listings
    with database.read() as tx:
        if expand is None:
            listing = listings.get(tx, caller.subject)
            return _answer(listing.body, listing.etag, if_none_match)
        entries = store.list_(tx, caller.subject)
        shown = [service.expanded(service.read(tx, entry.version_id), entry.id) for entry in entries]
    return _json(shown, if_none_match)


@router.get(
    "/{frameworkId}/criteria",
    summary="List framework criteria",
    response_model=list[CriterionOut],
    responses={**_UNCHANGED, **failure(UnknownFramework)},
)
def list_criteria(
    frameworkId: str,  # noqa: N803  # the interface's name
    caller: Caller,
    database: DatabaseDep,
    expand: Expand = None,
    version: Annotated[str | None, Query(description="A version that was current before.")] = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The criteria of a framework, named by its number or its code name."""
    with database.read() as tx:
        entry = store.get(tx, frameworkId, caller.subject)
        version_id = service.version_id(tx, entry, version)
        if expand is None:
            shown = json.loads(store.listing(tx, version_id))
        else:
            shown = service.expanded(service.read(tx, version_id), entry.id)
    return _json(shown["criteria"], if_none_match)


def _json(value: Any, if_none_match: str | None) -> Response:
    body = json.dumps(value, ensure_ascii=False).encode()
    return _answer(body, hashlib.sha256(body).hexdigest()[:32], if_none_match)


def _answer(body: bytes, tag: str, if_none_match: str | None) -> Response:
    headers = {"ETag": quoted(tag), "Cache-Control": "private, no-cache"}
    if matches(if_none_match, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)
