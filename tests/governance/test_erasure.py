"""A partner is erased: all of it, nobody else's, and with a receipt that can be checked."""

import json

import pytest
from sqlalchemy import insert, select

from assay.database.types import metadata
from assay.frameworks.store import framework_versions, frameworks
from assay.identity.issuer import TOKEN_PATH
from tests import factories

CONTENT = "/api/v1/content-processing"


@pytest.fixture
def busy(client, work, assess, database, partner) -> str:
    """A partner with a row of every kind; the uuid of a document that is read."""
    uuid = factories.submitted(client, factories.pdf("A most secret clause."), name="secret.pdf")
    work()
    process = assess(contentUuids=f'["{uuid}"]')
    [finding] = client.get(f"/api/v1/assessments/{process}/results").json()
    said = {"expertId": "e", "rationalFeedback": "A secret thought.", "assessmentResponseId": finding["id"]}
    client.post("/api/v1/assessmentFeedback", json=said)
    client.post(
        f"{CONTENT}/url", json={"url": "https://secret.example/"}, headers={"Idempotency-Key": "secret"}
    )
    assert client.post(TOKEN_PATH, data=factories.login_form(partner)).status_code == 200
    with database.write() as tx:
        number = tx.execute(
            insert(frameworks).values(code_name="SECRET", subject=partner.subject).returning(frameworks.c.id)
        ).scalar_one()
        shipped = tx.execute(select(framework_versions)).first()._mapping
        copied = {**shipped, "id": 1_000_000, "framework_id": number, "name": "secret"}
        tx.execute(insert(framework_versions).values(**copied))
    return uuid


@pytest.fixture
def erase(run):
    def erase(name: str = "acme") -> dict:
        done = run("partners", "erase", name, "--yes", "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return erase


def left(database, *words: str) -> set[str]:
    """The tables that hold one of these words anywhere."""
    found = set()
    with database.read() as tx:
        for table in metadata.sorted_tables:
            for row in tx.execute(select(table)):
                if any(word in str(tuple(row)) for word in words):
                    found.add(table.name)
    return found


def test_nothing_is_left_but_the_trail_and_that_the_partner_is_refused(
    busy, erase, client, partner, database
):
    before = left(database, partner.subject)
    assert {"blobs", "content_jobs", "findings", "feedback", "idempotency_keys", "jobs"} <= before
    erase()
    assert left(database, partner.subject) == {"partners", "audit_entries"}
    assert left(database, "secret", "SECRET", "acme", busy) == {"audit_entries"}
    assert list(client.app.state.desk.blobs.keys()) == []
    children = ("content_texts", "text_pins", "assessment_submissions", "assessment_sources")
    with database.read() as tx:
        for name in children:
            assert tx.execute(select(metadata.tables[name])).first() is None, name


def test_a_receipt_counts_what_was_erased(busy, erase, partner):
    receipt = erase()
    assert (receipt["partner"], receipt["subject"]) == ("acme", partner.subject)
    expected = {
        "content_jobs": 2,
        "content_texts": 1,
        "stored_files": 1,
        "assessments": 1,
        "findings": 1,
        "feedback": 1,
        "idempotency_keys": 1,
        "frameworks": 1,
        "login_sessions": 1,
        "jobs": 1,
    }
    assert {kind: receipt["erased"][kind] for kind in expected} == expected


def test_a_receipt_names_an_entry_of_the_trail(busy, erase, trail, run):
    receipt = erase()
    last = trail()[-1]
    assert (last["action"], last["actor"], last["hash"]) == (
        "partner.erase",
        "operator",
        receipt["auditHash"],
    )
    assert last["counts"] == receipt["erased"]
    assert run("audit", "verify", "--contains", receipt["auditHash"]).exit_code == 0


def test_an_erased_partner_is_refused(client, erase, partner):
    assert client.get("/api/v1/info").status_code == 200
    erase()
    assert client.get("/api/v1/info").status_code == 401
    assert client.post(TOKEN_PATH, data=factories.login_form(partner)).status_code == 401


def test_another_partner_loses_nothing(busy, client, erase, database, make_client, work):
    other = factories.partner(database, "other")
    theirs = factories.signed_in(make_client(), other)
    uuid = factories.submitted(theirs, factories.pdf("A most secret clause."))
    work()
    erase()
    assert theirs.get(f"{CONTENT}/{uuid}/content").text.strip() == "A most secret clause."
    assert theirs.get("/api/v1/frameworks").json()


def test_work_that_is_owed_is_not_done_any_more(client, erase, work):
    factories.submitted(client)
    erase()
    assert work() == 0


def test_erasing_twice_erases_nothing_more(busy, erase, partner):
    erase()
    again = erase(partner.subject)
    assert set(again["erased"].values()) == {0}


def test_the_name_is_free_again(erase, client, run):
    erase()
    assert run("partners", "add", "acme", "--json").exit_code == 0


def test_without_a_yes_nothing_happens(client, run):
    asked = run("partners", "erase", "acme")
    assert (asked.exit_code, "for good?" in asked.output) == (1, True)
    assert client.get("/api/v1/info").status_code == 200


def test_a_receipt_can_be_read_by_people(client, run, partner):
    done = run("partners", "erase", "acme", "--yes")
    assert "Erased acme." in done.stdout
    assert partner.subject in done.stdout
