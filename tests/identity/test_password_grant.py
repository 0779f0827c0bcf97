"""The password grant of the embedded identity provider, held against Keycloak's answers."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime

import jwt
import pytest
import time_machine
from starlette.testclient import TestClient

from assay.identity import service
from assay.identity.issuer import DISCOVERY_PATH, KEYS_PATH, TOKEN_PATH
from assay.identity.models import Scope
from tests import factories

NO_STORE = ("no-store", "no-cache")
WRONG_CLIENT = "Invalid client or Invalid client credentials"


def read_by_pyjwt(client: TestClient, token: str, **options: object) -> Mapping[str, object]:
    """The claims as a second, independent library reads them with the published keys."""
    published = {entry["kid"]: entry for entry in client.get(KEYS_PATH).json()["keys"]}
    key = jwt.PyJWK(published[jwt.get_unverified_header(token)["kid"]])
    return jwt.decode(token, key, algorithms=["RS256"], issuer=factories.ISSUER, **options)


def refusal(answer) -> tuple[int, str, str]:
    body = answer.json()
    assert set(body) == {"error", "error_description"}
    assert (answer.headers["cache-control"], answer.headers["pragma"]) == NO_STORE
    return answer.status_code, body["error"], body["error_description"]


def test_a_login_answers_every_field_of_the_interface(anonymous, partner):
    answer = anonymous.post(TOKEN_PATH, data=factories.login_form(partner))

    assert answer.status_code == 200
    assert (answer.headers["cache-control"], answer.headers["pragma"]) == NO_STORE
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert set(body) == {
        "access_token",
        "expires_in",
        "refresh_expires_in",
        "refresh_token",
        "token_type",
        "not-before-policy",
        "session_state",
        "scope",
    }
    assert (body["expires_in"], body["refresh_expires_in"]) == (300, 1800)
    assert (body["token_type"], body["not-before-policy"]) == ("Bearer", 0)
    assert uuid.UUID(body["session_state"])
    assert set(body["scope"].split()) == {"content", "frameworks", "assessments", "feedback", "info"}


def test_another_library_reads_the_access_token_with_the_published_keys(anonymous, partner):
    body = factories.tokens(anonymous, partner)
    claims = read_by_pyjwt(anonymous, body["access_token"], audience="assay")

    assert (claims["sub"], claims["azp"]) == (partner.subject, partner.client_id)
    assert claims["exp"] - claims["iat"] == 300
    assert (claims["typ"], claims["scope"]) == ("Bearer", body["scope"])
    assert claims["sid"] == claims["session_state"] == body["session_state"]
    assert claims["preferred_username"] == partner.username
    assert uuid.UUID(claims["jti"])


def test_another_library_reads_the_refresh_token_with_the_published_keys(anonymous, partner):
    body = factories.tokens(anonymous, partner)
    claims = read_by_pyjwt(anonymous, body["refresh_token"], audience=factories.ISSUER)

    assert claims["exp"] - claims["iat"] == 1800
    assert (claims["typ"], claims["sub"]) == ("Refresh", partner.subject)
    assert claims["jti"] != read_by_pyjwt(anonymous, body["access_token"], audience="assay")["jti"]


def test_a_fresh_token_opens_the_api(anonymous, partner):
    token = factories.tokens(anonymous, partner)["access_token"]
    assert anonymous.get("/api/v1/info", headers=factories.bearer(token)).status_code == 200


def test_published_keys_are_public_only(anonymous):
    for key in anonymous.get(KEYS_PATH).json()["keys"]:
        assert set(key) == {"kty", "n", "e", "kid", "use", "alg"}
        assert (key["kty"], key["use"], key["alg"]) == ("RSA", "sig", "RS256")


def test_discovery_names_issuer_token_and_key_addresses(make_client):
    client = make_client(public_url="https://assay.example/here/")
    document = client.get(DISCOVERY_PATH).json()

    assert document["issuer"] == "https://assay.example/here/realms/assay"
    assert document["token_endpoint"] == f"https://assay.example/here{TOKEN_PATH}"
    assert document["jwks_uri"] == f"https://assay.example/here{KEYS_PATH}"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"password": "wrong"}, (401, "invalid_grant", "Invalid user credentials")),
        ({"password": ""}, (401, "invalid_grant", "Invalid user credentials")),
        ({"username": "nobody"}, (401, "invalid_grant", "Invalid user credentials")),
        ({"username": "ac\0me"}, (401, "invalid_grant", "Invalid user credentials")),
        ({"username": ""}, (401, "invalid_request", "Missing parameter: username")),
        ({"client_id": "unknown"}, (401, "invalid_client", WRONG_CLIENT)),
        ({"client_id": ""}, (401, "invalid_client", WRONG_CLIENT)),
        ({"client_id": "with\0nul"}, (401, "invalid_client", WRONG_CLIENT)),
        ({"client_secret": "wrong"}, (401, "unauthorized_client", WRONG_CLIENT)),
        ({"client_secret": ""}, (401, "unauthorized_client", WRONG_CLIENT)),
        ({"grant_type": "client_credentials"}, (400, "unsupported_grant_type", "Unsupported grant_type")),
        ({"grant_type": ""}, (400, "invalid_request", "Missing form parameter: grant_type")),
    ],
    ids=lambda value: "-".join(map(str, value.items())) if isinstance(value, dict) else "",
)
def test_a_wrong_login_is_refused_as_keycloak_refuses_it(anonymous, partner, changes, expected):
    answer = anonymous.post(TOKEN_PATH, data=factories.login_form(partner, **changes))
    assert refusal(answer) == expected


@pytest.mark.parametrize(
    "missing", ["grant_type", "username", "password", "client_id", "client_secret"], ids=str
)
def test_every_parameter_of_the_form_is_required(anonymous, partner, missing):
    form = factories.login_form(partner)
    del form[missing]
    assert refusal(anonymous.post(TOKEN_PATH, data=form))[0] in {400, 401}


@pytest.mark.parametrize("body", [b"", b"grant_type=%ff%fe", b"&".join([b"a=1"] * 1000)])
def test_a_form_that_cannot_be_read_lacks_its_grant_type(anonymous, body):
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = anonymous.post(TOKEN_PATH, content=body, headers=headers)
    assert refusal(answer) == (400, "invalid_request", "Missing form parameter: grant_type")


def test_the_token_endpoint_takes_forms_only(anonymous, partner):
    answer = anonymous.post(TOKEN_PATH, json=factories.login_form(partner))
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_type")


def test_the_token_endpoint_takes_small_forms_only(anonymous, partner):
    answer = anonymous.post(TOKEN_PATH, data=factories.login_form(partner, password="x" * 40_000))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_disabled_partner_cannot_log_in(anonymous, partner, database):
    with database.write() as tx:
        service.disable(tx, "acme")

    answer = anonymous.post(TOKEN_PATH, data=factories.login_form(partner))
    assert refusal(answer) == (400, "invalid_grant", "Account disabled")


def test_a_disabled_partner_is_not_told_apart_without_the_password(anonymous, partner, database):
    with database.write() as tx:
        service.disable(tx, "acme")

    answer = anonymous.post(TOKEN_PATH, data=factories.login_form(partner, password="wrong"))
    assert refusal(answer) == (401, "invalid_grant", "Invalid user credentials")


def test_an_enabled_partner_logs_in_again(anonymous, partner, database):
    with database.write() as tx:
        service.disable(tx, "acme")
        service.enable(tx, "acme")

    assert anonymous.post(TOKEN_PATH, data=factories.login_form(partner)).status_code == 200


def test_another_partners_user_cannot_log_in_through_this_client(anonymous, partner, database):
    other = factories.partner(database, "globex")
    stranger = factories.login_form(partner, username=other.username, password=other.password)

    answer = anonymous.post(TOKEN_PATH, data=stranger)
    assert refusal(answer) == (401, "invalid_grant", "Invalid user credentials")


def test_a_partner_is_granted_its_scopes_only(anonymous, database):
    narrow = factories.partner(database, "narrow", scopes=frozenset({Scope.CONTENT, Scope.INFO}))
    body = factories.tokens(anonymous, narrow)

    assert set(body["scope"].split()) == {"content", "info"}
    claims = read_by_pyjwt(anonymous, body["access_token"], audience="assay")
    assert claims["scope"] == body["scope"]


def test_a_new_client_secret_replaces_the_old_one(anonymous, partner, database):
    with database.write() as tx:
        _, secret = service.rotate_secret(tx, "acme")

    old = anonymous.post(TOKEN_PATH, data=factories.login_form(partner))
    new = anonymous.post(TOKEN_PATH, data=factories.login_form(partner, client_secret=secret))
    assert (refusal(old)[1], new.status_code) == ("unauthorized_client", 200)


def test_passwords_and_secrets_are_stored_as_hashes_only(partner, database):
    with database.read() as tx:
        row = tx.exec_driver_sql("SELECT * FROM partners").one()

    stored = " ".join(map(str, row))
    assert partner.password not in stored
    assert partner.client_secret not in stored
    assert row.password_hash.startswith("$argon2id$")


def fail(client: TestClient, partner, times: int, **changes: str) -> None:
    for _ in range(times):
        answer = client.post(TOKEN_PATH, data=factories.login_form(partner, **changes))
        assert answer.status_code == 401


def test_a_user_is_locked_after_too_many_failures_and_not_told_so(make_client, partner):
    client = make_client(limits={"login_failures_per_user": 3})
    fail(client, partner, 3, password="wrong")

    answer = client.post(TOKEN_PATH, data=factories.login_form(partner))
    assert refusal(answer) == (401, "invalid_grant", "Invalid user credentials")


def test_a_locked_user_may_try_again_after_five_minutes(make_client, partner):
    client = make_client(limits={"login_failures_per_user": 3})
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        fail(client, partner, 3, password="wrong")
        clock.shift(299)
        fail(client, partner, 1)
        clock.shift(2)
        assert client.post(TOKEN_PATH, data=factories.login_form(partner)).status_code == 200


def test_a_locked_user_does_not_lock_another(make_client, partner, database):
    other = factories.partner(database, "globex")
    client = make_client(limits={"login_failures_per_user": 3})
    fail(client, partner, 3, password="wrong")

    assert client.post(TOKEN_PATH, data=factories.login_form(other)).status_code == 200


def test_a_stranger_without_the_client_secret_cannot_lock_a_user_out(make_client, partner):
    client = make_client(limits={"login_failures_per_user": 3})
    fail(client, partner, 20, password="wrong", client_secret="guessed")

    assert client.post(TOKEN_PATH, data=factories.login_form(partner)).status_code == 200


def test_an_address_that_fails_too_often_is_told_to_wait(make_client, partner):
    client = make_client(limits={"login_failures_per_address": 3})
    fail(client, partner, 3, client_secret="guessed")

    answer = client.post(TOKEN_PATH, data=factories.login_form(partner))
    assert refusal(answer)[:2] == (429, "temporarily_unavailable")
    assert answer.headers["retry-after"] == "300"


def test_an_address_is_heard_again_after_five_minutes(make_client, partner):
    client = make_client(limits={"login_failures_per_address": 3})
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        fail(client, partner, 3, client_secret="guessed")
        clock.shift(301)
        assert client.post(TOKEN_PATH, data=factories.login_form(partner)).status_code == 200


def test_an_address_that_fails_does_not_stop_another(make_client, partner):
    client = make_client(limits={"login_failures_per_address": 3})
    fail(client, partner, 3, client_secret="guessed")

    elsewhere = TestClient(client.app, client=("192.0.2.7", 40000))
    assert elsewhere.post(TOKEN_PATH, data=factories.login_form(partner)).status_code == 200


def test_successful_logins_count_towards_no_limit(make_client, partner):
    client = make_client(limits={"login_failures_per_user": 2, "login_failures_per_address": 2})
    for _ in range(4):
        assert client.post(TOKEN_PATH, data=factories.login_form(partner)).status_code == 200
