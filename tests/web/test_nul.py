"""U+0000, which PostgreSQL cannot keep: unknown where it is looked up, refused where it would be kept."""

import pytest

UNKNOWN = [
    ("GET", "content-processing/%00/status"),
    ("GET", "content-processing/%00/content"),
    ("DELETE", "content-processing/%00"),
    ("GET", "frameworks/%00/criteria"),
    ("GET", "frameworks/%00/agreement"),
    ("GET", "assessments/%00/status"),
    ("GET", "assessments/%00/results"),
    ("DELETE", "assessments/%00"),
    ("GET", "assessmentFeedback?assessmentProcessId=%00"),
]


@pytest.mark.parametrize(("method", "path"), UNKNOWN)
def test_an_identifier_with_a_nul_is_unknown(client, method, path):
    assert client.request(method, f"/api/v1/{path}").status_code == 404


def test_json_with_a_nul_is_refused(client):
    answer = client.post(
        "/api/v1/assessmentFeedback", json={"expertId": "erin", "rationalFeedback": "half\x00hearted"}
    )

    assert (answer.status_code, "U+0000" in answer.json()["message"]) == (400, True)
