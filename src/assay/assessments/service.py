"""Submit, follow and cancel assessments; join documents and frameworks."""

import difflib
import json
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row
from sqlalchemy.exc import IntegrityError

from assay.assessments import adjustments, store
from assay.assessments.judging import teaching
from assay.assessments.judging.teaching import Lesson, Pupil
from assay.assessments.models import (
    Assessment,
    AssessmentCancelled,
    AssessmentNotReady,
    Finding,
    InvalidAssessment,
    NothingReadable,
    Opinion,
    Source,
    Status,
    Topic,
    Unreadable,
)
from assay.assessments.store import NamedSource, Submission
from assay.content import service as contents
from assay.content.models import ContentJob, Received, Text, UnknownText
from assay.content.service import Desk
from assay.errors import Detail
from assay.frameworks import service as frameworks
from assay.frameworks.models import Criterion, Framework
from assay.jobs import table

JUDGE = "assessments.judge"


@dataclass(frozen=True, slots=True)
class Order:
    """What a partner asks for in one submission."""

    expert_id: str
    framework_code_name: str
    criteria_code_names: tuple[str, ...] | None
    process_id: str | None
    by_model: bool
    documents: tuple[Received, ...]
    urls: tuple[str, ...]
    content_uuids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The texts that a submission judges: fixed when its sources had settled."""

    sources: tuple[Source, ...]
    unreadable: tuple[Unreadable, ...]
    file_names: tuple[str, ...]
    urls: tuple[str, ...]

    def dump(self) -> str:
        return json.dumps(
            {
                "sources": [
                    [source.name, source.content_uuid, source.content_digest] for source in self.sources
                ],
                "unreadable": [[gap.source, gap.page, gap.reason] for gap in self.unreadable],
                "file_names": self.file_names,
                "urls": self.urls,
            }
        )

    @classmethod
    def load(cls, text: str) -> "Snapshot":
        data = json.loads(text)
        return cls(
            tuple(Source(*row) for row in data["sources"]),
            tuple(Unreadable(*row) for row in data["unreadable"]),
            tuple(data["file_names"]),
            tuple(data["urls"]),
        )


@dataclass(frozen=True, slots=True)
class Docket:
    """Where assessments are handed in, followed and withdrawn."""

    desk: Desk
    # Told of findings that are about to be erased, so that nothing learned from them stays.
    on_erased: Callable[[Connection, str, Sequence[Finding]], None] = lambda _tx, _subject, _findings: None
    most_sources: int = 50
    most_criteria: int = 1_000

    def submit(self, tx: Connection, subject: str, order: Order) -> Row[Any]:
        """Promise to judge: a new process, or more work for one that is there."""
        entry = frameworks.find(tx, order.framework_code_name, subject)
        if entry is None or entry.code_name != order.framework_code_name:
            known = [found.code_name for found in frameworks.list_(tx, subject)]
            raise unknown_name("frameworkCodeName", "framework", order.framework_code_name, known)
        criteria = chosen_criteria(frameworks.read(tx, entry.version_id), order.criteria_code_names)
        if len(criteria) > self.most_criteria:
            raise InvalidAssessment(
                f"The framework has {len(criteria):,} criteria; name at most {self.most_criteria:,} of them."
            )
        self._hold_sources(tx, subject, order)
        assessment_id, anew = self._open(tx, subject, order.process_id)
        submission = Submission(
            id=str(uuid.uuid4()),
            assessment_id=assessment_id,
            expert_id=order.expert_id,
            framework_version_id=entry.version_id,
            framework_code_name=entry.code_name,
            framework_version=entry.version,
            by_model=order.by_model,
        )
        store.add_submission(tx, submission)
        store.add_sources(tx, assessment_id, self._sources(tx, subject, order))
        if len(store.list_sources(tx, assessment_id)) > self.most_sources:
            raise InvalidAssessment(f"An assessment may have at most {self.most_sources} sources in all.")
        store.add_units(tx, submission.id, [(str(uuid.uuid4()), name) for name in criteria])
        store.open_units(tx, assessment_id, len(criteria), anew=anew)
        self._prepare(tx, subject, submission.id, assessment_id)
        row = store.find_by_id(tx, assessment_id)
        assert row is not None
        return row

    def _hold_sources(self, tx: Connection, subject: str, order: Order) -> None:
        """One that settles just now would see nobody waiting for it, and be seen by nobody as settled.

        Before the process, in the order in which a worker that settles one takes the two.
        """
        row = store.find(tx, subject, order.process_id) if order.process_id else None
        known = [source.content_uuid for source in store.list_sources(tx, row.id)] if row else []
        contents.list_(tx, [*order.content_uuids, *known], subject, hold=True)

    def _open(self, tx: Connection, subject: str, process_id: str | None) -> tuple[str, bool]:
        """The inner id of the process, and whether its units are counted from zero."""
        process_id = process_id or str(uuid.uuid4())
        while (row := store.find(tx, subject, process_id, to_change=True)) is None:
            assessment_id = str(uuid.uuid4())
            # Of two that begin the same process at once, the second finds it at its second look.
            with suppress(IntegrityError), tx.begin_nested():
                store.add(tx, assessment_id=assessment_id, subject=subject, process_id=process_id)
                return assessment_id, True
        if row.status == Status.CANCELLED:
            raise AssessmentCancelled
        return row.id, Status(row.status).is_settled

    def _sources(self, tx: Connection, subject: str, order: Order) -> list[NamedSource]:
        """Every source is a content job, made here or there already."""
        jobs = [contents.get(tx, uuid, subject) for uuid in order.content_uuids]
        jobs += [
            self.desk.submit_file(tx, subject, file_name=document.file_name, blob=document.blob)
            for document in order.documents
        ]
        jobs += [self.desk.submit_url(tx, subject, url) for url in order.urls]
        return [NamedSource(job.uuid, _name(job), job.source_url is not None) for job in jobs]

    def source_settled(self, tx: Connection, content_uuid: str) -> None:
        """A content job has ended: judge what waited for it, if it was the last."""
        for submission_id, assessment_id in store.list_unprepared(tx, content_uuid):
            # Of two sources that settle at once, the second waits here, and sees the first.
            row = store.find_by_id(tx, assessment_id, to_change=True)
            if row is not None and not Status(row.status).is_settled:
                self._prepare(tx, row.subject, submission_id, assessment_id)

    def _prepare(self, tx: Connection, subject: str, submission_id: str, assessment_id: str) -> None:
        """Fix the texts and enqueue the units, once no source is on its way any more."""
        named = store.list_sources(tx, assessment_id)
        jobs = contents.list_(tx, [source.content_uuid for source in named], subject)
        if any(_is_on_its_way(job) for job in jobs.values()):
            return
        snapshot = _snapshot(named, jobs)
        if not store.keep_snapshot(tx, submission_id, snapshot.dump()):
            return
        if not snapshot.sources:
            self.fail(tx, assessment_id, _nothing_readable(snapshot))
            return
        for source in snapshot.sources:
            contents.pin_text(tx, source.content_uuid, source.content_digest, assessment_id)
        unit_ids = store.list_units(tx, submission_id)
        for job in table.enqueue_all(tx, JUDGE, targets=unit_ids, subject=subject):
            self.desk.engine.deliver(tx, job)

    def fail(self, tx: Connection, assessment_id: str, error: str) -> None:
        self._stop(tx, assessment_id)
        store.settle(tx, assessment_id, Status.FAILED, error)
        self.desk.changes.announce(tx, assessment_id)

    def _stop(self, tx: Connection, assessment_id: str) -> None:
        table.withdraw(tx, *store.list_open_units(tx, assessment_id))
        store.remove_units(tx, assessment_id)

    def cancel(self, tx: Connection, subject: str, process_id: str) -> None:
        """Stop what is in progress, which stays readable as CANCELLED; erase what is finished."""
        self._stop(tx, store.get(tx, subject, process_id).id)  # jobs before the row, as workers take them
        row = store.get(tx, subject, process_id, to_change=True)
        if Status(row.status).is_settled:
            self.on_erased(tx, subject, store.list_findings(tx, row.id))
            contents.unpin_texts(tx, row.id)
            store.remove(tx, row.id)
        else:
            self._stop(tx, row.id)
            store.settle(tx, row.id, Status.CANCELLED)
        self.desk.changes.announce(tx, row.id)


def get(tx: Connection, subject: str, process_id: str) -> Assessment:
    return store.record(store.get(tx, subject, process_id))


def find_finding(tx: Connection, finding_id: int, subject: str) -> Finding | None:
    return store.find_finding(tx, finding_id, subject)


def results(tx: Connection, subject: str, process_id: str, *, partial: bool = False) -> list[Finding]:
    row = store.get(tx, subject, process_id)
    if row.status != Status.COMPLETED and not partial:
        raise AssessmentNotReady
    return store.list_findings(tx, row.id)


def texts_of(tx: Connection, findings: Sequence[Finding]) -> dict[tuple[str, str], Text]:
    """The texts that the findings were judged on, as far as they have not been erased."""
    texts: dict[tuple[str, str], Text] = {}
    for source in dict.fromkeys(source for finding in findings for source in finding.provenance.sources):
        with suppress(UnknownText):
            key = (source.content_uuid, source.content_digest)
            texts[key] = contents.read_pinned(tx, *key)
    return texts


def chosen_criteria(framework: Framework, wanted: Sequence[str] | None) -> list[str]:
    """Code names in the framework's own order: those that are wanted, or all of them."""
    known = [criterion.code_name for criterion in framework.criteria]
    if wanted is None:
        return known
    for name in wanted:
        if name not in known:
            raise unknown_name("criteriaCodeNames", "criterion of this framework", name, known)
    return [name for name in known if name in set(wanted)]


