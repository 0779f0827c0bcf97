"""Frameworks and their versions."""

import sqlalchemy as sa
from alembic import op

from assay.database.types import Timestamp

revision = "0003"
down_revision = "0002"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "frameworks",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("code_name", sa.String(100), nullable=False),
        sa.Column("subject", sa.String(36)),
        sa.Column("current_version_id", _NUMBER),
        sa.PrimaryKeyConstraint("id", name="pk_frameworks"),
    )
    op.create_index("ix_frameworks_code_name", "frameworks", ["code_name"])
    op.create_table(
        "framework_versions",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("framework_id", _NUMBER, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("origin_digest", sa.String(64), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("criteria_count", sa.Integer, nullable=False),
        sa.Column("aspects_count", sa.Integer, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("listing", sa.LargeBinary, nullable=False),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_framework_versions"),
        sa.ForeignKeyConstraint(
            ["framework_id"], ["frameworks.id"], name="fk_framework_versions_framework_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_framework_versions_framework_id", "framework_versions", ["framework_id"])
    op.create_index("ix_framework_versions_origin_digest", "framework_versions", ["origin_digest"])
