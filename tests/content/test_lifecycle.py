"""Each row of the interface's tables on content processing, by HTTP."""

import hashlib
import uuid

import pytest

from tests import factories

JOBS = "/api/v1/content-processing"
FIELDS = {
    "uuid",
    "sourceType",
    "sourceUrl",
    "fileName",
    "status",
    "error",
    "createdAt",
    "completedAt",
    "fetchedAt",
}


def test_a_submitted_file_is_accepted_with_its_record_and_where_to_poll(client):
    answer = client.post(f"{JOBS}/file", files={"file": ("dpa.pdf", factories.pdf("Be kind."))})

    assert answer.status_code == 202
    record = answer.json()
    assert set(record) == FIELDS
    assert (record["sourceType"], record["fileName"], record["status"]) == ("FILE", "dpa.pdf", "PENDING")
    assert (record["error"], record["completedAt"], record["fetchedAt"]) == (None, None, None)
    assert record["createdAt"].endswith("Z")
    assert answer.headers["location"] == f"{JOBS}/{record['uuid']}/status"
    assert int(answer.headers["retry-after"]) > 0


def test_a_job_in_progress_answers_200_and_when_to_ask_again(client):
    job = factories.submitted(client)

    answer = client.get(f"{JOBS}/{job}/status")

    assert (answer.status_code, answer.json()["status"]) == (200, "PENDING")
    assert int(answer.headers["retry-after"]) > 0


def test_a_completed_job_redirects_to_its_text(client, work):
    job = factories.submitted(client)
    assert work() == 1

    answer = client.get(f"{JOBS}/{job}/status")

    assert answer.status_code == 303
    assert answer.headers["location"] == f"{JOBS}/{job}/content"
    assert answer.json()["status"] == "COMPLETED"
    assert answer.json()["completedAt"] >= answer.json()["createdAt"]
    text = client.get(answer.headers["location"])
    assert (text.status_code, text.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert text.text == "Be kind."


def test_a_client_that_follows_redirects_ends_at_the_text(client, work):
    job = factories.submitted(client, factories.docx("Article 1", "Be kind."), "terms.docx")
    work()

    assert client.get(f"{JOBS}/{job}/status", follow_redirects=True).text == "Article 1\n\nBe kind."


def test_locations_carry_the_public_address_where_one_is_set(make_client, partner):
    client = factories.signed_in(make_client(public_url="https://api.example.com/assay/"), partner)

    answer = client.post(
        f"{JOBS}/file", files={"file": ("a.pdf", factories.pdf("x"))}, headers={"Host": "evil.example"}
    )

    assert answer.headers["location"].startswith(f"https://api.example.com/assay{JOBS}/")


def test_the_content_of_an_unfinished_job_is_a_conflict(client):
    job = factories.submitted(client)

    answer = client.get(f"{JOBS}/{job}/content")

    assert (answer.status_code, answer.json()["code"]) == (409, "content_not_ready")


def test_a_file_that_cannot_be_read_fails_with_a_sentence(client, work):
    job = factories.submitted(client, b"%PDF-1.7\nthis is not really a PDF")
    work()

    answer = client.get(f"{JOBS}/{job}/status")

    assert (answer.status_code, answer.json()["status"]) == (200, "FAILED")
    assert answer.json()["error"].endswith(".")
    assert "Traceback" not in answer.text
    assert "retry-after" not in answer.headers
    assert client.get(f"{JOBS}/{job}/content").status_code == 409


def test_plain_text_comes_whatever_accept_says(client, work):
    job = factories.submitted(client)
    work()

    answer = client.get(f"{JOBS}/{job}/content", headers={"Accept": "application/json"})

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


def test_the_text_comes_with_its_structure_on_request(client, work):
    job = factories.submitted(client, factories.pdf("First page.", "Second page."))
    work()

    content = client.get(f"{JOBS}/{job}/content?format=json").json()

    assert set(content) == {"uuid", "digest", "title", "language", "text", "pages", "blocks", "warnings"}
    assert content["digest"] == f"sha256:{hashlib.sha256(content['text'].encode()).hexdigest()}"
    assert [page["number"] for page in content["pages"]] == [1, 2]
    texts = [content["text"][block["start"] : block["end"]] for block in content["blocks"]]
    assert texts == ["First page.", "Second page."]
    named = client.get(f"{JOBS}/{job}/content", params={"digest": content["digest"]})
    assert named.text == content["text"]


def test_markdown_comes_on_request(client, work):
    job = factories.submitted(client)
    work()

    answer = client.get(f"{JOBS}/{job}/content?format=markdown")

    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.text.strip() == "Be kind."


def test_a_text_of_another_digest_is_unknown(client, work):
    job = factories.submitted(client)
    work()

    answer = client.get(f"{JOBS}/{job}/content", params={"digest": f"sha256:{'0' * 64}"})

    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_text")


def test_what_has_not_changed_is_not_sent_again(client, work):
    job = factories.submitted(client)
    pending = client.get(f"{JOBS}/{job}/status")
    again = {"If-None-Match": pending.headers["etag"]}
    assert client.get(f"{JOBS}/{job}/status", headers=again).status_code == 304
    work()

    assert client.get(f"{JOBS}/{job}/status", headers=again).status_code == 303
    text = client.get(f"{JOBS}/{job}/content")
    known = {"If-None-Match": text.headers["etag"]}
    assert client.get(f"{JOBS}/{job}/content", headers=known).status_code == 304
    assert client.get(f"{JOBS}/{job}/content?format=json", headers=known).status_code == 200


def test_batch_status_answers_in_the_order_asked_each_once(client, make_client, database, work):
    first, second = factories.submitted(client), factories.submitted(client)
    other = factories.signed_in(make_client(), factories.partner(database, "other"))
    foreign = factories.submitted(other)
    asked = [second, "not a uuid", first, str(uuid.uuid4()), foreign, second.upper()]

    answer = client.post(f"{JOBS}/status/batch", json={"uuids": asked})

    assert answer.status_code == 200
    assert [record["uuid"] for record in answer.json()] == [second, first]
    assert set(answer.json()[0]) == FIELDS


def test_a_batch_has_a_limit(client):
    answer = client.post(f"{JOBS}/status/batch", json={"uuids": ["x"] * 1_001})

    assert answer.status_code == 400
    assert "1,000" in answer.json()["message"]


@pytest.mark.parametrize("settle", [False, True])
def test_a_cancelled_job_is_gone_in_any_state(client, work, tmp_path, settle):
    job = factories.submitted(client)
    if settle:
        work()

    answer = client.delete(f"{JOBS}/{job}")

    assert (answer.status_code, answer.content) == (200, b"")
    for path in (f"{JOBS}/{job}/status", f"{JOBS}/{job}/content"):
        assert client.get(path).status_code == 404
    assert client.delete(f"{JOBS}/{job}").status_code == 404
    assert client.post(f"{JOBS}/{job}/refresh").status_code == 404
    assert work() == 0
    assert stored_files(tmp_path) == []


def stored_files(tmp_path):
    return [path for path in (tmp_path / "data" / "blobs").rglob("*") if path.is_file()]


def test_equal_bytes_of_a_partner_are_kept_once_until_their_last_job_goes(client, work, tmp_path):
    first, second = factories.submitted(client), factories.submitted(client)
    assert len(stored_files(tmp_path)) == 1

    client.delete(f"{JOBS}/{first}")

    assert len(stored_files(tmp_path)) == 1
    assert work() == 1
    assert client.get(f"{JOBS}/{second}/content").text == "Be kind."
    client.delete(f"{JOBS}/{second}")
    assert stored_files(tmp_path) == []


def test_equal_bytes_of_two_partners_are_never_shared(client, make_client, database, tmp_path):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))

    factories.submitted(client)
    factories.submitted(other)

    assert len(stored_files(tmp_path)) == 2


