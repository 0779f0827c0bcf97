"""The tables of assessments, and every query on them.

An assessment is known outside by (partner, process id); inside it has an `id` of its own. Each submission
to it brings sources and units, one unit for each criterion; a judged unit leaves a finding.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Integer,
    Row,
    String,
    Table,
    Text,
    UniqueConstraint,
    case,
    delete,
    insert,
    select,
    update,
)

from assay.assessments.models import (
    Absence,
    AspectFinding,
    AspectStatus,
    Assessment,
    Category,
    Citation,
    Finding,
    Provenance,
    Source,
    Status,
    UnknownAssessment,
    Unreadable,
    Verdict,
)
from assay.database.types import Timestamp, metadata

_Number = BigInteger().with_variant(Integer, "sqlite")


def _belongs_to(name: str, target: str) -> Column[Any]:
    return Column(name, String(36), ForeignKey(target, ondelete="CASCADE"), nullable=False, index=True)


assessments = Table(
    "assessments",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("subject", String(36), nullable=False),
    Column("process_id", String(36), nullable=False),
    Column("status", String(16), nullable=False),
    Column("error", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("completed_at", Timestamp),
    Column("units_open", Integer, nullable=False),  # of this opening: a finished one opens anew from zero
    Column("units_done", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    UniqueConstraint("subject", "process_id", name="uq_assessments_subject_process_id"),
)

submissions = Table(
    "assessment_submissions",
    metadata,
    Column("id", String(36), primary_key=True),
    _belongs_to("assessment_id", "assessments.id"),
    Column("expert_id", Text, nullable=False),
    Column("framework_version_id", _Number, nullable=False),
    Column("framework_code_name", Text, nullable=False),
    Column("framework_version", Text, nullable=False),
    Column("by_model", Boolean, nullable=False),
    Column("snapshot", Text),  # which texts are judged; NULL while a source is still on its way
    Column("created_at", Timestamp, nullable=False),
)

sources = Table(
    "assessment_sources",
    metadata,
    Column("id", _Number, primary_key=True, autoincrement=True),
    _belongs_to("assessment_id", "assessments.id"),
    Column("content_uuid", String(36), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("is_url", Boolean, nullable=False),
)

units = Table(
    "assessment_units",
    metadata,
    Column("id", String(36), primary_key=True),
    _belongs_to("submission_id", "assessment_submissions.id"),
    Column("criterion_code_name", Text, nullable=False),
    Column("position", Integer, nullable=False),
)

findings = Table(
    "findings",
    metadata,
    Column("id", _Number, primary_key=True, autoincrement=True),
    _belongs_to("assessment_id", "assessments.id"),
    Column("subject", String(36), nullable=False),
    Column("expert_id", Text, nullable=False),
    Column("framework_code_name", Text, nullable=False),
    Column("criterion_code_name", Text, nullable=False),
    Column("category", String(32), nullable=False),
    Column("verdict", Text, nullable=False),
    Column("provenance", Text, nullable=False),
    Column("file_names", Text, nullable=False),
    Column("urls", Text, nullable=False),
    Column("processing_time_ms", Integer, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("superseded_by", _Number),
    Column(
        "features", Text
    ),  # the criterion over these texts as numbers, to learn from; NULL where none are known
    sqlite_autoincrement=True,  # a number is never given twice, also when the last finding was erased
)


@dataclass(frozen=True, slots=True)
class Submission:
    id: str
    assessment_id: str
    expert_id: str
    framework_version_id: int
    framework_code_name: str
    framework_version: str
    by_model: bool
    snapshot: str | None = None


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A content job that is a source, by the name that the partner knows it by."""

    content_uuid: str
    name: str
    is_url: bool


def _of(subject: str, process_id: str) -> tuple[ColumnElement[bool], ...]:
    return assessments.c.subject == subject, assessments.c.process_id == process_id


def find(tx: Connection, subject: str, process_id: str, *, to_change: bool = False) -> Row[Any] | None:
    """`to_change`: nobody else changes it before this transaction ends."""
    query = select(assessments).where(*_of(subject, process_id))
    return tx.execute(query.with_for_update() if to_change else query).one_or_none()


def get(tx: Connection, subject: str, process_id: str, *, to_change: bool = False) -> Row[Any]:
    row = find(tx, subject, process_id, to_change=to_change)
    if row is None:
        raise UnknownAssessment
    return row


def find_by_id(tx: Connection, assessment_id: str, *, to_change: bool = False) -> Row[Any] | None:
    query = select(assessments).where(assessments.c.id == assessment_id)
    return tx.execute(query.with_for_update() if to_change else query).one_or_none()


