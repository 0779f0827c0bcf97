"""Alembic's entry: runs inside the transaction, and on the connection, that `Database.migrate` opened."""

from alembic import context

from assay.database.types import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
