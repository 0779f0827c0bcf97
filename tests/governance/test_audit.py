"""Who did what is written down, without content, in a chain that shows tampering."""

import hashlib
import json
import threading
from datetime import UTC, datetime

import pytest
from sqlalchemy import delete, update

from assay.audit import store as audit_store
from assay.audit.store import audit_entries
from assay.identity.issuer import TOKEN_PATH
from tests import factories

CONTENT = "/api/v1/content-processing"
ASSESSMENTS = "/api/v1/assessments"
NOBODYS = "00000000-0000-4000-8000-000000000000"


def told(trail) -> list[tuple[str, str | None, str]]:
    return [(entry["action"], entry["target"], entry["outcome"]) for entry in trail()]


def test_the_life_of_a_document_is_written_down(client, work, trail):
    uuid = factories.submitted(client)
    work()
    client.get(f"{CONTENT}/{uuid}/content")
    client.post(f"{CONTENT}/{uuid}/refresh")
    client.delete(f"{CONTENT}/{uuid}")
    assert told(trail) == [
        ("content.submit", uuid, "done"),
        ("content.read", uuid, "done"),
        ("content.refresh", uuid, "done"),
        ("content.cancel", uuid, "done"),
    ]


def test_the_life_of_an_assessment_is_written_down(client, work, trail, assess):
    process = assess(contentUuids=f'["{factories.submitted(client)}"]')
    [finding] = client.get(f"{ASSESSMENTS}/{process}/results").json()
    feedback = {"expertId": "e", "rationalFeedback": "Well said.", "assessmentResponseId": finding["id"]}
    assert client.post("/api/v1/assessmentFeedback", json=feedback).status_code == 200
    client.delete(f"{ASSESSMENTS}/{process}")
    assert told(trail)[1:] == [
        ("assessment.submit", process, "done"),
        ("assessment.read", process, "done"),
        ("feedback.give", str(finding["id"]), "done"),
        ("assessment.cancel", process, "done"),
    ]


def test_an_entry_names_the_partner_and_the_request(client, partner, trail):
    answer = client.post(
        f"{CONTENT}/url", json={"url": "https://example.com/"}, headers={"X-Request-Id": "call-1"}
    )
    [entry] = trail()
    assert (entry["number"], entry["actor"], entry["subject"]) == (1, "partner", partner.subject)
    assert (entry["requestId"], entry["target"]) == ("call-1", answer.json()["uuid"])


def test_asking_for_the_status_leaves_no_entry(client, work, trail):
    uuid = factories.submitted(client)
    client.get(f"{CONTENT}/{uuid}/status")
    client.get(f"{CONTENT}/{uuid}/content")
    work()
    client.get(f"{CONTENT}/{uuid}/status")
    client.post(f"{CONTENT}/status/batch", json={"uuids": [uuid]})
    assert told(trail) == [("content.submit", uuid, "done")]


def test_a_status_that_carries_findings_is_a_reading_of_results(client, trail, assess):
    process = assess(contentUuids=f'["{factories.submitted(client)}"]')
    assert client.get(f"{ASSESSMENTS}/{process}/status").status_code == 303
    assert told(trail)[-1] == ("assessment.read", process, "done")


def test_a_text_that_has_not_changed_is_not_read_again(client, work, trail):
    uuid = factories.submitted(client)
    work()
    tag = client.get(f"{CONTENT}/{uuid}/content").headers["ETag"]
    client.get(f"{CONTENT}/{uuid}/content", headers={"If-None-Match": tag})
    assert [action for action, _, _ in told(trail)] == ["content.submit", "content.read"]


def test_what_was_refused_is_written_down_by_its_code(client, trail):
    client.delete(f"{CONTENT}/{NOBODYS}")
    client.get(f"{CONTENT}/{NOBODYS}/content")
    client.get(f"{ASSESSMENTS}/not-a-uuid/results")
    client.post(f"{CONTENT}/url", json={"url": "gopher://example.com/"})
    assert [entry[:2] for entry in told(trail)] == [
        ("content.cancel", NOBODYS),
        ("content.read", NOBODYS),
        ("assessment.read", None),
        ("content.submit", None),
    ]
    assert [entry[2] for entry in told(trail)][:2] == ["unknown_content_job"] * 2
    assert "done" not in [entry[2] for entry in told(trail)]


