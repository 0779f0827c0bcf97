"""What feedback teaches: thresholds and scorers, for the partner who taught them and for nobody else."""

import pytest
from sqlalchemy import select

from assay.assessments.adjustments import adjustments
from assay.feedback.learning import Learner
from assay.jobs.models import Control
from assay.jobs.table import jobs
from tests import factories
from tests.assessments import house
from tests.assessments.house import ASSESSMENTS
from tests.feedback.test_feedback import give

SUFFICIENT, INSUFFICIENT, MISSING = "SUFFICIENTLY_REGULATED", "NOT_SUFFICIENTLY_REGULATED", "MISSING"

# As the house rules, but a hint of quiet is not enough to show it.
HINTS = house.FRAMEWORK.replace(
    '{{en: ["quiet ... at night"]}}', '{{en: ["quiet ... at night", {{phrase: peaceful, weak: true}}]}}'
)
FIRM = "Every guest of this house shall be quiet in all rooms at night."
HINT = "This is a peaceful house with a large garden."
KIND = "Every guest of this house shall be kind at all times."
ALL = "The garden is open to everybody who stays in this house."


@pytest.fixture(autouse=True)
def _hints(database, tmp_path):
    house.install(database, tmp_path, code_name="HINTS", text=HINTS)


def judged(client, sentence, number=0, criterion="QUIET"):
    """The finding on a document that says this, unlike any other document."""
    document = house.rules(f"These are the rules of house number {number}.", sentence)
    process_id = house.submitted(client, document, frameworkCodeName="HINTS", criteriaCodeNames=[criterion])
    factories.work(client)
    (finding,) = house.findings(client, process_id)
    return finding


def teach(client, sentence, category, number, criterion="QUIET"):
    finding = judged(client, sentence, number, criterion)
    assert give(client, finding["id"], categoryFeedback=category).status_code == 200
    return finding


def verdict(finding):
    return finding["category"], finding["provenance"]["model"]


def learned(client):
    with client.app.state.database.read() as tx:
        return tx.execute(select(adjustments)).all()


def test_five_corrections_move_the_threshold_of_their_criterion(client, make_client, database, work):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))
    for number in range(4):
        teach(client, HINT, SUFFICIENT, number)
    work()
    assert verdict(judged(client, HINT, 10)) == (MISSING, None)  # four are not enough

    teach(client, HINT, SUFFICIENT, 4)
    work()

    after = judged(client, HINT, 11)
    assert verdict(after) == (SUFFICIENT, "threshold 0.40 by feedback")
    assert after["citations"][0]["quote"] == HINT
    assert judged(client, "Breakfast is at eight in the garden.", 12)["category"] == MISSING
    assert verdict(judged(other, HINT, 11)) == (MISSING, None)
    assert verdict(judged(client, KIND, 13, "KINDNESS"))[1] is None
    (row,) = learned(client)
    assert (row.opinions, row.documents, row.agreed_before, row.agreed_after) == (5, 5, 0, 5)


def test_the_same_document_is_judged_alike_before_and_after_another_partner_was_taught(
    client, make_client, database
):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))
    before = judged(client, HINT)
    for number in range(5):
        teach(other, HINT, SUFFICIENT, number)
    factories.work(other)

    assert verdict(judged(other, HINT)) != verdict(before)
    assert verdict(judged(client, HINT)) == verdict(before)


def test_agreement_moves_nothing(client, work):
    for number in range(5):
        teach(client, FIRM, SUFFICIENT, number)
    work()

    assert verdict(judged(client, HINT, 10)) == (MISSING, None)
    (row,) = learned(client)
    assert (row.shift, row.scorer, row.agreed_before, row.agreed_after) == (0.0, None, 5, 5)


