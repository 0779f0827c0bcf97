"""One shape for every error, and nothing in it that a client should not see."""

import re
from datetime import datetime, timedelta

import pytest
from starlette.testclient import TestClient

from assay import settings
from assay.app import create_app
from assay.database.core import Database
from tests import factories

FIELDS = ["timestamp", "status", "error", "message", "code", "path", "requestId", "details"]


def shape(answer) -> tuple[int, str, str]:
    """Status, title and code, of a body that is as every error's body."""
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert list(body) == FIELDS
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["timestamp"])
    assert datetime.fromisoformat(body["timestamp"]).utcoffset() == timedelta(0)
    assert body["status"] == answer.status_code
    assert body["requestId"] == answer.headers["x-request-id"]
    assert body["path"] == answer.request.url.raw_path.decode().partition("?")[0]
    assert body["message"].endswith((".", "?"))
    assert all(set(detail) == {"field", "message"} for detail in body["details"])
    return body["status"], body["error"], body["code"]


def test_400_a_request_that_is_not_valid(probing):
    answer = probing.get("/api/v1/info", params={"nonsense": 1})
    assert shape(answer) == (400, "Bad Request", "invalid_request")
    assert answer.json()["details"][0]["field"] == "nonsense"


def test_401_no_token(anonymous):
    answer = anonymous.get("/api/v1/info")
    assert shape(answer) == (401, "Unauthorized", "missing_token")


def test_403_a_token_that_does_not_reach(client):
    answer = client.get("/api/v1/info", headers={"IDP_SUBJECT": "5c9e5a3e-6f4f-4f0e-9b5a-0d6f2a4c1b77"})
    assert shape(answer) == (403, "Forbidden", "subject_mismatch")


@pytest.mark.parametrize("path", ["/", "/nothing", "/api/v1/nothing", "/api/v2/info", "/docs/static/nothing"])
def test_404_nothing_there(client, path):
    assert shape(client.get(path)) == (404, "Not Found", "unknown_path")


def test_404_at_a_path_that_is_no_text(client):
    assert shape(client.get("/api/v1/%ff%00%0a")) == (404, "Not Found", "unknown_path")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_405_names_the_methods_that_are_allowed(client, method):
    answer = client.request(method, "/api/v1/info")
    assert shape(answer) == (405, "Method Not Allowed", "method_not_allowed")
    assert answer.headers["allow"] == "GET"


def test_413_a_body_over_the_limit(probing):
    answer = probing.post("/api/v1/probe", json={"title": "x" * 2**20})
    assert shape(answer) == (413, "Content Too Large", "too_large")
    assert "1,048,576 bytes" in answer.json()["message"]


def test_415_a_body_of_another_type(probing):
    answer = probing.post("/api/v1/probe", data={"title": "x"})
    assert shape(answer) == (415, "Unsupported Media Type", "unsupported_type")


def test_500_says_nothing_of_the_bug(probing):
    answer = probing.get("/api/v1/probe/bug")
    assert shape(answer) == (500, "Internal Server Error", "internal_error")
    for leak in ("secret sauce", "RuntimeError", "Traceback", ".py", "/src/"):
        assert leak not in answer.text


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_503_where_the_database_is_away(tmp_path, kind):
    url = {
        "sqlite": f"sqlite:///{tmp_path}/gone/assay.sqlite3",
        "postgres": "postgresql://assay:hunter2@127.0.0.1:1/assay",
    }[kind]
    app = create_app(settings.Settings(data_dir=tmp_path), Database(url))
    with TestClient(app) as client:
        login = client.post(
            "/realms/assay/protocol/openid-connect/token",
            data={"grant_type": "password", "client_id": "a", "client_secret": "b"},
        )
        checked = client.get(
            "/api/v1/info", headers=factories.bearer("eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.AA")
        )

    for answer in (login, checked):
        assert shape(answer) == (503, "Service Unavailable", "database_unavailable")
        assert int(answer.headers["retry-after"]) > 0
        for leak in ("gone", "hunter2", "127.0.0.1", "sqlalche"):
            assert leak not in answer.text


@pytest.mark.parametrize(
    "accept", ["application/problem+json", "text/html, Application/Problem+JSON;q=0.5, */*"]
)
def test_the_same_facts_come_as_problem_details_on_request(probing, accept):
    plain = probing.post("/api/v1/probe", json={"title": 7}).json()
    answer = probing.post("/api/v1/probe", json={"title": 7}, headers={"Accept": accept})

    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    problem = answer.json()
    assert problem["type"] == "urn:assay:error:invalid_request"
    assert (problem["title"], problem["status"]) == (plain["error"], plain["status"])
    assert (problem["detail"], problem["instance"]) == (plain["message"], plain["path"])
    assert (problem["code"], problem["details"]) == (plain["code"], plain["details"])
    assert problem["requestId"] == answer.headers["x-request-id"]


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v1/probe/bug", "/api/v1/probe"])
def test_problem_details_are_there_for_every_error(probing, path):
    answer = probing.get(path, headers={"Accept": "application/problem+json"})
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code


@pytest.mark.parametrize("accept", ["text/csv", "image/png", "nonsense", "application/json;q=0", ""])
def test_no_accept_header_is_refused(client, accept):
    assert client.get("/api/v1/info", headers={"Accept": accept}).status_code == 200
    assert client.get("/api/v1/nothing", headers={"Accept": accept}).status_code == 404


def test_a_wrong_path_or_query_value_is_400_and_named(probing):
    for path, field in (("/api/v1/probe/late/x", "number"), ("/api/v1/probe/late/1?limit=0", "limit")):
        answer = probing.get(path)
        assert shape(answer) == (400, "Bad Request", "invalid_request")
        assert [detail["field"] for detail in answer.json()["details"]] == [field]


def test_an_unknown_query_parameter_is_refused_with_the_nearest_name(probing):
    answer = probing.get("/api/v1/probe/late/1", params={"limits": 2})
    assert answer.json()["message"] == "Unknown query parameter 'limits'. Did you mean 'limit'?"


def test_who_is_calling_is_settled_before_anything_else_is_looked_at(probing):
    answer = probing.post("/api/v1/probe?nonsense=1", content=b"{", headers={"Authorization": "Bearer x"})
    assert shape(answer)[0] == 401
