"""Which access tokens are refused, and how: status, challenge and code of each."""

import base64
import hmac
import json
import time
from datetime import UTC, datetime

import pytest
import time_machine
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from joserfc import jwk

from assay.identity import keys, service, store
from tests import factories

MISSING = (401, 'Bearer realm="assay"', "missing_token")
INVALID = (401, 'Bearer realm="assay", error="invalid_token"', "invalid_token")
OTHER_KEY = jwk.RSAKey.generate_key(2048, auto_kid=True)


def ask(client, token: str):
    return client.get("/api/v1/info", headers=factories.bearer(token))


def refusal(answer) -> tuple[int, str | None, str]:
    return answer.status_code, answer.headers.get("www-authenticate"), answer.json()["code"]


def encoded(value: object) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def signed_raw(key: jwk.RSAKey, header: object, payload: object) -> str:
    """What a library would rather not sign."""
    signing = f"{encoded(header)}.{encoded(payload)}"
    signature = key.get_op_key("sign").sign(signing.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signing}.{encoded(signature)}"


@pytest.fixture
def key(database) -> jwk.RSAKey:
    """The provider's own key: what it signs is refused for what it says alone."""
    return factories.signing_key(database)


@pytest.fixture
def said(partner) -> dict[str, object]:
    return factories.claims(partner.subject)


def test_what_the_forgeries_are_made_of_is_accepted(anonymous, key, said):
    assert ask(anonymous, factories.signed(key, said)).status_code == 200


def test_a_token_is_missing_without_the_header(anonymous):
    assert refusal(anonymous.get("/api/v1/info")) == MISSING


@pytest.mark.parametrize("value", ["", "Bearer", "Bearer ", "Basic YWNtZTpwYXNz", "Token abc", "abc"])
def test_another_scheme_is_no_token(anonymous, value):
    answer = anonymous.get("/api/v1/info", headers={"Authorization": value})
    assert refusal(answer) == MISSING


def test_the_scheme_may_be_written_in_any_case(client):
    token = client.headers["Authorization"].removeprefix("Bearer ")
    assert client.get("/api/v1/info", headers={"Authorization": f"bEARER {token}"}).status_code == 200


def test_two_tokens_are_refused_even_when_both_are_good(anonymous, partner):
    token = f"Bearer {factories.tokens(anonymous, partner)['access_token']}"
    answer = anonymous.get("/api/v1/info", headers=[("Authorization", token), ("Authorization", token)])
    assert refusal(answer) == INVALID


@pytest.mark.parametrize(
    "garbage",
    [
        "garbage",
        "a.b.c",
        "..",
        "e30.e30.e30",
        "é".encode(),
        "." * 100,
        f"{encoded([])}.{encoded({})}.AAAA",
        f"{encoded({'alg': ['RS256']})}.{encoded({})}.AAAA",
        f"{encoded({'alg': 'RS256', 'kid': {'a': 1}})}.{encoded({})}.AAAA",
        f"{encoded({'alg': 'RS256', 'kid': 7})}.{encoded({})}.AAAA",
        f"{encoded({'alg': 'RS256', 'kid': chr(0)})}.{encoded({})}.AAAA",
        f"{encoded({'kid': 'x'})}.{encoded({})}.AAAA",
        f"{encoded({'alg': None})}.{encoded({})}.AAAA",
        f"{encoded(b'[' * 5000)}.{encoded({})}.AAAA",
        f"{encoded(b'{' + bytes([255]))}.{encoded({})}.AAAA",
        f"{encoded({'alg': 'RSA-OAEP', 'enc': 'A256GCM'})}.a.b.c.d",
    ],
    ids=lambda value: str(value)[:20],
)
def test_garbage_is_no_token(anonymous, garbage):
    value = b"Bearer " + (garbage if isinstance(garbage, bytes) else garbage.encode())
    answer = anonymous.get("/api/v1/info", headers={"Authorization": value})
    assert refusal(answer) == INVALID


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE"])
def test_an_unsigned_token_is_refused(anonymous, key, said, alg):
    for signature in ("", "AAAA"):
        token = f"{encoded({'alg': alg, 'kid': key.kid})}.{encoded(said)}.{signature}"
        assert refusal(ask(anonymous, token)) == INVALID


@pytest.mark.parametrize("alg", ["HS256", "HS384", "HS512"])
def test_the_public_key_is_no_shared_secret(anonymous, key, said, alg):
    public = key.as_dict(private=False)
    signing = f"{encoded({'alg': alg, 'kid': key.kid})}.{encoded(said)}"
    for secret in (key.as_pem(private=False), json.dumps(public).encode(), public["n"].encode()):
        signature = hmac.digest(secret, signing.encode(), alg.replace("HS", "SHA"))
        assert refusal(ask(anonymous, f"{signing}.{encoded(signature)}")) == INVALID


