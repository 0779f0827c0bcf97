"""One body for every error, as JSON or, on request, as RFC 9457 problem details."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import structlog
from fastapi import Request, Response
from starlette.exceptions import HTTPException
from starlette.types import Scope

from assay.errors import InternalError, InvalidRequest, MethodNotAllowed, ServiceError, Unknown

log = structlog.get_logger()

PROBLEM = "application/problem+json"


class UnknownPath(Unknown):
    """There is nothing at this address."""


def response(scope: Scope, error: ServiceError) -> Response:
    """The answer that tells a client of this error; its code is left for the log and the metrics."""
    scope["state"]["error_code"] = error.code
    wants_problem = any(
        name == b"accept" and PROBLEM.encode() in value.lower() for name, value in scope["headers"]
    )
    facts = _problem(scope, error) if wants_problem else _body(scope, error)
    return Response(
        json.dumps(facts, ensure_ascii=False).encode(),
        status_code=error.status,
        media_type=PROBLEM if wants_problem else "application/json",
        headers=error.headers,
    )


def _body(scope: Scope, error: ServiceError) -> dict[str, Any]:
    return {
        "timestamp": _now(),
        "status": error.status,
        "error": error.title,
        "message": error.message,
        "code": error.code,
        "path": _path(scope),
        "requestId": scope["state"]["request_id"],
        "details": _details(error),
    }


def _problem(scope: Scope, error: ServiceError) -> dict[str, Any]:
    return {
        "type": f"urn:assay:error:{error.code}",
        "title": error.title,
        "status": error.status,
        "detail": error.message,
        "instance": _path(scope),
        "code": error.code,
        "timestamp": _now(),
        "requestId": scope["state"]["request_id"],
        "details": _details(error),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _path(scope: Scope) -> str:
    """As it was asked for: a path may hold bytes that are no text."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.partition(b"?")[0].decode("latin-1")


def _details(error: ServiceError) -> list[dict[str, str]]:
    return [{"field": detail.field, "message": detail.message} for detail in error.details]


def named(error: Exception) -> ServiceError:
    """What a client may be told of any exception."""
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, HTTPException):
        return _from_framework(error)
    return InternalError()


def _from_framework(error: HTTPException) -> ServiceError:
    """The framework's own refusals: no such route, no such method, a body that it could not read."""
    if error.status_code == Unknown.status:
        return UnknownPath()
    if error.status_code == MethodNotAllowed.status:
        return MethodNotAllowed(headers=error.headers)
    return InvalidRequest()


def answer(scope: Scope, error: Exception) -> Response:
    """The answer to any exception, which is logged where it is our fault or a dependency's."""
    named_error = named(error)
    if isinstance(named_error, InternalError):
        log.error("bug", exc_info=error)
    elif named_error.status >= InternalError.status:
        log.warning("unavailable", code=named_error.code, reason=repr(error.__cause__)[:200])
    if isinstance(named_error, MethodNotAllowed):
        named_error.headers["Allow"] = _allowed(scope) or named_error.headers.get("Allow", "")
    return response(scope, named_error)


def _allowed(scope: Scope) -> str:
    """Every method of the path: the framework names only those of the first route that it met."""
    documented = scope["app"].openapi()["paths"] if "app" in scope else {}
    for template, operations in documented.items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), scope["path"]):
            return ", ".join(sorted(method.upper() for method in operations))
    return ""


async def handle(request: Request, error: Exception) -> Response:
    """The one exception handler of the application."""
    return answer(request.scope, error)
