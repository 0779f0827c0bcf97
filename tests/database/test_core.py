"""The database: snapshots, units of work, failures by name, one schema on both kinds."""

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Column, Integer, MetaData, Table, insert, select, text
from sqlalchemy.exc import InternalError, StatementError

from assay import app
from assay.database.core import Database, DatabaseUnavailable, sqlite_url
from assay.database.types import Timestamp, metadata
from assay.identity import store
from assay.identity.models import Partner

NOW = datetime(2026, 1, 31, 9, 30, 0, 123456, tzinfo=UTC)
SUBJECT = "5c9e5a3e-6f4f-4f0e-9b5a-0d6f2a4c1b77"


@pytest.fixture(autouse=True)
def _quiet_alembic(caplog):
    caplog.set_level(logging.WARNING, "alembic")


@pytest.fixture(params=["sqlite", "postgres"])
def empty(request, tmp_path):
    """A database that nothing has been done to, and its URL."""
    if request.param == "sqlite":
        yield sqlite_url(tmp_path)
        return
    server = request.getfixturevalue("postgres_server")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE assay_empty")
        try:
            yield server.replace("/postgres?", "/assay_empty?")
        finally:
            connection.execute("DROP DATABASE assay_empty WITH (FORCE)")


def add(tx, subject: str = SUBJECT) -> None:
    store.meet(tx, Partner(subject, NOW))


def count(tx) -> int:
    return store.count(tx)


def test_a_unit_of_work_is_committed_when_its_block_ends(database):
    with database.write() as tx:
        add(tx)
    with database.read() as tx:
        assert count(tx) == 1


def test_a_unit_of_work_that_raises_leaves_nothing(database):
    with suppress(RuntimeError), database.write() as tx:
        add(tx)
        raise RuntimeError("on purpose")
    with database.read() as tx:
        assert count(tx) == 0


def test_the_next_unit_of_work_is_free_after_one_that_raised(database):
    with pytest.raises(RuntimeError, match="on purpose"), database.write():
        raise RuntimeError("on purpose")
    with database.write() as tx:
        add(tx)


def test_a_read_is_a_snapshot(database):
    with database.read() as before:
        assert count(before) == 0
        with database.write() as tx:
            add(tx)
        assert count(before) == 0
    with database.read() as after:
        assert count(after) == 1


def test_a_read_does_not_wait_for_a_writer(database):
    with database.write() as tx:
        add(tx)
        with database.read() as meanwhile:
            assert count(meanwhile) == 0


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_what_a_read_writes_does_not_last(database):
    with database.read() as tx:
        add(tx)
    with database.read() as tx:
        assert count(tx) == 0


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_read_cannot_write(database):
    with pytest.raises(InternalError, match="read-only transaction"), database.read() as tx:
        tx.execute(text("DELETE FROM partners"))


def test_units_of_work_that_read_then_write_follow_each_other(database):
    numbers = Table("numbers", MetaData(), Column("value", Integer))
    with database.write() as tx:
        numbers.drop(tx, checkfirst=True)
        numbers.create(tx)
        tx.execute(insert(numbers).values(value=0))

    def increase(_: int) -> None:
        with database.write() as tx:
            query = select(numbers.c.value)
            value = tx.execute(query if database.is_sqlite else query.with_for_update()).scalar_one()
            tx.execute(numbers.update().values(value=value + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(increase, range(40)))
    with database.write() as tx:
        assert tx.execute(select(numbers.c.value)).scalar_one() == 40
        numbers.drop(tx)


def test_a_writer_that_waits_too_long_is_told_that_the_database_is_busy(tmp_path):
    database = Database(sqlite_url(tmp_path), timeout_seconds=0.05)
    database.migrate()
    other = Database(sqlite_url(tmp_path), timeout_seconds=0.05)  # as another process has it
    for contender in (database, other):
        with database.write(), pytest.raises(DatabaseUnavailable), ThreadPoolExecutor(1) as pool:
            pool.submit(contender.write().__enter__).result()
    database.close()
    other.close()


@pytest.mark.parametrize("url", ["sqlite:////nowhere/at/all.sqlite3", "postgresql://a:hunter2@127.0.0.1:1/a"])
def test_a_database_that_cannot_be_reached_is_unavailable(url):
    database = Database(url, timeout_seconds=1)
    for attempt in (database.check, database.migrate, database.is_current):
        with pytest.raises(DatabaseUnavailable) as caught:
            attempt()
        assert "hunter2" not in str(caught.value)
    database.close()


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_connections_that_were_cut_are_replaced(database, database_url):
    database.check()
    with psycopg.connect(database_url, autocommit=True) as connection:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")

    with pytest.raises(DatabaseUnavailable):
        database.check()
    database.check()


def test_sqlite_keeps_what_it_has_confirmed(tmp_path):
    database = Database(sqlite_url(tmp_path))
    with database.read() as tx:
        found = {
            name: tx.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    database.close()
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


@pytest.fixture
def moments(database):
    table = Table("moments", MetaData(), Column("at", Timestamp))
    with database.write() as tx:
        table.drop(tx, checkfirst=True)
        table.create(tx)
    yield table
    with database.write() as tx:
        table.drop(tx)


@pytest.mark.parametrize("moment", [NOW, NOW.astimezone(timezone(timedelta(hours=-7))), None], ids=str)
def test_a_moment_comes_back_as_it_was_and_in_utc(database, moments, moment):
    with database.write() as tx:
        tx.execute(insert(moments).values(at=moment))
    with database.read() as tx:
        found = tx.execute(select(moments.c.at)).scalar_one()

    assert found == moment
    assert found is None or found.tzinfo is UTC


def test_a_moment_is_found_by_comparison_whatever_its_zone(database, moments):
    with database.write() as tx:
        tx.execute(insert(moments).values(at=NOW))
    later = (NOW + timedelta(seconds=1)).astimezone(timezone(timedelta(hours=9)))
    with database.read() as tx:
        assert tx.execute(select(moments.c.at).where(moments.c.at < later)).scalar_one() == NOW


def test_a_time_without_a_zone_is_refused(database, moments):
    with pytest.raises(StatementError, match="without a zone"), database.write() as tx:
        tx.execute(insert(moments).values(at=NOW.replace(tzinfo=None)))


def test_migrations_make_exactly_the_tables_that_the_code_knows(empty):
    assert app.create_app  # importing the composition root is what makes every table known
    database = Database(empty)
    database.migrate()
    with database.read() as tx:
        context = MigrationContext.configure(tx, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []
    database.close()


def test_a_new_database_is_behind_until_it_is_migrated(empty):
    database = Database(empty)
    assert not database.is_current()
    database.migrate()
    assert database.is_current()
    database.close()


def test_migrating_again_changes_nothing(empty):
    database = Database(empty)
    database.migrate()
    with database.write() as tx:
        add(tx)
    database.migrate()
    with database.read() as tx:
        assert count(tx) == 1
    database.close()


def test_several_processes_may_migrate_at_once(empty):
    databases = [Database(empty, timeout_seconds=20) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(Database.migrate, databases))
    assert all(database.is_current() for database in databases)
    for database in databases:
        database.close()