def record(row: Row[Any]) -> Assessment:
    status = Status(row.status)
    share = row.units_done / row.units_open if row.units_open else 0.0
    return Assessment(
        process_id=row.process_id,
        subject=row.subject,
        status=status,
        created_at=row.created_at,
        completion=1.0 if status is Status.COMPLETED else round(share, 4),
        error=row.error,
        completed_at=row.completed_at,
        version=row.version,
    )


def add(tx: Connection, *, assessment_id: str, subject: str, process_id: str) -> None:
    tx.execute(
        insert(assessments).values(
            id=assessment_id,
            subject=subject,
            process_id=process_id,
            status=Status.PENDING.value,
            created_at=datetime.now(UTC),
            units_open=0,
            units_done=0,
            version=0,
        )
    )


def open_units(tx: Connection, assessment_id: str, count: int, *, anew: bool) -> None:
    """So many units more; after a finished opening they are counted from zero."""
    values: dict[str, Any] = {"units_open": assessments.c.units_open + count}
    if anew:
        values = {
            "units_open": count,
            "units_done": 0,
            "status": Status.PENDING.value,
            "error": None,
            "completed_at": None,
        }
    change(tx, assessment_id, **values)


def change(tx: Connection, assessment_id: str, **values: Any) -> None:
    query = update(assessments).where(assessments.c.id == assessment_id)
    tx.execute(query.values(version=assessments.c.version + 1, **values))


def start(tx: Connection, assessment_id: str) -> None:
    """RUNNING from the first unit on."""
    begun = case(
        (assessments.c.status == Status.PENDING.value, Status.RUNNING.value), else_=assessments.c.status
    )
    change(tx, assessment_id, status=begun)


def settle(tx: Connection, assessment_id: str, status: Status, error: str | None = None) -> None:
    change(tx, assessment_id, status=status.value, error=error, completed_at=datetime.now(UTC))


def finish_unit(tx: Connection, assessment_id: str) -> None:
    """One unit more is done; with the last one the assessment is completed."""
    last = assessments.c.units_done + 1 >= assessments.c.units_open
    change(
        tx,
        assessment_id,
        units_done=assessments.c.units_done + 1,
        status=case((last, Status.COMPLETED.value), else_=assessments.c.status),
        completed_at=case((last, datetime.now(UTC)), else_=assessments.c.completed_at),
    )


def remove(tx: Connection, assessment_id: str) -> None:
    tx.execute(delete(assessments).where(assessments.c.id == assessment_id))


def add_submission(tx: Connection, submission: Submission) -> None:
    values = asdict(submission)
    tx.execute(insert(submissions).values(created_at=datetime.now(UTC), **values))


def add_sources(tx: Connection, assessment_id: str, added: Sequence[NamedSource]) -> None:
    """A content job that is a source already stays one."""
    known = {source.content_uuid for source in list_sources(tx, assessment_id)}
    rows = [
        {"assessment_id": assessment_id, **asdict(source)}
        for source in added
        if source.content_uuid not in known
    ]
    if rows:
        tx.execute(insert(sources), rows)


def list_sources(tx: Connection, assessment_id: str) -> list[NamedSource]:
    query = select(sources).where(sources.c.assessment_id == assessment_id).order_by(sources.c.id)
    return [NamedSource(row.content_uuid, row.name, row.is_url) for row in tx.execute(query)]


def add_units(tx: Connection, submission_id: str, units_: Sequence[tuple[str, str]]) -> None:
    """Units as (id, criterion)."""
    rows = [
        {"id": unit_id, "submission_id": submission_id, "criterion_code_name": name, "position": position}
        for position, (unit_id, name) in enumerate(units_)
    ]
    tx.execute(insert(units), rows)


def list_units(tx: Connection, submission_id: str) -> Sequence[str]:
    query = select(units.c.id).where(units.c.submission_id == submission_id).order_by(units.c.position)
    return tx.execute(query).scalars().all()


def list_open_units(tx: Connection, assessment_id: str) -> Sequence[str]:
    query = select(units.c.id).join(submissions, submissions.c.id == units.c.submission_id)
    return tx.execute(query.where(submissions.c.assessment_id == assessment_id)).scalars().all()


def find_unit(tx: Connection, unit_id: str) -> tuple[Submission, str] | None:
    """The submission and the criterion of a unit that is still open."""
    query = (
        select(submissions, units.c.criterion_code_name)
        .join(units, units.c.submission_id == submissions.c.id)
        .where(units.c.id == unit_id)
    )
    row = tx.execute(query).one_or_none()
    if row is None:
        return None
    fields = {name: getattr(row, name) for name in Submission.__dataclass_fields__}
    return Submission(**fields), row.criterion_code_name


def remove_unit(tx: Connection, unit_id: str) -> None:
    tx.execute(delete(units).where(units.c.id == unit_id))