def test_an_answer_that_is_given_again_is_one_deed(client, trail):
    for _ in range(2):
        client.post(
            f"{CONTENT}/url", json={"url": "https://example.com/"}, headers={"Idempotency-Key": "once"}
        )
    assert len(trail()) == 1


def test_reads_can_be_left_out(make_client, partner, trail):
    client = factories.signed_in(make_client(audit={"reads": False}), partner)
    uuid = factories.submitted(client)
    while client.app.state.worker.perform():
        pass
    assert client.get(f"{CONTENT}/{uuid}/content").status_code == 200
    client.get(f"{CONTENT}/{NOBODYS}/content")
    assert told(trail) == [("content.submit", uuid, "done")]


def test_no_name_address_or_text_is_written_down(client, work, run, trail):
    uuid = factories.submitted(client, factories.pdf("A most secret clause."), name="secret-name.pdf")
    client.post(f"{CONTENT}/url", json={"url": "https://secret-host.example/"})
    work()
    client.get(f"{CONTENT}/{uuid}/content")
    assert len(trail()) == 3
    assert "secret" not in run("audit", "export").stdout


def test_an_export_can_be_checked_without_us(client, trail):
    factories.submitted(client)
    factories.submitted(client)
    previous = "0" * 64
    for entry in trail():
        claimed = entry.pop("hash")
        assert entry["previousHash"] == previous
        written = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        assert hashlib.sha256(written.encode()).hexdigest() == claimed
        previous = claimed


def test_an_export_can_begin_later(client, trail, database):
    factories.submitted(client)
    factories.submitted(client)
    later = trail()[1]["at"]
    with database.write() as tx:
        long_ago = datetime(2020, 1, 1, tzinfo=UTC)
        tx.execute(update(audit_entries).where(audit_entries.c.number == 1).values(at=long_ago))
    assert [entry["number"] for entry in trail("--since", later[:10])] == [2]


def test_a_trail_that_holds_is_told_with_its_last_hash(client, run, trail):
    factories.submitted(client)
    checked = run("audit", "verify")
    assert (checked.exit_code, trail()[-1]["hash"] in checked.stdout) == (0, True)
    assert "1 entries hold" in checked.stdout


@pytest.fixture
def three(client):
    for _ in range(3):
        factories.submitted(client)


def test_a_changed_entry_is_found(three, run, database):
    with database.write() as tx:
        tx.execute(update(audit_entries).where(audit_entries.c.number == 2).values(outcome="refused"))
    checked = run("audit", "verify")
    assert (checked.exit_code, "Entry 2 was changed." in checked.stderr) == (1, True)


def test_a_removed_entry_is_found(three, run, database):
    with database.write() as tx:
        tx.execute(delete(audit_entries).where(audit_entries.c.number == 2))
    checked = run("audit", "verify")
    assert (checked.exit_code, "Entry 2 is missing." in checked.stderr) == (1, True)


def test_an_entry_written_anew_does_not_fit_the_next(three, run, database):
    with database.write() as tx:
        forged, *_ = audit_store.list_(tx)
        anew = type(forged).after(0, forged.previous_hash, forged.deed)
        tx.execute(
            update(audit_entries).where(audit_entries.c.number == 1).values(at=anew.at, hash=anew.hash)
        )
    checked = run("audit", "verify")
    assert (checked.exit_code, "Entry 2 does not follow on entry 1." in checked.stderr) == (1, True)


def test_a_trail_cut_short_is_found_by_a_hash_that_was_noted(three, run, trail, database):
    noted = trail()[-1]["hash"]
    assert run("audit", "verify", "--contains", noted).exit_code == 0
    with database.write() as tx:
        tx.execute(delete(audit_entries).where(audit_entries.c.number == 3))
    assert run("audit", "verify").exit_code == 0
    assert run("audit", "verify", "--contains", noted).exit_code == 1


def test_requests_at_the_same_time_make_one_chain(client, run, trail):
    def submit() -> None:
        client.post(f"{CONTENT}/url", json={"url": "https://example.com/"})

    threads = [threading.Thread(target=submit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (run("audit", "verify").exit_code, len(trail())) == (0, 8)


def test_a_login_leaves_no_entry(anonymous, partner, trail):
    assert anonymous.post(TOKEN_PATH, data=factories.login_form(partner)).status_code == 200
    assert trail() == []
