"""For the machines that watch the service: /livez, /readyz, /metrics. No token, no secret."""

from collections.abc import Callable, Mapping

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from assay.errors import ServiceError, Unavailable
from assay.metrics import MEDIA_TYPE

log = structlog.get_logger()

# What must hold for the service to be of use, by name; each raises a ServiceError when it does not.
Checks = Mapping[str, Callable[[], None]]

router = APIRouter(include_in_schema=False)


@router.get("/livez")
async def livez() -> dict[str, str]:
    return {"status": "alive"}


@router.get("/readyz")
def readyz(request: Request) -> JSONResponse:
    """Names what is away, and what holds."""
    checks: Checks = request.app.state.checks
    outcome = {name: _outcome(check) for name, check in checks.items()}
    ready = all(result == "ok" for result in outcome.values())
    return JSONResponse(
        {"status": "ready" if ready else "not ready", "checks": outcome, **request.app.state.notes()},
        status_code=200 if ready else Unavailable.status,
        headers={} if ready else {"Retry-After": "2"},
    )


def _outcome(check: Callable[[], None]) -> str:
    try:
        check()
    except ServiceError as error:
        return error.message
    return "ok"


@router.get("/metrics")
def metrics(request: Request) -> Response:
    return Response(request.app.state.metrics.render(), media_type=MEDIA_TYPE)
