"""One exchange with a child, from request to answer, under one deadline over everything."""

import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from assay.content.extraction.sandbox import frames, outcomes
from assay.content.extraction.sandbox.confinement import Limits
from assay.content.extraction.sandbox.outcomes import Cancelled, ChildCrashed
from assay.errors import ServiceError

_CANCEL_SECONDS = 0.05
_DEATH_SECONDS = 5.0
_LARGEST_COUNT = 1 << 53
_NEAR_THE_LIMIT = 0.75
_NOTHING_YET = object()


class Flag(Protocol):
    """What a run asks whether to go on: a `threading.Event`, or anything that answers like one."""

    def is_set(self) -> bool: ...


class ServerLost(Exception):
    """The fork server went away before it had started a child."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What one run was asked for, and what it may take."""

    request: bytes
    limits: Limits
    cancelled: Flag | None = None
    progress: Callable[[int, int], None] | None = None


def converse(submit: Callable[[int, int], None], terms: Terms) -> Any:
    """Hand a channel and a leash to the fork server, and see the child through to its end."""
    channel, their_channel = socket.socketpair()
    leash, their_leash = socket.socketpair()
    with channel, leash:
        with their_channel, their_leash:
            try:
                submit(their_channel.fileno(), their_leash.fileno())
            except OSError as error:
                raise ServerLost from error
        exchange = _Exchange(channel, leash, terms)
        try:
            return exchange.outcome()
        except BaseException:
            exchange.stop()
            raise


class _Exchange:
    def __init__(self, channel: socket.socket, leash: socket.socket, terms: Terms) -> None:
        self._channel = channel
        self._leash = leash
        self._terms = terms
        self._deadline = time.monotonic() + terms.limits.wall_seconds
        self._frames = frames.FrameReader(channel, terms.limits.answer_bytes)
        self._process: int | None = None
        self._end: tuple[int, int] | None = None
        self._poller = select.poll()
        self._poller.register(channel, select.POLLIN)
        self._poller.register(leash, select.POLLIN)
        self._silent = False

    def outcome(self) -> Any:
        """The answer. What is not one is raised."""
        self._ask()
        while not (self._silent and self._end):
            ready = self._wait()
            if self._leash.fileno() in ready:
                self._hear_server()
            if self._channel.fileno() in ready:
                answer = self._hear_child()
                if answer is not _NOTHING_YET:
                    return answer
        raise _death(*self._end, self._terms.limits)

    def stop(self) -> None:
        """Have the child killed, and wait until it is."""
        with suppress(OSError):
            self._leash.shutdown(socket.SHUT_WR)
        give_up_at = time.monotonic() + _DEATH_SECONDS
        self._leash.settimeout(_DEATH_SECONDS)
        with suppress(OSError, ServerLost, ServiceError):
            while self._end is None and time.monotonic() < give_up_at:
                self._hear_server()
        if self._end is None:  # the server has died, which kills the child, or is stuck, which does not
            self._kill_group()

    def _ask(self) -> None:
        self._channel.settimeout(self._terms.limits.wall_seconds)
        with suppress(ConnectionError):  # a child that is gone already is told of on the leash
            try:
                frames.send(self._channel, frames.REQUEST, self._terms.request)
            except TimeoutError:
                raise outcomes.out_of_time(self._terms.limits.wall_seconds) from None

    def _wait(self) -> set[int]:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise outcomes.out_of_time(self._terms.limits.wall_seconds)
        if self._terms.cancelled is not None:
            if self._terms.cancelled.is_set():
                raise Cancelled
            left = min(left, _CANCEL_SECONDS)
        return {descriptor for descriptor, _ in self._poller.poll(left * 1000)}

    def _hear_server(self) -> None:
        try:
            message = self._leash.recv(frames.LEASH.size)
        except ConnectionError:
            message = b""
        if len(message) < frames.LEASH.size:
            self._lose_server()
        kind, first, second = frames.LEASH.unpack(message)
        if kind == frames.STARTED:
            self._process = first
        elif kind == frames.NOT_STARTED:
            raise ChildCrashed(f"No process could be started to read the document ({os.strerror(first)}).")
        else:
            self._end = first, second
            self._poller.unregister(self._leash)

    def _lose_server(self) -> NoReturn:
        if self._process is None:
            raise ServerLost
        raise ChildCrashed("The process that was reading the document was lost with its server.")

    def _hear_child(self) -> Any:
        try:
            frame = self._frames.advance()
        except (frames.Closed, ConnectionError):
            self._silent = True
            self._poller.unregister(self._channel)
            return _NOTHING_YET
        except frames.FrameTooLong:
            raise outcomes.too_long(self._terms.limits.answer_bytes) from None
        return _NOTHING_YET if frame is None else self._understand(*frame)

    def _understand(self, kind: bytes, payload: bytearray) -> Any:
        if kind == frames.OUT_OF_MEMORY:
            raise outcomes.out_of_memory(self._terms.limits.memory_bytes)
        try:
            value = frames.decode(payload)
        except ValueError:
            raise _gibberish() from None
        if kind == frames.ANSWER:
            return value
        if kind == frames.FAILURE:
            raise outcomes.from_wire(value)
        if kind == frames.CRASH:
            raise outcomes.raised(value)
        if kind != frames.PROGRESS or not _is_progress(value):
            raise _gibberish()
        if self._terms.progress is not None:
            self._terms.progress(*value)
        return _NOTHING_YET

    def _kill_group(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process, signal.SIGKILL)


def _death(status: int, peak_bytes: int, limits: Limits) -> ServiceError:
    """How a child without an answer has ended. Native code out of memory just dies, near the limit."""
    if not os.WIFSIGNALED(status):
        return ChildCrashed()
    if os.WTERMSIG(status) == signal.SIGXCPU:
        return outcomes.out_of_cpu(limits.cpu_seconds)
    if peak_bytes >= limits.memory_bytes * _NEAR_THE_LIMIT:
        return outcomes.out_of_memory(limits.memory_bytes)
    return outcomes.killed_by(os.WTERMSIG(status))


def _is_progress(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(type(count) is int and 0 <= count < _LARGEST_COUNT for count in value)
    )


def _gibberish() -> ChildCrashed:
    return ChildCrashed("The process that was reading the document gave an answer that cannot be read.")
