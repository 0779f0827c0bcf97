"""What was acknowledged ends, whatever happens: the service is killed for real, at random moments."""

import random
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from tests import factories, processes
from tests.content.forms import FORM, part
from tests.content.test_lifecycle import JOBS

FILE = f"{JOBS}/file"
SEED = 20260131
DOCUMENTS = 50
KILLS = 3


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


def document(number):
    """Half of each kind, each with a text of its own; every seventh cannot be read."""
    if number % 7 == 0:
        return b"%%PDF-1.7 damaged %d" % number
    make = factories.pdf if number % 2 else factories.docx
    return make(f"Clause {number}.")


def submit(client, number, acknowledged):
    """Until the service is killed under it. What it was told stays told."""
    answer = client.post(FILE, files={"file": (f"{number}.pdf", document(number))})
    assert answer.status_code == 202, answer.text
    acknowledged[answer.json()["uuid"]] = number


def submit_some(service, credentials, numbers, acknowledged):
    """Hand in documents one after the other; those that were not acknowledged are handed in again later."""
    rest = list(numbers)
    try:
        with service.signed_in(credentials) as client:
            while rest:
                submit(client, rest[0], acknowledged)
                rest.pop(0)
    except httpx2.TransportError:
        pass
    return rest


def settled(client, jobs):
    """The records of these jobs, once none is in progress any more."""
    records = []

    def all_settled():
        records[:] = client.post(f"{JOBS}/status/batch", json={"uuids": list(jobs)}).json()
        return all(record["status"] in {"COMPLETED", "FAILED"} for record in records)

    processes.until(all_settled, seconds=60)
    return {record["uuid"]: record for record in records}


def rows(folder, query):
    with sqlite3.connect(folder / "assay.sqlite3") as connection:
        return connection.execute(query).fetchall()


def left_over(folder):
    """Files of the store that are not the bytes of a job."""
    known = {key for (key,) in rows(folder, "SELECT key FROM blobs")}
    stored = [path for path in (folder / "blobs").rglob("*") if path.is_file()]
    return [path for path in stored if path.relative_to(folder / "blobs").as_posix() not in known]


def test_jobs_survive_that_the_service_is_killed_again_and_again(folder):
    credentials = processes.prepared(folder)
    moments = random.Random(SEED)
    acknowledged, rest = {}, list(range(1, DOCUMENTS + 1))
    for _ in range(KILLS):
        with processes.serving(folder) as service, ThreadPoolExecutor(1) as pool:
            # Enough for this life, so that it ends while some are submitted and others are processed.
            share = rest[: DOCUMENTS // KILLS + 1]
            before = len(acknowledged)
            submitting = pool.submit(submit_some, service, credentials, share, acknowledged)
            target = before + moments.randint(len(share) // 2, len(share) - 1)
            processes.until(lambda: len(acknowledged) >= target, seconds=60)  # noqa: B023 - within this turn
            threading.Event().wait(moments.uniform(0, 0.05))  # the moment is what is random here
            service.kill()
            rest = submitting.result() + rest[len(share) :]

    with processes.serving(folder) as service, service.signed_in(credentials) as client:
        for number in rest:
            submit(client, number, acknowledged)
        records = settled(client, acknowledged)
        texts = {job: client.get(f"{JOBS}/{job}/content").text for job in records if acknowledged[job] % 7}

    assert set(records) == set(acknowledged)  # none lost
    for job, number in acknowledged.items():
        assert records[job]["status"] == ("COMPLETED" if number % 7 else "FAILED")
        assert records[job]["fileName"] == f"{number}.pdf"
    assert texts == {job: f"Clause {number}." for job, number in acknowledged.items() if number % 7}
    assert rows(folder, "SELECT * FROM jobs") == []  # none stuck
    doubled = "SELECT uuid FROM content_texts GROUP BY uuid HAVING count(*) > 1"
    assert rows(folder, doubled) == []
    assert left_over(folder) == []


def test_told_to_end_in_the_middle_of_work_it_does_so_in_time_and_loses_nothing(folder):
    credentials = processes.prepared(folder)
    long = factories.pdf(*(f"Page {number} of very many, all different." for number in range(2_500)))
    with (
        processes.serving(folder, ASSAY_JOBS__WORKERS="1") as service,
        service.signed_in(credentials) as client,
    ):
        jobs = [factories.submitted(client, long, f"{number}.pdf") for number in range(2)]
        jobs += [factories.submitted(client, document(number), f"{number}.pdf") for number in (1, 2, 3)]
        with httpx2.Client(base_url=service.url, headers=client.headers) as stalled:
            upload = threading.Thread(target=stall, args=(stalled, service))
            upload.start()
            processes.until(lambda: any((folder / "blobs" / ".incoming").iterdir()))

            assert service.terminate(seconds=10) == 0
            upload.join()

    assert left_over(folder) == []
    waiting = rows(folder, "SELECT attempt, worker FROM jobs")
    assert {worker for _, worker in waiting} == {None}  # not begun or handed back, never left to a lease
    with processes.serving(folder) as service, service.signed_in(credentials) as client:
        records = settled(client, jobs)
        assert {record["status"] for record in records.values()} == {"COMPLETED"}


def stall(client, service):
    """An upload that begins and does not go on, until the service ends."""

    def body():
        yield part(b"%PDF-1.7\n" + bytes(600_000))
        service.process.wait()

    try:
        client.post(FILE, content=body(), headers=FORM)
    except httpx2.TransportError:
        return
