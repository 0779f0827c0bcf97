"""Partners: added, disabled, given a new secret; and the check that every request passes."""

import hashlib
import re
import secrets
import threading
import uuid
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection

from assay.database.core import Database
from assay.errors import Invalid, Unavailable
from assay.identity import store
from assay.identity.gateway import check_subject_header
from assay.identity.models import (
    ALL_SCOPES,
    Credentials,
    InsufficientScope,
    InvalidToken,
    Partner,
    PartnerExists,
    Principal,
    Scope,
)
from assay.identity.tokens import Verifier, bearer

# 36 ms and 19 MiB a time: OWASP's figures. At most two at once, so that logins cannot starve the service.
_hasher = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
_hashing = threading.BoundedSemaphore(2)
_NO_SUCH_PASSWORD = _hasher.hash(secrets.token_urlsafe())

_NAME = re.compile(r"\S(.{0,98}\S)?")


class TooManyLogins(Unavailable):
    """Too many logins are under way; try again shortly."""


class InvalidName(Invalid):
    """A name is 1 to 100 characters, with no space at its ends."""


def add(
    tx: Connection,
    name: str,
    *,
    username: str | None = None,
    password: str | None = None,
    scopes: frozenset[Scope] = ALL_SCOPES,
) -> Credentials:
    """A new partner. The credentials are returned this once; hashes are kept."""
    username = username or name
    if not (_NAME.fullmatch(name) and _NAME.fullmatch(username)):
        raise InvalidName
    if store.is_taken(tx, name=name, username=username):
        raise PartnerExists
    partner = Partner(
        subject=str(uuid.uuid4()),
        created_at=datetime.now(UTC),
        name=name,
        username=username,
        client_id=f"assay-{secrets.token_hex(6)}",
        scopes=scopes,
    )
    password = password or secrets.token_urlsafe(18)
    secret = secrets.token_urlsafe(32)
    store.add(tx, partner, password_hash=hash_password(password), client_secret_hash=hash_secret(secret))
    assert partner.client_id is not None
    return Credentials(partner.subject, username, password, partner.client_id, secret)


def disable(tx: Connection, name_or_subject: str) -> Partner:
    """From now on, every request, login and refresh of the partner is refused."""
    partner = store.get(tx, name_or_subject)
    now = datetime.now(UTC)
    store.set_disabled(tx, partner.subject, now)
    store.end_sessions_of(tx, partner.subject, now)
    return replace(partner, disabled_at=now)


def enable(tx: Connection, name_or_subject: str) -> Partner:
    partner = store.get(tx, name_or_subject)
    store.set_disabled(tx, partner.subject, None)
    return replace(partner, disabled_at=None)


def rotate_secret(tx: Connection, name_or_subject: str) -> tuple[str, str]:
    """A new client secret, as (client id, secret); the old one is refused from now on."""
    partner = store.get(tx, name_or_subject)
    if partner.client_id is None:
        raise Invalid("This partner comes from an external identity provider, which keeps its secret.")
    secret = secrets.token_urlsafe(32)
    store.set_client_secret(tx, partner.subject, hash_secret(secret))
    return partner.client_id, secret


def hash_password(password: str) -> str:
    return _hasher.hash(password)


def fits_password(password: str, password_hash: str | None) -> bool:
    """Whether the password is right. It takes as long when there is nothing to compare with."""
    if not _hashing.acquire(timeout=5):
        raise TooManyLogins
    try:
        _hasher.verify(password_hash or _NO_SUCH_PASSWORD, password)
    except (VerificationError, InvalidHashError):
        return False
    finally:
        _hashing.release()
    return password_hash is not None


def hash_secret(secret: str) -> str:
    """For secrets that we made: 256 random bits need no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Gatekeeper:
    """Knows who is calling. `embedded_issuer`: partners are made here, so an unknown subject is refused."""

    def __init__(
        self,
        database: Database,
        verifier: Verifier,
        gateway: Literal["embedded", "external"],
        *,
        embedded_issuer: bool,
    ) -> None:
        self.database = database
        self.verifier = verifier
        self.gateway = gateway
        self.embedded_issuer = embedded_issuer
        self._states = store.state_lookup(database)

    @property
    def is_quick(self) -> bool:
        """Whether admitting takes microseconds and never waits: our own keys, and a file to look them up in.

        A change of thread would cost more than the look.
        """
        return self.embedded_issuer and self.database.is_sqlite

    def authenticate(self, headers: Iterable[tuple[bytes, bytes]]) -> Principal:
        """Who is calling, by the token alone."""
        token = bearer([value for name, value in headers if name == b"authorization"])
        principal = self.verifier.verify(token)
        self._check_partner(principal.subject)
        return principal

    def admit(self, headers: list[tuple[bytes, bytes]], needed: Scope) -> Principal:
        """Who is calling, where token, IDP_SUBJECT and scope all hold."""
        principal = self.authenticate(headers)
        check_subject_header(headers, principal.subject, self.gateway)
        if needed not in principal.scopes:
            raise InsufficientScope(needed)
        return principal

    def _check_partner(self, subject: str) -> None:
        """Asked at every request, so that a disabled partner's living tokens stop at once."""
        state = self._states.find(subject=subject)
        if state is None and not self.embedded_issuer:
            with self.database.write() as tx:
                store.meet(tx, Partner(subject=subject, created_at=datetime.now(UTC)))
        elif state is None or state[0] is not None:
            raise InvalidToken("The partner is disabled or unknown.")
