"""Any OIDC provider by settings: which of its tokens are taken, and how its keys are fetched."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from assay.identity import keys, service, store
from assay.identity.issuer import DISCOVERY_PATH, KEYS_PATH, TOKEN_PATH
from assay.identity.keys import PublishedKeys, fetcher
from assay.identity.models import KeysUnavailable
from tests import factories
from tests.identity import oidc

SUBJECT = "5c9e5a3e-6f4f-4f0e-9b5a-0d6f2a4c1b77"
INVALID = (401, 'Bearer realm="assay", error="invalid_token"', "invalid_token")
LACKING = (403, 'Bearer realm="assay", error="insufficient_scope", scope="info"', "insufficient_scope")


@pytest.fixture
def provider() -> Iterator[oidc.Provider]:
    with oidc.running() as provider:
        yield provider


@pytest.fixture
def make(make_client, provider):
    """A service behind the provider, with these settings of its identity section."""

    def make(**identity: object):
        return make_client(identity={"issuer": provider.issuer, "jwks_url": provider.jwks_url, **identity})

    return make


def ask(client, token: str):
    return client.get("/api/v1/info", headers=factories.bearer(token))


def refusal(answer) -> tuple[int, str | None, str]:
    return answer.status_code, answer.headers.get("www-authenticate"), answer.json()["code"]


@pytest.mark.parametrize("alg", ["RS256", "PS256", "ES256", "EdDSA"])
@pytest.mark.parametrize("more", [{}, {"use": "sig"}, {"use": "sig", "alg": "as signed"}], ids=str)
def test_every_algorithm_of_the_list_is_accepted(make, provider, alg, more):
    described = {name: alg if value == "as signed" else value for name, value in more.items()}
    provider.keys = [oidc.published(oidc.key_for(alg), **described)]

    assert ask(make(), provider.token(SUBJECT, alg=alg)).status_code == 200


def test_the_keys_are_found_by_discovery(make, provider):
    assert ask(make(jwks_url=None), provider.token(SUBJECT)).status_code == 200
    assert provider.asked == ["/realms/external/.well-known/openid-configuration", "/keys"]


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://elsewhere.example"},
        {"jwks_uri": None},
        {"jwks_uri": "http://["},
        {"jwks_uri": "file:///etc/passwd"},
    ],
    ids=str,
)
def test_a_discovery_document_that_cannot_be_right_is_not_followed(make, provider, change):
    provider.discovery.update(change)
    assert ask(make(jwks_url=None), provider.token(SUBJECT)).status_code == 503
    assert provider.asked == ["/realms/external/.well-known/openid-configuration"]


def test_keys_that_cannot_verify_are_passed_over(make, provider):
    usable = oidc.published(oidc.key_for("RS256"))
    provider.keys = [
        "not a key",
        {"kty": "RSA", "kid": "half"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"},
        {"kty": "unheard-of", "kid": "new"},
        oidc.published(oidc.key_for("ES256"), use="enc"),
        usable,
    ]
    client = make()

    assert ask(client, provider.token(SUBJECT)).status_code == 200
    assert refusal(ask(client, provider.token(SUBJECT, alg="ES256"))) == INVALID


def test_a_token_without_a_key_id_means_the_only_key(make, provider):
    assert ask(make(), provider.token(SUBJECT, kid=None)).status_code == 200


def test_a_token_without_a_key_id_is_refused_where_there_are_several(make, provider):
    provider.keys.append(oidc.published(oidc.key_for("ES256")))
    assert refusal(ask(make(), provider.token(SUBJECT, kid=None))) == INVALID


def test_a_token_of_another_issuer_is_refused(make, provider):
    assert refusal(ask(make(), provider.token(SUBJECT, iss=provider.issuer + "/other"))) == INVALID


@pytest.mark.parametrize("audience", ["api", ["api"], ["account", "api"]], ids=str)
def test_the_audience_may_be_a_word_or_a_list(make, provider, audience):
    assert ask(make(audience="api"), provider.token(SUBJECT, aud=audience)).status_code == 200


@pytest.mark.parametrize("audience", [None, "account", ["account"], [], 7, "other api", {"api": 1}], ids=str)
def test_a_token_for_another_audience_is_refused(make, provider, audience):
    assert refusal(ask(make(audience="api"), provider.token(SUBJECT, aud=audience))) == INVALID


def test_any_audience_is_accepted_where_none_is_configured(make, provider):
    client = make()
    for audience in (None, "account"):
        assert ask(client, provider.token(SUBJECT, aud=audience)).status_code == 200


def test_only_the_allowed_clients_are_accepted(make, provider):
    client = make(clients="portal,batch")
    for claim in ("azp", "client_id"):
        assert ask(client, provider.token(SUBJECT, **{"azp": None, claim: "batch"})).status_code == 200
        assert refusal(ask(client, provider.token(SUBJECT, **{"azp": None, claim: "evil"}))) == INVALID
    assert refusal(ask(client, provider.token(SUBJECT, azp=None))) == INVALID


def test_the_subject_may_stand_in_another_claim(make, provider):
    client = make(subject_claim="partner_uuid")
    token = provider.token("auth0|1234", partner_uuid=SUBJECT)

    answer = client.get("/internal/authz", headers=factories.bearer(token))
    assert (answer.status_code, answer.headers["idp_subject"]) == (204, SUBJECT)


def test_a_subject_that_is_no_uuid_is_refused(make, provider):
    assert refusal(ask(make(), provider.token("auth0|1234"))) == INVALID


@pytest.mark.parametrize(
    "granting",
    [
        {"scope": "openid content"},
        {"scope": None, "scp": ["content"]},
        {"scope": None, "scp": "content"},
        {"scope": "openid", "realm_access": {"roles": ["content"]}},
        {"scope": "openid", "resource_access": {"portal": {"roles": ["feedback"]}}},
        {"scope": "partner"},
        {"scope": "openid", "realm_access": {"roles": ["partner"]}},
        {"scope": "openid", "resource_access": {"portal": {"roles": ["partner"]}}},
    ],
    ids=str,
)
def test_a_scope_or_a_role_grants_access(make, provider, granting):
    assert ask(make(), provider.token(SUBJECT, azp="portal", **granting)).status_code == 200


@pytest.mark.parametrize(
    "lacking",
    [
        {"scope": None},
        {"scope": ""},
        {"scope": "openid profile"},
        {"scope": "CONTENT"},
        {"scope": "contents"},
        {"scope": "openid", "realm_access": ["content"]},
        {"scope": "openid", "realm_access": {"roles": {"content": 1}}},
        {"scope": "openid", "resource_access": {"another": {"roles": ["partner"]}}},
        {"scope": 7},
        {"scope": "openid", "roles": ["content"]},
    ],
    ids=str,
)
def test_a_token_without_a_scope_or_role_of_ours_lacks_it(make, provider, lacking):
    assert refusal(ask(make(), provider.token(SUBJECT, azp="portal", **lacking))) == LACKING


def test_roles_of_the_configured_audience_count_whatever_the_client(make, provider):
    token = provider.token(SUBJECT, aud="api", scope="", resource_access={"api": {"roles": ["content"]}})
    assert ask(make(audience="api"), token).status_code == 200


def test_where_scopes_and_roles_stand_is_a_setting(make, provider):
    client = make(scope_claims="permissions", role_claims="https://claims/groups")
    assert ask(client, provider.token(SUBJECT, scope="", permissions=["content"])).status_code == 200
    token = provider.token(SUBJECT, scope="", **{"https://claims/groups": ["feedback"]})
    assert ask(client, token).status_code == 200
    assert refusal(ask(client, provider.token(SUBJECT, scope="content"))) == LACKING


def test_what_grants_everything_is_a_setting(make, provider):
    client = make(full_access="everything")
    assert ask(client, provider.token(SUBJECT, scope="everything")).status_code == 200
    assert refusal(ask(client, provider.token(SUBJECT, scope="partner"))) == LACKING


def test_a_partner_exists_from_its_first_accepted_token(make, provider, database):
    client = make(audience="api")
    ask(client, provider.token(SUBJECT, aud="other"))
    with database.read() as tx:
        assert store.list_(tx) == []

    for _ in range(2):
        ask(client, provider.token(SUBJECT, aud="api"))
    with database.read() as tx:
        (partner,) = store.list_(tx)
    assert (partner.subject, partner.name, partner.client_id) == (SUBJECT, None, None)


def test_a_partner_met_by_many_requests_at_once_exists_once(make, provider, database):
    client = make()
    ask(client, provider.token(SUBJECT.replace("5", "6")))
    token = provider.token(SUBJECT)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(client, token).status_code, range(16)))

    assert set(answers) == {200}
    with database.read() as tx:
        assert [partner.subject for partner in store.list_(tx)].count(SUBJECT) == 1


def test_a_partner_is_disabled_by_its_subject(make, provider, database):
    client = make()
    token = provider.token(SUBJECT)
    assert ask(client, token).status_code == 200
    with database.write() as tx:
        service.disable(tx, SUBJECT.upper())
    assert refusal(ask(client, token)) == INVALID

    with database.write() as tx:
        service.enable(tx, SUBJECT)
    assert ask(client, token).status_code == 200


def test_the_embedded_provider_is_off(make):
    client = make()
    assert client.post(TOKEN_PATH, data={"grant_type": "password"}).status_code == 404
    assert client.get(KEYS_PATH).status_code == 404
    assert client.get(DISCOVERY_PATH).status_code == 404


def test_a_token_of_the_embedded_provider_is_refused(make, provider, database, partner):
    key = factories.signing_key(database)
    for said in (factories.claims(partner.subject), factories.claims(partner.subject, iss=provider.issuer)):
        assert refusal(ask(make(), factories.signed(key, said))) == INVALID


def test_keys_that_were_never_had_make_the_service_unavailable(make, provider):
    provider.status = 500
    answer = ask(make(), provider.token(SUBJECT))

    assert (answer.status_code, answer.json()["code"]) == (503, "keys_unavailable")
    assert int(answer.headers["retry-after"]) > 0
    assert "www-authenticate" not in answer.headers


@pytest.mark.parametrize("body", [[], {"keys": 7}, {}], ids=str)
def test_a_document_that_holds_no_keys_is_as_good_as_none(make, provider, body):
    provider.answer = lambda _path: (200, str(body).replace("'", '"').encode())
    assert ask(make(), provider.token(SUBJECT)).status_code == 503


def test_readiness_names_the_keys_that_are_away(make, provider):
    provider.status = 500
    answer = make().get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["checks"]["keys"] != "ok"
    assert answer.json()["checks"]["database"] == "ok"


def test_failed_fetches_are_counted(make, provider):
    provider.status = 500
    client = make()
    ask(client, provider.token(SUBJECT))

    assert "assay_key_fetch_failures_total 1.0" in client.get("/metrics").text


def test_a_storm_of_unknown_key_ids_costs_no_storm_of_fetches(make, provider):
    client = make()
    ask(client, provider.token(SUBJECT))
    for number in range(30):
        assert refusal(ask(client, provider.token(SUBJECT, kid=f"unknown-{number}"))) == INVALID
    assert provider.asked == ["/keys"]


@pytest.mark.parametrize(
    "hostile",
    ["eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJIUzI1NiIsImtpZCI6IngifQ.e30.AAAA", "garbage", "x" * 17_000],
    ids=["none", "hmac", "garbage", "long"],
)
def test_a_hostile_token_costs_no_fetch_at_all(make, provider, hostile):
    assert refusal(ask(make(), hostile)) == INVALID
    assert provider.asked == []


def test_a_token_that_names_an_address_of_keys_does_not_make_us_go_there(make, provider):
    stranger = oidc.key_for("PS256")
    said = factories.claims(SUBJECT, iss=provider.issuer)
    here = provider.jwks_url.replace("/keys", "/evil")
    client = make()
    for header in ({"jku": here}, {"x5u": here}):
        assert refusal(ask(client, factories.signed(stranger, said, **header))) == INVALID
    assert set(provider.asked) == {"/keys"}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Source:
    """A fetch that is counted, and can fail."""

    def __init__(self) -> None:
        self.key = oidc.key_for("RS256")
        self.keys = [oidc.published(self.key)]
        self.fetches = 0
        self.away = False

    def __call__(self) -> dict[str, object]:
        self.fetches += 1
        if self.away:
            raise httpx2.ConnectError("away")
        return {"keys": self.keys}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def cache(source, clock) -> PublishedKeys:
    return PublishedKeys(source, clock=clock)


def test_keys_are_fetched_once_in_five_minutes(cache, source, clock):
    for _ in range(3):
        assert cache.find(source.key.kid) is not None
    clock.now += 299
    cache.find(source.key.kid)
    assert source.fetches == 1

    clock.now += 1
    cache.find(source.key.kid)
    assert source.fetches == 2


def test_an_unknown_key_id_asks_again_at_most_every_ten_seconds(cache, source, clock):
    cache.find(source.key.kid)
    new = oidc.key_for("ES256")
    source.keys.append(oidc.published(new))

    clock.now += 9
    assert cache.find(new.kid) is None
    assert source.fetches == 1
    clock.now += 1
    assert cache.find(new.kid) is not None
    assert source.fetches == 2


def test_a_withdrawn_key_is_known_no_more_after_the_next_fetch(cache, source, clock):
    cache.find(source.key.kid)
    source.keys = []
    clock.now += 300
    assert cache.find(source.key.kid) is None


def test_known_keys_serve_for_an_hour_when_the_provider_is_away(cache, source, clock):
    cache.find(source.key.kid)
    source.away = True
    clock.now += 3600
    assert cache.find(source.key.kid) is not None
    cache.check()

    clock.now += 1
    with pytest.raises(KeysUnavailable):
        cache.find(source.key.kid)
    with pytest.raises(KeysUnavailable):
        cache.check()


def test_an_unknown_key_id_cannot_be_judged_while_the_provider_is_away(cache, source, clock):
    cache.find(source.key.kid)
    source.away = True
    clock.now += 10
    with pytest.raises(KeysUnavailable):
        cache.find("unknown")


def test_a_provider_that_is_away_is_asked_every_ten_seconds_only(cache, source, clock):
    source.away = True
    for _ in range(25):
        with pytest.raises(KeysUnavailable):
            cache.find("any")
        clock.now += 1
    assert source.fetches == 3


def test_a_provider_that_comes_back_serves_again(cache, source, clock):
    source.away = True
    with pytest.raises(KeysUnavailable):
        cache.find(source.key.kid)
    source.away = False
    clock.now += 10
    assert cache.find(source.key.kid) is not None


def test_one_fetch_serves_all_that_wait_for_it(provider):
    cache = PublishedKeys(fetcher(provider.issuer, provider.jwks_url))
    provider.free.clear()
    kid = oidc.key_for("RS256").kid
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(cache.find, kid) for _ in range(8)]
        provider.free.set()
        assert all(future.result() is not None for future in found)
    assert provider.asked == ["/keys"]


def test_known_keys_do_not_wait_for_a_slow_fetch(source, clock):
    asked, free = threading.Event(), threading.Event()

    def slow() -> dict[str, object]:
        document = source()
        if source.fetches > 1:
            asked.set()
            free.wait(10)
        return document

    cache = PublishedKeys(slow, clock=clock)
    cache.find(source.key.kid)
    clock.now += 300
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cache.find, source.key.kid)
        asked.wait(10)
        assert cache.find(source.key.kid) is not None
        assert not waiting.done()
        free.set()


def test_a_key_document_without_end_is_not_read_to_its_end(provider):
    provider.keys = [{"kty": "RSA", "padding": "x" * (keys.MAX_DOCUMENT_BYTES + 1)}]
    with pytest.raises(ValueError, match="too large"):
        fetcher(provider.issuer, provider.jwks_url)()
