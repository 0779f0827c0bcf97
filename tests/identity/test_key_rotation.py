"""Signing keys rotate without a refused request, and a leaked one is refused at once."""

from datetime import UTC, datetime

import jwt
import pytest
import time_machine

from assay.identity import keys
from assay.identity.issuer import KEYS_PATH, TOKEN_PATH
from assay.identity.models import KeysUnavailable
from tests import factories


def rotate(database, **options: object) -> str:
    """As another process does it, while the service runs."""
    with database.write() as tx:
        return keys.rotate(tx, **options)


def published(client) -> list[str]:
    return [key["kid"] for key in client.get(KEYS_PATH).json()["keys"]]


def kid_of(token: str) -> str:
    return jwt.get_unverified_header(token)["kid"]


def ask(client, token: str) -> int:
    return client.get("/api/v1/info", headers=factories.bearer(token)).status_code


def refresh(client, partner, token: str):
    return client.post(TOKEN_PATH, data=factories.refresh_form(partner, token))


def test_nothing_is_refused_while_the_keys_rotate(anonymous, partner, database):
    old = factories.tokens(anonymous, partner)
    new_kid = rotate(database)

    assert ask(anonymous, old["access_token"]) == 200
    renewed = refresh(anonymous, partner, old["refresh_token"])
    assert renewed.status_code == 200
    assert ask(anonymous, renewed.json()["access_token"]) == 200
    assert {kid_of(token) for token in _tokens(renewed.json())} == {new_kid}
    assert published(anonymous) == [new_kid, kid_of(old["access_token"])]


def _tokens(body: dict[str, str]) -> list[str]:
    return [body["access_token"], body["refresh_token"]]


def test_a_service_that_has_not_heard_of_the_new_key_looks_it_up(make_client, partner, database):
    first, second = make_client(), make_client()
    token = factories.tokens(first, partner)["access_token"]
    assert ask(second, token) == 200
    rotate(database)

    renewed = factories.tokens(first, partner)["access_token"]
    assert ask(second, renewed) == 200


def test_a_key_can_be_published_before_it_signs(anonymous, partner, database):
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        old_kid = kid_of(factories.tokens(anonymous, partner)["access_token"])
        new_kid = rotate(database, after_seconds=600)

        assert set(published(anonymous)) == {old_kid, new_kid}
        assert kid_of(factories.tokens(anonymous, partner)["access_token"]) == old_kid
        clock.shift(601)
        assert kid_of(factories.tokens(anonymous, partner)["access_token"]) == new_kid


def test_a_retired_key_is_published_as_long_as_its_tokens_live(anonymous, partner, database):
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        old = factories.tokens(anonymous, partner)["refresh_token"]
        new_kid = rotate(database)
        clock.shift(1795)
        assert kid_of(old) in published(anonymous)
        assert refresh(anonymous, partner, old).status_code == 200
        clock.shift(70)
        assert published(anonymous) == [new_kid]


def test_a_retired_key_counts_from_the_moment_that_its_successor_signs(anonymous, partner, database):
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        rotate(database, after_seconds=3600)
        clock.shift(3590)
        token = factories.tokens(anonymous, partner)["refresh_token"]
        clock.shift(1790)
        assert refresh(anonymous, partner, token).status_code == 200


def test_what_a_leaked_key_signed_is_refused(anonymous, partner, database):
    old = factories.tokens(anonymous, partner)
    assert ask(anonymous, old["access_token"]) == 200
    new_kid = rotate(database, at_once=True)

    assert published(anonymous) == [new_kid]
    assert ask(anonymous, old["access_token"]) == 401
    answer = refresh(anonymous, partner, old["refresh_token"])
    assert (answer.status_code, answer.json()["error_description"]) == (400, "Invalid refresh token")
    assert ask(anonymous, factories.tokens(anonymous, partner)["access_token"]) == 200


def test_every_service_hears_of_a_withdrawn_key_within_ten_seconds(database):
    now = 0.0
    ring = keys.KeyRing(database, clock=lambda: now)
    old = factories.signing_key(database).kid
    assert ring.find(old) is not None
    rotate(database, at_once=True)

    now = 10.1
    assert ring.find(old) is None


def test_without_a_key_the_service_says_what_is_missing(anonymous, partner, database):
    with database.write() as tx:
        tx.exec_driver_sql("DELETE FROM signing_keys")

    answer = anonymous.post(TOKEN_PATH, data=factories.login_form(partner))
    assert (answer.status_code, answer.json()["code"]) == (503, "keys_unavailable")
    assert anonymous.get("/readyz").json()["checks"]["keys"] == "There is no signing key yet."
    with pytest.raises(KeysUnavailable):
        keys.KeyRing(database).check()
