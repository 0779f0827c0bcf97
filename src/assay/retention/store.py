"""Queries over the tables of all slices: what has become old, and everything that is one partner's."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Select, Table, delete, exists, func, select, update

from assay.assessments.models import Status as AssessmentStatus
from assay.assessments.store import assessments, sources
from assay.audit.store import audit_entries
from assay.content.models import Status
from assay.content.store import content_jobs, content_texts
from assay.database.types import metadata
from assay.feedback.store import feedback
from assay.identity.store import login_sessions, partners
from assay.jobs.table import jobs
from assay.retention.models import Stale
from assay.web.idempotency import idempotency_keys

# They say of whom they speak, and stay: a partner that is refused, and what was done.
_KEPT = {partners.name, audit_entries.name}


def list_stale_assessments(tx: Connection, before: datetime, most: int) -> Sequence[Stale]:
    return _list(tx, _stale_assessments(before).limit(most))


def is_stale_assessment(tx: Connection, stale: Stale, before: datetime) -> bool:
    """Whether it still is; then nobody changes it before this transaction ends."""
    same = (assessments.c.subject == stale.subject, assessments.c.process_id == stale.id)
    return tx.execute(_stale_assessments(before).where(*same).with_for_update()).first() is not None


def list_stale_contents(tx: Connection, before: datetime, most: int) -> Sequence[Stale]:
    """Those that an assessment was given are kept as long as the assessment."""
    return _list(tx, _stale_contents(before).limit(most))


def is_stale_content(tx: Connection, stale: Stale, before: datetime) -> bool:
    """Whether it still is; then nobody changes it before this transaction ends."""
    query = _stale_contents(before).where(content_jobs.c.uuid == stale.id)
    return tx.execute(query.with_for_update()).first() is not None


def _stale_assessments(before: datetime) -> Select[tuple[str, str]]:
    settled = [status.value for status in AssessmentStatus if status.is_settled]
    return select(assessments.c.subject, assessments.c.process_id.label("id")).where(
        assessments.c.status.in_(settled), assessments.c.completed_at < before
    )


def _stale_contents(before: datetime) -> Select[tuple[str, str]]:
    settled = [status.value for status in Status if status.is_settled]
    return select(content_jobs.c.subject, content_jobs.c.uuid.label("id")).where(
        content_jobs.c.status.in_(settled),
        content_jobs.c.completed_at < before,
        ~exists().where(sources.c.content_uuid == content_jobs.c.uuid),
    )


def _list(tx: Connection, query: Select[tuple[str, str]]) -> Sequence[Stale]:
    return [Stale(row.subject, row.id) for row in tx.execute(query)]


def erase_stale_feedback(tx: Connection, before: datetime) -> dict[str, int]:
    """What was said of no finding; how much of each partner's. The rest goes with its finding."""
    old = (feedback.c.finding_id.is_(None), feedback.c.created_at < before)
    query = select(feedback.c.subject, func.count().label("number")).where(*old).group_by(feedback.c.subject)
    found = {row.subject: row.number for row in tx.execute(query)}
    if found:
        tx.execute(delete(feedback).where(*old))
    return found


def forget_keys(tx: Connection, before: datetime) -> int:
    return tx.execute(delete(idempotency_keys).where(idempotency_keys.c.created_at < before)).rowcount


def forget_sessions(tx: Connection, now: datetime) -> int:
    return tx.execute(delete(login_sessions).where(login_sessions.c.expires_at < now)).rowcount


def erase_partner(tx: Connection, subject: str) -> dict[str, int]:
    """Every row of every table that says whose its rows are, with what hangs on them; how many by table.

    The tables are found by their column `subject`, so that one that is added later is not forgotten here.
    """
    own = select(content_jobs.c.uuid).where(content_jobs.c.subject == subject)
    counts = {content_texts.name: _erase(tx, content_texts, content_texts.c.uuid.in_(own))}
    for table in reversed(metadata.sorted_tables):
        if "subject" in table.c and table.name not in _KEPT:
            counts[table.name] = _erase(tx, table, table.c.subject == subject)
    return counts


def _erase(tx: Connection, table: Table, condition: ColumnElement[bool]) -> int:
    return tx.execute(delete(table).where(condition)).rowcount


def withdraw_work(tx: Connection, subject: str) -> int:
    """Whatever the partner is owed; running work learns within a moment that it is not wanted any more."""
    return _erase(tx, jobs, jobs.c.subject == subject)


def forget_partner(tx: Connection, subject: str) -> None:
    """Name and credentials. The subject stays, disabled: a provider may go on giving it tokens."""
    unnamed = dict.fromkeys(("name", "username", "password_hash", "client_id", "client_secret_hash"))
    tx.execute(update(partners).where(partners.c.subject == subject).values(**unnamed))
