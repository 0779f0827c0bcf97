"""Feedback of experts: what is kept, what is refused, and what goes with its finding."""

import pytest
from sqlalchemy import func, select

from assay.feedback import store
from tests import factories
from tests.assessments import house
from tests.assessments.house import ASSESSMENTS

FEEDBACK = "/api/v1/assessmentFeedback"


def give(client, finding=None, **changes):
    body = {"expertId": "erin", "rationalFeedback": "Well found.", "assessmentResponseId": finding, **changes}
    return client.post(FEEDBACK, json={name: value for name, value in body.items() if value is not None})


def listed(client, process_id):
    answer = client.get(FEEDBACK, params={"assessmentProcessId": process_id})
    assert answer.status_code == 200, answer.text
    return answer.json()


def kept(client):
    with client.app.state.database.read() as tx:
        return tx.execute(select(func.count()).select_from(store.feedback)).scalar_one()


@pytest.fixture
def process_id(client, work):
    made = house.submitted(client)
    work()
    return made


@pytest.fixture
def finding(client, process_id):
    """The number of a finding."""
    return house.findings(client, process_id)[0]["id"]


def test_feedback_is_kept_in_full_with_who_and_when(client, process_id, finding):
    text = "Too kind.\n\nSection 1 says “kind”, but nobody checks. \U0001f937"

    answer = give(
        client,
        finding,
        rationalFeedback=text,
        categoryFeedback="NOT_SUFFICIENTLY_REGULATED",
        expertId="dr. e",
    )

    assert (answer.status_code, answer.content) == (200, b"")
    (given,) = listed(client, process_id)
    assert isinstance(given.pop("id"), int)
    assert given.pop("createdAt").endswith("Z")
    assert given == {
        "expertId": "dr. e",
        "rationalFeedback": text,
        "assessmentResponseId": finding,
        "categoryFeedback": "NOT_SUFFICIENTLY_REGULATED",
    }


def test_a_category_need_not_be_named(client, process_id, finding):
    assert give(client, finding).status_code == 200

    assert listed(client, process_id)[0]["categoryFeedback"] is None


def test_feedback_may_refer_to_no_finding(client, process_id):
    assert give(client).status_code == 200

    assert kept(client) == 1
    assert listed(client, process_id) == []


def test_what_was_given_is_listed_in_order_for_its_process_alone(client, work, process_id, finding):
    other = house.submitted(client)
    work()
    for text in ("first", "second", "third"):
        give(client, finding, rationalFeedback=text)
    give(client, house.findings(client, other)[0]["id"], rationalFeedback="elsewhere")

    assert [one["rationalFeedback"] for one in listed(client, process_id.upper())] == [
        "first",
        "second",
        "third",
    ]


@pytest.mark.parametrize("number", [0, -1, 999_999_999, 2**63 - 1, -(2**63)])
def test_an_unknown_finding_is_not_found(client, number):
    answer = give(client, number)

    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_finding")
    assert kept(client) == 0


def test_another_partners_finding_is_as_unknown(client, make_client, database, finding):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))

    foreign, unknown = give(other, finding), give(other, 999_999_999)

    assert foreign.status_code == unknown.status_code == 404
    assert foreign.json()["message"] == unknown.json()["message"]
    assert kept(client) == 0


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"categoryFeedback": "FINE"}, "categoryFeedback"),
        ({"categoryFeedback": "missing"}, "categoryFeedback"),
        ({"categoryFeedback": 1}, "categoryFeedback"),
        ({"assessmentResponseId": "1"}, "assessmentResponseId"),
        ({"assessmentResponseId": 1.5}, "assessmentResponseId"),
        ({"assessmentResponseId": True}, "assessmentResponseId"),
        ({"assessmentResponseId": 2**63}, "assessmentResponseId"),
        ({"expertId": ""}, "expertId"),
        ({"expertId": 7}, "expertId"),
        ({"rationalFeedback": ""}, "rationalFeedback"),
        ({"rationaleFeedback": "x"}, "rationaleFeedback"),
    ],
)
def test_what_is_wrong_is_refused_with_its_field(client, changes, field):
    body = {"expertId": "erin", "rationalFeedback": "Well found.", **changes}

    answer = client.post(FEEDBACK, json=body)

    assert answer.status_code == 400
    assert field in [detail["field"] for detail in answer.json()["details"]]
    assert kept(client) == 0


def test_an_unknown_field_is_refused_with_the_nearest_name(client):
    answer = client.post(FEEDBACK, json={"expertId": "erin", "rationaleFeedback": "x"})

    assert (answer.status_code, "'rationalFeedback'?" in answer.text) == (400, True)


@pytest.mark.parametrize("missing", ["expertId", "rationalFeedback"])
def test_what_is_required_is_missed_by_name(client, missing):
    body = {"expertId": "erin", "rationalFeedback": "Well found."}
    del body[missing]

    answer = client.post(FEEDBACK, json=body)

    assert (answer.status_code, answer.json()["message"]) == (400, f"{missing}: This is required.")


def test_a_text_has_its_limit_in_bytes(client, finding):
    limit = 64 * 1024

    assert give(client, finding, rationalFeedback="x" * limit).status_code == 200
    for text in ("x" * (limit + 1), "é" * (limit // 2 + 1), "x" * 2**20):
        answer = give(client, finding, rationalFeedback=text)
        assert answer.status_code == 413
        assert answer.json()["message"].endswith("bytes.")
    assert kept(client) == 1


def test_the_feedback_of_a_process_that_is_not_mine_is_not_found(client, make_client, database, process_id):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))

    for caller, identifier in ((other, process_id), (client, house.new_id()), (client, "nonsense")):
        answer = caller.get(FEEDBACK, params={"assessmentProcessId": identifier})
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_assessment")
    assert client.get(FEEDBACK).status_code == 400


def test_feedback_goes_with_its_finding(client, process_id, finding):
    give(client, finding, categoryFeedback="MISSING")
    give(client, rationalFeedback="In general: thanks.")

    client.delete(f"{ASSESSMENTS}/{process_id}")

    assert kept(client) == 1  # the one that refers to no finding


def test_the_scope_is_asked_for(make_client, database):
    narrow = factories.partner(database, "narrow", scopes=frozenset({factories.Scope.ASSESSMENTS}))
    client = factories.signed_in(make_client(), narrow)

    assert give(client).status_code == 403