def remove_units(tx: Connection, assessment_id: str) -> None:
    of_assessment = select(submissions.c.id).where(submissions.c.assessment_id == assessment_id)
    tx.execute(delete(units).where(units.c.submission_id.in_(of_assessment)))


def list_unprepared(tx: Connection, content_uuid: str) -> Sequence[tuple[str, str]]:
    """Submissions, as (id, assessment), that wait for this content job among others."""
    query = (
        select(submissions.c.id, submissions.c.assessment_id)
        .join(sources, sources.c.assessment_id == submissions.c.assessment_id)
        .where(sources.c.content_uuid == content_uuid, submissions.c.snapshot.is_(None))
    )
    return [(row.id, row.assessment_id) for row in tx.execute(query)]


def keep_snapshot(tx: Connection, submission_id: str, snapshot: str) -> bool:
    """Whether this call was the one: of two that see the last source settle, one is."""
    query = update(submissions).where(submissions.c.id == submission_id, submissions.c.snapshot.is_(None))
    return tx.execute(query.values(snapshot=snapshot)).rowcount == 1


def add_finding(
    tx: Connection,
    submission: Submission,
    *,
    subject: str,
    criterion: str,
    verdict: Verdict,
    provenance: Provenance,
    file_names: Sequence[str],
    urls: Sequence[str],
    processing_time_ms: int,
    features: Mapping[str, float] | None = None,
) -> int:
    """Keep the verdict. The finding that it takes the place of stays, and names it."""
    query = insert(findings).values(
        assessment_id=submission.assessment_id,
        subject=subject,
        expert_id=submission.expert_id,
        framework_code_name=submission.framework_code_name,
        criterion_code_name=criterion,
        category=verdict.category.value,
        verdict=json.dumps(asdict(verdict), ensure_ascii=False),
        provenance=json.dumps(asdict(provenance), ensure_ascii=False),
        file_names=json.dumps(list(file_names), ensure_ascii=False),
        urls=json.dumps(list(urls), ensure_ascii=False),
        processing_time_ms=processing_time_ms,
        created_at=datetime.now(UTC),
        features=None if features is None else json.dumps(features),
    )
    finding_id = int(tx.execute(query.returning(findings.c.id)).scalar_one())
    tx.execute(
        update(findings)
        .where(
            findings.c.assessment_id == submission.assessment_id,
            findings.c.framework_code_name == submission.framework_code_name,
            findings.c.criterion_code_name == criterion,
            findings.c.superseded_by.is_(None),
            findings.c.id != finding_id,
        )
        .values(superseded_by=finding_id)
    )
    return finding_id


def list_findings(tx: Connection, assessment_id: str) -> list[Finding]:
    query = (
        select(findings, assessments.c.process_id)
        .join(assessments, assessments.c.id == findings.c.assessment_id)
        .where(findings.c.assessment_id == assessment_id)
        .order_by(findings.c.id)
    )
    return [_finding(row) for row in tx.execute(query)]


def find_finding(tx: Connection, finding_id: int, subject: str) -> Finding | None:
    query = (
        select(findings, assessments.c.process_id)
        .join(assessments, assessments.c.id == findings.c.assessment_id)
        .where(findings.c.id == finding_id, findings.c.subject == subject)
    )
    row = tx.execute(query).one_or_none()
    return None if row is None else _finding(row)


def _finding(row: Row[Any]) -> Finding:
    return Finding(
        id=row.id,
        process_id=row.process_id,
        expert_id=row.expert_id,
        framework_code_name=row.framework_code_name,
        criterion_code_name=row.criterion_code_name,
        verdict=_verdict(json.loads(row.verdict)),
        provenance=_provenance(json.loads(row.provenance)),
        file_names=tuple(json.loads(row.file_names)),
        urls=tuple(json.loads(row.urls)),
        processing_time_ms=row.processing_time_ms,
        created_at=row.created_at,
        superseded_by=row.superseded_by,
    )


def _verdict(data: dict[str, Any]) -> Verdict:
    absence = data.pop("absence")
    aspects = [
        AspectFinding(
            aspect["name"], aspect["mandatory"], AspectStatus(aspect["status"]), tuple(aspect["citations"])
        )
        for aspect in data.pop("aspects")
    ]
    return Verdict(
        category=Category(data.pop("category")),
        citations=tuple(Citation(**citation) for citation in data.pop("citations")),
        aspects=tuple(aspects),
        absence=_absence(absence) if absence else None,
        **data,
    )


def _absence(data: dict[str, Any]) -> Absence:
    return Absence(
        data["passages_searched"],
        tuple(Citation(**citation) for citation in data["closest"]),
        tuple(Unreadable(**unreadable) for unreadable in data["unreadable"]),
    )


def _provenance(data: dict[str, Any]) -> Provenance:
    return Provenance(sources=tuple(Source(**source) for source in data.pop("sources")), **data)
