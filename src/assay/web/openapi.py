"""The OpenAPI document: what the routes declare, and what is true of every operation."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from assay import errors

_ERROR = {
    "type": "object",
    "required": ["timestamp", "status", "error", "message", "code", "path", "requestId", "details"],
    "properties": {
        "timestamp": {"type": "string", "format": "date-time"},
        "status": {"type": "integer"},
        "error": {"type": "string"},
        "message": {"type": "string"},
        "code": {"type": "string"},
        "path": {"type": "string"},
        "requestId": {"type": "string"},
        "details": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance", "code", "requestId"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string"},
        "timestamp": {"type": "string", "format": "date-time"},
        "requestId": {"type": "string"},
        "details": _ERROR["properties"]["details"],  # type: ignore[index]  # a literal, known to hold it
    },
}
_IDP_SUBJECT = {
    "name": "IDP_SUBJECT",
    "in": "header",
    "required": True,
    "description": "The UUID of the authenticated partner, set by the API gateway from the access token.",
    "schema": {"type": "string", "format": "uuid"},
    "example": "5c9e5a3e-6f4f-4f0e-9b5a-0d6f2a4c1b77",
}
_REQUEST_ID = {"description": "Identifies the request in logs and errors.", "schema": {"type": "string"}}
RETRY_AFTER = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
RATE_LIMIT = {
    "RateLimit-Limit": {"description": "Requests in a minute.", "schema": {"type": "integer"}},
    "RateLimit-Remaining": {"description": "Requests that are left of them.", "schema": {"type": "integer"}},
    "RateLimit-Reset": {"description": "Seconds until all are back.", "schema": {"type": "integer"}},
}
LOCATION = {"description": "Where to go on.", "schema": {"type": "string", "format": "uri-reference"}}
_CHALLENGE = {"description": "What the token lacks (RFC 6750).", "schema": {"type": "string"}}

# What every operation may answer besides its own statuses.
_EVERYWHERE: tuple[type[errors.ServiceError], ...] = (
    errors.Invalid,
    errors.Unauthenticated,
    errors.Forbidden,
    errors.LimitReached,
    errors.InternalError,
    errors.Unavailable,
)
# What every operation with a body may answer.
_WITH_BODY: tuple[type[errors.ServiceError], ...] = (errors.TooLarge, errors.UnsupportedType)
_HEADERS: dict[type[errors.ServiceError], dict[str, Any]] = {
    errors.Unauthenticated: {"WWW-Authenticate": _CHALLENGE},
    errors.Forbidden: {"WWW-Authenticate": _CHALLENGE},
    errors.LimitReached: {"Retry-After": RETRY_AFTER, **RATE_LIMIT},
    errors.Unavailable: {"Retry-After": RETRY_AFTER},
}


def failure(kind: type[errors.ServiceError], example: str | None = None) -> dict[int | str, dict[str, Any]]:
    """How an error stands in the document; routes name those that are theirs."""
    message = example or errors.message_of(kind)
    body = {
        "timestamp": "2026-01-31T09:30:00.000Z",
        "status": kind.status,
        "error": kind.title,
        "message": message,
        "code": errors.code_of(kind),
        "path": "/api/v1/…",
        "requestId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "details": [],
    }
    content = {
        "application/json": {"schema": {"$ref": "#/components/schemas/Error"}, "example": body},
        "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
    }
    headers = {"X-Request-Id": _REQUEST_ID, **_HEADERS.get(kind, {})}
    return {kind.status: {"description": message, "headers": headers, "content": content}}


def document(app: FastAPI, token_url: str) -> Callable[[], dict[str, Any]]:
    """The function that FastAPI calls for the document, which is made once."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _complete(_declared(app), token_url)
        return app.openapi_schema

    return openapi


def _declared(app: FastAPI) -> dict[str, Any]:
    return get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        license_info=app.license_info,
    )


def _complete(document: dict[str, Any], token_url: str) -> dict[str, Any]:
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas.update(Error=_ERROR, Problem=_PROBLEM)
    flow: dict[str, Any] = {"tokenUrl": token_url, "refreshUrl": token_url, "scopes": {}}
    components["securitySchemes"] = {
        "bearer": {
            "type": "oauth2",
            "description": "A bearer access token of the identity provider, valid for 300 seconds.",
            "flows": {"password": flow},
        }
    }
    for path, operations in document["paths"].items():
        if path.startswith("/api/"):
            for operation in operations.values():
                _complete_operation(operation)
                flow["scopes"].update({scope: f"{scope} operations" for scope in _scopes(operation)})
    return document


def _scopes(operation: dict[str, Any]) -> list[str]:
    scopes: list[str] = operation["security"][0]["bearer"]
    return scopes


def _complete_operation(operation: dict[str, Any]) -> None:
    operation.setdefault("parameters", []).append(_IDP_SUBJECT)
    responses = operation["responses"]
    # FastAPI's own validation error, which is never sent: invalid input is 400 here.
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]
    for kind in (*_EVERYWHERE, *(_WITH_BODY if "requestBody" in operation else ())):
        for status, described in failure(kind).items():
            responses.setdefault(str(status), described)
    for status, described in responses.items():
        headers = described.setdefault("headers", {})
        headers.setdefault("X-Request-Id", _REQUEST_ID)
        if status[0] in "23":
            headers.update(RATE_LIMIT)
