"""The OpenAPI document and its page: complete, true to the interface, and served without a network."""

import re
from urllib.parse import urljoin, urlparse

import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

from assay.errors import ServiceError
from assay.identity.issuer import TOKEN_PATH
from assay.identity.models import Scope

ALWAYS = {"400", "401", "403", "429", "500", "503"}


@pytest.fixture
def document(anonymous):
    return anonymous.get("/openapi.json").json()


def operations(document):
    """Every operation of the API, by method and path."""
    return {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/api/v1")
    }


def test_the_document_is_openapi_3_1_and_valid(document):
    assert document["openapi"].startswith("3.1.")
    OPENAPI_31_VALIDATOR.validate(document)


def test_the_document_names_the_operations_of_the_interface(document):
    assert ("get", "/api/v1/info") in operations(document)
    assert all(path.startswith("/api/v1") for path in document["paths"])


def test_every_operation_declares_its_security(document):
    assert "bearer" in document["components"]["securitySchemes"]
    for operation in operations(document).values():
        ((scope,),) = (requirement["bearer"] for requirement in operation["security"])
        assert scope in set(Scope)


def test_the_security_scheme_names_the_token_address_and_the_scopes(make_client):
    document = make_client(public_url="https://assay.example").get("/openapi.json").json()
    flow = document["components"]["securitySchemes"]["bearer"]["flows"]["password"]
    used = {operation["security"][0]["bearer"][0] for operation in operations(document).values()}

    assert flow["tokenUrl"] == flow["refreshUrl"] == f"https://assay.example{TOKEN_PATH}"
    assert set(flow["scopes"]) == used


def test_every_operation_requires_the_subject_header_as_a_uuid(document):
    for operation in operations(document).values():
        (header,) = (one for one in operation["parameters"] if one["name"] == "IDP_SUBJECT")
        assert (header["in"], header["required"]) == ("header", True)
        assert header["schema"] == {"type": "string", "format": "uuid"}


def test_every_operation_declares_the_errors_that_any_may_answer(document):
    for operation in operations(document).values():
        assert set(operation["responses"]) >= ALWAYS
        assert "HTTPValidationError" not in str(operation["responses"])


def test_every_error_is_declared_with_its_bodies_headers_and_an_example(document):
    for operation in operations(document).values():
        for status, answer in operation["responses"].items():
            assert "X-Request-Id" in answer["headers"]
            if int(status) < 400:
                continue
            plain = answer["content"]["application/json"]
            assert plain["schema"] == {"$ref": "#/components/schemas/Error"}
            assert plain["example"]["status"] == int(status)
            assert set(plain["example"]) == set(document["components"]["schemas"]["Error"]["required"])
            problem = answer["content"]["application/problem+json"]
            assert problem["schema"] == {"$ref": "#/components/schemas/Problem"}
        assert "WWW-Authenticate" in operation["responses"]["401"]["headers"]
        assert "Retry-After" in operation["responses"]["429"]["headers"]
        assert "Retry-After" in operation["responses"]["503"]["headers"]


def test_every_operation_with_a_body_declares_what_a_body_may_be_refused_for(probing):
    operation = probing.get("/openapi.json").json()["paths"]["/api/v1/probe"]["post"]
    assert set(operation["responses"]) >= {"413", "415"}


def test_every_operation_has_a_summary_and_an_example_of_its_success(document):
    for operation in operations(document).values():
        assert operation["summary"]


def test_status_numbers_of_the_document_are_those_of_the_error_tree(document):
    statuses = {kind.status for kind in ServiceError.__subclasses__()} | {500}
    for operation in operations(document).values():
        assert {int(status) for status in operation["responses"] if int(status) >= 400} <= statuses


def test_the_page_loads_nothing_from_another_host(anonymous):
    page = anonymous.get("/docs")
    assert page.status_code == 200
    addresses = re.findall(r"""(?:src|href|url)\s*[=:]\s*["']([^"']+)["']""", page.text)
    assert len(addresses) >= 3
    for address in addresses:
        assert urlparse(urljoin("http://testserver/docs", address)).netloc == "testserver"
        assert anonymous.get(address).status_code == 200


def test_the_page_may_not_load_from_another_host(anonymous):
    policy = anonymous.get("/docs").headers["content-security-policy"]
    sources = {word for part in policy.split(";") for word in part.split()[1:]}
    assert sources <= {"'self'", "'unsafe-inline'", "data:"}
