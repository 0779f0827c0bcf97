"""The wire: uvicorn's HTTP/1.1 protocol with a bound on how long and how large headers may be.

Uvicorn collects headers without end, in memory and in time, before the application sees anything.
"""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from assay.errors import InvalidRequest
from assay.settings import LimitSettings
from assay.web import failures
from assay.web.edge import identify


class BoundedProtocol(HttpToolsProtocol):
    limits: ClassVar[LimitSettings]

    _in_headers = True
    _header_bytes = 0
    _deadline: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        if self._in_headers:
            # What came before this chunk counts: its own tail may already be body.
            if self._header_bytes > self.limits.header_bytes:
                self.send_400_response(f"The headers exceed {self.limits.header_bytes:,} bytes.")
                return
            self._header_bytes += len(data)
            if self._deadline is None:
                self._deadline = self.loop.call_later(self.limits.header_seconds, self.transport.close)
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._in_headers = False
        self._stop_clock()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_headers = True
        self._header_bytes = 0
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        super().connection_lost(exc)

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def send_400_response(self, msg: str) -> None:
        """What cannot even be parsed is answered in the shape of every other error."""
        scope: Any = {"headers": [], "path": "", "state": {"request_id": identify([])[0]}}
        body = bytes(failures.response(scope, InvalidRequest(msg)).body)
        head = (
            f"HTTP/1.1 {InvalidRequest.status} {InvalidRequest.title}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


def protocol(limits: LimitSettings) -> type[BoundedProtocol]:
    """The protocol class for these limits: uvicorn takes a class, not an instance."""
    return type("Protocol", (BoundedProtocol,), {"limits": limits})
