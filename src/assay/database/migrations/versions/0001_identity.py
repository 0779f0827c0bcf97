"""Partners, signing keys and login sessions."""

import sqlalchemy as sa
from alembic import op

from assay.database.types import Timestamp

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "partners",
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("name", sa.Text),
        sa.Column("username", sa.Text),
        sa.Column("password_hash", sa.Text),
        sa.Column("client_id", sa.Text),
        sa.Column("client_secret_hash", sa.Text),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.Column("disabled_at", Timestamp),
        sa.PrimaryKeyConstraint("subject", name="pk_partners"),
        sa.UniqueConstraint("name", name="uq_partners_name"),
        sa.UniqueConstraint("username", name="uq_partners_username"),
        sa.UniqueConstraint("client_id", name="uq_partners_client_id"),
    )
    op.create_table(
        "signing_keys",
        sa.Column("kid", sa.Text, nullable=False),
        sa.Column("private_jwk", sa.Text, nullable=False),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.Column("signs_from", Timestamp, nullable=False),
        sa.Column("published_until", Timestamp),
        sa.PrimaryKeyConstraint("kid", name="pk_signing_keys"),
    )
    op.create_table(
        "login_sessions",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("refresh_hash", sa.String(64), nullable=False),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.Column("expires_at", Timestamp, nullable=False),
        sa.Column("ended_at", Timestamp),
        sa.PrimaryKeyConstraint("id", name="pk_login_sessions"),
        sa.ForeignKeyConstraint(
            ["subject"], ["partners.subject"], name="fk_login_sessions_subject", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_login_sessions_subject", "login_sessions", ["subject"])
    op.create_index("ix_login_sessions_expires_at", "login_sessions", ["expires_at"])
