"""Learning from feedback as work: what is to be learned or unlearned is noted at once, and done by a job."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from assay.assessments import service as assessments
from assay.assessments.models import Finding, Topic
from assay.database.core import Database
from assay.errors import ServiceError
from assay.feedback import store
from assay.frameworks import service as frameworks
from assay.frameworks.models import Criterion
from assay.jobs import table
from assay.jobs.engine import Engine
from assay.jobs.models import Control, Job, Task

LEARN = "feedback.learn"


@dataclass(frozen=True, slots=True)
class Learner:
    """Notes what is to be learned or unlearned, and does it when its job comes."""

    database: Database
    engine: Engine

    def task(self) -> Task:
        return Task(start=_nothing_to_start, run=self._run, fail=_nothing_to_fail)

    def note(self, tx: Connection, subject: str, finding: Finding) -> None:
        """An expert has named a category for this finding."""
        self._enqueue(tx, subject, assessments.open_lesson(tx, assessments.topic_of(subject, finding)))

    def unlearn(self, tx: Connection, subject: str, findings: Sequence[Finding]) -> None:
        """These findings are about to be erased: what was learned goes now, and comes back without them."""
        for lesson_id in assessments.forget_lessons(tx, subject, findings):
            self._enqueue(tx, subject, lesson_id)

    def _enqueue(self, tx: Connection, subject: str, lesson_id: str) -> None:
        self.engine.deliver(tx, table.enqueue(tx, LEARN, target=lesson_id, subject=subject))

    def _run(self, job: Job, _control: Control) -> None:
        """Safe to run twice. What changes meanwhile brings its own job, so this one then writes nothing."""
        with self.database.read() as tx:
            found = assessments.find_lesson(tx, job.target)
            opinions = store.list_opinions(tx, found[0]) if found else []
            criterion = _criterion(tx, found[0]) if found else None
        seen = assessments.mark(opinions)
        lesson = None
        if criterion is not None and found is not None and found[1] != seen:
            lesson = assessments.learn(found[0], criterion, opinions)
        with self.database.write() as tx:
            table.finish(tx, job)
            current = assessments.find_lesson(tx, job.target, to_change=True)
            if current is None or lesson is None or _has_changed(tx, current[0], seen):
                return
            if opinions:
                assessments.keep_lesson(tx, job.target, lesson, seen)
            else:
                assessments.remove_lesson(tx, job.target)


def _has_changed(tx: Connection, topic: Topic, seen: str) -> bool:
    return assessments.mark(store.list_opinions(tx, topic)) != seen


def _criterion(tx: Connection, topic: Topic) -> Criterion | None:
    """As the version has it that was judged by; None where the framework is gone."""
    entry = frameworks.find(tx, topic.framework_code_name, topic.subject)
    if entry is None:
        return None
    framework = frameworks.read(tx, frameworks.version_id(tx, entry, topic.framework_version))
    return next((one for one in framework.criteria if one.code_name == topic.criterion_code_name), None)


def _nothing_to_start(_tx: Connection, _job: Job) -> None:
    """Nobody waits for a lesson, so nobody is told that one has begun."""


def _nothing_to_fail(_tx: Connection, _job: Job, _failure: ServiceError) -> None:
    """A lesson that fails leaves everything as it was; the next opinion brings another."""
