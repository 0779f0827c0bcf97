import base64
import hmac
import http.client
import json
import os
import uuid
from contextlib import closing

import pytest
from joserfc import jwk

from assay.identity.issuer import TOKEN_PATH
from tests import gateways
from tests.gateways import Gateway, Recorder, Service

INFO = "/api/v1/info"
MIB = 2**20
KINDS = ["nginx", "haproxy"]


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with gateways.running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    return service.token()


@pytest.fixture(scope="module")
def keys(service: Service) -> bytes:
    """The keys as they were when the gateways were set up."""
    return service.published_keys()


@pytest.fixture(scope="module", params=KINDS)
def gateway(request, service: Service, keys, token, tmp_path_factory):
    """A gateway before the service."""
    folder = tmp_path_factory.mktemp("gateway") / request.param
    with gateways.running_gateway(request.param, folder, service.port, keys) as running:
        yield running


@pytest.fixture
def recorder(service: Service):
    with gateways.running_recorder(service.partner["subject"]) as running:
        yield running


@pytest.fixture(params=KINDS)
def watched(request, recorder: Recorder, keys, token, tmp_path):
    """A gateway before a recorder, which shows what the service would get."""
    with gateways.running_gateway(request.param, tmp_path / request.param, recorder.port, keys) as running:
        yield running


def bearer(token: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {token}"


def test_a_partner_passes_with_a_token_alone(gateway: Gateway, token):
    answer = gateway.ask(INFO, bearer(token))

    assert answer.status == 200, answer.body
    assert answer.json()["name"] == "Assay"


def test_without_the_gateway_the_same_request_is_refused(service: Service, token):
    with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)) as direct:
        direct.request("GET", INFO, headers=dict([bearer(token)]))
        answer = direct.getresponse()

        assert (answer.status, json.load(answer)["code"]) == (400, "invalid_subject_header")


@pytest.mark.parametrize(
    ("headers", "code", "challenge"),
    [
        ([], "missing_token", 'Bearer realm="assay"'),
        ([bearer("not.a.token")], "invalid_token", 'Bearer realm="assay", error="invalid_token"'),
    ],
)
def test_a_refusal_comes_in_the_words_of_the_service(gateway: Gateway, headers, code, challenge):
    answer = gateway.ask(INFO, *headers)

    assert (answer.status, answer.json()["code"]) == (401, code)
    assert answer.headers["WWW-Authenticate"] == challenge


def test_a_body_without_a_token_is_the_services_to_refuse(watched: Gateway, recorder: Recorder):
    watched.ask(INFO, body=b"x" * MIB)

    [seen] = recorder.seen
    assert seen.all("IDP_SUBJECT") == []


def test_tokens_are_had_through_the_gateway(gateway: Gateway):
    answer = gateway.ask(
        TOKEN_PATH, ("Content-Type", "application/x-www-form-urlencoded"), body=b"grant_type=password"
    )

    assert (answer.status, answer.json()["error"]) == (401, "invalid_client")


@pytest.mark.parametrize("path", ["/internal/authz", "/metrics", "/readyz", "/livez", "/"])
def test_what_is_for_the_operator_is_not_for_clients(gateway: Gateway, token, path):
    assert gateway.ask(path, bearer(token)).status == 404


def test_a_client_cannot_name_the_subject_itself(watched: Gateway, recorder: Recorder, token):
    stranger = str(uuid.uuid4())
    spellings = ("IDP_SUBJECT", "idp_subject", "IDP-SUBJECT", "Idp-Subject")

    assert watched.ask(INFO, bearer(token), *((name, stranger) for name in spellings)).status == 200

    [seen] = recorder.seen
    assert seen.all("IDP_SUBJECT") == [recorder.subject]
    assert seen.all("IDP-SUBJECT") == []
    assert seen.all("Authorization") == [f"Bearer {token}"]


def test_without_a_token_no_subject_reaches_the_service(watched: Gateway, recorder: Recorder):
    stranger = str(uuid.uuid4())

    watched.ask(INFO, ("IDP_SUBJECT", stranger), ("IDP-SUBJECT", stranger))

    [seen] = recorder.seen
    assert (seen.path, seen.all("IDP_SUBJECT"), seen.all("IDP-SUBJECT")) == (INFO, [], [])


