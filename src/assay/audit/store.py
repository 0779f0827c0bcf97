"""The table of the audit trail, and every query on it."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    Row,
    String,
    Table,
    Text,
    insert,
    select,
)

from assay.audit.models import BEGINNING, Action, Actor, Deed, Entry
from assay.database.core import take_turn
from assay.database.types import Timestamp, metadata

audit_entries = Table(
    "audit_entries",
    metadata,
    # Given by us: a sequence leaves gaps where a transaction was rolled back, and a gap means tampering here.
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("at", Timestamp, nullable=False, index=True),
    Column("actor", String(16), nullable=False),
    Column("subject", String(36), nullable=False),
    Column("action", String(32), nullable=False),
    Column("target", String(36)),
    Column("request_id", String(128)),
    Column("outcome", Text, nullable=False),
    Column("counts", Text, nullable=False),
    Column("previous_hash", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
)

# Any constant does that is not taken for another turn.
_CHAIN_LOCK = 0x4155444954
_PAGE = 1_000


def append(tx: Connection, deed: Deed) -> Entry:
    """The last thing that a transaction does: whoever else appends waits until it has ended."""
    take_turn(tx, _CHAIN_LOCK)
    last = tx.execute(
        select(audit_entries.c.number, audit_entries.c.hash).order_by(audit_entries.c.number.desc()).limit(1)
    ).one_or_none()
    entry = Entry.after(last.number if last else 0, last.hash if last else BEGINNING, deed)
    tx.execute(insert(audit_entries).values(**_row(entry)))
    return entry


def list_(tx: Connection, since: datetime | None = None) -> Iterator[Entry]:
    """The entries in their order, read some at a time: a trail is long."""
    query = select(audit_entries).order_by(audit_entries.c.number).limit(_PAGE)
    if since is not None:
        query = query.where(audit_entries.c.at >= since)
    rows: Sequence[Row[Any]] = tx.execute(query).all()
    while rows:
        yield from map(_entry, rows)
        rows = tx.execute(query.where(audit_entries.c.number > rows[-1].number)).all()


def _row(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "at": entry.at,
        "actor": entry.deed.actor.value,
        "subject": entry.deed.subject,
        "action": entry.deed.action.value,
        "target": entry.deed.target,
        "request_id": entry.deed.request_id,
        "outcome": entry.deed.outcome,
        "counts": json.dumps(dict(entry.deed.counts)),
        "previous_hash": entry.previous_hash,
        "hash": entry.hash,
    }


def _entry(row: Row[Any]) -> Entry:
    deed = Deed(
        action=Action(row.action),
        subject=row.subject,
        actor=Actor(row.actor),
        target=row.target,
        request_id=row.request_id,
        outcome=row.outcome,
        counts=json.loads(row.counts),
    )
    return Entry(row.number, row.at, deed, row.previous_hash, row.hash)