@pytest.mark.parametrize("alg", ["RS384", "RS512", "PS384", "PS512"])
def test_an_algorithm_beyond_the_list_is_refused(anonymous, key, said, alg):
    assert refusal(ask(anonymous, factories.signed(key, said, alg=alg))) == INVALID


def test_a_token_that_names_no_key_or_an_unknown_one_is_refused(anonymous, key, said):
    for kid in (None, "unknown", ""):
        assert refusal(ask(anonymous, factories.signed(key, said, kid=kid))) == INVALID


def test_a_strangers_signature_under_a_known_key_id_is_refused(anonymous, key, said):
    assert refusal(ask(anonymous, factories.signed(OTHER_KEY, said, kid=key.kid))) == INVALID


def test_an_altered_payload_is_refused(anonymous, key, said):
    head, _, signature = factories.signed(key, said).split(".")
    forged = encoded({**said, "exp": said["exp"] + 9999})
    assert refusal(ask(anonymous, f"{head}.{forged}.{signature}")) == INVALID


@pytest.mark.parametrize(
    "header",
    [
        {"jwk": OTHER_KEY.as_dict(private=False)},
        {"jku": "http://127.0.0.1:9/keys"},
        {"x5u": "http://127.0.0.1:9/certificate"},
        {"jku": "http://127.0.0.1:9/keys", "kid": None},
        {"jwk": OTHER_KEY.as_dict(private=False), "kid": None},
    ],
    ids="-".join,
)
def test_a_key_that_the_token_brings_along_is_never_used(anonymous, said, header):
    assert refusal(ask(anonymous, factories.signed(OTHER_KEY, said, **header))) == INVALID


@pytest.mark.parametrize("crit", [["exp"], ["b64"], ["kid"], [], "exp"], ids=str)
def test_a_critical_extension_is_refused(anonymous, key, said, crit):
    header = {"alg": "RS256", "kid": key.kid, "crit": crit, "exp": 1, "b64": True}
    assert refusal(ask(anonymous, signed_raw(key, header, said))) == INVALID


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://elsewhere.example"},
        {"iss": None},
        {"iss": factories.ISSUER + "/"},
        {"iss": [factories.ISSUER]},
        {"sub": None},
        {"sub": "acme"},
        {"sub": 7},
        {"sub": "{5c9e5a3e-6f4f-4f0e-9b5a-0d6f2a4c1b77}"},
        {"sub": "5c9e5a3e6f4f4f0e9b5a0d6f2a4c1b77"},
        {"exp": None},
        {"exp": "4102444800"},
        {"exp": True},
        {"exp": [4102444800]},
        {"exp": 10**400},
        {"nbf": "1"},
        {"nbf": True},
        {"nbf": {}},
        {"iat": "1"},
        {"iat": False},
        {"typ": "Refresh"},
        {"typ": "ID"},
        {"typ": ["Bearer"]},
        {"at_hash": "x"},
        {"c_hash": "x"},
        {"s_hash": "x"},
        {"token_use": "id"},
    ],
    ids=lambda change: str(change)[:40],
)
def test_a_well_signed_token_that_says_the_wrong_thing_is_refused(anonymous, key, partner, change):
    token = factories.signed(key, factories.claims(partner.subject, **change))
    assert refusal(ask(anonymous, token)) == INVALID


@pytest.mark.parametrize("typ", ["ID", "logout+jwt", "dpop+jwt", ["JWT"], 7], ids=str)
def test_a_header_that_names_another_kind_of_token_is_refused(anonymous, key, said, typ):
    header = {"alg": "RS256", "kid": key.kid, "typ": typ}
    assert refusal(ask(anonymous, signed_raw(key, header, said))) == INVALID


@pytest.mark.parametrize("typ", ["JWT", "jwt", "at+jwt", "application/at+jwt", None], ids=str)
def test_a_header_that_names_an_access_token_or_nothing_is_accepted(anonymous, key, said, typ):
    assert ask(anonymous, factories.signed(key, said, typ=typ)).status_code == 200


def test_a_number_with_a_fraction_is_a_time_too(anonymous, key, partner):
    said = factories.claims(partner.subject, exp=time.time() + 60.5, iat=time.time() - 0.5)
    assert ask(anonymous, factories.signed(key, said)).status_code == 200


