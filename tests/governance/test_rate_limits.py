"""A partner that calls too often is told so, and nobody else notices."""

import time_machine

from assay.identity.issuer import TOKEN_PATH
from tests import factories

INFO = "/api/v1/info"
NOW = "2026-03-01T12:00:00Z"


def limited(make_client, partner, **rate):
    return factories.signed_in(make_client(rate=rate), partner)


def told(answer) -> tuple[str, str, str]:
    return tuple(answer.headers[f"RateLimit-{name}"] for name in ("Limit", "Remaining", "Reset"))


def test_an_answer_tells_how_many_requests_are_left(make_client, partner):
    with time_machine.travel(NOW, tick=False):
        client = limited(make_client, partner, requests_per_minute=5)
        assert told(client.get(INFO)) == ("5", "4", "60")
        assert told(client.get(INFO)) == ("5", "3", "60")


def test_an_error_tells_it_too(make_client, partner):
    answer = limited(make_client, partner, requests_per_minute=5).get("/api/v1/frameworks/NONE/criteria")
    assert (answer.status_code, answer.headers["RateLimit-Remaining"]) == (404, "4")


def test_one_request_too_many_is_refused_until_the_minute_is_over(make_client, partner):
    with time_machine.travel(NOW, tick=False) as clock:
        client = limited(make_client, partner, requests_per_minute=2)
        client.get(INFO)
        clock.shift(20)
        client.get(INFO)
        refused = client.get(INFO)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
        assert (told(refused), refused.headers["Retry-After"]) == (("2", "0", "40"), "40")
        clock.shift(40)
        assert client.get(INFO).status_code == 200


def test_a_partner_at_its_limit_does_not_hold_up_another(make_client, partner, database):
    client = limited(make_client, partner, requests_per_minute=1)
    client.get(INFO)
    assert client.get(INFO).status_code == 429
    other = factories.signed_in(client, factories.partner(database, "other"))
    assert other.get(INFO).status_code == 200


def test_submissions_have_a_limit_of_their_own(make_client, partner):
    client = limited(make_client, partner, submissions_per_minute=1)
    body = {"url": "https://example.com/"}
    accepted = client.post("/api/v1/content-processing/url", json=body)
    assert (accepted.status_code, told(accepted)[:2]) == (202, ("1", "0"))
    refused = client.post("/api/v1/content-processing/url", json=body)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_submissions")
    assert client.get(INFO).status_code == 200
    assert client.post("/api/v1/content-processing/status/batch", json={"uuids": []}).status_code == 200


def test_the_limits_can_be_asked_for(make_client, partner):
    limits = (
        limited(make_client, partner, requests_per_minute=7, submissions_per_minute=3)
        .get(INFO)
        .json()["limits"]
    )
    assert (limits["requestsPerMinute"], limits["submissionsPerMinute"]) == (7, 3)


def test_a_request_without_a_token_counts_against_nobody(make_client):
    answer = make_client(rate={"requests_per_minute": 1}).get(INFO)
    assert answer.status_code == 401
    assert "RateLimit-Limit" not in answer.headers


def test_too_many_failed_logins_are_told_by_the_same_headers(make_client, partner):
    with time_machine.travel(NOW, tick=False) as clock:
        client = make_client(limits={"login_failures_per_address": 1})
        form = factories.login_form(partner, client_secret="wrong")
        client.post(TOKEN_PATH, data=form)
        clock.shift(100)
        refused = client.post(TOKEN_PATH, data=form)
        assert (refused.status_code, told(refused)) == (429, ("1", "0", "200"))
        assert refused.headers["Retry-After"] == "200"
