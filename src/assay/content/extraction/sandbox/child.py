"""One parse: what a process forked from the server does between its birth and its answer."""

import io
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from assay.content.extraction.sandbox import frames, outcomes
from assay.content.extraction.sandbox.confinement import Confinement, Limits
from assay.errors import ServiceError

Progress = Callable[[int, int], None]
Task = Callable[[BinaryIO, Mapping[str, Any], Progress], Any]

_REQUEST_BYTES = 64 << 20
_PROGRESS_SECONDS = 0.05


def answer(
    document: int, channel: socket.socket, tasks: Mapping[str, Task], confinement: Confinement
) -> None:
    """Read the request, give up every right that it does not need, run the task, send its outcome."""
    request = frames.decode(frames.FrameReader(channel, _REQUEST_BYTES).wait()[1])
    os.dup2(0, 2)  # what a parser prints may quote the document, and must not reach the service's log
    confinement.confine_child(Limits(**request["limits"]))
    with io.FileIO(document) as raw, io.BufferedReader(raw) as file:
        kind, payload = _outcome(tasks[request["task"]], file, request["options"], _Reporter(channel))
        frames.send(channel, kind, payload)


def _outcome(
    task: Task, file: BinaryIO, options: Mapping[str, Any], progress: Progress
) -> tuple[bytes, bytes]:
    try:
        return frames.ANSWER, frames.encode(task(file, options, progress))
    except MemoryError:
        return frames.OUT_OF_MEMORY, b""
    except ServiceError as error:
        return frames.FAILURE, frames.encode(outcomes.to_wire(error))
    except BaseException as error:  # noqa: BLE001 - whatever it is ends here, in a process made to be lost
        return frames.CRASH, frames.encode(type(error).__name__)


class _Reporter:
    """Sends progress, but not so often that telling costs more than working."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._next_at = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next_at:
            self._next_at = now + _PROGRESS_SECONDS
            frames.send(self._channel, frames.PROGRESS, frames.encode([done, total]))
