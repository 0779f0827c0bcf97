"""Take feedback in, and say how often experts agree."""

from sqlalchemy import Connection

from assay.assessments import service as assessments
from assay.assessments.models import Category, UnknownFinding
from assay.feedback import store
from assay.feedback.learning import Learner
from assay.feedback.models import Agreement
from assay.frameworks import service as frameworks


def give(
    tx: Connection,
    subject: str,
    *,
    expert_id: str,
    rational_feedback: str,
    finding_id: int | None,
    category: Category | None,
    learner: Learner,
) -> None:
    """Keep what the expert said, and learn from it. A finding of another partner is as unknown as none."""
    finding = None if finding_id is None else assessments.find_finding(tx, finding_id, subject)
    if finding_id is not None and finding is None:
        raise UnknownFinding
    store.add(
        tx,
        subject,
        expert_id=expert_id,
        rational_feedback=rational_feedback,
        finding_id=finding_id,
        category=category,
    )
    if finding is not None and category is not None:
        learner.note(tx, subject, finding)


def agreement(tx: Connection, subject: str, framework: str) -> list[Agreement]:
    """For each criterion of the framework, in its own order; zero where nobody said anything."""
    entry = frameworks.get(tx, framework, subject)
    given = store.agreements(tx, subject, entry.code_name)
    criteria = frameworks.read(tx, entry.version_id).criteria
    nothing = (Agreement(criterion.code_name, 0, 0, 0) for criterion in criteria)
    return [given.get(none.criterion_code_name, none) for none in nothing]
