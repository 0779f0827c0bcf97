"""Parsers in disposable children: a crash, a hang or an allocation storm costs one document.

Each `run` is one process, forked from a warm server that has the parsers loaded, under the limits and the
confinement of `confinement`. How many run at once is the caller's affair.
"""

import dataclasses
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, BinaryIO, Self

from assay.content.extraction.sandbox import frames
from assay.content.extraction.sandbox.confinement import Limits, Profile
from assay.content.extraction.sandbox.conversation import Flag, ServerLost, Terms, converse
from assay.content.extraction.sandbox.outcomes import SandboxUnavailable

_SERVER = "assay.content.extraction.sandbox.forkserver"
_START_SECONDS = 60.0
_CONTROL_SECONDS = 10.0
_STOP_SECONDS = 5.0
_REPORT_BYTES = 1 << 16
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "PYTHONHOME", "TESSDATA_PREFIX", "TZ")
# One thread for each child: a fork of a process with threads may inherit a lock that nobody will open.
_ENVIRONMENT = {"LANG": "C.UTF-8", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Sandbox:
    """Runs tasks ("package.module:function", all loaded when it starts) on documents, from any thread.

    A task is `task(file, options, progress) -> JSON value`.
    """

    def __init__(
        self, tasks: Sequence[str], limits: Limits | None = None, profile: Profile | None = None
    ) -> None:
        self._tasks = tuple(tasks)
        self._limits = limits or Limits()
        self._profile = profile or Profile()
        self._lock = threading.Lock()
        self._server: _Server | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Have a server up. Not needed before `run`, but it saves the first one the wait."""
        self._live()

    def close(self) -> None:
        """End the server and every child. A later `run` would start it again."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.stop()

    def confinement(self) -> Mapping[str, str]:
        """Each measure of confinement: "holds", or "refused: " and why this machine would not have it."""
        return self._live().report

    def run(
        self,
        task: str,
        file: BinaryIO | bytes | int,
        *,
        options: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        cancelled: Flag | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Any:
        """What the task makes of the document, or the failure that it raised; see `outcomes` for other ends.

        The child reads the file from its start, whatever the position here. When this returns or raises,
        the child has ended or is being killed; after `Cancelled` or a limit it has ended.
        """
        if task not in self._tasks:
            raise ValueError(f"{task} is not among the tasks of this sandbox.")
        limits = limits or self._limits
        request = {"task": task, "options": dict(options or {}), "limits": dataclasses.asdict(limits)}
        payload = frames.encode(request)
        document = _own_descriptor(file)
        try:
            return self._converse(document, Terms(payload, limits, cancelled, progress))
        finally:
            os.close(document)

    def _converse(self, document: int, terms: Terms) -> Any:
        for _ in range(3):
            server = self._live()
            try:
                return converse(partial(server.submit, document), terms)
            except ServerLost:  # before it had started a child, so nothing is done twice
                self._discard(server)
        raise SandboxUnavailable

    def _live(self) -> "_Server":
        with self._lock:
            if self._server is not None and not self._server.alive():
                self._server.stop()
                self._server = None
            if self._server is None:
                self._server = _Server(self._tasks, self._profile)
            return self._server

    def _discard(self, server: "_Server") -> None:
        with self._lock:
            if self._server is server:
                self._server = None
        server.stop(at_once=True)


class _Server:
    """The running fork server, seen from here."""

    def __init__(self, tasks: tuple[str, ...], profile: Profile) -> None:
        self._control, theirs = socket.socketpair()
        self._sending = threading.Lock()
        with theirs:
            self._process = _launch(theirs, {"tasks": tasks, **dataclasses.asdict(profile)})
        self._control.settimeout(_START_SECONDS)
        try:
            _, report = frames.FrameReader(self._control, _REPORT_BYTES).wait()
            self.report: Mapping[str, str] = frames.decode(report)
        except (OSError, frames.Closed, ValueError) as error:
            self.stop(at_once=True)
            raise SandboxUnavailable from error
        self._control.settimeout(_CONTROL_SECONDS)

    def alive(self) -> bool:
        return self._process.poll() is None

    def submit(self, *descriptors: int) -> None:
        with self._sending:
            socket.send_fds(self._control, [b"!"], descriptors)

    def stop(self, *, at_once: bool = False) -> None:
        """Close the control socket, on which the server kills its children and ends; insist on it."""
        self._control.close()
        if at_once:
            self._process.kill()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _launch(control: socket.socket, settings: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    """A fresh interpreter: a fork of a service with threads would be unsafe, and would share its secrets."""
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)  # noqa: PTH100 - strings in and out
    arguments = [str(control.fileno()), str(os.getpid()), json.dumps(settings)]
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module, no shell
        [sys.executable, "-P", "-m", _SERVER, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**environment, **_ENVIRONMENT, "PYTHONPATH": path},
        cwd="/",
        pass_fds=(control.fileno(),),
    )


def _own_descriptor(file: BinaryIO | bytes | int) -> int:
    """A descriptor of the document that can only be read, with a position of its own, for the child alone."""
    if isinstance(file, int):
        return _reopen(file)
    if isinstance(file, bytes):
        return _spill(file)
    try:
        return _reopen(file.fileno())
    except OSError:  # a file in memory has no descriptor
        file.seek(0)
        return _spill(file.read())


def _reopen(descriptor: int) -> int:
    with suppress(OSError):
        return os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    copy = os.dup(descriptor)  # no /proc here: the position is shared, so begin at the start
    with suppress(OSError):
        os.lseek(copy, 0, os.SEEK_SET)
    return copy


def _spill(content: bytes) -> int:
    with (
        tempfile.TemporaryFile()
        if sys.platform != "linux"
        else os.fdopen(os.memfd_create("document"), "r+b") as file
    ):
        file.write(content)
        file.flush()
        return _reopen(file.fileno())
