"""The table of feedback, and every query on it."""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    Integer,
    Row,
    String,
    Table,
    Text,
    case,
    func,
    insert,
    select,
)

from assay.assessments.models import Category, Opinion, Topic
from assay.assessments.store import assessments, findings
from assay.database.types import Timestamp, metadata
from assay.feedback.models import Agreement, Feedback

_Number = BigInteger().with_variant(Integer, "sqlite")

feedback = Table(
    "feedback",
    metadata,
    Column("id", _Number, primary_key=True, autoincrement=True),
    Column("subject", String(36), nullable=False, index=True),
    Column("expert_id", Text, nullable=False),
    Column("rational_feedback", Text, nullable=False),
    Column("finding_id", _Number, ForeignKey("findings.id", ondelete="CASCADE"), index=True),
    Column("category", String(32)),
    Column("created_at", Timestamp, nullable=False),
)


def add(
    tx: Connection,
    subject: str,
    *,
    expert_id: str,
    rational_feedback: str,
    finding_id: int | None,
    category: Category | None,
) -> None:
    tx.execute(
        insert(feedback).values(
            subject=subject,
            expert_id=expert_id,
            rational_feedback=rational_feedback,
            finding_id=finding_id,
            category=category.value if category else None,
            created_at=datetime.now(UTC),
        )
    )


def list_(tx: Connection, subject: str, process_id: str) -> list[Feedback]:
    """What was given on the findings of a process, the oldest first."""
    query = (
        select(feedback)
        .join(findings, findings.c.id == feedback.c.finding_id)
        .join(assessments, assessments.c.id == findings.c.assessment_id)
        .where(feedback.c.subject == subject, assessments.c.process_id == process_id)
        .where(assessments.c.subject == subject)
        .order_by(feedback.c.id)
    )
    return [_feedback(row) for row in tx.execute(query)]


def agreements(tx: Connection, subject: str, framework_code_name: str) -> dict[str, Agreement]:
    """By criterion. Of several opinions of one expert on one finding, the last counts."""
    last = (
        select(func.max(feedback.c.id))
        .where(feedback.c.subject == subject, feedback.c.finding_id.is_not(None))
        .group_by(feedback.c.finding_id, feedback.c.expert_id)
    )
    query = (
        select(
            findings.c.criterion_code_name,
            func.count().label("feedback"),
            func.count(feedback.c.category).label("with_category"),
            func.sum(case((feedback.c.category == findings.c.category, 1), else_=0)).label("agreed"),
        )
        .join(findings, findings.c.id == feedback.c.finding_id)
        .where(feedback.c.id.in_(last), findings.c.framework_code_name == framework_code_name)
        .group_by(findings.c.criterion_code_name)
    )
    return {row.criterion_code_name: Agreement(**row._mapping) for row in tx.execute(query)}


def list_opinions(tx: Connection, topic: Topic) -> list[Opinion]:
    """What can be learned from: of each expert on each finding, the last opinion that names a category."""
    last = (
        select(func.max(feedback.c.id))
        .where(feedback.c.subject == topic.subject, feedback.c.category.is_not(None))
        .group_by(feedback.c.finding_id, feedback.c.expert_id)
    )
    query = (
        select(feedback.c.id, feedback.c.category, findings.c.features, findings.c.provenance)
        .join(findings, findings.c.id == feedback.c.finding_id)
        .where(
            feedback.c.id.in_(last),
            findings.c.subject == topic.subject,
            findings.c.framework_code_name == topic.framework_code_name,
            findings.c.criterion_code_name == topic.criterion_code_name,
            findings.c.features.is_not(None),
        )
        .order_by(feedback.c.id)
    )
    versions = (topic.framework_version, topic.engine_version)
    opinions = []
    for row in tx.execute(query):
        provenance = json.loads(row.provenance)
        if (provenance["framework_version"], provenance["engine_version"]) == versions:
            opinions.append(_opinion(row, provenance))
    return opinions


def _opinion(row: Any, provenance: dict[str, Any]) -> Opinion:
    digests = sorted(source["content_digest"] for source in provenance["sources"])
    return Opinion(row.id, " ".join(digests), Category(row.category), json.loads(row.features))


def _feedback(row: Row[Any]) -> Feedback:
    return Feedback(
        id=row.id,
        expert_id=row.expert_id,
        rational_feedback=row.rational_feedback,
        finding_id=row.finding_id,
        category=Category(row.category) if row.category else None,
        created_at=row.created_at,
    )
