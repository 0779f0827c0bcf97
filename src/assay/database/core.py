"""The engine, `read()` and `write()`: the only dialect-aware module.

with database.write() as tx:   one unit of work, committed when the block ends
with database.read() as tx:    a snapshot that never waits for a writer
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, Select, create_engine, event, exc, text

from assay.errors import Unavailable

_MIGRATIONS = Path(__file__).with_name("migrations")
# Any constant does, as long as no other program on the same server takes it.
_MIGRATION_LOCK = 0x4153534159
_AFTER_COMMIT = "after_commit"


class DatabaseUnavailable(Unavailable):
    """The database is away or full; try again shortly."""


class Lookup:
    """One statement that finds one row, put to the driver itself.

    It is its own snapshot, so no transaction is put around it, and its columns come as the driver gives
    them. That makes it some ten times cheaper than the same in `read()`.
    """

    def __init__(self, engine: Engine, statement: Select[Any]) -> None:
        self._engine = engine
        compiled = statement.compile(engine)
        self._sql = str(compiled)
        self._order: list[str] | None = compiled.positiontup  # None: the driver takes names
        self._errors = engine.dialect.loaded_dbapi.Error

    def find(self, **parameters: Any) -> tuple[Any, ...] | None:
        values = parameters if self._order is None else [parameters[name] for name in self._order]
        with _named_failures():
            connection = self._engine.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute(self._sql, values)
            row: tuple[Any, ...] | None = cursor.fetchone()
            cursor.close()
        except self._errors as error:
            connection.invalidate(error)  # it may be the connection that is broken
            raise DatabaseUnavailable from error
        else:
            return row
        finally:
            connection.close()


class Database:
    """One database, for all threads of a process."""

    def __init__(self, url: str, *, pool_size: int = 16, timeout_seconds: float = 2.0) -> None:
        self.is_sqlite = url.startswith("sqlite")
        self._timeout = timeout_seconds
        # SQLite has one writer. Queueing for it here is fair and instant, where its own waiting is a poll.
        self._writer = threading.Lock()
        self.engine = (_sqlite if self.is_sqlite else _postgres)(url, pool_size, timeout_seconds)
        # On SQLite a transaction that reads, then writes, must be a writer from the start.
        self._units = self.engine.execution_options(begin="BEGIN IMMEDIATE")
        self._snapshots = self.engine.execution_options(
            **({} if self.is_sqlite else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True})
        )

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A snapshot that never waits."""
        with _named_failures(), self._snapshots.connect() as tx:
            yield tx

    def lookup(self, statement: Select[Any]) -> Lookup:
        """A question for one row, prepared once for what every request asks."""
        return Lookup(self.engine, statement)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A unit of work, committed when the block ends and rolled back when it raises."""
        with _named_failures(), self._turn(), self._units.begin() as tx:
            tx.info[_AFTER_COMMIT] = hooks = list[Callable[[], None]]()
            yield tx
        for hook in hooks:
            hook()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self.is_sqlite:
            yield
            return
        if not self._writer.acquire(timeout=self._timeout):
            raise DatabaseUnavailable
        try:
            yield
        finally:
            self._writer.release()

    def check(self) -> None:
        """Raise DatabaseUnavailable unless the database answers."""
        with self.read() as tx:
            tx.execute(text("SELECT 1"))

    def migrate(self) -> None:
        """Bring the schema up to date; several processes may try at once."""
        with self.write() as tx:
            take_turn(tx, _MIGRATION_LOCK)
            config = Config()
            config.set_main_option("script_location", str(_MIGRATIONS))
            config.attributes["connection"] = tx
            command.upgrade(config, "head")

    def is_current(self) -> bool:
        """Whether every migration that this version knows has run."""
        head = ScriptDirectory(str(_MIGRATIONS)).get_current_head()
        with self.read() as tx:
            return MigrationContext.configure(tx).get_current_revision() == head

    def close(self) -> None:
        self.engine.dispose()


def after_commit(tx: Connection, hook: Callable[[], None]) -> None:
    """Call the hook once the transaction has committed, and not at all if it does not."""
    tx.info[_AFTER_COMMIT].append(hook)


def take_turn(tx: Connection, number: int) -> None:
    """Hold off others that take this turn until the transaction ends. On SQLite a writer is alone anyway."""
    if tx.dialect.name != "sqlite":
        tx.execute(text("SELECT pg_advisory_xact_lock(:id)"), {"id": number})


def sqlite_url(folder: Path) -> str:
    """The database of a data directory."""
    return f"sqlite:///{folder / 'assay.sqlite3'}"


@contextmanager
def _named_failures() -> Iterator[None]:
    try:
        yield
    except (exc.OperationalError, exc.InterfaceError, exc.TimeoutError) as error:
        raise DatabaseUnavailable from error


def _sqlite(url: str, pool_size: int, timeout_seconds: float) -> Engine:
    # `hide_parameters`: values of a statement may be document text, which is never logged.
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=timeout_seconds,
        connect_args={"timeout": timeout_seconds, "isolation_level": None, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _record: Any) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    # The driver is told not to begin transactions by itself (isolation_level None): it would begin them
    # deferred, and a reader that turns writer can only fail.
    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    return engine


def _postgres(url: str, pool_size: int, timeout_seconds: float) -> Engine:
    engine = create_engine(
        url.replace("postgresql://", "postgresql+psycopg://", 1),
        hide_parameters=True,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=timeout_seconds,
        pool_pre_ping=False,
        connect_args={"connect_timeout": max(1, round(timeout_seconds))},
    )

    # PostgreSQL has no U+0000 in text and refuses it; but an identifier that holds one is unknown, not a bug.
    @event.listens_for(engine, "before_cursor_execute", retval=True)
    def _replace_nul(
        _connection: Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: Any
    ) -> tuple[str, Any]:
        return statement, _without_nul(parameters)

    return engine


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd")
    if isinstance(value, dict):
        return {name: _without_nul(item) for name, item in value.items()}
    return [_without_nul(item) for item in value] if isinstance(value, list | tuple) else value
