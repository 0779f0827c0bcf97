"""Idempotency keys: the same request under the same key is answered by the first answer, for a day."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from fastapi import Response
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    delete,
    insert,
    select,
)
from sqlalchemy.exc import IntegrityError

from assay.database.core import Database
from assay.database.types import Timestamp, metadata
from assay.errors import Conflict, InvalidRequest, Mismatch

MAX_CHARACTERS = 255
KEPT = timedelta(hours=24)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("subject", String(36), nullable=False),
    Column("key", String(MAX_CHARACTERS), nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("status", Integer, nullable=False),
    Column("headers", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("created_at", Timestamp, nullable=False, index=True),
    PrimaryKeyConstraint("subject", "key", name="pk_idempotency_keys"),
)


class IdempotencyKeyReused(Mismatch):
    """This idempotency key was used for another request."""


class RequestInFlight(Conflict):
    """A request with this idempotency key is still being answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response that can be given again, to the byte."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    def response(self) -> Response:
        return Response(self.body, self.status, self.headers, media_type="application/json")


class InFlight:
    """The keys that requests of this process are using. Another process is held off by the table's key."""

    def __init__(self) -> None:
        self._keys: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    @contextmanager
    def holding(self, subject: str, key: str | None) -> Iterator[None]:
        """Raise RequestInFlight if another request holds the key."""
        if key is None:
            yield
            return
        if not 1 <= len(key) <= MAX_CHARACTERS:
            raise InvalidRequest(f"An Idempotency-Key has 1 to {MAX_CHARACTERS} characters.")
        with self._lock:
            if (subject, key) in self._keys:
                raise RequestInFlight
            self._keys.add((subject, key))
        try:
            yield
        finally:
            with self._lock:
                self._keys.discard((subject, key))


def fingerprint(method: str, path: str, *facts: str) -> str:
    """What makes a request the same: not its headers, and not a multipart boundary."""
    return hashlib.sha256(json.dumps([method, path, *facts]).encode()).hexdigest()


def once(
    database: Database, subject: str, key: str | None, mark: str, act: Callable[[Connection], Answer]
) -> Answer:
    """Act and keep the answer in one transaction; or give the answer that the key has already.

    Should another process have been as quick, its answer stands and this one's act is undone.
    """
    for last_try in (False, True):
        try:
            with database.write() as tx:
                return _once(tx, subject, key, mark, act)
        except IntegrityError:
            if key is None or last_try:
                raise
    raise AssertionError("unreachable")


def _once(
    tx: Connection, subject: str, key: str | None, mark: str, act: Callable[[Connection], Answer]
) -> Answer:
    if key is None:
        return act(tx)
    now = datetime.now(UTC)
    tx.execute(delete(idempotency_keys).where(idempotency_keys.c.created_at < now - KEPT))
    query = select(idempotency_keys).where(
        idempotency_keys.c.subject == subject, idempotency_keys.c.key == key
    )
    row = tx.execute(query).one_or_none()
    if row is not None:
        if row.fingerprint != mark:
            raise IdempotencyKeyReused
        return Answer(row.status, row.body, json.loads(row.headers))
    answer = act(tx)
    tx.execute(
        insert(idempotency_keys).values(
            subject=subject,
            key=key,
            fingerprint=mark,
            status=answer.status,
            headers=json.dumps(answer.headers),
            body=answer.body,
            created_at=now,
        )
    )
    return answer
