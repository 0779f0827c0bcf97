"""The refresh grant: rotation, reuse, expiry, and what is kept of a refresh token."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime

import jwt
import pytest
import time_machine
from starlette.testclient import TestClient

from assay.identity import service
from assay.identity.issuer import TOKEN_PATH
from assay.identity.models import Credentials
from tests import factories

REUSED = (400, "invalid_grant", "Maximum allowed refresh token reuse exceeded")
ENDED = (400, "invalid_grant", "Session not active")
INVALID = (400, "invalid_grant", "Invalid refresh token")
EXPIRED = (400, "invalid_grant", "Token is not active")


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        yield clock


def refresh(client: TestClient, partner: Credentials, token: str, **changes: str):
    return client.post(TOKEN_PATH, data=factories.refresh_form(partner, token, **changes))


def refusal(answer) -> tuple[int, str, str]:
    body = answer.json()
    assert set(body) == {"error", "error_description"}
    assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
    return answer.status_code, body["error"], body["error_description"]


def unread(token: str) -> dict[str, object]:
    return jwt.decode(token, options={"verify_signature": False})


def test_a_refresh_token_buys_new_tokens_of_the_same_session(anonymous, partner):
    login = factories.tokens(anonymous, partner)
    answer = refresh(anonymous, partner, login["refresh_token"])

    assert answer.status_code == 200
    assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
    renewed = answer.json()
    assert set(renewed) == set(login)
    assert (renewed["expires_in"], renewed["refresh_expires_in"]) == (300, 1800)
    assert renewed["session_state"] == login["session_state"]
    assert renewed["access_token"] != login["access_token"]
    assert renewed["refresh_token"] != login["refresh_token"]
    opened = anonymous.get("/api/v1/info", headers=factories.bearer(renewed["access_token"]))
    assert opened.status_code == 200


def test_each_refresh_token_serves_in_turn(anonymous, partner):
    token = factories.tokens(anonymous, partner)["refresh_token"]
    for _ in range(3):
        token = refresh(anonymous, partner, token).json()["refresh_token"]


def test_a_spent_refresh_token_is_refused(anonymous, partner):
    spent = factories.tokens(anonymous, partner)["refresh_token"]
    refresh(anonymous, partner, spent)

    assert refusal(refresh(anonymous, partner, spent)) == REUSED


def test_reuse_ends_the_whole_session(anonymous, partner):
    spent = factories.tokens(anonymous, partner)["refresh_token"]
    living = refresh(anonymous, partner, spent).json()["refresh_token"]
    refresh(anonymous, partner, spent)

    assert refusal(refresh(anonymous, partner, living)) == ENDED


def test_reuse_leaves_the_partners_other_sessions_alone(anonymous, partner):
    other = factories.tokens(anonymous, partner)["refresh_token"]
    spent = factories.tokens(anonymous, partner)["refresh_token"]
    refresh(anonymous, partner, spent)
    refresh(anonymous, partner, spent)

    assert refresh(anonymous, partner, other).status_code == 200


def test_a_refresh_token_lives_1800_seconds(anonymous, partner, clock):
    token = factories.tokens(anonymous, partner)["refresh_token"]
    clock.shift(1799)
    renewed = refresh(anonymous, partner, token).json()["refresh_token"]
    clock.shift(1800)

    assert refusal(refresh(anonymous, partner, renewed)) == EXPIRED


def test_a_session_ends_after_ten_hours_however_often_it_is_renewed(anonymous, partner, clock):
    token = factories.tokens(anonymous, partner)["refresh_token"]
    for _ in range(23):
        clock.shift(1500)
        token = refresh(anonymous, partner, token).json()["refresh_token"]
    clock.shift(1400)
    last = refresh(anonymous, partner, token).json()

    assert last["refresh_expires_in"] == 100
    clock.shift(100)
    assert refusal(refresh(anonymous, partner, last["refresh_token"])) == EXPIRED


def test_only_a_hash_of_the_token_id_is_stored(anonymous, partner, database):
    token = factories.tokens(anonymous, partner)["refresh_token"]
    token_id = str(unread(token)["jti"])
    with database.read() as tx:
        row = tx.exec_driver_sql("SELECT * FROM login_sessions").one()

    assert row.refresh_hash == hashlib.sha256(token_id.encode()).hexdigest()
    stored = " ".join(map(str, row))
    assert token_id not in stored
    assert token not in stored


def test_sessions_that_have_expired_are_not_kept(anonymous, partner, database, clock):
    factories.tokens(anonymous, partner)
    clock.shift(1801)
    factories.tokens(anonymous, partner)

    with database.read() as tx:
        assert len(tx.exec_driver_sql("SELECT id FROM login_sessions").all()) == 1


@pytest.mark.parametrize("garbage", ["garbage", "a.b.c", "é.é.é", "." * 1000, "\0", "e30.e30."])
def test_garbage_is_no_refresh_token(anonymous, partner, garbage):
    assert refusal(refresh(anonymous, partner, garbage)) == INVALID


def test_a_refresh_token_must_be_given(anonymous, partner):
    answer = refresh(anonymous, partner, "")
    assert refusal(answer) == (400, "invalid_request", "No refresh token")


def test_an_access_token_is_no_refresh_token(anonymous, partner):
    token = factories.tokens(anonymous, partner)["access_token"]
    assert refusal(refresh(anonymous, partner, token)) == INVALID


def test_a_refresh_token_with_an_altered_signature_is_refused(anonymous, partner):
    head, payload, signature = factories.tokens(anonymous, partner)["refresh_token"].split(".")
    forged = ".".join([head, payload, signature[::-1]])
    assert refusal(refresh(anonymous, partner, forged)) == INVALID


def test_a_refresh_token_serves_the_client_only_that_it_was_given_to(anonymous, partner, database):
    other = factories.partner(database, "globex")
    token = factories.tokens(anonymous, partner)["refresh_token"]

    assert refusal(refresh(anonymous, other, token)) == INVALID
    assert refresh(anonymous, partner, token).status_code == 200


@pytest.mark.parametrize(
    ("changes", "error"),
    [({"client_id": "unknown"}, "invalid_client"), ({"client_secret": "wrong"}, "unauthorized_client")],
)
def test_a_refresh_needs_the_clients_credentials(anonymous, partner, changes, error):
    token = factories.tokens(anonymous, partner)["refresh_token"]
    assert refusal(refresh(anonymous, partner, token, **changes))[:2] == (401, error)
    assert refresh(anonymous, partner, token).status_code == 200


def test_a_disabled_partner_cannot_refresh(anonymous, partner, database):
    token = factories.tokens(anonymous, partner)["refresh_token"]
    with database.write() as tx:
        service.disable(tx, "acme")

    assert refusal(refresh(anonymous, partner, token)) == (400, "invalid_grant", "User disabled")


def test_sessions_that_disabling_ended_stay_ended(anonymous, partner, database):
    token = factories.tokens(anonymous, partner)["refresh_token"]
    with database.write() as tx:
        service.disable(tx, "acme")
        service.enable(tx, "acme")

    assert refusal(refresh(anonymous, partner, token)) == ENDED
