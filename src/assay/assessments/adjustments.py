"""What a partner's experts have taught: the table of adjustments, and every query on it.

One row for a partner, a criterion and the versions of framework and engine that the lessons were given on:
the numbers kept with a finding mean something to the aspects and rules that they were read by, no others.
"""

import json
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Float,
    Integer,
    Row,
    String,
    Table,
    Text,
    UniqueConstraint,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from assay.assessments.judging import NO_ADJUSTMENT, Adjustment
from assay.assessments.judging.learning import Regression
from assay.assessments.judging.teaching import Lesson
from assay.assessments.models import Topic
from assay.database.types import Timestamp, metadata

_TOPIC = ("subject", "framework_code_name", "framework_version", "criterion_code_name", "engine_version")

adjustments = Table(
    "adjustments",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("subject", String(36), nullable=False),
    Column("framework_code_name", Text, nullable=False),
    Column("criterion_code_name", Text, nullable=False),
    Column("framework_version", Text, nullable=False),
    Column("engine_version", Text, nullable=False),
    Column("shift", Float, nullable=False),
    Column("scorer", Text),
    Column(
        "mark", String(64)
    ),  # names the opinions that it was learned from; NULL when it must be learned anew
    Column("opinions", Integer, nullable=False),
    Column("documents", Integer, nullable=False),
    Column("agreed_before", Integer, nullable=False),
    Column("agreed_after", Integer, nullable=False),
    Column("learned_at", Timestamp),
    UniqueConstraint(*_TOPIC, name="uq_adjustments"),
)

_NOTHING_LEARNED = {
    "shift": 0.0,
    "scorer": None,
    "mark": None,
    "opinions": 0,
    "documents": 0,
    "agreed_before": 0,
    "agreed_after": 0,
    "learned_at": None,
}


def _is(topic: Topic) -> list[ColumnElement[bool]]:
    return [adjustments.c[name] == value for name, value in asdict(topic).items()]


def find(tx: Connection, topic: Topic) -> Adjustment:
    """The adjustment to judge by; none where nothing was learned."""
    row = tx.execute(select(adjustments).where(*_is(topic))).one_or_none()
    return NO_ADJUSTMENT if row is None else _lesson(row).adjustment


def open_(tx: Connection, topic: Topic) -> str:
    """The id of the row, made where there is none."""
    made = str(uuid.uuid4())
    while True:  # one that another transaction has just made is found at the second look
        known = select(adjustments.c.id).where(*_is(topic)).with_for_update()  # nobody removes it meanwhile
        found: str | None = tx.execute(known).scalar_one_or_none()
        if found is not None:
            return found
        with suppress(IntegrityError), tx.begin_nested():
            tx.execute(insert(adjustments).values(id=made, **asdict(topic), **_NOTHING_LEARNED))
            return made


def find_topic(tx: Connection, id: str, *, to_change: bool = False) -> tuple[Topic, str | None] | None:
    """The topic and the mark of what it was learned from. `to_change`: nobody else changes it meanwhile."""
    query = select(adjustments).where(adjustments.c.id == id)
    row = tx.execute(query.with_for_update() if to_change else query).one_or_none()
    return None if row is None else (_topic(row), row.mark)


def keep(tx: Connection, id: str, lesson: Lesson, mark: str) -> None:
    tx.execute(
        update(adjustments)
        .where(adjustments.c.id == id)
        .values(
            shift=lesson.shift,
            scorer=None if lesson.scorer is None else json.dumps(lesson.scorer.to_json()),
            mark=mark,
            opinions=lesson.opinions,
            documents=lesson.documents,
            agreed_before=lesson.agreed_before,
            agreed_after=lesson.agreed_after,
            learned_at=datetime.now(UTC),
        )
    )


def forget(tx: Connection, subject: str, framework: str, criterion: str) -> Sequence[str]:
    """Unlearn, at once, whatever was learned about a criterion; the ids of what may be learned anew."""
    about = (
        adjustments.c.subject == subject,
        adjustments.c.framework_code_name == framework,
        adjustments.c.criterion_code_name == criterion,
    )
    tx.execute(update(adjustments).where(*about).values(**_NOTHING_LEARNED))
    return tx.execute(select(adjustments.c.id).where(*about).order_by(adjustments.c.id)).scalars().all()


def remove(tx: Connection, id: str) -> None:
    tx.execute(delete(adjustments).where(adjustments.c.id == id))


def list_(tx: Connection) -> list[tuple[Topic, Lesson]]:
    """For the operator: every partner's, in the order of their names."""
    query = select(adjustments).order_by(*(adjustments.c[name] for name in _TOPIC))
    return [(_topic(row), _lesson(row)) for row in tx.execute(query)]


def _topic(row: Row[Any]) -> Topic:
    return Topic(**{name: getattr(row, name) for name in _TOPIC})


def _lesson(row: Row[Any]) -> Lesson:
    return Lesson(
        shift=row.shift,
        scorer=Regression.of_json(json.loads(row.scorer)) if row.scorer else None,
        opinions=row.opinions,
        documents=row.documents,
        agreed_before=row.agreed_before,
        agreed_after=row.agreed_after,
    )
