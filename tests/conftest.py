"""The fixtures that most tests share: one database of each kind, one app, one partner."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import structlog
from starlette.testclient import TestClient

from assay import settings
from assay.app import create_app
from assay.assessments.judging import Judge
from assay.assessments.judging.local import LocalJudge
from assay.content.extraction import Reader, ReadingLimits
from assay.database.core import Database, sqlite_url
from assay.database.types import metadata
from assay.identity.models import Credentials
from tests import factories, postgres

MakeClient = Callable[..., TestClient]


@pytest.fixture(scope="session", autouse=True)
def _plain_logs() -> None:
    """Unless told otherwise, structlog draws a bug with all its variables, which takes seconds."""
    renderers = [structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()]
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, *renderers])


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite database, to be copied: migrating once is enough."""
    folder = tmp_path_factory.mktemp("template")
    database = Database(sqlite_url(folder))
    factories.prepare(database)
    database.close()
    return folder


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL server with a migrated database named `assay_test`."""
    with postgres.running() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE assay_test")
        database = Database(url.replace("/postgres?", "/assay_test?"))
        factories.prepare(database)
        database.close()
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a migrated, otherwise empty database, on each of the two kinds in turn."""
    if request.param == "sqlite":
        template: Path = request.getfixturevalue("sqlite_template")
        shutil.copytree(template, tmp_path / "data")
        yield sqlite_url(tmp_path / "data")
        return
    server: str = request.getfixturevalue("postgres_server")
    url = server.replace("/postgres?", "/assay_test?")
    with psycopg.connect(url, autocommit=True) as connection:
        keys = connection.execute("SELECT * FROM signing_keys").fetchall()
    yield url
    with psycopg.connect(url, autocommit=True) as connection:
        postgres.empty(connection, [table.name for table in reversed(metadata.sorted_tables)])
        connection.cursor().executemany("INSERT INTO signing_keys VALUES (%s, %s, %s, %s, %s)", keys)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = Database(database_url)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def reader() -> Iterator[Reader]:
    """One warm sandbox for all tests; each document still gets a child of its own."""
    shared = Reader(ReadingLimits())
    yield shared
    shared.close()


@pytest.fixture
def make_client(database: Database, tmp_path: Path, reader: Reader) -> Iterator[MakeClient]:
    """Apps over the same database with other settings, each behind a client that follows no redirect."""
    clients: list[TestClient] = []

    def make(
        *, make_judge: Callable[[], Judge] = LocalJudge, reader: Reader = reader, **options: object
    ) -> TestClient:
        config = settings.Settings(data_dir=tmp_path / "data", **options)  # type: ignore[arg-type]
        app = create_app(config, database, reader=reader, make_judge=make_judge, working=False)
        client = TestClient(app, follow_redirects=False)
        client.__enter__()
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def partner(database: Database) -> Credentials:
    return factories.partner(database, "acme")


@pytest.fixture
def anonymous(make_client: MakeClient) -> TestClient:
    """A client that nobody vouches for."""
    return make_client()


@pytest.fixture
def client(make_client: MakeClient, partner: Credentials) -> TestClient:
    """A client that calls as the partner `acme`."""
    return factories.signed_in(make_client(), partner)


@pytest.fixture
def work(client: TestClient) -> Callable[[], int]:
    """Do the jobs that are due, in the test's own thread, or some of them; how many there were."""
    return lambda most=None: factories.work(client, most)
