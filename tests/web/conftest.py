"""Operations of the tests' own, for what the foundation promises to every operation."""

from typing import Annotated

import pytest
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from assay.identity.models import Scope
from assay.web.caller import Caller
from assay.web.routing import guarded


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)


class Inner(Shape):
    page_count: int = 1


class Note(Shape):
    title: str = Field(max_length=20)
    is_final: bool | None = None
    inner: Inner | None = None
    tags: list[str] = []


probe = APIRouter(prefix="/api/v1/probe", route_class=guarded(Scope.INFO))


@probe.post("")
def echo(note: Note, caller: Caller) -> Note:
    return note


@probe.get("/bug")
def bug(caller: Caller) -> str:
    raise RuntimeError("secret sauce")


@probe.get("/late/{number}")
def read(number: int, caller: Caller, limit: Annotated[int, Query(ge=1)] = 1) -> int:
    return number * limit


@pytest.fixture
def probing(client):
    """A client of the partner `acme`, of a service that has the operations above too."""
    client.app.include_router(probe)
    return client
