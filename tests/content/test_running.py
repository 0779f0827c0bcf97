"""Jobs that run for real, in children that misbehave, while their partner or the machine changes its mind."""

import queue
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select, text
from starlette.testclient import TestClient

from assay import settings
from assay.app import create_app
from assay.content import store
from assay.content.blobs import Blob
from assay.content.extraction.sandbox import Sandbox
from assay.content.extraction.sandbox.confinement import Limits
from assay.content.store import blobs, content_texts
from assay.jobs import table
from assay.jobs.models import Control
from tests import factories
from tests.content.test_fetching import response, serving
from tests.content.test_lifecycle import JOBS, stored_files
from tests.jobs.doing import PATIENCE, make_due, performing
from tests.processes import ends, until


class Trial:
    """Stands where the reader stands, with a real sandbox, and gives each document to a task of a test's."""

    def __init__(self, name):
        self._task = f"tests.content.extraction.sandbox_tasks:{name}"
        self.sandbox = Sandbox(
            [self._task], Limits(memory_bytes=400 * 2**20, wall_seconds=60, cpu_seconds=60)
        )
        self.children = queue.Queue()

    def read(self, file, _source, *, cancelled=None):
        return self.sandbox.run(
            self._task, file, cancelled=cancelled, progress=lambda child, _: self.children.put(child)
        )


@pytest.fixture
def reading_by(database, partner, tmp_path):
    """A client of a service that has this reader."""
    opened = []

    def reading_by(reader, **options):
        config = settings.Settings(data_dir=tmp_path / "data", **options)
        client = TestClient(
            create_app(config, database, reader=reader, working=False), follow_redirects=False
        )
        client.__enter__()
        opened.append(client)
        return factories.signed_in(client, partner)

    yield reading_by
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def trying(reading_by):
    """A client of a service whose reader does this to every document, and that reader."""
    trials = []

    def trying(task):
        trials.append(Trial(task))
        return reading_by(trials[-1]), trials[-1]

    yield trying
    for trial in trials:
        trial.sandbox.close()


def count(database, column):
    with database.read() as tx:
        return tx.execute(select(func.count(column))).scalar_one()


def test_cancelling_a_running_job_ends_its_process_and_erases_everything(trying, database, tmp_path):
    client, trial = trying("spin")
    job = factories.submitted(client)

    with performing(client.app.state.worker):
        child = trial.children.get(timeout=PATIENCE)
        assert client.get(f"{JOBS}/{job}/status").json()["status"] == "RUNNING"
        assert client.delete(f"{JOBS}/{job}").status_code == 200
        assert client.get(f"{JOBS}/{job}/status").status_code == 404
        assert ends(child)

    assert client.get(f"{JOBS}/{job}/content").status_code == 404
    assert (stored_files(tmp_path), count(database, table.jobs.c.id)) == ([], 0)


def test_a_cancel_that_another_process_takes_ends_the_work_here(trying, client, database):
    here, trial = trying("spin")
    job = factories.submitted(here)

    with performing(here.app.state.worker):
        child = trial.children.get(timeout=PATIENCE)
        assert client.delete(f"{JOBS}/{job}").status_code == 200  # another app over the same database
        assert ends(child)


@pytest.mark.parametrize("crash", ["segfault", "leave", "fail_loudly"])
def test_a_file_that_kills_its_reader_three_times_has_failed_with_a_sentence(trying, database, crash):
    client, _ = trying(crash)
    job = factories.submitted(client)
    attempts = 0
    while client.app.state.worker.perform():
        attempts += 1
        make_due(database)

    record = client.get(f"{JOBS}/{job}/status").json()
    assert attempts == 3
    assert (record["status"], record["error"]) == (
        "FAILED",
        "The document made its reader fail three times, and has been given up.",
    )
    assert record["completedAt"] is not None
    assert count(database, table.jobs.c.id) == 0


def test_a_job_whose_reader_is_stopped_with_the_service_is_done_by_the_next(trying, client, work):
    stopping, trial = trying("spin")
    job = factories.submitted(stopping)
    with performing(stopping.app.state.worker):
        child = trial.children.get(timeout=PATIENCE)
        stopping.app.state.worker.hand_back()
        assert ends(child)

    assert client.get(f"{JOBS}/{job}/status").status_code == 200
    assert work() == 1
    assert client.get(f"{JOBS}/{job}/content").text == "Be kind."


def at_once(function, times=8):
    """What each of several threads gets that call the function in the same moment."""
    together = threading.Barrier(times)

    def call(_):
        together.wait(PATIENCE)
        return function()

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(call, range(times)))


def test_equal_files_that_come_in_the_same_moment_are_all_accepted_and_kept_once(client, tmp_path):
    answers = at_once(
        lambda: client.post(f"{JOBS}/file", files={"file": ("a.pdf", factories.pdf("Be kind."))})
    )

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["uuid"] for answer in answers}) == 8
    assert len(stored_files(tmp_path)) == 1


def test_equal_files_that_come_and_go_in_the_same_moment_leave_nothing_and_lose_nothing(
    client, database, tmp_path
):
    def come_and_go():
        job = factories.submitted(client)
        return client.delete(f"{JOBS}/{job}").status_code

    assert at_once(come_and_go) == [200] * 8
    assert (stored_files(tmp_path), count(database, blobs.c.key)) == ([], 0)


