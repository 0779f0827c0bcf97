"""What has had its time is erased: by the rule that the operator set, and never before."""

import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from assay import settings
from assay.assessments.store import assessments, findings
from assay.content.store import blobs, content_jobs, content_texts
from assay.feedback.store import feedback
from assay.identity.issuer import TOKEN_PATH
from assay.identity.store import login_sessions
from assay.retention.housekeeping import Housekeeper
from assay.web.idempotency import idempotency_keys
from tests import factories, service

CONTENT = "/api/v1/content-processing"
ASSESSMENTS = "/api/v1/assessments"
KEPT_DAYS = 30


@pytest.fixture
def tidy(run):
    """One round of housekeeping; what it erased."""

    def tidy(**variables: str) -> dict[str, int]:
        done = run("housekeeping", "--json", **variables)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return tidy


@pytest.fixture
def retain(tidy):
    return lambda: tidy(ASSAY_RETENTION__DAYS=str(KEPT_DAYS))


def age(database, table, column: str, days: float) -> None:
    """Set every row back."""
    with database.write() as tx:
        tx.execute(update(table).values({column: datetime.now(UTC) - timedelta(days=days)}))


def count(database, table) -> int:
    with database.read() as tx:
        return tx.execute(select(func.count()).select_from(table)).scalar_one()


@pytest.fixture
def document(client, work) -> str:
    uuid = factories.submitted(client)
    work()
    return uuid


def test_an_old_document_is_erased_with_its_bytes_and_its_text(client, database, document, retain):
    age(database, content_jobs, "completed_at", KEPT_DAYS + 1)
    assert retain()["content_jobs"] == 1
    assert client.get(f"{CONTENT}/{document}/content").status_code == 404
    assert [count(database, table) for table in (content_jobs, content_texts, blobs)] == [0, 0, 0]
    assert list(client.app.state.desk.blobs.keys()) == []


def test_a_document_is_kept_until_its_days_are_over(client, database, document, retain):
    age(database, content_jobs, "completed_at", KEPT_DAYS - 1)
    assert retain()["content_jobs"] == 0
    assert client.get(f"{CONTENT}/{document}/content").status_code == 200


def test_without_the_setting_nothing_is_erased(client, database, document, tidy):
    age(database, content_jobs, "completed_at", 10_000)
    tidy()
    assert client.get(f"{CONTENT}/{document}/content").status_code == 200


def test_a_document_that_is_being_read_again_is_not_old(client, database, document, retain):
    age(database, content_jobs, "completed_at", KEPT_DAYS + 1)
    age(database, content_jobs, "created_at", KEPT_DAYS + 1)
    client.post(f"{CONTENT}/{document}/refresh")
    assert retain()["content_jobs"] == 0


def test_an_old_assessment_goes_with_findings_feedback_and_sources(
    client, database, assess, document, retain
):
    process = assess(contentUuids=f'["{document}"]')
    [finding] = client.get(f"{ASSESSMENTS}/{process}/results").json()
    said = {"expertId": "e", "rationalFeedback": "Well said.", "assessmentResponseId": finding["id"]}
    assert client.post("/api/v1/assessmentFeedback", json=said).status_code == 200
    age(database, assessments, "completed_at", KEPT_DAYS + 1)
    age(database, content_jobs, "completed_at", KEPT_DAYS + 1)
    assert (retain()["assessments"], client.get(f"{ASSESSMENTS}/{process}/status").status_code) == (1, 404)
    tables = (assessments, findings, feedback, content_jobs, content_texts, blobs)
    assert [count(database, table) for table in tables] == [0] * 6


def test_a_document_is_kept_as_long_as_an_assessment_of_it(client, database, assess, document, retain):
    process = assess(contentUuids=f'["{document}"]')
    age(database, content_jobs, "completed_at", KEPT_DAYS + 1)
    assert retain() | {"login_sessions": 0} == {
        "idempotency_keys": 0,
        "login_sessions": 0,
        "assessments": 0,
        "content_jobs": 0,
        "feedback": 0,
    }
    [finding] = client.get(f"{ASSESSMENTS}/{process}/results").json()
    assert finding["provenance"]["sources"]
    assert client.get(f"{CONTENT}/{document}/content").status_code == 200


def test_feedback_on_nothing_in_particular_ends_too(client, database, retain):
    said = {"expertId": "e", "rationalFeedback": "In general, good."}
    assert client.post("/api/v1/assessmentFeedback", json=said).status_code == 200
    assert retain()["feedback"] == 0
    age(database, feedback, "created_at", KEPT_DAYS + 1)
    assert (retain()["feedback"], count(database, feedback)) == (1, 0)


def test_what_was_erased_by_the_rule_is_in_the_trail(database, document, partner, retain, trail, run):
    age(database, content_jobs, "completed_at", KEPT_DAYS + 1)
    retain()
    last = trail()[-1]
    assert (last["actor"], last["action"], last["target"]) == ("service", "content.erase", document)
    assert (last["subject"], run("audit", "verify").exit_code) == (partner.subject, 0)


def test_expired_idempotency_keys_and_sessions_are_forgotten(client, database, partner, tidy):
    client.post(f"{CONTENT}/url", json={"url": "https://example.com/"}, headers={"Idempotency-Key": "k"})
    client.post(TOKEN_PATH, data=factories.login_form(partner))
    assert tidy() == {"idempotency_keys": 0, "login_sessions": 0}
    age(database, idempotency_keys, "created_at", 2)
    age(database, login_sessions, "expires_at", 1)
    assert tidy() == {"idempotency_keys": 1, "login_sessions": 1}


def test_more_than_is_looked_for_at_a_time_is_erased(client, work, database):
    for _ in range(5):
        factories.submitted(client)
    work()
    age(database, content_jobs, "completed_at", KEPT_DAYS + 1)
    state = client.app.state
    housekeeper = Housekeeper(database, state.desk, state.docket, KEPT_DAYS, at_a_time=2)
    assert (housekeeper.run()["content_jobs"], count(database, content_jobs)) == (5, 0)


def test_the_service_keeps_house_from_its_start(tmp_path):
    deadline = time.monotonic() + 60
    with service.running(tmp_path / "data", ASSAY_RETENTION__DAYS="30") as running:
        while '"event": "housekeeping"' not in running.output.read_text() + running.errors.read_text():
            assert time.monotonic() < deadline


def test_a_number_of_days_must_be_one():
    with pytest.raises(settings.WrongSetting, match="ASSAY_RETENTION__DAYS"):
        settings.load(retention={"days": 0})
