"""A load generator that costs next to nothing: keep-alive connections that ask again at each answer."""

import asyncio
import re
import time
from dataclasses import dataclass, field

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)


class WrongAnswer(Exception):
    """An answer that is not 200: what would be measured is not what was meant."""


@dataclass(slots=True)
class Run:
    """Requests still to be sent, and answers still to come."""

    request: bytes
    unsent: int
    unanswered: int
    done: asyncio.Future[None]


@dataclass(slots=True)
class Connection(asyncio.Protocol):
    run: Run
    transport: asyncio.Transport = field(init=False)
    received: bytearray = field(default_factory=bytearray)
    whole: int = 0  # how long the answer is, once its head has come

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def ask(self) -> None:
        if self.run.unsent:
            self.run.unsent -= 1
            self.transport.write(self.run.request)

    def data_received(self, data: bytes) -> None:
        self.received += data
        if not self.whole and (end := self.received.find(b"\r\n\r\n")) >= 0:
            length = _LENGTH.search(self.received[: end + 2])
            self.whole = end + 4 + (int(length.group(1)) if length else 0)
        if not self.whole or len(self.received) < self.whole:
            return
        head = bytes(self.received[:200])
        self.received, self.whole = bytearray(), 0
        if not head.startswith(b"HTTP/1.1 200 "):
            self._fail(WrongAnswer(head.decode("latin-1")))
            return
        self.run.unanswered -= 1
        if self.run.unanswered == 0:
            self.run.done.set_result(None)
        else:
            self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.run.unanswered:
            self._fail(exc or WrongAnswer("The server closed the connection."))

    def _fail(self, error: Exception) -> None:
        if not self.run.done.done():
            self.run.done.set_exception(error)


async def seconds(port: int, request: bytes, *, count: int, connections: int) -> float:
    """How long the server on this port takes for so many requests over so many connections."""
    loop = asyncio.get_running_loop()
    run = Run(request, count, count, loop.create_future())
    opened = [
        (await loop.create_connection(lambda: Connection(run), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    started = time.perf_counter()
    for connection in opened:
        connection.ask()
    await run.done
    elapsed = time.perf_counter() - started
    for connection in opened:
        connection.transport.close()
    return elapsed


def get(path: str, port: int, **headers: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()
