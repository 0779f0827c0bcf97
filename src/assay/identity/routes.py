"""The embedded identity provider's endpoints, and the check that a gateway can ask."""

from typing import Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from assay.errors import UnsupportedType
from assay.identity.issuer import DISCOVERY_PATH, KEYS_PATH, TOKEN_PATH, GrantRefused, Issuer
from assay.web.bodies import read_bytes

MAX_FORM_BYTES = 32 * 1024

gate = APIRouter(include_in_schema=False)
provider = APIRouter(include_in_schema=False)

_NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


@gate.get("/internal/authz")
def authorise(request: Request) -> Response:
    """204 with the subject that a gateway must set, or 401."""
    principal = request.app.state.gatekeeper.authenticate(request.scope["headers"])
    return Response(status_code=204, headers={"IDP_SUBJECT": principal.subject})


@provider.post(TOKEN_PATH)
async def token(request: Request) -> Response:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/x-www-form-urlencoded":
        raise UnsupportedType("The token endpoint takes application/x-www-form-urlencoded.")
    form = _form(await read_bytes(request, MAX_FORM_BYTES))
    issuer: Issuer = request.app.state.issuer
    return await run_in_threadpool(_grant, issuer, form, request.state.client_address)


def _form(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=50, errors="strict")
    except ValueError:
        return {}
    # No name or secret holds a NUL, and PostgreSQL cannot even be asked for one.
    return {name: value.replace("\0", "\N{REPLACEMENT CHARACTER}") for name, value in pairs}


def _grant(issuer: Issuer, form: dict[str, str], address: str) -> Response:
    try:
        return JSONResponse(issuer.grant(form, address), headers=_NO_STORE)
    except GrantRefused as refusal:
        body = {"error": refusal.error, "error_description": refusal.description}
        return JSONResponse(body, status_code=refusal.status, headers={**_NO_STORE, **refusal.headers})


@provider.get(KEYS_PATH)
def keys(request: Request) -> JSONResponse:
    return _public(request.app.state.issuer.published_keys())


@provider.get(DISCOVERY_PATH)
def discovery(request: Request) -> JSONResponse:
    return _public(request.app.state.issuer.discovery())


def _public(document: dict[str, Any]) -> JSONResponse:
    return JSONResponse(document, headers={"Cache-Control": "no-cache"})
