"""The outermost layer: security headers, caps, HEAD, whose address counts, and no word from `Host`."""

import pytest
from starlette.testclient import TestClient

from assay.identity.issuer import DISCOVERY_PATH, TOKEN_PATH
from tests import factories

EVERYWHERE = ["/livez", "/api/v1/info", "/api/v1/nothing", "/openapi.json", "/docs", DISCOVERY_PATH]


@pytest.mark.parametrize("path", EVERYWHERE)
def test_every_answer_carries_the_security_headers(client, path):
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "default-src" in headers["content-security-policy"]
    assert "server" not in headers


def test_what_is_data_may_load_nothing(client):
    policy = client.get("/api/v1/info").headers["content-security-policy"]
    assert policy == "default-src 'none'; frame-ancestors 'none'"


def test_answers_are_not_kept_by_caches(client):
    for path in ("/api/v1/info", "/api/v1/nothing", "/livez"):
        assert client.get(path).headers["cache-control"] == "no-store"


def test_a_hundred_headers_are_enough(anonymous):
    sent = len(anonymous.get("/livez").request.headers)
    assert anonymous.get("/livez", headers=[("X-Extra", "1")] * (100 - sent)).status_code == 200

    answer = anonymous.get("/livez", headers=[("X-Extra", "1")] * (101 - sent))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert "100 headers" in answer.json()["message"]
    assert answer.headers["x-request-id"] == answer.json()["requestId"]


def test_thirty_two_kilobytes_of_headers_are_enough(anonymous):
    assert anonymous.get("/livez", headers={"X-Extra": "x" * 32_000}).status_code == 200
    answer = anonymous.get("/livez", headers={"X-Extra": "x" * 33_000})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


@pytest.mark.parametrize("path", ["/livez", "/api/v1/info", "/api/v1/nothing", "/openapi.json"])
def test_head_answers_as_get_without_a_body(client, path):
    head, get = client.head(path), client.get(path)

    assert head.status_code == get.status_code
    assert head.content == b""
    assert head.headers["content-type"] == get.headers["content-type"]
    assert int(head.headers["content-length"]) == len(get.content)


def test_head_of_an_operation_that_only_takes_posts_is_not_allowed(anonymous):
    answer = anonymous.head(TOKEN_PATH)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("path", ["/api/v1/info/", "/livez/", "//api/v1/info", "/API/v1/info"])
def test_a_path_in_another_spelling_is_not_there_and_not_redirected(client, path):
    answer = client.get(f"http://testserver{path}")
    assert answer.status_code == 404
    assert "location" not in answer.headers


@pytest.mark.parametrize("path", [*EVERYWHERE, "/api/v1/info/"])
def test_nothing_is_built_from_host(client, path):
    answer = client.get(
        path,
        headers={
            "Host": "evil.example",
            "X-Forwarded-Host": "evil.example",
            "Forwarded": "host=evil.example",
        },
    )
    assert "evil.example" not in answer.text
    assert "evil.example" not in str(answer.headers)


def failing_from(app, peer: str, partner, forwarded: str | None = None) -> int:
    """The status of a failed login; 429 once the address that counts has failed before."""
    client = TestClient(app, client=(peer, 50000))
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    form = factories.login_form(partner, client_secret="wrong")
    return client.post(TOKEN_PATH, data=form, headers=headers).status_code


def test_a_strangers_word_on_its_address_is_not_believed(make_client, partner):
    app = make_client(limits={"login_failures_per_address": 1}, trusted_proxies="10.0.0.0/8").app
    assert failing_from(app, "192.0.2.1", partner, "198.51.100.1") == 401
    assert failing_from(app, "192.0.2.1", partner, "198.51.100.2") == 429


def test_nobody_is_believed_where_no_proxy_is_named(make_client, partner):
    app = make_client(limits={"login_failures_per_address": 1}).app
    assert failing_from(app, "10.0.0.1", partner, "198.51.100.1") == 401
    assert failing_from(app, "10.0.0.1", partner, "198.51.100.2") == 429


def test_a_trusted_proxy_tells_the_address(make_client, partner):
    app = make_client(
        limits={"login_failures_per_address": 1}, trusted_proxies="10.0.0.0/8,2001:db8::/32"
    ).app
    assert failing_from(app, "10.0.0.1", partner, "198.51.100.1") == 401
    assert failing_from(app, "10.0.0.1", partner, "198.51.100.2") == 401
    assert failing_from(app, "2001:db8::7", partner, "198.51.100.1") == 429


@pytest.mark.parametrize(
    "forwarded",
    ["203.0.113.9, 198.51.100.1", "garbage, 198.51.100.1", "203.0.113.9, 198.51.100.1, 10.0.0.2"],
)
def test_only_what_the_trusted_proxies_vouch_for_counts(make_client, partner, forwarded):
    app = make_client(limits={"login_failures_per_address": 1}, trusted_proxies="10.0.0.0/8").app
    assert failing_from(app, "10.0.0.1", partner, "198.51.100.1") == 401
    assert failing_from(app, "10.0.0.1", partner, forwarded) == 429


def test_a_forwarded_address_that_is_none_leaves_the_proxys_own(make_client, partner):
    app = make_client(limits={"login_failures_per_address": 1}, trusted_proxies="10.0.0.1").app
    assert failing_from(app, "10.0.0.1", partner, "unknown") == 401
    assert failing_from(app, "10.0.0.1", partner) == 429
