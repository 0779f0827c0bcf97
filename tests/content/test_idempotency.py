"""Idempotency keys: a request that is sent again is answered again, and does nothing again."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from tests import factories
from tests.asgi import Call
from tests.content.forms import BOUNDARY, FORM, form, part
from tests.content.test_lifecycle import JOBS, stored_files

FILE = f"{JOBS}/file"
URL = "https://example.com/terms"
PDF = factories.pdf("Be kind.")
KEY = {"Idempotency-Key": "6e1b"}


def post(client, data=PDF, name="a.pdf", headers=KEY):
    return client.post(FILE, files={"file": (name, data)}, headers=headers)


def seen(answer):
    """What a client sees of an answer, but for what is each request's own."""
    of_the_request = ("x-request-id", "ratelimit-")
    headers = {name: value for name, value in answer.headers.items() if not name.startswith(of_the_request)}
    return answer.status_code, headers, answer.content


def test_the_same_request_is_answered_by_the_first_answer_and_done_once(client, work, tmp_path):
    first = post(client)
    assert work() == 1

    second = post(client)

    assert first.status_code == 202
    assert seen(second) == seen(first)
    assert work() == 0
    assert len(stored_files(tmp_path)) == 1


def test_a_boundary_does_not_make_it_another_request(client, work):
    first = client.post(FILE, content=form(part(PDF)), headers={**FORM, **KEY})
    other = "another-limit"
    headers = {"Content-Type": f"multipart/form-data; boundary={other}", **KEY}

    second = client.post(FILE, content=form(part(PDF, boundary=other), boundary=other), headers=headers)

    assert other != BOUNDARY
    assert seen(second) == seen(first)
    assert work() == 1


@pytest.mark.parametrize(
    "other",
    [
        lambda client: post(client, factories.pdf("Be bold.")),
        lambda client: post(client, name="b.pdf"),
        lambda client: client.post(f"{JOBS}/url", json={"url": URL}, headers=KEY),
        lambda client: client.post(f"{JOBS}/{factories.submitted(client)}/refresh", headers=KEY),
    ],
    ids=["file", "name", "url", "refresh"],
)
def test_a_key_that_was_used_for_another_request_is_refused(client, tmp_path, other):
    post(client)
    stored = len(stored_files(tmp_path))

    answer = other(client)

    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert len(stored_files(tmp_path)) == stored


def test_while_a_request_is_in_flight_its_key_is_taken(client, work, tmp_path):
    call = Call(client, "POST", FILE, {**FORM, **KEY})
    body = form(part(PDF))
    call.send(body[:100])

    answers = [post(client), client.post(f"{JOBS}/url", json={"url": URL}, headers=KEY)]

    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(409, "request_in_flight")}
    assert post(client, headers={"Idempotency-Key": "another"}).status_code == 202
    call.send(body[100:], more=False)
    assert call.answer()[0] == 202
    assert work() == 2


def test_a_request_that_broke_off_gives_its_key_back(client):
    call = Call(client, "POST", FILE, {**FORM, **KEY})
    call.send(form(part(PDF))[:100])
    assert post(client).status_code == 409
    call.break_off()
    call.answer()

    assert post(client).status_code == 202


def test_a_request_that_was_refused_does_not_use_up_its_key(client):
    assert post(client, b"no document").status_code == 415
    assert client.post(f"{JOBS}/url", json={"url": "ftp://x"}, headers=KEY).status_code == 400
    assert client.post(f"{JOBS}/unknown/refresh", headers=KEY).status_code == 404

    assert post(client).status_code == 202


def test_partners_do_not_meet_in_their_keys(client, make_client, database, work):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))

    first, second = post(client), post(other, factories.pdf("Be bold."))

    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["uuid"] != second.json()["uuid"]
    assert work() == 2


def test_a_key_is_forgotten_after_a_day(client, partner, work):
    first = post(client)
    now = datetime.now(UTC)
    with time_machine.travel(now + timedelta(hours=23, minutes=59)):
        factories.signed_in(client, partner)
        assert seen(post(client)) == seen(first)

    with time_machine.travel(now + timedelta(hours=24, minutes=1)):
        factories.signed_in(client, partner)
        assert post(client, factories.pdf("Be bold.")).status_code == 202
        assert work() == 2


def test_a_url_is_submitted_once(client):
    first, second = (client.post(f"{JOBS}/url", json={"url": URL}, headers=KEY) for _ in range(2))

    assert first.status_code == 202
    assert seen(second) == seen(first)
    assert client.post(f"{JOBS}/url", json={"url": f"{URL}?v=2"}, headers=KEY).status_code == 422


def test_a_refresh_is_done_once(client, work):
    job = factories.submitted(client)
    work()
    first = client.post(f"{JOBS}/{job}/refresh", headers=KEY)
    assert work() == 1

    second = client.post(f"{JOBS}/{job.upper()}/refresh", headers=KEY)

    assert seen(second) == seen(first)
    assert work() == 0


@pytest.mark.parametrize("key", ["", "k" * 256])
def test_a_key_has_1_to_255_characters(client, work, key):
    answer = post(client, headers={"Idempotency-Key": key})

    assert answer.status_code == 400
    assert "255" in answer.json()["message"]
    assert work() == 0
    assert post(client, headers={"Idempotency-Key": "k" * 255}).status_code == 202


def test_without_a_key_every_request_is_its_own(client, work):
    assert post(client, headers={}).json()["uuid"] != post(client, headers={}).json()["uuid"]
    assert work() == 2


def test_of_two_processes_with_the_same_key_one_acts_and_both_give_its_answer(
    client, make_client, partner, work, tmp_path
):
    elsewhere = factories.signed_in(make_client(), partner)  # an app of its own over the same database
    for each in (client, elsewhere):  # a route is made ready at its first request: not by two threads at once
        assert post(each, b"no document").status_code == 415
    here, there = (Call(each, "POST", FILE, {**FORM, **KEY}) for each in (client, elsewhere))
    body = form(part(PDF))
    for call in (here, there):
        call.send(body[:100])
    for call in (here, there):
        call.send(body[100:], more=False)

    assert here.answer() == there.answer()
    assert work() == 1
    assert len(stored_files(tmp_path)) == 1
