"""The warm process that parsers are forked from: it loads them once, locks itself in, then only forks.

It parses nothing itself, so nothing hostile reaches it. With each byte on its control socket come three
descriptors: the document, the channel that the child will answer on, and a leash. On the leash the server
tells how the child fares, which the child itself cannot forge. When the caller lets go of the leash, or dies,
the child is killed with its whole process group.
"""

import ctypes
import encodings
import gc
import importlib
import json
import os
import pkgutil
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import NoReturn

from assay.content.extraction.sandbox import child, confinement, frames
from assay.content.extraction.sandbox.child import Task
from assay.content.extraction.sandbox.confinement import Profile

_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_BEFORE_CONFINEMENT_ONLY = ("PYTHONPATH",)


class ForkServer:
    """One loop over the control socket, the caller's life, the leashes and the deaths of children."""

    def __init__(self, control: socket.socket, caller: int, tasks: dict[str, Task], profile: Profile) -> None:
        self._control = control
        self._caller = _watch(caller)
        self._tasks = tasks
        self._confinement = confinement.confine_server(profile)
        self._leashes: dict[int, socket.socket] = {}
        self._doomed: set[int] = set()
        self._wake, self._wake_writer = _wake_on_child_death()
        self._process = os.getpid()

    def serve(self) -> None:
        """Until the caller closes the control socket or dies; no child outlives this."""
        frames.send(self._control, frames.ANSWER, frames.encode(self._confinement.report))
        gc.freeze()  # a collection in a child would touch, and so copy, every page of this heap
        while self._turn():
            pass
        for process in self._leashes:
            _kill_group(process)

    def _turn(self) -> bool:
        poller = select.poll()
        for watched in (self._control.fileno(), self._caller, self._wake):
            if watched is not None:
                poller.register(watched, select.POLLIN)
        processes = {
            leash.fileno(): process for process, leash in self._leashes.items() if process not in self._doomed
        }
        for leash in processes:
            poller.register(leash, select.POLLIN)
        ready = {descriptor for descriptor, _ in poller.poll()}
        for leash in ready & processes.keys():
            self._let_go(processes[leash])
        if self._wake in ready:
            os.read(self._wake, 4096)
            self._reap()
        if self._caller in ready:
            return False
        return self._control.fileno() not in ready or self._accept()

    def _accept(self) -> bool:
        try:
            byte, descriptors, _, _ = socket.recv_fds(self._control, 1, 3, _CLOSE_ON_EXEC)
        except ConnectionError:  # the caller died with something of ours unread
            return False
        if len(descriptors) == 3:
            document, channel, leash = descriptors
            self._fork(document, socket.socket(fileno=channel), socket.socket(fileno=leash))
        else:  # too many open files: the caller sees its leash close and knows that nothing was started
            for descriptor in descriptors:
                os.close(descriptor)
        return bool(byte)

    def _fork(self, document: int, channel: socket.socket, leash: socket.socket) -> None:
        leash.setblocking(False)  # noqa: FBT003 - the standard library's signature
        try:
            process = os.fork()
        except OSError as error:
            _tell(leash, frames.NOT_STARTED, error.errno or 0)
            leash.close()
        else:
            if process == 0:
                self._be_child(document, channel, leash)
            with suppress(OSError):  # the child does the same; whoever is first, the group exists
                os.setpgid(process, process)
            self._leashes[process] = leash
            _tell(leash, frames.STARTED, process)
        channel.close()
        os.close(document)

    def _be_child(self, document: int, channel: socket.socket, leash: socket.socket) -> NoReturn:
        try:
            os.setpgid(0, 0)
            confinement.die_with_parent()
            if os.getppid() == self._process:  # else the server died before it could be noticed
                self._shed(leash)
                child.answer(document, channel, self._tasks, self._confinement)
        finally:
            os._exit(0)

    def _shed(self, leash: socket.socket) -> None:
        """Close what only the server needs. Not all there is: libraries keep descriptors of their own."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for mine in (self._control, leash, *self._leashes.values()):
            mine.close()
        for descriptor in (self._caller, self._wake, self._wake_writer):
            if descriptor is not None:
                os.close(descriptor)

    def _let_go(self, process: int) -> None:
        """The caller has closed its end and wants no more of this child. `_reap` will tell of its death."""
        self._doomed.add(process)
        _kill_group(process)

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                process, status, usage = os.wait4(-1, os.WNOHANG)
                if process == 0:
                    return
                self._settle(process, status, usage.ru_maxrss * _PEAK_UNIT)

    def _settle(self, process: int, status: int, peak_bytes: int) -> None:
        leash = self._leashes.pop(process, None)
        if leash is None:
            return  # a program that outlived its parser, and came here as an orphan
        self._doomed.discard(process)
        _kill_group(process)  # programs that the child left behind
        _tell(leash, frames.ENDED, status, peak_bytes)
        leash.close()


def preload(paths: Iterable[str]) -> dict[str, Task]:
    """Import the tasks ("package.module:function") and what they would otherwise load when first used.

    A module of tasks may have a function `warm_up` for that: what it does here, no child does again.
    """
    tasks = {}
    for path in paths:
        module, _, name = path.partition(":")
        loaded = importlib.import_module(module)
        tasks[path] = getattr(loaded, name)
        getattr(loaded, "warm_up", _nothing)()
    for codec in pkgutil.iter_modules(encodings.__path__, "encodings."):
        with suppress(ImportError):  # codecs of other systems
            importlib.import_module(codec.name)
    time.tzset()
    ctypes.CFUNCTYPE(None)(lambda: None)  # callbacks from C map their trampolines from a file, once
    return tasks


def _nothing() -> None:
    return None


def _watch(process: int) -> int | None:
    """A descriptor that becomes readable when the caller dies, even if a fork of it holds the socket open."""
    if os.getppid() != process:
        sys.exit("The process that started this one has gone.")
    with suppress(AttributeError, OSError):  # not on every kernel; the control socket tells most of it
        return os.pidfd_open(process)
    return None


def _wake_on_child_death() -> tuple[int, int]:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reader, writer


def _kill_group(process: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


def _tell(leash: socket.socket, kind: bytes, first: int, second: int = 0) -> None:
    with suppress(OSError):  # the caller has gone, or does not listen
        leash.send(frames.LEASH.pack(kind, first, second))


def main() -> None:
    descriptor, caller, settings = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    for name in _BEFORE_CONFINEMENT_ONLY:
        os.environ.pop(name, None)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # sent to all at shutdown; the caller decides when work ends
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    confinement.adopt_orphans()
    profile = Profile(settings["processes"], tuple(settings["readable"]))
    tasks = preload(settings["tasks"])
    ForkServer(socket.socket(fileno=descriptor), caller, tasks, profile).serve()


if __name__ == "__main__":
    main()
