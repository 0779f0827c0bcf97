"""A process over time: progress, additions, sources that change or go, crashes, and judges that fail."""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from sqlalchemy import func, select

from assay.assessments import store
from assay.assessments.judging.local import LocalJudge
from assay.assessments.service import Order
from assay.content import store as content_store
from assay.content.store import content_jobs
from assay.jobs.models import Lost
from assay.jobs.table import jobs
from tests import factories
from tests.assessments import house, pages
from tests.assessments.house import ASSESSMENTS, CONTENT
from tests.assessments.test_results import assert_quotes_hold


@pytest.fixture
def site():
    with pages.serving() as served:
        yield served


@pytest.fixture
def web_client(make_client, partner, site):
    """A client of a service that may fetch from the site."""
    return factories.signed_in(make_client(fetch={"allow": site.address}), partner)


def progress(client, process_id):
    record = house.status(client, process_id).json()
    return record["status"], record["completion"]


def source_uuids(client):
    with client.app.state.database.read() as tx:
        query = select(store.sources.c.content_uuid).order_by(store.sources.c.id)
        return tx.execute(query).scalars().all()


def test_completion_rises_with_every_criterion(client, work):
    process_id = house.submitted(client)
    seen = [progress(client, process_id)]
    while work(1):
        seen.append(progress(client, process_id))

    assert seen == [
        ("PENDING", 0.0),
        ("PENDING", 0.0),  # the document has been read
        ("RUNNING", 0.3333),
        ("RUNNING", 0.6667),
        ("COMPLETED", 1.0),
    ]


def test_in_progress_says_when_to_ask_again(client, work):
    process_id = house.submitted(client)
    work(2)

    answer = house.status(client, process_id)

    assert (answer.status_code, answer.json()["assessments"]) == (200, [])
    assert int(answer.headers["retry-after"]) > 0


def test_a_client_may_wait_for_the_end(client, work):
    process_id = house.submitted(client)
    work(3)
    worker = threading.Thread(target=work)
    worker.start()

    answer = client.get(f"{ASSESSMENTS}/{process_id}/status", headers={"Prefer": "wait=20"})
    worker.join()

    assert answer.headers["preference-applied"] == "wait=20"
    assert answer.status_code == 303


def test_a_process_id_of_ones_own_choice_is_taken_in_any_case(client, work):
    process_id = house.new_id()

    assert house.submitted(client, assessmentProcessId=process_id.upper()) == process_id
    work()

    assert house.status(client, process_id.upper()).status_code == 303


def test_adding_to_a_finished_process_opens_it_again_and_supersedes(client, work):
    process_id = house.submitted(client)
    work()
    old = house.by_criterion(house.findings(client, process_id))

    answer = house.submit(
        client, house.rules(*house.PETS), assessmentProcessId=process_id, criteriaCodeNames=["PETS", "QUIET"]
    )

    assert (answer.json()["status"], answer.json()["completion"]) == ("PENDING", 0.0)
    assert answer.json()["completedAt"] is None
    assert client.get(f"{ASSESSMENTS}/{process_id}/results").status_code == 409
    assert len(house.findings(client, process_id, partial="true")) == 3
    work(2)
    assert progress(client, process_id) == ("RUNNING", 0.5)
    work()
    found = house.findings(client, process_id)
    new = house.by_criterion(found)
    assert len(found) == 5
    assert (old["PETS"]["category"], new["PETS"]["category"]) == ("MISSING", "SUFFICIENTLY_REGULATED")
    assert new["KINDNESS"] == old["KINDNESS"]
    superseded = {one["id"]: one["supersededBy"] for one in found}
    assert superseded[old["PETS"]["id"]] == new["PETS"]["id"] > old["PETS"]["id"]
    assert superseded[old["QUIET"]["id"]] == new["QUIET"]["id"]
    # All the sources of the process are judged, the earlier ones too.
    assert new["QUIET"]["category"] == "SUFFICIENTLY_REGULATED"
    assert new["PETS"]["fileNames"] == ["rules-1.docx", "rules-1.docx"]
    kept = next(one for one in found if one["id"] == old["PETS"]["id"])
    assert kept == {**old["PETS"], "supersededBy": new["PETS"]["id"]}


