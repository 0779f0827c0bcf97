"""What feedback teaches: features kept with findings, and the adjustments that are learned from them."""

import sqlalchemy as sa
from alembic import op

from assay.database.types import Timestamp

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("findings", sa.Column("features", sa.Text))
    op.create_table(
        "adjustments",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("framework_code_name", sa.Text, nullable=False),
        sa.Column("framework_version", sa.Text, nullable=False),
        sa.Column("criterion_code_name", sa.Text, nullable=False),
        sa.Column("engine_version", sa.Text, nullable=False),
        sa.Column("shift", sa.Float, nullable=False),
        sa.Column("scorer", sa.Text),
        sa.Column("mark", sa.String(64)),
        sa.Column("opinions", sa.Integer, nullable=False),
        sa.Column("documents", sa.Integer, nullable=False),
        sa.Column("agreed_before", sa.Integer, nullable=False),
        sa.Column("agreed_after", sa.Integer, nullable=False),
        sa.Column("learned_at", Timestamp),
        sa.PrimaryKeyConstraint("id", name="pk_adjustments"),
        sa.UniqueConstraint(
            "subject",
            "framework_code_name",
            "framework_version",
            "criterion_code_name",
            "engine_version",
            name="uq_adjustments",
        ),
    )
