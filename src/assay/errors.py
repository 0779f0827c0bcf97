"""What can go wrong, as a tree; the only HTTP status numbers of the code base stand here.

ServiceError
├── Invalid               400  the request, or a file in it, is not what it should be
│   └── InvalidRequest         … a field, a header or the syntax of the body
├── Unauthenticated       401  no token, or a bad one
├── Forbidden             403  the token does not reach this far
├── Unknown               404  absent, malformed or somebody else's
├── MethodNotAllowed      405
├── Conflict              409  the state forbids it
├── TooLarge              413  more bytes than the limit
├── UnsupportedType       415  a media type or file type that is not accepted
├── Mismatch              422  an idempotency key was used for something else
├── LimitReached          429  too much, too often
├── InternalError         500  a bug
└── Unavailable           503  a dependency is away or full

Slices subclass a kind. The class name is the stable `code`, its docstring the default message.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Detail:
    """One thing that is wrong, and where."""

    field: str
    message: str


class ServiceError(Exception):
    """The request could not be served."""

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal Server Error"

    def __init__(
        self,
        message: str | None = None,
        *,
        details: Sequence[Detail] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.message = message or message_of(type(self))
        self.details = tuple(details)
        self.headers = dict(headers or {})
        super().__init__(self.message)

    @property
    def code(self) -> str:
        return code_of(type(self))


def code_of(kind: type[ServiceError]) -> str:
    """The name that clients may rely on: `UnknownPartner` is `unknown_partner`."""
    return _WORD_START.sub("_", kind.__name__).lower()


def message_of(kind: type[ServiceError]) -> str:
    """What is said where nothing more exact is known."""
    return " ".join((kind.__doc__ or "").split())


class Invalid(ServiceError):
    """The request is not valid."""

    status = 400
    title = "Bad Request"


class InvalidRequest(Invalid):
    """The request is not valid."""


class Unauthenticated(ServiceError):
    """A bearer access token is needed."""

    status = 401
    title = "Unauthorized"


class Forbidden(ServiceError):
    """The token does not allow this."""

    status = 403
    title = "Forbidden"


class Unknown(ServiceError):
    """There is nothing at this address."""

    status = 404
    title = "Not Found"


class MethodNotAllowed(ServiceError):
    """This address does not answer to that method."""

    status = 405
    title = "Method Not Allowed"


class Conflict(ServiceError):
    """The present state forbids this."""

    status = 409
    title = "Conflict"


class TooLarge(ServiceError):
    """The request body is too large."""

    status = 413
    title = "Content Too Large"


class UnsupportedType(ServiceError):
    """This media type is not accepted here."""

    status = 415
    title = "Unsupported Media Type"


class Mismatch(ServiceError):
    """This idempotency key was used for another request."""

    status = 422
    title = "Unprocessable Content"


class LimitReached(ServiceError):
    """A limit was reached; try again later."""

    status = 429
    title = "Too Many Requests"


class InternalError(ServiceError):
    """The service has failed; the request id identifies what happened."""


class Unavailable(ServiceError):
    """Something that this service needs is away; try again shortly."""

    status = 503
    title = "Service Unavailable"

    def __init__(self, message: str | None = None, *, retry_after_seconds: int = 2) -> None:
        super().__init__(message, headers={"Retry-After": str(retry_after_seconds)})
