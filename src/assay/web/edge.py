"""The outermost layer: request ids, caps, security headers, the access log and the metrics."""

import ipaddress
import re
import secrets
import time
from collections.abc import Sequence
from typing import Any

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.errors import InvalidRequest, Unavailable
from assay.metrics import Metrics
from assay.settings import LimitSettings
from assay.web import failures

log = structlog.get_logger()

_SANE_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
_TRACE = re.compile(rb"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")

_METHODS = {"DELETE", "GET", "PATCH", "POST", "PUT"}

# The pages of /docs bring scripts and styles of their own origin; everything else is data.
_DOCS_POLICY = (
    b"default-src 'self'; img-src 'self' data:; "
    b"script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'"
)
_DATA_POLICY = b"default-src 'none'; frame-ancestors 'none'"
_FIXED_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Edge:
    def __init__(
        self, app: ASGIApp, *, limits: LimitSettings, metrics: Metrics, trusted_proxies: Sequence[Network]
    ) -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._trusted = trusted_proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        is_head = scope["method"] == "HEAD"
        if is_head:
            # A copy: the server looks at its own scope to know that no body may follow.
            scope = {**scope, "method": "GET"}
        state = scope.setdefault("state", {})
        request_id, trace_id = identify(scope["headers"])
        state["request_id"] = request_id
        state["client_address"] = self._client_address(scope)
        structlog.contextvars.bind_contextvars(request_id=request_id, trace_id=trace_id)
        answer = _Answer(scope, send, request_id, is_head=is_head)
        try:
            await self._serve(scope, receive, answer)
        except Exception as error:  # noqa: BLE001  # the last place where a bug can still become an answer
            last_word = failures.answer(scope, error)
            if answer.status is None:
                await last_word(scope, receive, answer.send)
        finally:
            self._note(scope, answer.status, time.perf_counter() - started)

    async def _serve(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        headers = scope["headers"]
        size = sum(len(name) + len(value) for name, value in headers)
        if len(headers) > self._limits.header_count or size > self._limits.header_bytes:
            error = InvalidRequest(
                f"A request may carry {self._limits.header_count} headers "
                f"of {self._limits.header_bytes:,} bytes together."
            )
            await failures.response(scope, error)(scope, receive, answer.send)
            return
        await self._app(scope, receive, answer.send)

    def _client_address(self, scope: Scope) -> str:
        """The peer; behind trusted proxies, the last address that none of them vouches for."""
        peer = scope["client"][0] if scope.get("client") else ""
        if not self._trusted or not self._is_trusted(peer):
            return peer
        forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
        for hop in (part.strip() for part in reversed(forwarded.decode("latin-1").split(","))):
            if not _is_address(hop):
                break
            peer = hop
            if not self._is_trusted(hop):
                break
        return peer

    def _is_trusted(self, address: str) -> bool:
        return _is_address(address) and any(ipaddress.ip_address(address) in net for net in self._trusted)

    def _note(self, scope: Scope, status: int | None, seconds: float) -> None:
        path = getattr(scope.get("route"), "path", "other")
        # A stranger may invent paths and methods without end; the metrics keep count of ours.
        method = scope["method"] if path != "other" and scope["method"] in _METHODS else "other"
        self._metrics.requests.labels(method, path, str(status)).inc()
        self._metrics.seconds.labels(method, path).observe(seconds)
        state = scope["state"]
        code = state.get("error_code")
        if code is not None:
            self._metrics.errors.labels(path, code).inc()
            if status == Unavailable.status:
                self._metrics.unavailable.labels(code).inc()
        log.info(
            "request",
            method=scope["method"],
            path=scope["path"],
            status=status,
            code=code,
            milliseconds=round(seconds * 1000, 1),
            partner=getattr(state.get("principal"), "subject", None),
            client=state["client_address"],
        )
        structlog.contextvars.clear_contextvars()


class _Answer:
    """Adds what every response carries, and keeps the body of a HEAD back."""

    def __init__(self, scope: Scope, send: Send, request_id: str, *, is_head: bool) -> None:
        self.status: int | None = None
        self._send = send
        self._head = is_head
        self._state: dict[str, Any] = scope["state"]
        policy = _DOCS_POLICY if scope["path"].startswith("/docs") else _DATA_POLICY
        self._headers = [
            *_FIXED_HEADERS,
            (b"content-security-policy", policy),
            (b"x-request-id", request_id.encode()),
        ]

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers: list[Any] = message["headers"]
            names = {name for name, _ in headers}
            headers.extend(pair for pair in self._headers if pair[0] not in names)
            if "allowance" in self._state:
                headers.extend(self._state["allowance"].raw_headers())
            if b"cache-control" not in names:
                headers.append((b"cache-control", b"no-store"))
        elif self._head and message.get("body"):
            message = {**message, "body": b""}
        await self._send(message)


def identify(headers: Sequence[tuple[bytes, bytes]]) -> tuple[str, str | None]:
    """The request id (a sane one is kept, else the trace's, else a new one) and the trace id."""
    given = trace = None
    for name, value in headers:
        if name == b"x-request-id" and _SANE_ID.fullmatch(value):
            given = value.decode()
        elif name == b"traceparent" and (match := _TRACE.fullmatch(value)):
            trace = match.group(1).decode()
    return given or trace or secrets.token_hex(16), trace


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
