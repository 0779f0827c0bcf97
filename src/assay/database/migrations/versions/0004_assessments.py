"""Assessments with their submissions, sources, units and findings; feedback; and pinned texts."""

import sqlalchemy as sa
from alembic import op

from assay.database.types import Timestamp

revision = "0004"
down_revision = "0003"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "text_pins",
        sa.Column("uuid", sa.String(36), nullable=False),
        sa.Column("digest", sa.String(80), nullable=False),
        sa.Column("holder", sa.String(36), nullable=False),
        sa.PrimaryKeyConstraint("uuid", "digest", "holder", name="pk_text_pins"),
        sa.ForeignKeyConstraint(
            ["uuid"], ["content_jobs.uuid"], name="fk_text_pins_uuid", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_text_pins_holder", "text_pins", ["holder"])
    _assessments()
    _submissions()
    _findings()
    _feedback()


def _assessments() -> None:
    op.create_table(
        "assessments",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("process_id", sa.String(36), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.Column("completed_at", Timestamp),
        sa.Column("units_open", sa.Integer, nullable=False),
        sa.Column("units_done", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_assessments"),
        sa.UniqueConstraint("subject", "process_id", name="uq_assessments_subject_process_id"),
    )


def _child(table: str, column: str, parent: str) -> tuple[sa.ForeignKeyConstraint]:
    name = f"fk_{table}_{column}"
    return (sa.ForeignKeyConstraint([column], [f"{parent}.id"], name=name, ondelete="CASCADE"),)


def _submissions() -> None:
    op.create_table(
        "assessment_submissions",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("assessment_id", sa.String(36), nullable=False),
        sa.Column("expert_id", sa.Text, nullable=False),
        sa.Column("framework_version_id", _NUMBER, nullable=False),
        sa.Column("framework_code_name", sa.Text, nullable=False),
        sa.Column("framework_version", sa.Text, nullable=False),
        sa.Column("by_model", sa.Boolean, nullable=False),
        sa.Column("snapshot", sa.Text),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_assessment_submissions"),
        *_child("assessment_submissions", "assessment_id", "assessments"),
    )
    op.create_index("ix_assessment_submissions_assessment_id", "assessment_submissions", ["assessment_id"])
    op.create_table(
        "assessment_sources",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("assessment_id", sa.String(36), nullable=False),
        sa.Column("content_uuid", sa.String(36), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("is_url", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_assessment_sources"),
        *_child("assessment_sources", "assessment_id", "assessments"),
    )
    op.create_index("ix_assessment_sources_assessment_id", "assessment_sources", ["assessment_id"])
    op.create_index("ix_assessment_sources_content_uuid", "assessment_sources", ["content_uuid"])
    op.create_table(
        "assessment_units",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("submission_id", sa.String(36), nullable=False),
        sa.Column("criterion_code_name", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_assessment_units"),
        *_child("assessment_units", "submission_id", "assessment_submissions"),
    )
    op.create_index("ix_assessment_units_submission_id", "assessment_units", ["submission_id"])


def _findings() -> None:
    op.create_table(
        "findings",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("assessment_id", sa.String(36), nullable=False),
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("expert_id", sa.Text, nullable=False),
        sa.Column("framework_code_name", sa.Text, nullable=False),
        sa.Column("criterion_code_name", sa.Text, nullable=False),
        sa.Column("category", sa.String(32), nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("provenance", sa.Text, nullable=False),
        sa.Column("file_names", sa.Text, nullable=False),
        sa.Column("urls", sa.Text, nullable=False),
        sa.Column("processing_time_ms", sa.Integer, nullable=False),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.Column("superseded_by", _NUMBER),
        sa.PrimaryKeyConstraint("id", name="pk_findings"),
        *_child("findings", "assessment_id", "assessments"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_findings_assessment_id", "findings", ["assessment_id"])


def _feedback() -> None:
    op.create_table(
        "feedback",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("expert_id", sa.Text, nullable=False),
        sa.Column("rational_feedback", sa.Text, nullable=False),
        sa.Column("finding_id", _NUMBER),
        sa.Column("category", sa.String(32)),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_feedback"),
        sa.ForeignKeyConstraint(
            ["finding_id"], ["findings.id"], name="fk_feedback_finding_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_feedback_subject", "feedback", ["subject"])
    op.create_index("ix_feedback_finding_id", "feedback", ["finding_id"])
