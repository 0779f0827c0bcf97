"""The tables of identity, and every query on them."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Row,
    String,
    Table,
    Text,
    bindparam,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from assay.database.core import Database, Lookup
from assay.database.types import Timestamp, metadata
from assay.identity.models import Partner, Scope, UnknownPartner

partners = Table(
    "partners",
    metadata,
    Column("subject", String(36), primary_key=True),
    Column("name", Text, unique=True),
    Column("username", Text, unique=True),
    Column("password_hash", Text),
    Column("client_id", Text, unique=True),
    Column("client_secret_hash", Text),
    Column("scopes", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("disabled_at", Timestamp),
)

signing_keys = Table(
    "signing_keys",
    metadata,
    Column("kid", Text, primary_key=True),
    Column("private_jwk", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("signs_from", Timestamp, nullable=False),
    Column("published_until", Timestamp),
)

login_sessions = Table(
    "login_sessions",
    metadata,
    Column("id", String(36), primary_key=True),
    Column(
        "subject", String(36), ForeignKey("partners.subject", ondelete="CASCADE"), nullable=False, index=True
    ),
    Column("refresh_hash", String(64), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False, index=True),
    Column("ended_at", Timestamp),
)

# Credentials never leave with a partner's record: the issuer asks for them by name.
_VISIBLE = [column for column in partners.c if column.name not in {"password_hash", "client_secret_hash"}]


def add(tx: Connection, partner: Partner, *, password_hash: str, client_secret_hash: str) -> None:
    tx.execute(
        insert(partners).values(
            password_hash=password_hash, client_secret_hash=client_secret_hash, **_row(partner)
        )
    )


def meet(tx: Connection, partner: Partner) -> None:
    """Keep a partner of an external provider, who may have been met before by another process."""
    # Another process may be just as quick, and one of the two must give way without a fault.
    with suppress(IntegrityError), tx.begin_nested():
        tx.execute(insert(partners).values(**_row(partner)))


def get(tx: Connection, name_or_subject: str) -> Partner:
    condition = or_(partners.c.name == name_or_subject, partners.c.subject == name_or_subject.lower())
    row = tx.execute(select(*_VISIBLE).where(condition)).one_or_none()
    if row is None:
        raise UnknownPartner
    return _partner(row)


def is_taken(tx: Connection, *, name: str, username: str) -> bool:
    condition = or_(partners.c.name == name, partners.c.username == username)
    return tx.execute(select(partners.c.subject).where(condition)).first() is not None


def list_(tx: Connection) -> Sequence[Partner]:
    rows = tx.execute(select(*_VISIBLE).order_by(partners.c.created_at, partners.c.subject))
    return [_partner(row) for row in rows]


def count(tx: Connection) -> int:
    return tx.execute(select(func.count()).select_from(partners)).scalar_one()


def state_lookup(database: Database) -> Lookup:
    """Whether a partner exists (a row) and is disabled (its column is not None); asked at every request."""
    subject = partners.c.subject == bindparam("subject")
    return database.lookup(select(partners.c.disabled_at).where(subject))


def find_client(tx: Connection, client_id: str) -> Row[Any] | None:
    return tx.execute(select(partners).where(partners.c.client_id == client_id)).one_or_none()


def set_disabled(tx: Connection, subject: str, at: datetime | None) -> None:
    tx.execute(update(partners).where(partners.c.subject == subject).values(disabled_at=at))


def set_client_secret(tx: Connection, subject: str, client_secret_hash: str) -> None:
    query = update(partners).where(partners.c.subject == subject)
    tx.execute(query.values(client_secret_hash=client_secret_hash))


def add_key(
    tx: Connection, *, kid: str, private_jwk: str, created_at: datetime, signs_from: datetime
) -> None:
    tx.execute(
        insert(signing_keys).values(
            kid=kid, private_jwk=private_jwk, created_at=created_at, signs_from=signs_from
        )
    )


def list_keys(tx: Connection, now: datetime) -> Sequence[Row[Any]]:
    """The published keys, the newest to sign first."""
    published = or_(signing_keys.c.published_until.is_(None), signing_keys.c.published_until > now)
    order = (signing_keys.c.signs_from.desc(), signing_keys.c.created_at.desc())
    return tx.execute(select(signing_keys).where(published).order_by(*order)).all()


def retire_keys(tx: Connection, kids: Sequence[str], published_until: datetime) -> None:
    query = update(signing_keys).where(signing_keys.c.kid.in_(kids))
    tx.execute(query.values(published_until=published_until))


def add_session(
    tx: Connection, *, id: str, subject: str, refresh_hash: str, now: datetime, expires_at: datetime
) -> None:
    tx.execute(
        insert(login_sessions).values(
            id=id, subject=subject, refresh_hash=refresh_hash, created_at=now, expires_at=expires_at
        )
    )


def find_session(tx: Connection, id: str) -> Row[Any] | None:
    return tx.execute(select(login_sessions).where(login_sessions.c.id == id)).one_or_none()


def rotate_session(
    tx: Connection, id: str, *, spent_hash: str, refresh_hash: str, expires_at: datetime
) -> bool:
    """Put the new refresh token in the place of the spent one, unless another request was first."""
    query = update(login_sessions).where(
        login_sessions.c.id == id,
        login_sessions.c.refresh_hash == spent_hash,
        login_sessions.c.ended_at.is_(None),
    )
    changed = tx.execute(query.values(refresh_hash=refresh_hash, expires_at=expires_at))
    return changed.rowcount == 1


def end_session(tx: Connection, id: str, now: datetime) -> None:
    tx.execute(update(login_sessions).where(login_sessions.c.id == id).values(ended_at=now))


def end_sessions_of(tx: Connection, subject: str, now: datetime) -> None:
    query = update(login_sessions).where(
        login_sessions.c.subject == subject, login_sessions.c.ended_at.is_(None)
    )
    tx.execute(query.values(ended_at=now))


def forget_sessions(tx: Connection, before: datetime) -> None:
    tx.execute(login_sessions.delete().where(login_sessions.c.expires_at < before))


def _row(partner: Partner) -> dict[str, Any]:
    return {
        "subject": partner.subject,
        "name": partner.name,
        "username": partner.username,
        "client_id": partner.client_id,
        "scopes": " ".join(sorted(partner.scopes)),
        "created_at": partner.created_at,
        "disabled_at": partner.disabled_at,
    }


def _partner(row: Row[Any]) -> Partner:
    fields = dict(row._mapping)
    scopes = frozenset(Scope(name) for name in fields.pop("scopes").split())
    return Partner(**fields, scopes=scopes)
