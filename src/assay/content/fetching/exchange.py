"""One HTTP/1.1 question and its answer, with limits on every part of it."""

from collections.abc import Iterator, Sequence

import h11

from assay.content.fetching.decoding import too_large
from assay.content.fetching.failures import BrokenOff, GarbledAnswer
from assay.content.fetching.wire import Wire

Headers = Sequence[tuple[str, str]]

_START = b"HTTP/"
_MAX_HEAD_BYTES = 64 * 1024
_MAX_HEADERS = 200
_MAX_INTERIM_ANSWERS = 8


class Answer:
    """Status and headers of a response; its body is read on demand."""

    def __init__(self, exchange: "Exchange", response: h11.Response) -> None:
        self._exchange = exchange
        self.status = response.status_code
        self._headers = [(name.decode("ascii"), _text(value)) for name, value in response.headers]

    def header(self, name: str) -> str | None:
        """The first header of that name (in lower case)."""
        return next((value for known, value in self._headers if known == name), None)

    def joined(self, name: str) -> str:
        """All headers of that name, as the one list that they mean."""
        return ", ".join(value for known, value in self._headers if known == name)

    def body(self, max_bytes: int) -> Iterator[bytes]:
        """The body as it stands on the wire, without the framing of its transfer."""
        return self._exchange.body(self.header("content-length"), max_bytes)


class Exchange:
    """A connection that is used once."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD_BYTES)
        self._received = 0
        self._start = b""
        self._at_end = False

    def ask(self, target: str, headers: Headers) -> Answer:
        request = h11.Request(method="GET", target=target, headers=list(headers))
        self._wire.send(self._http.send(request) or b"")
        self._wire.send(self._http.send(h11.EndOfMessage()) or b"")
        for _ in range(_MAX_INTERIM_ANSWERS):
            event = self._next_event()
            if isinstance(event, h11.Response) and _is_modest(event):
                return Answer(self, event)
            if not isinstance(event, h11.InformationalResponse):
                break
        raise GarbledAnswer

    def body(self, declared: str | None, max_bytes: int) -> Iterator[bytes]:
        if declared is not None and int(declared) > max_bytes:
            raise too_large(max_bytes)
        while isinstance(event := self._next_event(), h11.Data):
            # Chunks of one byte, or with long extensions, are bytes on the wire like any others.
            if self._received > max_bytes + _MAX_HEAD_BYTES:
                raise too_large(max_bytes)
            yield bytes(event.data)
        if not isinstance(event, h11.EndOfMessage):
            raise GarbledAnswer

    def _next_event(self) -> object:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                data = self._wire.receive()
                self._note(data)
                self._http.receive_data(data)
        except h11.ProtocolError as error:
            raise (BrokenOff if self._at_end else GarbledAnswer) from error
        return event

    def _note(self, data: bytes) -> None:
        self._received += len(data)
        self._at_end = not data
        # A server of another kind may greet and then wait for ever.
        self._start += data[: len(_START) - len(self._start)]
        if not _START.startswith(self._start):
            raise GarbledAnswer


def _is_modest(response: h11.Response) -> bool:
    """h11 bounds only what is still incomplete: headers that arrive all at once are measured here."""
    size = sum(len(name) + len(value) for name, value in response.headers)
    return len(response.headers) <= _MAX_HEADERS and size <= _MAX_HEAD_BYTES


def _text(value: bytes) -> str:
    """Servers write UTF-8 where the standard has nothing to say; what is not UTF-8 is Latin-1."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
