"""How the service and a parsing child talk: a kind, a length, then JSON; never a pickle.

The child is not trusted. Its frames are read under one limit on bytes, one piece at a time, and nothing
is allocated on the word of a length alone.
"""

import json
import re
import socket
import struct
from typing import Any, NoReturn

REQUEST = b"R"
PROGRESS = b"P"
ANSWER = b"A"
FAILURE = b"F"  # a named failure of the error tree
CRASH = b"C"  # any other exception, by the name of its type
OUT_OF_MEMORY = b"M"

# What the fork server tells the caller of a child, on a socket that the child does not hold:
# STARTED process 0, then ENDED wait-status peak-bytes; or NOT_STARTED errno 0.
LEASH = struct.Struct("!cqq")
STARTED, ENDED, NOT_STARTED = b"S", b"E", b"N"

_HEADER = struct.Struct("!cQ")
_PIECE_BYTES = 1 << 20
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class FrameTooLong(Exception):
    """More bytes than the reader is willing to take."""


class Closed(Exception):
    """The other side has gone before its frame was complete."""


def encode(value: Any) -> bytes:
    """JSON in UTF-8; a lone surrogate, NaN or infinity raises ValueError."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def decode(payload: bytes | bytearray) -> Any:
    """The JSON value of a frame. Whatever is wrong with it raises ValueError."""
    try:
        value = json.loads(payload, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("The value is nested too deeply.") from None
    if _ESCAPED_SURROGATE.search(payload):
        encode(value)  # `encode` never escapes; an escape may hide half a character, which no store takes
    return value


def send(channel: socket.socket, kind: bytes, payload: bytes = b"") -> None:
    channel.sendall(_HEADER.pack(kind, len(payload)))
    channel.sendall(payload)


class FrameReader:
    """Frames from a socket, never reading beyond the present one. `limit` counts the bytes of all frames."""

    def __init__(self, channel: socket.socket, limit: int) -> None:
        self._channel = channel
        self._left = limit
        self._kind: bytes | None = None
        self._wanted = _HEADER.size
        self._have = bytearray()

    def wait(self) -> tuple[bytes, bytearray]:
        """The next frame, on a blocking socket."""
        while True:
            frame = self.advance()
            if frame is not None:
                return frame

    def advance(self) -> tuple[bytes, bytearray] | None:
        """Take what one read gives; a frame once it is complete, else None."""
        piece = self._channel.recv(min(self._wanted - len(self._have), _PIECE_BYTES))
        if not piece:
            raise Closed
        self._have += piece
        if len(self._have) < self._wanted:
            return None
        if self._kind is None:
            self._open()
        return self._finish() if len(self._have) == self._wanted else None

    def _open(self) -> None:
        self._kind, self._wanted = _HEADER.unpack(self._have)
        self._have = bytearray()
        self._left -= self._wanted + _HEADER.size
        if self._left < 0:
            raise FrameTooLong

    def _finish(self) -> tuple[bytes, bytearray]:
        assert self._kind is not None
        frame = self._kind, self._have
        self._kind, self._wanted, self._have = None, _HEADER.size, bytearray()
        return frame


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON.")
