"""A connection to one address that was judged before, every step of it under one deadline."""

import errno
import select
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from ipaddress import IPv6Address
from threading import Event
from typing import Self, TypeVar

from assay.content.fetching.failures import (
    BrokenOff,
    FetchCancelled,
    TookTooLong,
    Unreachable,
    UntrustedCertificate,
)
from assay.content.fetching.hosts import Address, Host

_LOOK_EVERY_SECONDS = 0.1
_RECEIVE_BYTES = 64 * 1024

T = TypeVar("T")


class Deadline:
    """One wall-clock end for everything, however slowly it trickles; a cancel ends it earlier."""

    def __init__(self, seconds: float, cancelled: Event | None = None) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._cancelled = cancelled

    def remaining(self) -> float:
        """Seconds left. Raises when there are none, or when nobody waits any more."""
        if self._cancelled is not None and self._cancelled.is_set():
            raise FetchCancelled
        left = self._end - time.monotonic()
        if left <= 0:
            raise TookTooLong(
                f"The download took longer than {self._seconds:g} seconds, the limit of this service."
            )
        return left

    def pause(self) -> float:
        """Seconds to wait before looking again: short, because a cancel wakes nobody."""
        return min(self.remaining(), _LOOK_EVERY_SECONDS)


class Wire:
    """A connected socket. It never blocks: each wait looks at the deadline."""

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        self._socket = connected
        self._deadline = deadline

    @classmethod
    def connect(cls, addresses: Sequence[Address], port: int, deadline: Deadline) -> Self:
        """To the first address that answers. One that is silent gets its share of the time, not all."""
        for position, address in enumerate(addresses):
            patience = deadline.remaining() / (len(addresses) - position)
            connected = _connected(address, port, deadline, patience)
            if connected is not None:
                return cls(connected, deadline)
        deadline.remaining()  # silence until the end is lateness, not refusal
        raise Unreachable

    def secure(self, context: ssl.SSLContext, host: Host) -> None:
        """Speak TLS from here on, with a peer that proves to be `host`."""
        try:
            secured = context.wrap_socket(
                self._socket, server_hostname=str(host), do_handshake_on_connect=False
            )
            self._socket = secured
            self._until_done(secured.do_handshake)
        except ssl.SSLCertVerificationError as error:
            raise UntrustedCertificate from error
        except OSError as error:
            raise Unreachable("No secure connection to the address could be made.") from error

    def send(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            sent = self._exchanged(lambda: self._socket.send(rest), select.POLLOUT)  # noqa: B023 (called at once)
            rest = rest[sent:]

    def receive(self) -> bytes:
        """Some bytes, or none at the end."""
        return self._exchanged(lambda: self._socket.recv(_RECEIVE_BYTES), select.POLLIN)

    def close(self) -> None:
        with suppress(OSError):
            self._socket.close()

    def _exchanged(self, step: Callable[[], T], waits_for: int) -> T:
        try:
            return self._until_done(step, waits_for)
        except OSError as error:
            raise BrokenOff from error

    def _until_done(self, step: Callable[[], T], waits_for: int = select.POLLIN) -> T:
        while True:
            self._deadline.remaining()
            try:
                return step()
            except ssl.SSLWantReadError:
                events = select.POLLIN
            except ssl.SSLWantWriteError:
                events = select.POLLOUT
            except BlockingIOError:
                events = waits_for
            _ready(self._socket, events, self._deadline.pause())


def _connected(address: Address, port: int, deadline: Deadline, patience: float) -> socket.socket | None:
    family = socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET
    # No such family here, no route: the next address may have one.
    with suppress(OSError), ExitStack() as unless_connected:
        connecting = unless_connected.enter_context(socket.socket(family, socket.SOCK_STREAM))
        connecting.settimeout(0)
        if _connects(connecting, (str(address), port), deadline, patience):
            unless_connected.pop_all()
            return connecting
    return None


def _connects(
    connecting: socket.socket, endpoint: tuple[str, int], deadline: Deadline, patience: float
) -> bool:
    started = connecting.connect_ex(endpoint)
    if started != errno.EINPROGRESS:
        return started == 0
    end = time.monotonic() + patience
    while not _ready(connecting, select.POLLOUT, deadline.pause()):
        if time.monotonic() > end:
            return False
    return connecting.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0


def _ready(waiting: socket.socket, events: int, seconds: float) -> bool:
    poll = select.poll()  # not select(): it fails beyond 1,024 open files
    poll.register(waiting, events)
    return bool(poll.poll(max(1, int(seconds * 1000))))
