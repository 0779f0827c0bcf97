"""Cancel, in every state: what is in progress stops and stays readable, what is finished is gone."""

import pytest
from sqlalchemy import func, select

from assay.assessments import store
from assay.content.store import text_pins
from assay.jobs.models import Lost
from assay.jobs.table import jobs
from tests import factories
from tests.assessments import house
from tests.assessments.house import ASSESSMENTS, CONTENT


def cancel(client, process_id):
    return client.delete(f"{ASSESSMENTS}/{process_id}")


def count(client, table):
    with client.app.state.database.read() as tx:
        return tx.execute(select(func.count()).select_from(table)).scalar_one()


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_cancel_in_progress_stops_the_work_and_stays_readable(client, work, done):
    process_id = house.submitted(client)
    work(done)

    answer = cancel(client, process_id)

    assert (answer.status_code, answer.content) == (200, b"")
    status = house.status(client, process_id)
    assert (status.status_code, status.json()["status"]) == (200, "CANCELLED")
    assert (status.json()["assessments"], status.json()["error"]) == ([], None)
    assert status.json()["completedAt"] is not None
    assert "retry-after" not in status.headers
    work()
    assert house.status(client, process_id).json() == status.json()
    assert client.get(f"{ASSESSMENTS}/{process_id}/results").status_code == 409
    assert len(house.findings(client, process_id, partial="true")) == max(0, done - 1)
    assert count(client, store.units) == count(client, jobs) == 0


def test_a_cancelled_process_is_gone_when_it_is_cancelled_again(client, work):
    process_id = house.submitted(client)
    work(2)
    cancel(client, process_id)

    assert cancel(client, process_id).status_code == 200

    assert house.status(client, process_id).status_code == 404
    assert count(client, store.findings) == count(client, text_pins) == 0


@pytest.mark.parametrize(
    "document", [house.rules(), ("broken.pdf", house.UNREADABLE)], ids=["completed", "failed"]
)
def test_cancel_of_a_finished_process_erases_it(client, work, document):
    process_id = house.submitted(client, document)
    work()
    finding_ids = [one["id"] for one in house.findings(client, process_id, partial="true")]

    answer = cancel(client, process_id)

    assert (answer.status_code, answer.content) == (200, b"")
    for path in ("/status", "/results", "/results?partial=true"):
        assert client.get(f"{ASSESSMENTS}/{process_id}{path}").status_code == 404
    assert cancel(client, process_id).status_code == 404
    for table in (
        store.assessments,
        store.submissions,
        store.sources,
        store.units,
        store.findings,
        text_pins,
    ):
        assert count(client, table) == 0, table.name
    again = house.submitted(client, assessmentProcessId=process_id)
    work()
    assert again == process_id
    assert not {one["id"] for one in house.findings(client, again)} & set(finding_ids)  # never given twice


def test_the_content_jobs_of_a_cancelled_assessment_stay(client, work):
    process_id = house.submitted(client)
    work()
    source = house.findings(client, process_id)[0]["citations"][0]["contentUuid"]

    cancel(client, process_id)

    assert client.get(f"{CONTENT}/{source}/content").status_code == 200


def test_a_reopened_process_that_is_cancelled_keeps_what_was_found(client, work):
    process_id = house.submitted(client)
    work()
    house.submitted(client, house.rules(*house.PETS), assessmentProcessId=process_id)

    cancel(client, process_id)

    assert house.status(client, process_id).json()["status"] == "CANCELLED"
    assert len(house.findings(client, process_id, partial="true")) == 3


def test_cancel_touches_no_other_process(client, make_client, database, work):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))
    mine, kept, theirs = house.submitted(client), house.submitted(client), house.submitted(other)

    cancel(client, mine)
    assert cancel(client, theirs).status_code == 404
    work()

    assert house.status(client, kept).status_code == 303
    assert house.status(other, theirs).status_code == 303


def test_a_unit_that_was_under_way_when_it_was_cancelled_writes_nothing(client, work):
    process_id = house.submitted(client)
    work(1)
    worker = client.app.state.worker
    job = worker._claim()
    cancel(client, process_id)

    with pytest.raises(Lost):
        worker._tasks[job.task].run(job, worker._begin(job))
    worker._end(job)

    assert house.status(client, process_id).json()["status"] == "CANCELLED"
    assert house.findings(client, process_id, partial="true") == []
