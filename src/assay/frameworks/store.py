"""The tables of frameworks, and every query on them.

A framework is one row that never changes its number or its meaning; each version of it is another, kept
for as long as somebody may want to read what a finding was judged by.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Integer,
    LargeBinary,
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

from assay.database.core import Database, Lookup
from assay.database.types import Timestamp, metadata
from assay.frameworks.models import Entry, UnknownFramework

# SQLite numbers rows by itself only where the key is called INTEGER, which holds 64 bits there.
_Number = BigInteger().with_variant(Integer, "sqlite")

frameworks = Table(
    "frameworks",
    metadata,
    Column("id", _Number, primary_key=True, autoincrement=True),
    Column("code_name", String(100), nullable=False, index=True),
    Column("subject", String(36)),  # the only partner that sees it; NULL for all
    Column("current_version_id", _Number),
)

framework_versions = Table(
    "framework_versions",
    metadata,
    Column("id", _Number, primary_key=True, autoincrement=True),
    Column(
        "framework_id", _Number, ForeignKey("frameworks.id", ondelete="CASCADE"), nullable=False, index=True
    ),
    Column("version", Text, nullable=False),
    Column("origin_digest", String(64), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("criteria_count", Integer, nullable=False),
    Column("aspects_count", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),  # the framework as a file, compressed
    Column("listing", LargeBinary, nullable=False),  # as the interface shows it, made once
    Column("created_at", Timestamp, nullable=False),
)


_ENTRY = (
    frameworks.c.id,
    frameworks.c.code_name,
    frameworks.c.subject,
    framework_versions.c.id.label("version_id"),
    framework_versions.c.version,
    framework_versions.c.name,
    framework_versions.c.criteria_count,
    framework_versions.c.aspects_count,
)
_CURRENT = frameworks.join(framework_versions, framework_versions.c.id == frameworks.c.current_version_id)


def _visible(subject: str | None) -> ColumnElement[bool]:
    return or_(frameworks.c.subject.is_(None), frameworks.c.subject == subject)


def list_(tx: Connection, subject: str | None) -> list[Entry]:
    query = select(*_ENTRY).select_from(_CURRENT).where(_visible(subject)).order_by(frameworks.c.id)
    return [Entry(**row._mapping) for row in tx.execute(query)]


def list_all(tx: Connection) -> list[Entry]:
    """For the operator: every partner's too."""
    query = select(*_ENTRY).select_from(_CURRENT).order_by(frameworks.c.id)
    return [Entry(**row._mapping) for row in tx.execute(query)]


def state(tx: Connection, subject: str) -> tuple[bool, int]:
    """Whether the partner has frameworks of its own, and a number that rises with every change."""
    own = select(func.count()).where(frameworks.c.subject == subject).select_from(frameworks)
    newest = select(func.coalesce(func.max(framework_versions.c.id), 0))
    row = tx.execute(select(own.scalar_subquery(), newest.scalar_subquery())).one()
    return bool(row[0]), int(row[1])


def count_lookup(database: Database) -> Lookup:
    """How many frameworks a partner can see: its first column."""
    visible = or_(frameworks.c.subject.is_(None), frameworks.c.subject == bindparam("subject"))
    return database.lookup(select(func.count()).select_from(frameworks).where(visible))


def listings(tx: Connection, subject: str | None) -> Sequence[bytes]:
    query = select(framework_versions.c.listing).select_from(_CURRENT).where(_visible(subject))
    return tx.execute(query.order_by(frameworks.c.id)).scalars().all()


def find(tx: Connection, number_or_code: str, subject: str | None) -> Entry | None:
    """By number or by code name, among what the partner can see."""
    if number_or_code.isascii() and number_or_code.isdecimal():
        number = int(number_or_code)
        named = frameworks.c.id == (number if number < 2**63 else -1)
    else:
        named = frameworks.c.code_name == number_or_code
    query = select(*_ENTRY).select_from(_CURRENT).where(named, _visible(subject))
    row = tx.execute(query).one_or_none()
    return None if row is None else Entry(**row._mapping)


def get(tx: Connection, number_or_code: str, subject: str | None) -> Entry:
    entry = find(tx, number_or_code, subject)
    if entry is None:
        raise UnknownFramework
    return entry


def find_namesakes(tx: Connection, code_name: str) -> list[tuple[int, str | None]]:
    """Every framework of this code name, as (number, the partner that sees it)."""
    query = select(frameworks.c.id, frameworks.c.subject).where(frameworks.c.code_name == code_name)
    return [(row.id, row.subject) for row in tx.execute(query)]


def version_ids(tx: Connection, framework_id: int) -> dict[str, int]:
    """The kept versions, by what they are called; of two called alike, the newer."""
    query = select(framework_versions.c.version, framework_versions.c.id)
    rows = tx.execute(
        query.where(framework_versions.c.framework_id == framework_id).order_by(framework_versions.c.id)
    )
    return {row.version: row.id for row in rows}


def body(tx: Connection, version_id: int) -> bytes:
    query = select(framework_versions.c.body).where(framework_versions.c.id == version_id)
    found: bytes = tx.execute(query).scalar_one()
    return found


def listing(tx: Connection, version_id: int) -> bytes:
    query = select(framework_versions.c.listing).where(framework_versions.c.id == version_id)
    found: bytes = tx.execute(query).scalar_one()
    return found


def knows(tx: Connection, origin_digest: str, subject: str | None) -> bool:
    """Whether a file of these bytes is what the catalogue holds at present."""
    owner = frameworks.c.subject.is_(None) if subject is None else frameworks.c.subject == subject
    query = select(frameworks.c.id).select_from(_CURRENT)
    return (
        tx.execute(query.where(framework_versions.c.origin_digest == origin_digest, owner)).first()
        is not None
    )


def add(tx: Connection, code_name: str, subject: str | None) -> int:
    query = insert(frameworks).values(code_name=code_name, subject=subject).returning(frameworks.c.id)
    return int(tx.execute(query).scalar_one())


def add_version(tx: Connection, framework_id: int, **values: Any) -> int:
    """A version that is current from now on."""
    row = {"framework_id": framework_id, "created_at": datetime.now(UTC), **values}
    added = insert(framework_versions).values(**row).returning(framework_versions.c.id)
    version_id: int = tx.execute(added).scalar_one()
    query = update(frameworks).where(frameworks.c.id == framework_id)
    tx.execute(query.values(current_version_id=version_id))
    return version_id
