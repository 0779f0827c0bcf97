"""What routes ask for: the partner that is calling, and the parts of the service."""

from typing import Annotated

from fastapi import Depends, Request

from assay.database.core import Database
from assay.identity.models import Principal
from assay.settings import Settings
from assay.web.witness import Witness

# These are `async` only so that handing over a reference does not cost a change of thread.


async def _caller(request: Request) -> Principal:
    principal: Principal = request.state.principal
    return principal


async def _database(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


async def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


async def _witness(request: Request) -> Witness:
    state = request.app.state
    principal: Principal = request.state.principal
    return Witness(
        state.database, principal.subject, request.state.request_id, notes_reads=state.settings.audit.reads
    )


Caller = Annotated[Principal, Depends(_caller)]
DatabaseDep = Annotated[Database, Depends(_database)]
SettingsDep = Annotated[Settings, Depends(_settings)]
WitnessDep = Annotated[Witness, Depends(_witness)]
