"""Application information: what is running, and the limits that hold."""

from collections.abc import Callable

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from assay.identity.models import Principal, Scope
from assay.web.caller import Caller, DatabaseDep
from assay.web.routing import guarded

router = APIRouter(prefix="/api/v1/info", tags=["info"], route_class=guarded(Scope.INFO))


class EngineOut(BaseModel):
    name: str = Field(examples=["local"])
    version: str = Field(examples=["1.0.0"])


class InfoOut(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    name: str = Field(examples=["Assay"])
    version: str = Field(examples=["0.1.0"])
    api_version: str = Field(examples=["v1"])
    engines: list[EngineOut]
    limits: dict[str, int | float] = Field(examples=[{"jsonBytes": 1048576}])
    frameworks: int = Field(examples=[8])


# What the service says of itself to a partner, as the JSON of InfoOut; the parts meet in app.py.
Describe = Callable[[Principal], bytes]


@router.get("", summary="Get application info", response_model=InfoOut)
async def info(request: Request, caller: Caller, database: DatabaseDep) -> Response:
    """What is running, which engines judge, the limits that hold, how many frameworks there are."""
    describe: Describe = request.app.state.describe
    # On SQLite this is a look into a file, cheaper than a change of thread; a server may keep us waiting.
    body = describe(caller) if database.is_sqlite else await run_in_threadpool(describe, caller)
    return Response(body, media_type="application/json")
