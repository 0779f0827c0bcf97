"""How a parse in a child can end other than with an answer.

`ChildTimedOut`, `ChildOutOfMemory` and `AnswerTooLong` are properties of the document: final, like every
`UnreadableDocument`. `ChildCrashed` may be bad luck: the caller tries again, a few times.
"""

import re
import signal
from collections.abc import Iterator
from typing import Any

from assay.content.models import OverLimit, UnreadableDocument
from assay.errors import ServiceError, Unavailable

_LONGEST_MESSAGE = 2_000
_MIB = 1 << 20
_TYPE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")


class ChildTimedOut(OverLimit):
    """Reading the document took too long."""


class ChildOutOfMemory(OverLimit):
    """Reading the document needed too much memory."""


class AnswerTooLong(OverLimit):
    """The document's text is too long."""


class ChildCrashed(ServiceError):
    """The process that was reading the document ended without an answer."""


class Cancelled(ServiceError):
    """Reading the document was cancelled."""


class SandboxUnavailable(Unavailable):
    """The process that reads documents could not be started."""


def out_of_time(seconds: float) -> ChildTimedOut:
    return ChildTimedOut(f"Reading the document took longer than the limit of {seconds:g} s.")


def out_of_cpu(seconds: int) -> ChildTimedOut:
    return ChildTimedOut(f"Reading the document took more than the limit of {seconds} s of processor time.")


def out_of_memory(limit_bytes: int) -> ChildOutOfMemory:
    return ChildOutOfMemory(
        f"Reading the document needed more memory than the limit of {limit_bytes // _MIB:,} MiB."
    )


def too_long(limit_bytes: int) -> AnswerTooLong:
    return AnswerTooLong(f"The document's text and structure exceed the limit of {limit_bytes:,} bytes.")


def killed_by(number: int) -> ChildCrashed:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return ChildCrashed(f"The process that was reading the document was ended by {name}.")


def raised(type_name: Any) -> ChildCrashed:
    """Only the type's name crosses over: a message may quote the document, and end in a log."""
    known = isinstance(type_name, str) and _TYPE_NAME.fullmatch(type_name)
    return ChildCrashed(f"The process that was reading the document failed ({type_name if known else '?'}).")


def to_wire(error: ServiceError) -> dict[str, str]:
    return {"code": error.code, "message": error.message}


def from_wire(failure: Any) -> ServiceError:
    """The failure as it was raised in the child; of the tree, only what a document may cause."""
    if isinstance(failure, dict):
        code, message = failure.get("code"), failure.get("message")
        for kind in _with_subclasses(UnreadableDocument):
            if kind().code == code and isinstance(message, str):
                return kind(message[:_LONGEST_MESSAGE])
    return ChildCrashed()


def _with_subclasses(kind: type[UnreadableDocument]) -> Iterator[type[UnreadableDocument]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _with_subclasses(below)