def test_another_framework_may_be_added_without_superseding(client, work, database, tmp_path):
    house.install(database, tmp_path, code_name="OTHER_RULES")
    process_id = house.submitted(client, criteriaCodeNames=["PETS"])
    work()
    (known,) = source_uuids(client)

    house.submitted(
        client,
        content_uuids=[known],
        assessmentProcessId=process_id,
        frameworkCodeName="OTHER_RULES",
        criteriaCodeNames=["PETS"],
    )
    assert work() == 1  # the document is not read again

    found = house.findings(client, process_id)
    assert [(one["frameworkCodeName"], one["supersededBy"]) for one in found] == [
        ("HOUSE_RULES", None),
        ("OTHER_RULES", None),
    ]


def test_adding_while_it_runs_counts_all_that_is_open(client, work):
    process_id = house.submitted(client, criteriaCodeNames=["KINDNESS", "QUIET"])
    work(2)
    assert progress(client, process_id) == ("RUNNING", 0.5)

    house.submitted(
        client, house.rules(*house.PETS), assessmentProcessId=process_id, criteriaCodeNames=["PETS", "QUIET"]
    )

    assert progress(client, process_id) == ("RUNNING", 0.25)
    work()
    assert progress(client, process_id) == ("COMPLETED", 1.0)
    found = house.findings(client, process_id)
    assert len(found) == 4
    assert house.by_criterion(found)["PETS"]["category"] == "SUFFICIENTLY_REGULATED"


def test_a_failed_process_can_be_mended(client, work):
    process_id = house.submitted(client, ("broken.pdf", house.UNREADABLE))
    work()
    assert progress(client, process_id)[0] == "FAILED"

    answer = house.submit(client, assessmentProcessId=process_id)

    assert (answer.status_code, answer.json()["status"], answer.json()["error"]) == (202, "PENDING", None)
    work()
    found = house.findings(client, process_id)
    assert [one["criterionCodeName"] for one in found] == house.CRITERIA
    assert [gap["source"] for gap in house.by_criterion(found)["PETS"]["absence"]["unreadable"]] == [
        "broken.pdf"
    ]


def test_adding_to_a_cancelled_process_is_a_conflict(client):
    process_id = house.submitted(client)
    client.delete(f"{ASSESSMENTS}/{process_id}")

    answer = house.submit(client, assessmentProcessId=process_id)

    assert (answer.status_code, answer.json()["code"]) == (409, "assessment_cancelled")


def test_a_process_id_of_another_partner_is_a_new_one_for_me(client, make_client, database, work):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))
    theirs = house.submitted(other, criteriaCodeNames=["PETS"])

    assert house.submitted(client, assessmentProcessId=theirs, criteriaCodeNames=["QUIET"]) == theirs
    work()

    assert [one["criterionCodeName"] for one in house.findings(client, theirs)] == ["QUIET"]
    assert [one["criterionCodeName"] for one in house.findings(other, theirs)] == ["PETS"]
    assert client.delete(f"{ASSESSMENTS}/{theirs}").status_code == 200
    assert house.status(other, theirs).status_code == 303


class Counting:
    """A reader that counts what it reads."""

    def __init__(self, reader):
        self._reader = reader
        self.count = 0

    def __getattr__(self, name):
        return getattr(self._reader, name)

    def read(self, *args, **kwargs):
        self.count += 1
        return self._reader.read(*args, **kwargs)


def test_equal_bytes_are_read_once(make_client, partner, reader):
    counting = Counting(reader)
    client = factories.signed_in(make_client(reader=counting), partner)
    data = house.rules()
    house.submitted(client, data, data)
    factories.work(client)
    process_id = house.submitted(client, data)
    factories.work(client)

    assert house.status(client, process_id).status_code == 303
    assert counting.count == 1


def test_a_framework_that_changes_meanwhile_is_judged_as_it_was(client, work, database, tmp_path):
    process_id = house.submitted(client)
    text = house.FRAMEWORK.replace('"pets"', '"breakfast"')
    house.install(database, tmp_path, version="2.0.0", text=text)
    later = house.submitted(client)
    work()

    old, new = (house.by_criterion(house.findings(client, one))["PETS"] for one in (process_id, later))

    assert (old["category"], old["provenance"]["frameworkVersion"]) == ("MISSING", "1.0.0")
    assert (new["category"], new["provenance"]["frameworkVersion"]) == ("SUFFICIENTLY_REGULATED", "2.0.0")


