"""multipart/form-data, pushed through as it comes: no part is held in memory or written twice."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from assay.errors import InvalidRequest, TooLarge, UnsupportedType

# Large enough that the change of thread is not felt, small enough that memory is not either.
BATCH_BYTES = 256 * 1024
MAX_PARTS = 2_000
MAX_HEADERS_OF_PART = 8
# A file name of 64 kB is cut short by whoever keeps it, not refused as if the form were broken.
MAX_HEADER_BYTES = 72 * 1024


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    file_name: str | None


class Receiver(Protocol):
    """Takes the parts, one after the other, in a thread of its own; what it raises ends the reading."""

    def begin(self, part: Part) -> None: ...

    def data(self, chunk: bytes) -> None: ...

    def end(self) -> None: ...


async def receive(
    request: Request, receiver: Receiver, *, max_bytes: int, too_large: TooLarge, idle_seconds: float
) -> None:
    """Read the whole form into the receiver, or raise a 4xx that says why not.

    `too_large` is raised for a body of more than `max_bytes`, and names the limit that a client knows.
    """
    reader = _Reader(_boundary(request), receiver)
    async for batch in _batches(request, max_bytes, too_large, idle_seconds):
        await run_in_threadpool(reader.write, batch)
    await run_in_threadpool(reader.finish)


def _boundary(request: Request) -> bytes:
    media_type, options = parse_options_header(request.headers.get("content-type"))
    if media_type != b"multipart/form-data":
        raise UnsupportedType("The body must be multipart/form-data.")
    boundary = options.get(b"boundary", b"")
    if not 1 <= len(boundary) <= 70:
        raise InvalidRequest("The Content-Type names no usable multipart boundary.")
    return boundary


async def _batches(
    request: Request, max_bytes: int, too_large: TooLarge, idle_seconds: float
) -> AsyncIterator[bytes]:
    """The body in pieces of some size; a client that stalls or goes away is not waited for."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise too_large
    batch, total = bytearray(), 0
    stream = request.stream()
    while True:
        try:
            chunk = await asyncio.wait_for(anext(stream), idle_seconds)
        except StopAsyncIteration:
            break
        except TimeoutError:
            raise InvalidRequest(
                f"Nothing came for {idle_seconds:g} seconds; the upload was given up."
            ) from None
        except ClientDisconnect:
            raise InvalidRequest("The upload broke off.") from None
        batch += chunk
        total += len(chunk)
        if total > max_bytes:
            raise too_large
        if len(batch) >= BATCH_BYTES:
            yield bytes(batch)
            batch.clear()
    if batch:
        yield bytes(batch)


class _Reader:
    def __init__(self, boundary: bytes, receiver: Receiver) -> None:
        self._receiver = receiver
        self._parts = 0
        self._ended = False
        self._headers: dict[bytes, bytes] = {}
        self._field = self._value = b""
        callbacks: Any = {
            "on_part_begin": self._on_part_begin,
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers_finished,
            "on_part_data": self._on_part_data,
            "on_part_end": receiver.end,
            "on_end": self._on_end,
        }
        self._parser = MultipartParser(
            boundary, callbacks, max_header_count=MAX_HEADERS_OF_PART, max_header_size=MAX_HEADER_BYTES
        )

    def write(self, batch: bytes) -> None:
        try:
            self._parser.write(batch)
        except FormParserError:
            raise InvalidRequest("The body is not well-formed multipart/form-data.") from None

    def finish(self) -> None:
        if not self._ended:
            raise InvalidRequest("The multipart body ends before its closing boundary.")

    def _on_part_begin(self) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise InvalidRequest(f"A form may have at most {MAX_PARTS:,} parts.")
        self._headers = {}

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[self._field.lower()] = self._value
        self._field = self._value = b""

    def _on_headers_finished(self) -> None:
        disposition, options = parse_options_header(self._headers.get(b"content-disposition"))
        name = options.get(b"name")
        if disposition != b"form-data" or name is None:
            raise InvalidRequest("A part of the form has no name.")
        file_name = options.get(b"filename")
        self._receiver.begin(Part(_text(name), None if file_name is None else _text(file_name)))

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._receiver.data(data[start:end])

    def _on_end(self) -> None:
        self._ended = True


def _text(raw: bytes) -> str:
    """Names are UTF-8 in practice; what is not is kept readable rather than refused."""
    return raw.decode("utf-8", errors="replace")
