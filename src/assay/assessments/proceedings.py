"""What a worker does for a unit: hold one criterion against the texts, and keep the verdict."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from sqlalchemy import Connection

from assay.assessments import adjustments, store
from assay.assessments.judging import ENGINE, ENGINE_VERSION, Adjustment, Corpus, Judge
from assay.assessments.models import NothingReadable, Provenance, Source, Topic, Unreadable, Verdict
from assay.assessments.service import Docket, Snapshot
from assay.assessments.store import Submission
from assay.content import service as contents
from assay.content.models import UnknownText
from assay.database.core import Database
from assay.errors import ServiceError
from assay.frameworks import service as frameworks
from assay.frameworks.models import Criterion, Framework
from assay.jobs import table
from assay.jobs.models import Control, Job, Lost, Task

# Texts taken apart and indexed, for the units of the same submission; two, because two may run side by side.
MOST_CORPORA = 2


@dataclass(slots=True)
class _Shelf:
    lock: threading.Lock = field(default_factory=threading.Lock)
    corpus: Corpus | None = None


class Corpora:
    """The corpus of each snapshot, made once and kept while its units are judged."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: OrderedDict[str, _Shelf] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def taking(self, submission: Submission) -> Iterator[Corpus]:
        """The corpus, for one judge at a time: it remembers what was found in it, and is not for two."""
        assert submission.snapshot is not None
        snapshot = Snapshot.load(submission.snapshot)
        with self._database.read() as tx:
            kept = contents.list_pins(tx, submission.assessment_id)
        # A text that was erased since must not be judged from memory: a shelf is known by what is there.
        there = [
            source for source in snapshot.sources if (source.content_uuid, source.content_digest) in kept
        ]
        key = f"{[source.content_uuid for source in there]} {submission.snapshot}"
        with self._lock:
            shelf = self._kept.setdefault(key, _Shelf())
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_CORPORA:
                self._kept.popitem(last=False)
        with shelf.lock:
            if shelf.corpus is None:
                shelf.corpus = self._make(snapshot, there)
            yield shelf.corpus

    def _make(self, snapshot: Snapshot, there: list[Source]) -> Corpus:
        texts = []
        for source in there:
            with self._database.read() as tx, suppress(UnknownText):
                texts.append((source, contents.read_pinned(tx, source.content_uuid, source.content_digest)))
        read = {source for source, _ in texts}
        erased = [
            Unreadable(source.name, None, "It was erased before it could be judged.")
            for source in snapshot.sources
            if source not in read
        ]
        return Corpus.of(texts, unreadable=[*snapshot.unreadable, *erased])


@runtime_checkable
class Measuring(Protocol):
    """A judge whose criteria over a corpus can be had as numbers, which feedback learns from."""

    def features(self, framework: Framework, criterion: Criterion, corpus: Corpus) -> Mapping[str, float]: ...


@dataclass(frozen=True, slots=True)
class _Case:
    """One criterion that is to be judged, and what this partner's experts have taught about it."""

    submission: Submission
    framework: Framework
    criterion: Criterion
    adjustment: Adjustment


@dataclass(frozen=True, slots=True)
class _Judged:
    verdict: Verdict
    model: str | None
    features: Mapping[str, float] | None
    sources: tuple[Source, ...]
    milliseconds: int


class Proceedings:
    """`make_judge`: judges are not shared by threads, so each thread makes its own and keeps it."""

    def __init__(self, database: Database, docket: Docket, make_judge: Callable[[], Judge]) -> None:
        self.database = database
        self.docket = docket
        self.corpora = Corpora(database)
        self._make_judge = make_judge
        self._own = threading.local()

    @property
    def _judge(self) -> Judge:
        if not hasattr(self._own, "judge"):
            self._own.judge = self._make_judge()
        judge: Judge = self._own.judge
        return judge

    def task(self) -> Task:
        return Task(start=self._start, run=self._run, fail=self._fail)

    def _start(self, tx: Connection, job: Job) -> None:
        found = store.find_unit(tx, job.target)
        if found is not None:
            store.start(tx, found[0].assessment_id)
            self.docket.desk.changes.announce(tx, found[0].assessment_id)

    def _fail(self, tx: Connection, job: Job, failure: ServiceError) -> None:
        found = store.find_unit(tx, job.target)
        if found is not None:
            self.docket.fail(tx, found[0].assessment_id, f"{found[1]}: {failure.message}")

    def _run(self, job: Job, control: Control) -> None:
        """Safe to run twice: the unit is gone with its finding, in one transaction."""
        case = self._case(job)
        with self.corpora.taking(case.submission) as corpus:
            if control.cancelled.is_set():
                raise Lost
            judged = self._judged(case, corpus) if corpus.sources else None
        with self.database.write() as tx:
            table.finish(tx, job)
            if judged is None:
                self.docket.fail(tx, case.submission.assessment_id, NothingReadable().message)
            else:
                self._keep(tx, job, case, judged)

    def _case(self, job: Job) -> _Case:
        with self.database.read() as tx:
            found = store.find_unit(tx, job.target)
            if found is None:
                raise Lost
            submission, name = found
            framework = frameworks.read(tx, submission.framework_version_id)
            criterion = next(one for one in framework.criteria if one.code_name == name)
            versions = (submission.framework_version, name, ENGINE_VERSION)
            topic = Topic(job.subject, submission.framework_code_name, *versions)
            return _Case(submission, framework, criterion, adjustments.find(tx, topic))

    def _judged(self, case: _Case, corpus: Corpus) -> _Judged:
        judge, started = self._judge, time.perf_counter()
        about = (case.framework, case.criterion)
        verdict = judge.judge(*about, corpus, case.adjustment)
        measured = judge.features(*about, corpus) if isinstance(judge, Measuring) else None
        return _Judged(
            verdict,
            _named(judge.model(*about, case.adjustment), case.adjustment),
            measured if case.criterion.aspects else None,
            corpus.sources,
            round((time.perf_counter() - started) * 1000),
        )

    def _keep(self, tx: Connection, job: Job, case: _Case, judged: _Judged) -> None:
        submission = case.submission
        assert submission.snapshot is not None
        snapshot = Snapshot.load(submission.snapshot)
        store.add_finding(
            tx,
            submission,
            subject=job.subject,
            criterion=case.criterion.code_name,
            verdict=judged.verdict,
            provenance=Provenance(
                engine=ENGINE,
                engine_version=ENGINE_VERSION,
                model=judged.model,
                framework_version=submission.framework_version,
                sources=judged.sources,
            ),
            file_names=snapshot.file_names,
            urls=snapshot.urls,
            processing_time_ms=judged.milliseconds,
            features=judged.features,
        )
        store.remove_unit(tx, job.target)
        store.finish_unit(tx, submission.assessment_id)
        self.docket.desk.changes.announce(tx, submission.assessment_id)


def _named(model: str | None, adjustment: Adjustment) -> str | None:
    """A moved threshold is part of what a finding can be reproduced from."""
    if not adjustment.shift:
        return model
    threshold = f"threshold {0.5 + adjustment.shift:.2f} by feedback"
    return f"{model}, {threshold}" if model else threshold