@pytest.mark.parametrize("judged", [0, 1, 3])
def test_a_source_that_is_refreshed_stays_readable_as_it_was_judged(web_client, site, judged):
    url = site.put("/rules", *house.RULES)
    process_id = house.submitted(web_client, urls=[url])
    factories.work(web_client, 1 + judged)
    (source,) = source_uuids(web_client)
    site.put("/rules", *house.PETS)
    assert web_client.post(f"{CONTENT}/{source}/refresh").status_code == 202

    factories.work(web_client)

    assert web_client.get(f"{CONTENT}/{source}/content").text == house.PETS[0]
    found = house.findings(web_client, process_id)
    assert house.by_criterion(found)["PETS"]["category"] == "MISSING"
    assert house.by_criterion(found)["PETS"]["urls"] == [url]
    assert assert_quotes_hold(web_client, found) >= 2
    # Judged again, it is judged as it is now; and when the process goes, the old text goes with it.
    digest = found[0]["provenance"]["sources"][0]["digest"]
    house.submitted(
        web_client, content_uuids=[source], assessmentProcessId=process_id, criteriaCodeNames=["PETS"]
    )
    factories.work(web_client)
    again = house.findings(web_client, process_id)
    assert house.by_criterion(again)["PETS"]["category"] == "SUFFICIENTLY_REGULATED"
    assert assert_quotes_hold(web_client, again) >= 3
    assert web_client.delete(f"{ASSESSMENTS}/{process_id}").status_code == 200
    old = web_client.get(f"{CONTENT}/{source}/content", params={"digest": digest})
    assert old.status_code == 404
    assert web_client.get(f"{CONTENT}/{source}/content").status_code == 200


def test_while_a_source_is_being_refreshed_its_last_good_text_is_judged(web_client, site):
    url = site.put("/rules", *house.RULES)
    house.submitted(web_client, urls=[url])
    factories.work(web_client)
    (source,) = source_uuids(web_client)
    del site.pages["/rules"]
    web_client.post(f"{CONTENT}/{source}/refresh")

    process_id = house.submitted(web_client, content_uuids=[source])
    factories.work(web_client)

    assert web_client.get(f"{CONTENT}/{source}/status").json()["status"] == "FAILED"
    assert (
        house.by_criterion(house.findings(web_client, process_id))["QUIET"]["category"]
        == "SUFFICIENTLY_REGULATED"
    )


def test_an_address_that_redirects_to_a_private_one_is_an_unreadable_source(web_client, site):
    url = site.put("/rules", "x")
    site.pages["/rules"] = "http://127.0.0.2:1/secret"

    alone = house.submitted(web_client, urls=[url])
    among = house.submitted(web_client, house.rules(), urls=[url])
    factories.work(web_client)

    assert house.status(web_client, alone).json()["status"] == "FAILED"
    (gap,) = house.by_criterion(house.findings(web_client, among))["PETS"]["absence"]["unreadable"]
    assert gap["source"] == url
    assert "secret" not in house.status(web_client, alone).json()["error"]


def test_a_source_that_is_cancelled_before_it_was_read_is_a_gap(client, work):
    process_id = house.submitted(
        client, ("gone.docx", house.rules(*house.PETS)), ("kept.docx", house.rules())
    )
    gone, _ = source_uuids(client)
    assert client.delete(f"{CONTENT}/{gone}").status_code == 200

    work()

    pets = house.by_criterion(house.findings(client, process_id))["PETS"]
    assert pets["absence"]["unreadable"] == [
        {"source": "gone.docx", "page": None, "reason": "It was cancelled."}
    ]
    assert pets["needsReview"]


def test_the_only_source_cancelled_before_it_was_read_fails_the_assessment(client, work):
    process_id = house.submitted(client)
    (source,) = source_uuids(client)

    client.delete(f"{CONTENT}/{source}")

    record = house.status(client, process_id).json()
    assert (record["status"], work()) == ("FAILED", 0)
    assert record["error"].startswith("None of the sources could be read.")


