"""A backup as docs/howto/operate.md tells it: of a service at work, restored and read elsewhere."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import psycopg
import pytest

from assay.database.core import Database
from tests import factories, gateways, postgres, processes
from tests.content.test_lifecycle import JOBS

PAGE = "operate.md"
BEFORE = 5


def told(language, title):
    return gateways.block(PAGE, language, containing=f"# {title}\n")


def shell(title, **variables):
    """The page's commands, to their end."""
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    command = ["sh", "-e", "-c", told("sh", title)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def check(backup):
    command = [sys.executable, "-c", told("python", "check a backup"), str(backup)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def submitted(client, number):
    document = factories.docx(f"Clause {number}.")
    answer = client.post(f"{JOBS}/file", files={"file": (f"{number}.docx", document)})
    assert answer.status_code == 202, answer.text
    return answer.json()["uuid"]


def settled(client, job):
    """How it has ended, once it has."""
    status = []

    def look():
        status[:] = [client.get(f"{JOBS}/{job}/status").json()["status"]]
        return status[0] in {"COMPLETED", "FAILED"}

    processes.until(look)
    return status[0]


def text_of(client, job):
    """Once it is there."""
    processes.until(lambda: client.get(f"{JOBS}/{job}/content").status_code == 200)
    return client.get(f"{JOBS}/{job}/content").text


class Uploading(threading.Thread):
    """Hands in documents until it is told to stop."""

    def __init__(self, service, credentials):
        super().__init__()
        self._service, self._credentials = service, credentials
        self._enough, self.begun = threading.Event(), threading.Event()

    def run(self):
        with self._service.signed_in(self._credentials) as client:
            number = 1000
            while not self._enough.is_set():
                submitted(client, number)
                number += 1
                self.begun.set()

    def __enter__(self):
        self.start()
        assert self.begun.wait(60)
        return self

    def __exit__(self, *_):
        self._enough.set()
        self.join()


@pytest.fixture
def backup(tmp_path):
    """A backup of a service at work, the partner's credentials, and the texts that it must hold."""
    data = tmp_path / "data"
    credentials = processes.prepared(data)
    with processes.serving(data) as service, service.signed_in(credentials) as client:
        jobs = [submitted(client, number) for number in range(BEFORE)]
        texts = {job: text_of(client, job) for job in jobs}
        with Uploading(service, credentials):
            shell("back up", DATA=data, BACKUP=tmp_path / "backup")
    shutil.rmtree(data)
    return tmp_path / "backup", credentials, texts


def test_a_backup_of_a_service_at_work_is_whole_and_can_be_read_elsewhere(backup, tmp_path):
    folder, credentials, texts = backup
    assert check(folder).stdout == "The backup is whole.\n"
    shell("restore", DATA=tmp_path / "elsewhere", BACKUP=folder)

    with (
        processes.serving(tmp_path / "elsewhere") as service,
        service.signed_in(credentials) as client,
    ):
        assert {job: text_of(client, job) for job in texts} == texts
        job = next(iter(texts))
        assert client.post(f"{JOBS}/{job}/refresh").status_code == 202
        assert settled(client, job) == "COMPLETED", "its bytes are there too"
        assert text_of(client, submitted(client, BEFORE)) == f"Clause {BEFORE}."


def test_the_check_tells_what_is_missing_or_damaged(backup):
    folder, *_ = backup
    with closing(sqlite3.connect(folder / "assay.sqlite3")) as connection:
        first, second = connection.execute("SELECT key FROM blobs LIMIT 2").fetchall()
    (folder / "blobs" / first[0]).unlink()
    (folder / "blobs" / second[0]).write_bytes(b"%PDF-")

    done = check(folder)

    assert done.returncode == 1
    assert sorted(line.split(" is ")[1] for line in done.stdout.splitlines()) == ["damaged", "missing"]


def test_a_backup_of_postgresql_can_be_restored_into_an_empty_database(postgres_server, tmp_path):
    url = postgres_server.replace("/postgres?", "/assay_test?")
    fresh = postgres_server.replace("/postgres?", "/assay_restored?")
    path = f"{postgres._INSTALLED / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE assay_restored")

    shell("back up PostgreSQL", PATH=path, ASSAY_DATABASE__URL=url, BACKUP=tmp_path / "dump")
    shell("restore PostgreSQL", PATH=path, ASSAY_DATABASE__URL=fresh, BACKUP=tmp_path / "dump")

    restored = Database(fresh)
    assert restored.is_current()
    restored.close()
    kept = []
    for each in (url, fresh):
        with psycopg.connect(each) as connection:
            kept.append(connection.execute("SELECT kid FROM signing_keys ORDER BY kid").fetchall())
    assert kept[0] == kept[1] != []
