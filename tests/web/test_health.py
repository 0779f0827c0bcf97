"""What watches the service sees: alive, ready or what is away, and counts without secrets."""

import pytest
from starlette.testclient import TestClient

from assay import settings
from assay.app import create_app
from assay.database.core import Database, sqlite_url
from tests import factories


def test_a_living_service_says_so(anonymous):
    answer = anonymous.get("/livez")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


def test_a_ready_service_says_what_holds(anonymous):
    answer = anonymous.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ready"
    assert answer.json()["checks"] == {"database": "ok", "keys": "ok", "documentStore": "ok"}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_service_without_its_database_lives_and_names_what_is_away(tmp_path, kind):
    url = {
        "sqlite": f"sqlite:///{tmp_path}/gone/assay.sqlite3",
        "postgres": "postgresql://assay:hunter2@127.0.0.1:1/assay",
    }[kind]
    app = create_app(settings.Settings(data_dir=tmp_path), Database(url))
    with TestClient(app) as client:
        answer = client.get("/readyz")
        assert client.get("/livez").status_code == 200

    assert (answer.status_code, answer.json()["status"]) == (503, "not ready")
    assert int(answer.headers["retry-after"]) > 0
    assert answer.json()["checks"]["database"] == "The database is away or full; try again shortly."
    assert "hunter2" not in answer.text
    assert "gone" not in answer.text


def test_a_service_over_an_old_schema_says_what_to_do(tmp_path):
    database = Database(sqlite_url(tmp_path))
    with TestClient(create_app(settings.Settings(data_dir=tmp_path), database)) as client:
        answer = client.get("/readyz")

    assert answer.status_code == 503
    assert "assay migrate" in answer.json()["checks"]["database"]


def test_requests_are_counted_by_route_and_status(client):
    client.get("/api/v1/info")
    client.get("/api/v1/info?nonsense=1")
    text = client.get("/metrics").text

    assert 'assay_http_requests_total{method="GET",route="/api/v1/info",status="200"} 1.0' in text
    assert 'assay_http_requests_total{method="GET",route="/api/v1/info",status="400"} 1.0' in text
    assert 'assay_http_request_seconds_count{method="GET",route="/api/v1/info"} 2.0' in text


def test_a_stranger_cannot_make_the_metrics_grow(anonymous):
    for number in range(20):
        anonymous.get(f"/nothing/{number}")
        anonymous.request(f"METHOD{number}", "/nothing")
        anonymous.request(f"METHOD{number}", "/api/v1/info")
    text = anonymous.get("/metrics").text

    assert "nothing" not in text
    assert "METHOD" not in text


def test_the_metrics_hold_no_secret(client, partner):
    body = factories.tokens(client, partner)
    factories.tokens(client, partner)
    client.get("/api/v1/info")
    text = client.get("/metrics").text

    for secret in (
        partner.password,
        partner.client_secret,
        partner.username,
        partner.subject,
        body["access_token"],
        body["refresh_token"],
    ):
        assert secret not in text