def test_a_source_that_is_erased_while_it_is_judged_is_judged_no_further(client, work):
    process_id = house.submitted(
        client, ("gone.docx", house.rules(*house.PETS)), ("kept.docx", house.rules())
    )
    work(3)  # both documents and the first criterion: everything is in memory now
    gone, _ = source_uuids(client)
    client.delete(f"{CONTENT}/{gone}")
    work()

    found = house.by_criterion(house.findings(client, process_id))

    assert [source["source"] for source in found["KINDNESS"]["provenance"]["sources"]] == [
        "gone.docx",
        "kept.docx",
    ]
    assert [source["source"] for source in found["PETS"]["provenance"]["sources"]] == ["kept.docx"]
    assert found["PETS"]["category"] == "MISSING"
    (gap,) = found["PETS"]["absence"]["unreadable"]
    assert (gap["source"], gap["reason"]) == ("gone.docx", "It was erased before it could be judged.")


def test_the_only_source_erased_while_it_is_judged_fails_the_assessment(client, work):
    process_id = house.submitted(client)
    work(2)
    (source,) = source_uuids(client)
    client.delete(f"{CONTENT}/{source}")
    work()

    record = house.status(client, process_id).json()

    assert (record["status"], record["error"]) == ("FAILED", "None of the sources could be read.")
    assert len(house.findings(client, process_id, partial="true")) == 1


def test_findings_stay_when_their_source_is_erased_afterwards(client, work):
    process_id = house.submitted(client)
    work()
    before = house.findings(client, process_id)
    (source,) = source_uuids(client)

    client.delete(f"{CONTENT}/{source}")

    assert house.findings(client, process_id) == before
    page = client.get(f"{ASSESSMENTS}/{process_id}/results?format=html")
    assert (page.status_code, before[0]["citations"][0]["quote"] in page.text) == (200, True)
    digest = before[0]["citations"][0]["contentDigest"]
    assert client.get(f"{CONTENT}/{source}/content", params={"digest": digest}).status_code == 404


def test_a_worker_that_dies_costs_one_unit_and_doubles_none(client, make_client, partner, work):
    process_id = house.submitted(client)
    work(2)
    dead = client.app.state.worker
    assert dead._claim() is not None  # and never heard of again

    successor = factories.signed_in(make_client(), partner)
    assert factories.work(successor) == 1  # the one that nobody holds
    assert progress(successor, process_id) == ("RUNNING", 0.6667)
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=60), tick=True):
        successor.app.state.worker.sweep()
        with time_machine.travel(datetime.now(UTC) + timedelta(seconds=60), tick=True):
            factories.work(successor)

    assert progress(successor, process_id) == ("COMPLETED", 1.0)
    assert sorted(one["criterionCodeName"] for one in house.findings(successor, process_id)) == sorted(
        house.CRITERIA
    )


def test_a_result_that_comes_after_its_lease_is_not_kept(client, make_client, partner, work):
    process_id = house.submitted(client, criteriaCodeNames=["PETS"])
    work(1)
    late = client.app.state.worker
    job = late._claim()
    successor = factories.signed_in(make_client(), partner).app.state.worker
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=60), tick=True):
        successor.sweep()
        with time_machine.travel(datetime.now(UTC) + timedelta(seconds=60), tick=True):
            assert successor.perform()

    with pytest.raises(Lost):
        late._tasks[job.task].run(job, late._begin(job))
    late._end(job)

    assert len(house.findings(client, process_id)) == 1


@dataclass
class Moody(LocalJudge):
    """Judges as ever, but for one criterion."""

    fails_on: str = "QUIET"

    def __post_init__(self):
        super().__init__()

    def judge(self, framework, criterion, corpus, *rest):
        if criterion.code_name == self.fails_on:
            raise RuntimeError("a bug, with secrets")
        return super().judge(framework, criterion, corpus, *rest)


