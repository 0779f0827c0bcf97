"""The audit trail."""

import sqlalchemy as sa
from alembic import op

from assay.database.types import Timestamp

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "audit_entries",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("at", Timestamp, nullable=False),
        sa.Column("actor", sa.String(16), nullable=False),
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("target", sa.String(36)),
        sa.Column("request_id", sa.String(128)),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
        sa.Column("previous_hash", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_audit_entries"),
    )
    op.create_index("ix_audit_entries_at", "audit_entries", ["at"])