def test_the_service_itself_accepts_what_is_left_of_a_smuggled_header(gateway: Gateway, token):
    smuggled = [(name, str(uuid.uuid4())) for name in ("IDP_SUBJECT", "IDP-SUBJECT")]

    assert gateway.ask(INFO, bearer(token), *smuggled).status == 200


def test_the_clients_address_is_the_gateways_word(watched: Gateway, recorder: Recorder, token):
    watched.ask(INFO, bearer(token), ("X-Forwarded-For", "203.0.113.9"))

    [seen] = recorder.seen
    assert seen.all("X-Forwarded-For") == ["127.0.0.1"]


def test_fifty_mebibytes_stream_through(watched: Gateway, recorder: Recorder, token):
    with closing(watched.connect()) as connection:
        connection.putrequest("POST", "/api/v1/content-processing/file")
        connection.putheader(*bearer(token))
        connection.putheader("Content-Length", str(51 * MIB))
        connection.endheaders(b"x" * MIB)
        # The service has the beginning before the client has sent the rest: nothing waits in the gateway.
        assert recorder.body_began.wait(20)
        for _ in range(50):
            connection.send(b"x" * MIB)
        assert connection.getresponse().status == 200

    [seen] = recorder.seen
    assert seen.body_bytes == 51 * MIB
    assert seen.all("IDP_SUBJECT") == [recorder.subject]


def test_a_large_body_is_the_services_to_judge(gateway: Gateway, token):
    answer = gateway.ask(INFO, bearer(token), body=b"x" * 50 * MIB)

    assert answer.status == 405
    assert answer.headers["X-Request-Id"]


def test_no_more_than_the_largest_request_is_let_in(gateway: Gateway, token):
    with closing(gateway.connect()) as connection:
        connection.putrequest("POST", INFO)
        connection.putheader(*bearer(token))
        connection.putheader("Content-Length", str(513 * MIB))
        connection.endheaders()
        answer = connection.getresponse()

        assert (answer.status, json.load(answer)["code"]) == (413, "too_large")


@pytest.mark.parametrize("kind", KINDS)
def test_when_the_service_is_away_the_gateway_says_when_to_try_again(kind, keys, token, tmp_path):
    with gateways.running_gateway(kind, tmp_path / kind, gateways.free_port(), keys) as gateway:
        answer = gateway.ask(INFO, bearer(token))

    assert (answer.status, answer.json()["code"]) == (503, "unavailable")
    assert answer.headers["Retry-After"] == "2"


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _forged(keys: bytes, token: str, algorithm: str) -> str:
    """The same claims, signed as a stranger can. By hand: libraries rightly refuse to."""
    head = _base64(json.dumps({"alg": algorithm, "typ": "JWT"}).encode())
    signed = f"{head}.{token.split('.')[1]}"
    public = jwk.RSAKey.import_key(json.loads(keys)["keys"][0]).as_pem(private=False)
    signature = {
        "none": b"",
        "HS256": hmac.digest(public, signed.encode(), "sha256"),
        "RS256": os.urandom(256),
    }
    return f"{signed}.{_base64(signature[algorithm])}"


@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS256"])
def test_haproxy_sets_no_subject_for_a_forged_token(algorithm, recorder: Recorder, keys, token, tmp_path):
    with gateways.running_gateway("haproxy", tmp_path / "haproxy", recorder.port, keys) as gateway:
        gateway.ask(INFO, bearer(_forged(keys, token, algorithm)))

    [seen] = recorder.seen
    assert seen.all("IDP_SUBJECT") == []


def test_a_rotation_of_keys_behaves_as_the_pages_say(service: Service, gateway: Gateway, request, tmp_path):
    service.rotate_keys()
    fresh = service.token()
    kind = request.node.callspec.params["gateway"]

    answer = gateway.ask(INFO, bearer(fresh))

    if kind == "nginx":
        assert answer.status == 200
        return
    assert (answer.status, answer.json()["code"]) == (400, "invalid_subject_header")
    with gateways.running_gateway(kind, tmp_path / kind, service.port, service.published_keys()) as reloaded:
        assert reloaded.ask(INFO, bearer(fresh)).status == 200