@pytest.mark.parametrize("payload", [[1], "text", None, 7, b"not json", b"\xff"], ids=str)
def test_claims_that_are_no_object_are_refused(anonymous, key, payload):
    header = {"alg": "RS256", "kid": key.kid}
    assert refusal(ask(anonymous, signed_raw(key, header, payload))) == INVALID


def test_headers_that_mean_nothing_to_us_are_ignored(anonymous, key, said):
    header = {"alg": "RS256", "kid": key.kid, "pi.atm": "1", "x5c": ["A" * 2000], "nonce": "x"}
    assert ask(anonymous, signed_raw(key, header, said)).status_code == 200


def test_a_token_expires_to_the_second(anonymous, key, partner):
    with time_machine.travel(datetime.now(UTC).replace(microsecond=0), tick=False) as clock:
        token = factories.signed(key, factories.claims(partner.subject, exp=int(time.time()) + 10))
        clock.shift(9.9)
        assert ask(anonymous, token).status_code == 200
        clock.shift(0.1)
        assert refusal(ask(anonymous, token)) == INVALID


@pytest.mark.parametrize("claim", ["nbf", "iat"])
def test_a_clock_may_be_wrong_by_thirty_seconds(anonymous, key, partner, claim):
    with time_machine.travel(datetime.now(UTC).replace(microsecond=0), tick=False):
        now = int(time.time())
        early = factories.signed(key, factories.claims(partner.subject, **{claim: now + 31}))
        bearable = factories.signed(key, factories.claims(partner.subject, **{claim: now + 30}))
        assert refusal(ask(anonymous, early)) == INVALID
        assert ask(anonymous, bearable).status_code == 200


def test_a_token_that_came_too_early_is_good_later(anonymous, key, partner):
    with time_machine.travel(datetime.now(UTC).replace(microsecond=0), tick=False) as clock:
        token = factories.signed(key, factories.claims(partner.subject, nbf=int(time.time()) + 60))
        assert refusal(ask(anonymous, token)) == INVALID
        clock.shift(30)
        assert ask(anonymous, token).status_code == 200


def test_a_refresh_token_is_no_access_token(anonymous, partner):
    token = factories.tokens(anonymous, partner)["refresh_token"]
    assert refusal(ask(anonymous, token)) == INVALID


def test_the_token_of_a_partner_that_is_not_there_is_refused(anonymous, key):
    said = factories.claims("5c9e5a3e-6f4f-4f0e-9b5a-0d6f2a4c1b77")
    assert refusal(ask(anonymous, factories.signed(key, said))) == INVALID


def test_a_subject_may_be_written_in_capitals(anonymous, key, partner):
    said = factories.claims(partner.subject.upper())
    assert ask(anonymous, factories.signed(key, said)).status_code == 200


def test_a_token_over_the_limit_is_not_even_looked_at(anonymous, key, partner):
    said = factories.claims(partner.subject, padding="x" * 12_000)
    answer = ask(anonymous, factories.signed(key, said))
    assert refusal(answer) == INVALID
    assert answer.json()["message"] == "The access token is too long."


def test_a_megabyte_of_token_is_refused_with_the_other_headers(anonymous):
    answer = ask(anonymous, "x" * 2**20)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


def test_a_cached_token_expires_to_the_second_too(anonymous, key, partner):
    with time_machine.travel(datetime.now(UTC).replace(microsecond=0), tick=False) as clock:
        token = factories.tokens(anonymous, partner)["access_token"]
        for seconds in (0, 299):
            clock.shift(seconds)
            assert ask(anonymous, token).status_code == 200
        clock.shift(1)
        assert refusal(ask(anonymous, token)) == INVALID


def test_a_cached_token_of_a_disabled_partner_stops_at_once(client, database):
    assert client.get("/api/v1/info").status_code == 200
    with database.write() as tx:
        service.disable(tx, "acme")
    assert refusal(client.get("/api/v1/info")) == INVALID

    with database.write() as tx:
        service.enable(tx, "acme")
    assert client.get("/api/v1/info").status_code == 200


def test_a_cached_token_whose_key_was_withdrawn_stops(client, database):
    assert client.get("/api/v1/info").status_code == 200
    with database.write() as tx:
        now = datetime.now(UTC)
        kids = [row.kid for row in store.list_keys(tx, now)]
        keys.rotate(tx)
        store.retire_keys(tx, kids, now)
    client.get("/realms/assay/protocol/openid-connect/certs")  # the running service reads its ring anew

    assert refusal(client.get("/api/v1/info")) == INVALID