def test_a_refresh_reads_the_source_again_and_keeps_the_text_readable(client, work):
    job = factories.submitted(client)
    work()

    answer = client.post(f"{JOBS}/{job}/refresh")

    assert (answer.status_code, answer.json()["status"]) == (202, "PENDING")
    assert answer.headers["location"] == f"{JOBS}/{job}/status"
    assert answer.json()["completedAt"] is None
    assert client.get(f"{JOBS}/{job}/content").text == "Be kind."
    assert work() == 1
    assert client.get(f"{JOBS}/{job}/status").status_code == 303


def test_a_refresh_of_a_job_in_progress_starts_no_second_run(client, work):
    job = factories.submitted(client)

    answer = client.post(f"{JOBS}/{job}/refresh")

    assert (answer.status_code, answer.json()["status"]) == (202, "PENDING")
    assert work() == 1


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/status"), ("GET", "/content"), ("DELETE", ""), ("POST", "/refresh")],
)
def test_unknown_malformed_and_foreign_identifiers_are_answered_alike(
    client, make_client, database, method, path
):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))
    identifiers = [str(uuid.uuid4()), "nonsense", factories.submitted(other)]

    answers = [client.request(method, f"{JOBS}/{identifier}{path}") for identifier in identifiers]

    assert {answer.status_code for answer in answers} == {404}
    bodies = [answer.json() for answer in answers]
    for body in bodies:
        for varying in ("path", "timestamp", "requestId"):
            del body[varying]
    assert bodies[0] == bodies[1] == bodies[2]
    headers = [set(answer.headers) for answer in answers]
    assert headers[0] == headers[1] == headers[2]
