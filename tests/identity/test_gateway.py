"""The IDP_SUBJECT rule, the check that a gateway can ask, and the scope that an operation needs."""

import pytest
from fastapi import APIRouter

from assay.identity.models import Scope
from assay.web.caller import Caller
from assay.web.routing import guarded
from tests import factories

OTHER = "5c9e5a3e-6f4f-4f0e-9b5a-0d6f2a4c1b77"
BAD_HEADER = (400, "invalid_subject_header")
MISMATCH = (403, "subject_mismatch")


@pytest.fixture(params=["embedded", "external"])
def behind(request, make_client, partner):
    """A client that calls as `acme`, in each mode of the gateway."""
    return factories.signed_in(make_client(gateway=request.param), partner)


def ask(client, *headers: tuple[str, str]):
    return client.get("/api/v1/info", headers=list(headers))


def refusal(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_the_header_may_say_what_the_token_says(behind, partner):
    assert ask(behind, ("IDP_SUBJECT", partner.subject)).status_code == 200


def test_the_case_of_name_and_value_means_nothing(behind, partner):
    assert ask(behind, ("idp_subject", partner.subject.upper())).status_code == 200
    assert ask(behind, ("Idp_Subject", f" {partner.subject} ")).status_code == 200


def test_another_subject_is_forbidden(behind):
    assert refusal(ask(behind, ("IDP_SUBJECT", OTHER))) == MISMATCH


def test_another_partners_subject_is_forbidden(behind, database):
    other = factories.partner(database, "globex")
    assert refusal(ask(behind, ("IDP_SUBJECT", other.subject))) == MISMATCH


def test_two_headers_are_refused_even_when_alike(behind, partner):
    right = ("IDP_SUBJECT", partner.subject)
    assert refusal(ask(behind, right, right)) == BAD_HEADER
    assert refusal(ask(behind, right, ("idp_subject", OTHER))) == BAD_HEADER
    assert refusal(ask(behind, ("IDP_SUBJECT", f"{partner.subject}, {partner.subject}"))) == BAD_HEADER


@pytest.mark.parametrize("value", ["", "acme", "{%s}", "urn:uuid:%s", "%s0", "0x%s", "é"])
def test_what_is_no_uuid_is_refused(behind, partner, value):
    header = value.replace("%s", partner.subject).encode()
    answer = behind.get("/api/v1/info", headers={b"IDP_SUBJECT": header})
    assert refusal(answer) == BAD_HEADER


def test_a_uuid_without_hyphens_is_refused(behind, partner):
    assert refusal(ask(behind, ("IDP_SUBJECT", partner.subject.replace("-", "")))) == BAD_HEADER


@pytest.mark.parametrize("spelling", ["IDP-SUBJECT", "idp-subject", "Idp-Subject"])
def test_the_hyphened_spelling_is_refused_with_or_without_the_right_one(behind, partner, spelling):
    wrong = (spelling, partner.subject)
    assert refusal(ask(behind, wrong)) == BAD_HEADER
    assert refusal(ask(behind, ("IDP_SUBJECT", partner.subject), wrong)) == BAD_HEADER


def test_without_a_header_the_service_is_its_own_gateway(client):
    assert client.get("/api/v1/info").status_code == 200


def test_behind_a_gateway_the_header_must_be_there(make_client, partner):
    client = factories.signed_in(make_client(gateway="external"), partner)
    answer = client.get("/api/v1/info")

    assert refusal(answer) == BAD_HEADER
    assert "gateway" in answer.json()["message"]


def test_the_header_alone_proves_nothing(make_client, partner):
    client = make_client(gateway="external")
    answer = ask(client, ("IDP_SUBJECT", partner.subject))
    assert refusal(answer) == (401, "missing_token")


def test_a_gateway_is_told_the_subject(client, partner):
    answer = client.get("/internal/authz")

    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["IDP_SUBJECT"] == partner.subject


def test_a_gateway_is_told_of_a_bad_token(anonymous):
    missing = anonymous.get("/internal/authz")
    bad = anonymous.get("/internal/authz", headers=factories.bearer("garbage"))

    assert refusal(missing) == (401, "missing_token")
    assert refusal(bad) == (401, "invalid_token")
    assert "idp_subject" not in missing.headers
    assert bad.headers["www-authenticate"] == 'Bearer realm="assay", error="invalid_token"'


def test_a_gateway_asks_by_the_token_alone(make_client, partner):
    client = factories.signed_in(make_client(gateway="external"), partner)
    answer = client.get("/internal/authz", headers={"IDP_SUBJECT": OTHER})
    assert (answer.status_code, answer.headers["IDP_SUBJECT"]) == (204, partner.subject)


@pytest.fixture
def guarded_client(make_client):
    """The service with one more operation for each scope."""
    client = make_client()
    for scope in Scope:
        router = APIRouter(prefix=f"/api/v1/needs-{scope}", route_class=guarded(scope))

        @router.get("")
        def answer(caller: Caller) -> str:
            return caller.subject

        client.app.include_router(router)
    return client


@pytest.mark.parametrize("held", [Scope.CONTENT, Scope.FRAMEWORKS, Scope.ASSESSMENTS, Scope.FEEDBACK])
def test_a_scope_opens_its_operations_and_info_and_nothing_else(guarded_client, database, held):
    narrow = factories.partner(database, "narrow", scopes=frozenset({held}))
    client = factories.signed_in(guarded_client, narrow)

    for scope in Scope:
        answer = client.get(f"/api/v1/needs-{scope}")
        if scope in {held, Scope.INFO}:
            assert (answer.status_code, answer.json()) == (200, narrow.subject)
        else:
            assert refusal(answer) == (403, "insufficient_scope")
            challenge = f'Bearer realm="assay", error="insufficient_scope", scope="{scope}"'
            assert answer.headers["www-authenticate"] == challenge


def test_the_subject_is_checked_before_the_scope(guarded_client, database):
    narrow = factories.partner(database, "narrow", scopes=frozenset({Scope.CONTENT}))
    client = factories.signed_in(guarded_client, narrow)
    answer = client.get("/api/v1/needs-feedback", headers={"IDP_SUBJECT": OTHER})
    assert refusal(answer) == MISMATCH