def test_refreshes_that_come_in_the_same_moment_are_one_run(client, work):
    job = factories.submitted(client)
    work()

    answers = at_once(lambda: client.post(f"{JOBS}/{job}/refresh").status_code)

    assert answers == [202] * 8
    assert work() == 1


def test_only_one_of_several_cancels_finds_the_job(client):
    job = factories.submitted(client)

    answers = at_once(lambda: client.delete(f"{JOBS}/{job}").status_code)

    assert sorted(answers) == [200] + [404] * 7


def test_a_page_whose_job_is_cancelled_while_it_comes_is_not_kept(make_client, partner, database, tmp_path):
    with serving() as site:
        client = factories.signed_in(make_client(fetch={"allow": f"127.0.0.1:{site.port}"}), partner)
        job = client.post(f"{JOBS}/url", json={"url": site.url("/")}).json()["uuid"]

        def cancel_then_answer(connection):
            assert client.delete(f"{JOBS}/{job}").status_code == 200
            connection.sendall(response(b"<!doctype html><p>Be kind."))

        site.pages["/"] = cancel_then_answer
        assert client.app.state.worker.perform()

    assert client.get(f"{JOBS}/{job}/status").status_code == 404
    assert stored_files(tmp_path) == []
    assert [count(database, column) for column in (blobs.c.key, content_texts.c.uuid, table.jobs.c.id)] == [
        0
    ] * 3


class Meanwhile:
    """A reader that lets something happen between its reading and the writing of what it read."""

    def __init__(self, reader):
        self._reader = reader
        self.sandbox = reader.sandbox

    def read(self, *arguments, **options):
        text = self._reader.read(*arguments, **options)
        self.happens()
        return text


def test_a_page_whose_job_is_cancelled_when_it_has_been_read_is_not_kept_either(
    reading_by, reader, database, tmp_path
):
    meanwhile = Meanwhile(reader)
    with serving() as site:
        client = reading_by(meanwhile, fetch={"allow": f"127.0.0.1:{site.port}"})
        site.pages["/"] = response(b"<!doctype html><p>Be kind.")
        job = client.post(f"{JOBS}/url", json={"url": site.url("/")}).json()["uuid"]
        meanwhile.happens = lambda: client.delete(f"{JOBS}/{job}")
        assert client.app.state.worker.perform()

    assert client.get(f"{JOBS}/{job}/status").status_code == 404
    assert stored_files(tmp_path) == []
    owed = [count(database, column) for column in (blobs.c.key, content_texts.c.uuid, table.jobs.c.id)]
    assert owed == [0] * 3


def until_held_up(database):
    """Until a transaction waits for another. On SQLite it does from its start, and nothing is to be seen."""
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")

    def is_held_up():
        with database.read() as tx:
            return tx.execute(waiting).scalar_one() > 0

    if not database.is_sqlite:
        until(is_held_up)


def test_bytes_that_a_new_job_takes_over_outlive_the_cancel_of_the_old_one(client, partner, database, work):
    old = factories.submitted(client)
    desk = client.app.state.desk
    with ThreadPoolExecutor(1) as pool:
        with database.write() as tx:
            key, digest, size = tx.execute(select(blobs.c.key, blobs.c.digest, blobs.c.size)).one()
            again = Blob(f"{key[:-16]}{'0' * 16}", digest, size)
            new = desk.submit_file(tx, partner.subject, file_name="b.pdf", blob=again)
            cancelled = pool.submit(client.delete, f"{JOBS}/{old}")
            until_held_up(database)
        assert cancelled.result(PATIENCE).status_code == 200

    assert work() == 1
    assert client.get(f"{JOBS}/{new.uuid}/content").text == "Be kind."


def test_a_cancel_that_meets_the_end_of_the_work_erases_what_it_brought(
    make_client, partner, database, tmp_path
):
    with serving() as site:
        client = factories.signed_in(make_client(fetch={"allow": f"127.0.0.1:{site.port}"}), partner)
        site.pages["/"] = response(b"<!doctype html><p>Be kind.")
        job = client.post(f"{JOBS}/url", json={"url": site.url("/")}).json()["uuid"]
        processor, claimed = client.app.state.processor, client.app.state.worker._claim()
        with database.read() as tx:
            content = store.find(tx, job)
        outcome = processor._outcome(content, Control())
    with ThreadPoolExecutor(1) as pool:
        with database.write() as tx:
            table.finish(tx, claimed)
            processor._complete(tx, content, outcome)
            cancelled = pool.submit(client.delete, f"{JOBS}/{job}")
            until_held_up(database)
        assert cancelled.result(PATIENCE).status_code == 200

    assert stored_files(tmp_path) == []
    assert count(database, blobs.c.key) == 0


def test_work_for_a_thing_that_is_gone_is_owed_no_more(client, database, work):
    with database.write() as tx:
        table.enqueue(tx, "content.process", target=str(uuid.uuid4()), subject=str(uuid.uuid4()))

    assert work() == 1

    assert count(database, table.jobs.c.id) == 0