def test_a_judge_that_fails_three_times_fails_the_assessment_with_a_sentence(make_client, partner):
    client = factories.signed_in(make_client(make_judge=Moody), partner)
    process_id = house.submitted(client)
    now = datetime.now(UTC)
    for attempt in range(3):
        with time_machine.travel(now + timedelta(seconds=20 * attempt), tick=True):
            factories.work(client)

    record = house.status(client, process_id).json()

    assert record["status"] == "FAILED"
    assert record["error"].startswith("QUIET: ")
    assert record["error"].endswith(".")
    assert "secrets" not in record["error"]
    assert [one["criterionCodeName"] for one in house.findings(client, process_id, partial="true")] == [
        "KINDNESS",
        "PETS",
    ]
    with client.app.state.database.read() as tx:
        assert tx.execute(select(func.count()).select_from(jobs)).scalar_one() == 0


def test_two_sources_that_settle_in_the_same_moment_leave_nothing_waiting(client, work, database):
    """On PostgreSQL neither sees that the other has settled, unless one waits for the other."""
    process_id = house.submitted(client, house.rules(), house.rules(*house.PETS), criteriaCodeNames=["PETS"])
    first, second = source_uuids(client)
    desk = client.app.state.desk

    def settle(tx, content_uuid):
        content_store.fail(tx, content_uuid, error="Unreadable.", error_code="no_text")
        desk.tell(tx, content_uuid)

    def settle_second():
        with database.write() as tx:
            settle(tx, second)

    other = threading.Thread(target=settle_second)
    with database.write() as tx:
        settle(tx, first)
        other.start()
        if not database.is_sqlite:
            wait_until_somebody_waits(database)
    other.join()

    assert house.status(client, process_id).json()["status"] == "FAILED"
    with database.read() as tx:
        assert tx.execute(select(func.count()).select_from(content_jobs)).scalar_one() == 2


def test_two_sources_that_settle_side_by_side_do_not_wait_for_each_other(client, database):
    if database.is_sqlite:
        pytest.skip("a writer is alone there")
    process_id = house.submitted(client, house.rules(), house.rules(*house.PETS), criteriaCodeNames=["PETS"])
    first, second = source_uuids(client)
    desk = client.app.state.desk
    with database.write() as one, database.write() as other:
        content_store.fail(one, first, error="Unreadable.", error_code="no_text")
        content_store.fail(other, second, error="Unreadable.", error_code="no_text")
        desk.tell(other, second)
        other.commit()
        desk.tell(one, first)

    assert house.status(client, process_id).json()["status"] == "FAILED"


def test_a_source_that_settles_while_it_is_submitted_leaves_nothing_waiting(client, work, database):
    known = factories.submitted(client)
    made = []
    other = threading.Thread(target=lambda: made.append(house.submitted(client, content_uuids=[known])))
    with database.write() as tx:
        content_store.fail(tx, known, error="Unreadable.", error_code="no_text")
        client.app.state.desk.tell(tx, known)
        other.start()
        if not database.is_sqlite:
            wait_until_somebody_waits(database)
    other.join()

    assert house.status(client, made[0]).json()["status"] == "FAILED"


def test_two_that_begin_the_same_process_at_once_share_it(client, work, database, partner):
    known = factories.submitted(client, house.rules())
    process_id = house.new_id()
    answers = []

    def submit_second():
        fields = {"content_uuids": [known], "assessmentProcessId": process_id, "criteriaCodeNames": ["PETS"]}
        answers.append(house.submit(client, **fields))

    other = threading.Thread(target=submit_second)
    order = Order(
        expert_id="erin",
        framework_code_name="HOUSE_RULES",
        criteria_code_names=("QUIET",),
        process_id=process_id,
        by_model=False,
        documents=(),
        urls=(),
        content_uuids=(known,),
    )
    with database.write() as tx:
        client.app.state.docket.submit(tx, partner.subject, order)
        other.start()
        if not database.is_sqlite:
            wait_until_somebody_waits(database)
    other.join()

    assert answers[0].status_code == 202
    work()
    assert sorted(one["criterionCodeName"] for one in house.findings(client, process_id)) == ["PETS", "QUIET"]


def wait_until_somebody_waits(database):
    for _ in range(2_000):
        with database.read() as tx:
            if tx.exec_driver_sql("SELECT count(*) FROM pg_locks WHERE NOT granted").scalar_one():
                return
    raise AssertionError("nobody waited")
