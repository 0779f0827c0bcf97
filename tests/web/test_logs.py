"""A line for each request, with its id and partner; never a token, a password or a secret."""

import pytest
from structlog.testing import capture_logs

from assay.identity.issuer import TOKEN_PATH
from tests import factories


def requests(logged) -> list[dict[str, object]]:
    return [entry for entry in logged if entry["event"] == "request"]


def test_a_request_leaves_one_line(client, partner):
    with capture_logs() as logged:
        client.get("/api/v1/info?nonsense=1")

    (line,) = requests(logged)
    assert (line["method"], line["path"], line["status"]) == ("GET", "/api/v1/info", 400)
    assert line["partner"] == partner.subject
    assert line["client"] == "testclient"
    assert isinstance(line["milliseconds"], float)


def test_a_request_of_nobody_names_no_partner(anonymous):
    with capture_logs() as logged:
        anonymous.get("/api/v1/info")
    assert requests(logged)[0]["partner"] is None


def test_a_bug_is_logged_with_its_trace(probing):
    with capture_logs() as logged:
        probing.get("/api/v1/probe/bug")

    (bug,) = (entry for entry in logged if entry["event"] == "bug")
    assert bug["log_level"] == "error"
    assert isinstance(bug["exc_info"], RuntimeError)
    assert requests(logged)[0]["status"] == 500


@pytest.mark.parametrize("wrong", [{}, {"password": "hunter2"}, {"client_secret": "hunter2"}], ids=str)
def test_a_login_leaves_no_secret_behind(anonymous, partner, wrong):
    form = factories.login_form(partner, **wrong)
    with capture_logs() as logged:
        body = anonymous.post(TOKEN_PATH, data=form).json()
        if "refresh_token" in body:
            anonymous.post(TOKEN_PATH, data=factories.refresh_form(partner, body["refresh_token"]))

    text = str(logged)
    secrets = [form["password"], form["client_secret"], body.get("access_token"), body.get("refresh_token")]
    for secret in filter(None, secrets):
        assert secret not in text


def test_a_refused_token_is_not_logged(anonymous, partner):
    token = factories.tokens(anonymous, partner)["access_token"]
    with capture_logs() as logged:
        anonymous.get("/api/v1/info", headers=factories.bearer(token + "x"))
        anonymous.get("/api/v1/info", headers=factories.bearer(token))

    for part in token.split("."):
        assert part not in str(logged)


def test_a_query_is_not_logged(anonymous):
    with capture_logs() as logged:
        anonymous.get("/api/v1/info?access_token=hunter2")
    assert "hunter2" not in str(logged)
