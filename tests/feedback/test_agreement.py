"""How often experts agree with what was found, by criterion."""

from tests import factories
from tests.assessments import house
from tests.assessments.house import ASSESSMENTS
from tests.feedback.test_feedback import give

SUFFICIENT, INSUFFICIENT, MISSING = "SUFFICIENTLY_REGULATED", "NOT_SUFFICIENTLY_REGULATED", "MISSING"
NOTHING = {"feedback": 0, "withCategory": 0, "agreed": 0, "agreement": None}


def agreement(client, framework="HOUSE_RULES"):
    answer = client.get(f"/api/v1/frameworks/{framework}/agreement")
    assert answer.status_code == 200, answer.text
    return {one.pop("criterionCodeName"): one for one in answer.json()}


def assessed(client):
    """The numbers of new findings by criterion, and their process."""
    process_id = house.submitted(client)
    factories.work(client)
    found = house.by_criterion(house.findings(client, process_id))
    return {name: one["id"] for name, one in found.items()}, process_id


def test_every_criterion_stands_there_in_its_order_with_zeros(client):
    assert list(agreement(client).items()) == [(name, NOTHING) for name in house.CRITERIA]


def test_opinions_are_counted_by_criterion(client):
    (one, _), (two, _) = assessed(client), assessed(client)
    give(client, one["KINDNESS"], categoryFeedback=SUFFICIENT)
    give(client, two["KINDNESS"], categoryFeedback=INSUFFICIENT)
    give(client, one["KINDNESS"], expertId="frank")
    give(client, one["PETS"], categoryFeedback=MISSING)
    give(client)

    found = agreement(client)

    assert found["KINDNESS"] == {"feedback": 3, "withCategory": 2, "agreed": 1, "agreement": 0.5}
    assert found["PETS"] == {"feedback": 1, "withCategory": 1, "agreed": 1, "agreement": 1.0}
    assert found["QUIET"] == NOTHING


def test_of_an_experts_opinions_on_a_finding_the_last_counts(client):
    found, _ = assessed(client)
    give(client, found["QUIET"], categoryFeedback=MISSING)
    give(client, found["QUIET"], categoryFeedback=MISSING, expertId="frank")
    give(client, found["QUIET"], categoryFeedback=SUFFICIENT)

    assert agreement(client)["QUIET"] == {"feedback": 2, "withCategory": 2, "agreed": 1, "agreement": 0.5}


def test_a_framework_is_named_by_number_or_code_name_and_may_be_unknown(client):
    (framework,) = client.get("/api/v1/frameworks").json()

    assert agreement(client, framework["id"]) == agreement(client)
    answer = client.get("/api/v1/frameworks/NO_SUCH/agreement")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_framework")


def test_each_partner_sees_its_own_experts_alone(client, make_client, database):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))
    found, _ = assessed(client)
    give(client, found["PETS"], categoryFeedback=SUFFICIENT)

    assert agreement(other)["PETS"] == NOTHING
    assert agreement(client)["PETS"]["agreement"] == 0.0


def test_what_was_said_of_a_deleted_finding_counts_no_more(client):
    found, process_id = assessed(client)
    give(client, found["PETS"], categoryFeedback=SUFFICIENT)

    client.delete(f"{ASSESSMENTS}/{process_id}")

    assert agreement(client)["PETS"] == NOTHING
