"""Who stands behind a request: partners, what they may do, and how they fail to prove it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from assay.errors import Conflict, Forbidden, Invalid, Unauthenticated, Unavailable, Unknown

REALM = "assay"


class Scope(StrEnum):
    """What an operation needs. `info` comes with any of the others."""

    CONTENT = "content"
    FRAMEWORKS = "frameworks"
    ASSESSMENTS = "assessments"
    FEEDBACK = "feedback"
    INFO = "info"


ALL_SCOPES = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class Principal:
    """The partner that a verified token speaks for, and what it allows."""

    subject: str
    scopes: frozenset[Scope]
    expires_at: float  # seconds since the epoch, as `exp` is
    not_before: float


@dataclass(frozen=True, slots=True)
class Partner:
    """A partner of the operator. One from an external provider has no name or credentials here."""

    subject: str
    created_at: datetime
    name: str | None = None
    username: str | None = None
    client_id: str | None = None
    scopes: frozenset[Scope] = ALL_SCOPES
    disabled_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a partner is given once; only hashes stay here."""

    subject: str
    username: str
    password: str
    client_id: str
    client_secret: str


class MissingToken(Unauthenticated):
    """A bearer access token is needed."""

    def __init__(self) -> None:
        super().__init__(headers={"WWW-Authenticate": f'Bearer realm="{REALM}"'})


class InvalidToken(Unauthenticated):
    """The access token is not valid."""

    def __init__(self, message: str | None = None) -> None:
        challenge = f'Bearer realm="{REALM}", error="invalid_token"'
        super().__init__(message, headers={"WWW-Authenticate": challenge})


class InsufficientScope(Forbidden):
    """The token does not carry the scope or role that this operation needs."""

    def __init__(self, needed: Scope) -> None:
        challenge = f'Bearer realm="{REALM}", error="insufficient_scope", scope="{needed}"'
        super().__init__(
            f"The token carries neither the scope nor the role {needed!r}, which this operation needs.",
            headers={"WWW-Authenticate": challenge},
        )


class SubjectMismatch(Forbidden):
    """IDP_SUBJECT is not the subject of the access token."""


class InvalidSubjectHeader(Invalid):
    """The header IDP_SUBJECT must be given once, as a uuid."""


class KeysUnavailable(Unavailable):
    """The identity provider's keys cannot be had at present; try again shortly."""


class UnknownPartner(Unknown):
    """No partner has this name or subject."""


class PartnerExists(Conflict):
    """A partner with this name or user name exists already."""