def unknown_name(field: str, what: str, name: str, known: Sequence[str]) -> InvalidAssessment:
    """A complaint that helps somebody who mistyped a name."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.3)
    message = f"{name[:100]!r} is not a {what}." + (f" Did you mean {near[0]!r}?" if near else "")
    return InvalidAssessment(message, details=[Detail(field, message)])


def _name(job: ContentJob) -> str:
    return job.source_url or job.file_name or job.uuid


def _is_on_its_way(job: ContentJob) -> bool:
    """A refresh does not keep anybody waiting: the last good text stands."""
    return not job.status.is_settled and job.text_digest is None


def _snapshot(named: Sequence[NamedSource], jobs: dict[str, ContentJob]) -> Snapshot:
    sources: list[Source] = []
    unreadable: list[Unreadable] = []
    for source in named:
        job = jobs.get(source.content_uuid)
        if job is None:
            unreadable.append(Unreadable(source.name, None, "It was cancelled."))
        elif job.text_digest is None:
            unreadable.append(Unreadable(source.name, None, job.error or "It could not be read."))
        else:
            sources.append(Source(source.name, source.content_uuid, job.text_digest))
    return Snapshot(
        tuple(sources),
        tuple(unreadable),
        tuple(source.name for source in named if not source.is_url),
        tuple(source.name for source in named if source.is_url),
    )


def _nothing_readable(snapshot: Snapshot) -> str:
    reasons = " ".join(f"{gap.source}: {gap.reason}" for gap in snapshot.unreadable[:5])
    return f"{NothingReadable().message} {reasons}"


def topic_of(subject: str, finding: Finding) -> Topic:
    """What an opinion on this finding teaches about."""
    return Topic(
        subject,
        finding.framework_code_name,
        finding.provenance.framework_version,
        finding.criterion_code_name,
        finding.provenance.engine_version,
    )


def open_lesson(tx: Connection, topic: Topic) -> str:
    return adjustments.open_(tx, topic)


def find_lesson(
    tx: Connection, lesson_id: str, *, to_change: bool = False
) -> tuple[Topic, str | None] | None:
    """Its topic, and the mark of the opinions that it was learned from."""
    return adjustments.find_topic(tx, lesson_id, to_change=to_change)


def learn(topic: Topic, criterion: Criterion, opinions: Sequence[Opinion]) -> Lesson:
    """Slow: not for a transaction."""
    return Pupil(topic.framework_code_name, criterion).learn(opinions)


def mark(opinions: Sequence[Opinion]) -> str:
    return teaching.mark(opinions)


def keep_lesson(tx: Connection, lesson_id: str, lesson: Lesson, mark: str) -> None:
    adjustments.keep(tx, lesson_id, lesson, mark)


def remove_lesson(tx: Connection, lesson_id: str) -> None:
    adjustments.remove(tx, lesson_id)


def forget_lessons(tx: Connection, subject: str, findings: Sequence[Finding]) -> list[str]:
    """Unlearn at once whatever these findings may have taught; what may be learned anew."""
    about = sorted({(finding.framework_code_name, finding.criterion_code_name) for finding in findings})
    return [lesson_id for pair in about for lesson_id in adjustments.forget(tx, subject, *pair)]
