"""Jobs, content jobs with their texts and bytes, and the answers kept for idempotency keys."""

import sqlalchemy as sa
from alembic import op

from assay.database.types import Timestamp

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    _jobs()
    _content()
    op.create_table(
        "idempotency_keys",
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("headers", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.PrimaryKeyConstraint("subject", "key", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"])


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("target", sa.String(36), nullable=False),
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("worker", sa.String(36)),
        sa.Column("due_at", Timestamp, nullable=False),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_target", "jobs", ["target"])
    _partial_index("ix_jobs_waiting", ["subject", "due_at"], "worker IS NULL")
    _partial_index("ix_jobs_running", ["worker"], "worker IS NOT NULL")


def _partial_index(name: str, columns: list[str], where: str) -> None:
    op.create_index(name, "jobs", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _content() -> None:
    op.create_table(
        "blobs",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_blobs"),
        sa.UniqueConstraint("subject", "digest", name="uq_blobs_subject_digest"),
    )
    op.create_table(
        "content_jobs",
        sa.Column("uuid", sa.String(36), nullable=False),
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("source_type", sa.String(8), nullable=False),
        sa.Column("source_url", sa.Text),
        sa.Column("file_name", sa.Text),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("error_code", sa.Text),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.Column("completed_at", Timestamp),
        sa.Column("fetched_at", Timestamp),
        sa.Column("validated_url", sa.Text),
        sa.Column("etag", sa.Text),
        sa.Column("last_modified", sa.Text),
        sa.Column("blob_key", sa.Text),
        sa.Column("text_digest", sa.String(80)),
        sa.Column("version", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("uuid", name="pk_content_jobs"),
        sa.ForeignKeyConstraint(["blob_key"], ["blobs.key"], name="fk_content_jobs_blob_key"),
    )
    op.create_index("ix_content_jobs_blob_key", "content_jobs", ["blob_key"])
    op.create_index("ix_content_jobs_subject_created_at", "content_jobs", ["subject", "created_at"])
    op.create_table(
        "content_texts",
        sa.Column("uuid", sa.String(36), nullable=False),
        sa.Column("digest", sa.String(80), nullable=False),
        sa.Column("text", sa.LargeBinary, nullable=False),
        sa.Column("structure", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("uuid", "digest", name="pk_content_texts"),
        sa.ForeignKeyConstraint(
            ["uuid"], ["content_jobs.uuid"], name="fk_content_texts_uuid", ondelete="CASCADE"
        ),
    )
