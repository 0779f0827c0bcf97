"""The truth about jobs: enqueue, claim, lease, fence, sweep, back-off, give up.

A row exists exactly as long as its work is owed. It is written in the transaction that makes the promise
and deleted in the one that keeps it, so the table stays as small as the backlog. Attempt and worker are
the fence: a worker that lost its lease cannot close the job that its successor holds.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    Row,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from assay.database.core import take_turn
from assay.database.types import Timestamp, metadata
from assay.jobs.models import Job, Lost

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("task", Text, nullable=False),
    Column("target", String(36), nullable=False, index=True),
    Column("subject", String(36), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("worker", String(36)),  # set while the job runs
    Column("due_at", Timestamp, nullable=False),  # when it may be claimed; while it runs, when its lease ends
    Column("created_at", Timestamp, nullable=False),
)
Index(
    "ix_jobs_waiting",
    jobs.c.subject,
    jobs.c.due_at,
    sqlite_where=jobs.c.worker.is_(None),
    postgresql_where=jobs.c.worker.is_(None),
)
Index(
    "ix_jobs_running",
    jobs.c.worker,
    sqlite_where=jobs.c.worker.is_not(None),
    postgresql_where=jobs.c.worker.is_not(None),
)


_IN_LIST = 500  # SQLite bounds the number of parameters of a statement


@dataclass(frozen=True, slots=True)
class Policy:
    """How patient the table is, and how much it lets run."""

    lease_seconds: float = 15.0
    max_attempts: int = 3
    running_per_partner: int = 4
    running_in_all: int = 64

    def back_off(self, attempt: int) -> timedelta:
        return timedelta(seconds=4 ** (attempt - 1) / 2)


def enqueue(tx: Connection, task: str, *, target: str, subject: str) -> Job:
    """Promise the work. It exists if, and only if, the transaction commits."""
    return enqueue_all(tx, task, targets=[target], subject=subject)[0]


def enqueue_all(tx: Connection, task: str, *, targets: Sequence[str], subject: str) -> list[Job]:
    """As `enqueue`, for many things at once, in their order."""
    now = datetime.now(UTC)
    made = [
        Job(id=str(uuid.uuid4()), task=task, target=target, subject=subject, created_at=now)
        for target in targets
    ]
    tick = timedelta(microseconds=1)  # what is due first is claimed first
    rows = [
        {
            "id": job.id,
            "task": task,
            "target": job.target,
            "subject": subject,
            "attempt": 0,
            "due_at": now + place * tick,
            "created_at": now,
        }
        for place, job in enumerate(made)
    ]
    if rows:
        tx.execute(insert(jobs), rows)
    return made


# Any constant does that is not taken for another turn.
_CLAIM_TURN = 0x434C41494D

# The partners that have something waiting, found by stepping through the index: the cost grows with the
# number of partners, not with the length of their queues.
_WAITING_SUBJECTS = text(
    """
    WITH RECURSIVE waiting(subject) AS (
        SELECT MIN(subject) FROM jobs WHERE worker IS NULL
        UNION ALL
        SELECT (SELECT MIN(subject) FROM jobs WHERE worker IS NULL AND subject > waiting.subject)
        FROM waiting WHERE waiting.subject IS NOT NULL
    )
    SELECT subject FROM waiting WHERE subject IS NOT NULL
    """
)


def claim(tx: Connection, worker: str, policy: Policy, tasks: Collection[str]) -> Job | None:
    """The next job in fairness: of the partner with the fewest running, the one that has waited longest.

    One at a time: two that count at once would both take what only one may, or both want the same row.
    """
    take_turn(tx, _CLAIM_TURN)
    now = datetime.now(UTC)
    running = dict(_running_by_subject(tx))
    if sum(running.values()) >= policy.running_in_all:
        return None
    waiting = [
        row
        for subject in tx.execute(_WAITING_SUBJECTS).scalars().all()
        if running.get(subject, 0) < policy.running_per_partner
        and (row := _first_due(tx, subject, now, tasks)) is not None
    ]
    for row in sorted(waiting, key=lambda row: (running.get(row.subject, 0), row.due_at, row.id)):
        claimed = _take(tx, row, worker, now + timedelta(seconds=policy.lease_seconds))
        if claimed is not None:
            return claimed
    return None


def _running_by_subject(tx: Connection) -> Sequence[tuple[str, int]]:
    query = select(jobs.c.subject, func.count()).where(jobs.c.worker.is_not(None)).group_by(jobs.c.subject)
    return [(subject, count) for subject, count in tx.execute(query)]


def _first_due(tx: Connection, subject: str, now: datetime, tasks: Collection[str]) -> Row[Any] | None:
    """Of the tasks that this worker knows: during a roll-out there may be others."""
    query = (
        select(jobs)
        .where(
            jobs.c.worker.is_(None), jobs.c.subject == subject, jobs.c.due_at <= now, jobs.c.task.in_(tasks)
        )
        .order_by(jobs.c.due_at)
        .limit(1)
    )
    return tx.execute(query).one_or_none()


def _take(tx: Connection, row: Row[Any], worker: str, lease_until: datetime) -> Job | None:
    """Conditional, so that of several workers that saw the row only one gets it."""
    query = update(jobs).where(jobs.c.id == row.id, jobs.c.worker.is_(None), jobs.c.attempt == row.attempt)
    taken = tx.execute(query.values(worker=worker, attempt=row.attempt + 1, due_at=lease_until))
    return replace(_job(row), attempt=row.attempt + 1, worker=worker) if taken.rowcount == 1 else None


def finish(tx: Connection, job: Job) -> None:
    """Settle the job; raise Lost, and so undo the result, if it is not this attempt's any more."""
    if not _close(tx, job):
        raise Lost


