"""Many processes on PostgreSQL: what one promises another keeps, and a dead one loses nothing."""

import pytest

from tests import fleet, service


@pytest.fixture(scope="module")
def ships(postgres_server, tmp_path_factory):
    with fleet.afloat(postgres_server, tmp_path_factory.mktemp("fleet"), apis=2, workers=2) as afloat:
        yield afloat


def test_a_job_submitted_here_is_done_there_and_read_anywhere(ships):
    job = ships.submit("Be kind.", api=0)

    assert ships.settled([job]) == {job: "COMPLETED"}
    text = ships.client.get(ships.url(f"{fleet.JOBS}/{job}/content", api=1))
    assert text.text == "Be kind."


def test_an_api_does_no_work_itself(ships):
    for worker in ships.processes["work"]:
        worker.terminate()
        worker.wait(20)
    job = ships.submit("Nobody reads this yet.")

    waiting = ships.client.get(ships.url(f"{fleet.JOBS}/{job}/status"), headers={"Prefer": "wait=1"})

    assert waiting.json()["status"] == "PENDING"
    ships.start("work", "--concurrency", "2")
    ships.start("work", "--concurrency", "2")
    assert ships.settled([job]) == {job: "COMPLETED"}


def test_a_message_that_is_lost_with_its_worker_loses_no_job(ships):
    """Fetched by the engine, not yet claimed by us, and the process dies: the message is gone."""
    for worker in ships.processes["work"]:
        worker.kill()
        worker.wait()
    jobs = [ships.submit(f"Lost word {number}.") for number in range(3)]
    ships.sql("DELETE FROM procrastinate_jobs")

    ships.start("work", "--concurrency", "2")

    assert set(ships.settled(jobs).values()) == {"COMPLETED"}


def test_a_killed_worker_costs_a_lease_and_no_job(ships):
    ships.start("work", "--concurrency", "2")
    ships.start("work", "--concurrency", "2")
    jobs = []
    for number in range(30):
        jobs.append(ships.submit(f"Clause {number}.", api=number % 2))
        if number == 15:
            ships.processes["work"][-1].kill()

    assert set(ships.settled(jobs).values()) == {"COMPLETED"}
    assert ships.sql("SELECT count(*) FROM jobs") == [(0,)]
    texts = ships.sql("SELECT count(*) FROM content_texts")[0][0]
    assert texts == ships.sql("SELECT count(*) FROM content_jobs WHERE status = 'COMPLETED'")[0][0]


def test_a_worker_that_is_told_to_stop_ends_well(ships):
    ships.start("work", "--concurrency", "1", "--queues", "assessments")
    worker = ships.processes["work"][-1]
    log = ships.folder / f"work-{len(ships.processes['work']) - 1}.log"
    for _ in fleet.patiently("the worker"):
        if "works on" in log.read_text():
            break
    assert "content.process" not in log.read_text()

    worker.terminate()

    assert worker.wait(20) == 0


def test_separate_roles_on_sqlite_are_refused_by_name(tmp_path):
    for role in ("api", "work"):
        refused = service.run(role, ASSAY_DATA_DIR=str(tmp_path))
        assert refused.returncode == 2
        assert "PostgreSQL" in refused.stderr
        assert "Traceback" not in refused.stderr


def test_an_unknown_queue_is_named(ships):
    refused = service.run("work", "--queues", "nonsense", **ships.variables)

    assert refused.returncode == 2
    assert "nonsense" in refused.stderr