def test_what_is_deleted_is_unlearned_at_once_and_learned_anew_without(client, work):
    taught = [teach(client, HINT, SUFFICIENT, number) for number in range(6)]
    work()
    assert verdict(judged(client, HINT, 10))[0] == SUFFICIENT

    client.delete(f"{ASSESSMENTS}/{taught[0]['assessmentProcessId']}")
    (row,) = learned(client)
    assert (row.shift, row.opinions) == (0.0, 0)
    work()
    assert learned(client)[0].opinions == 5
    assert verdict(judged(client, HINT, 11))[0] == SUFFICIENT

    client.delete(f"{ASSESSMENTS}/{taught[1]['assessmentProcessId']}")
    work()
    assert verdict(judged(client, HINT, 12)) == (MISSING, None)  # four are left

    for finding in taught[2:]:
        client.delete(f"{ASSESSMENTS}/{finding['assessmentProcessId']}")
    work()
    assert learned(client) == []


def test_opinions_that_come_together_are_learned_from_together(client, work):
    finding = judged(client, HINT)
    for expert in "abcde":
        give(client, finding["id"], categoryFeedback=SUFFICIENT, expertId=expert)
    worker = client.app.state.worker
    job = worker._claim()
    give(client, finding["id"], categoryFeedback=SUFFICIENT, expertId="f")
    worker._tasks[job.task].run(job, worker._begin(job))
    worker._end(job)
    work()

    (row,) = learned(client)
    assert (row.opinions, row.documents) == (6, 1)
    with client.app.state.database.read() as tx:
        assert tx.execute(select(jobs)).all() == []


def test_a_new_version_of_the_framework_is_judged_untaught(client, work, database, tmp_path):
    for number in range(5):
        teach(client, HINT, SUFFICIENT, number)
    work()
    house.install(database, tmp_path, code_name="HINTS", text=HINTS, version="2.0.0")

    assert verdict(judged(client, HINT, 10)) == (MISSING, None)
    teach(client, HINT, SUFFICIENT, 11)  # the first opinion on this version
    work()
    assert verdict(judged(client, HINT, 12)) == (MISSING, None)


class Meddled:
    """A database to which something happens between what is read and what is written."""

    def __init__(self, database, meddle):
        self.read = database.read
        self._database = database
        self._meddle = meddle

    def write(self):
        self._meddle()
        return self._database.write()


def test_what_is_erased_while_it_is_learned_from_is_not_learned(client):
    database = client.app.state.database
    finding = judged(client, HINT)
    for expert in "abcde":
        give(client, finding["id"], categoryFeedback=SUFFICIENT, expertId=expert)
    job = client.app.state.worker._claim()

    def erase():
        client.delete(f"{ASSESSMENTS}/{finding['assessmentProcessId']}")

    Learner(Meddled(database, erase), client.app.state.engine).task().run(job, Control())

    (row,) = learned(client)
    assert (row.shift, row.opinions) == (0.0, 0)


def test_twenty_documents_train_a_scorer_where_a_threshold_cannot_tell(client, work):
    """To these experts kindness alone is enough, an open garden nothing; the rules see half of it in both."""
    taught = []
    for number in range(10):
        taught.append(teach(client, KIND, SUFFICIENT, number, "KINDNESS"))
        taught.append(teach(client, ALL, MISSING, number, "KINDNESS"))
    work()

    kind, every = (judged(client, sentence, 50, "KINDNESS") for sentence in (KIND, ALL))

    assert {one["category"] for one in taught} == {INSUFFICIENT}
    assert (kind["category"], every["category"]) == (SUFFICIENT, MISSING)
    assert kind["provenance"]["model"].startswith("feedback KINDNESS ")
    assert kind["provenance"]["model"] == every["provenance"]["model"]
    assert kind["citations"]
    (row,) = learned(client)
    assert (row.documents, row.agreed_before, row.agreed_after) == (20, 0, 20)
    client.delete(f"{ASSESSMENTS}/{taught[0]['assessmentProcessId']}")
    work()
    assert judged(client, KIND, 51, "KINDNESS")["category"] == INSUFFICIENT  # nineteen are left