def _close(tx: Connection, job: Job) -> bool:
    return tx.execute(delete(jobs).where(*_fence(job))).rowcount == 1


def _fence(job: Job) -> tuple[ColumnElement[bool], ...]:
    return jobs.c.id == job.id, jobs.c.attempt == job.attempt, jobs.c.worker == job.worker


def release(tx: Connection, job: Job, *, after: timedelta = timedelta(0), counts: bool = True) -> bool:
    """Hand the job back. An attempt that a shutdown cut short does not count."""
    query = update(jobs).where(*_fence(job))
    attempt = job.attempt if counts else job.attempt - 1
    released = tx.execute(query.values(worker=None, attempt=attempt, due_at=datetime.now(UTC) + after))
    return released.rowcount == 1


def withdraw(tx: Connection, *targets: str) -> None:
    """The work is not wanted any more, whether it waits or runs."""
    for start in range(0, len(targets), _IN_LIST):
        tx.execute(delete(jobs).where(jobs.c.target.in_(targets[start : start + _IN_LIST])))


def is_owed(tx: Connection, target: str) -> bool:
    return tx.execute(select(jobs.c.id).where(jobs.c.target == target).limit(1)).first() is not None


def renew(tx: Connection, worker: str, policy: Policy) -> None:
    """Prolong the leases of everything that this worker runs."""
    lease_until = datetime.now(UTC) + timedelta(seconds=policy.lease_seconds)
    tx.execute(update(jobs).where(jobs.c.worker == worker).values(due_at=lease_until))


def held(tx: Connection, worker: str) -> set[tuple[str, int]]:
    """What this worker still holds, as (id, attempt): the rest of what it runs was cancelled or lost."""
    query = select(jobs.c.id, jobs.c.attempt).where(jobs.c.worker == worker)
    return {(row.id, row.attempt) for row in tx.execute(query)}


def expired(tx: Connection, tasks: Collection[str], *, orphans_of: str | None = None) -> list[Job]:
    """Jobs whose worker is dead: their lease has run out. With `orphans_of`, all but that worker's."""
    dead = jobs.c.worker != orphans_of if orphans_of else jobs.c.due_at <= datetime.now(UTC)
    query = select(jobs).where(jobs.c.worker.is_not(None), dead, jobs.c.task.in_(tasks))
    return [_job(row) for row in tx.execute(query)]


def give_up(tx: Connection, job: Job) -> bool:
    """Whether the job was still this attempt's to give up; it is gone then."""
    return _close(tx, job)


def next_due(tx: Connection, tasks: Collection[str]) -> datetime | None:
    """When something will have to be done: a back-off or a lease ends. A lease may be over already."""
    ends = or_(jobs.c.worker.is_not(None), jobs.c.due_at > datetime.now(UTC))
    query = select(func.min(jobs.c.due_at)).where(ends, jobs.c.task.in_(tasks))
    due: datetime | None = tx.execute(query).scalar_one()
    return due


def _job(row: Row[Any]) -> Job:
    return Job(
        id=row.id,
        task=row.task,
        target=row.target,
        subject=row.subject,
        attempt=row.attempt,
        worker=row.worker,
        created_at=row.created_at,
    )
