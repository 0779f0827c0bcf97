"""A worker: claims jobs from the table, does them, keeps their leases alive, and buries the dead."""

import threading
import uuid
from collections.abc import Mapping
from datetime import datetime

import structlog
from sqlalchemy import Connection

from assay.database.core import Database, DatabaseUnavailable, after_commit
from assay.errors import InternalError, ServiceError, Unavailable
from assay.jobs import table
from assay.jobs.models import Abandoned, Control, Job, Lost, Task, Transient
from assay.jobs.table import Policy
from assay.metrics import Metrics

log = structlog.get_logger()

# Cancel must stop work within a second, also when it was asked of another machine.
WATCH_SECONDS = 0.3


class Worker:
    """One for a process; `perform` may be called by any number of threads."""

    def __init__(
        self, database: Database, tasks: Mapping[str, Task], policy: Policy, metrics: Metrics | None = None
    ) -> None:
        self.id = str(uuid.uuid4())
        self._database = database
        self._tasks = tasks
        self.tasks = sorted(tasks)
        self._policy = policy
        self._metrics = metrics or Metrics()
        self._running: dict[str, tuple[Job, Control]] = {}
        self._changed = threading.Condition()
        self._watcher: threading.Thread | None = None

    def perform(self) -> bool:
        """Claim one job and do it. False when nothing is due."""
        job = self._claim()
        if job is None:
            return False
        control = self._begin(job)
        try:
            self._tasks[job.task].run(job, control)
        except Lost:
            self._note_lost(job)
        except Transient as transient:
            self._retry(job, transient.failure)
        except DatabaseUnavailable as away:  # the lease will end, and another tries
            self._note_away(job, away)
        except Exception:
            log.exception("bug", job=job.id, task=job.task)
            self._retry(job, InternalError("Processing has failed for a reason that is the service's own."))
        else:
            self._count(job, "done")
        finally:
            self._end(job)
        return True

    def _claim(self) -> Job | None:
        try:
            with self._database.write() as tx:
                job = table.claim(tx, self.id, self._policy, self._tasks.keys())
                if job is not None:
                    self._tasks[job.task].start(tx, job)
        except DatabaseUnavailable as away:
            self._metrics.unavailable.labels(away.code).inc()
            raise
        return job

    def _count(self, job: Job, outcome: str) -> None:
        self._metrics.jobs.labels(job.task, outcome).inc()

    def _note_lost(self, job: Job) -> None:
        """Cancelled, if nobody owes it any more; else it is another's, or waits for one."""
        try:
            with self._database.read() as tx:
                outcome = "lost" if table.is_owed(tx, job.target) else "cancelled"
        except DatabaseUnavailable:
            outcome = "lost"
        log.info("job lost", job=job.id, task=job.task, outcome=outcome)
        self._count(job, outcome)

    def _note_away(self, job: Job, away: DatabaseUnavailable) -> None:
        log.warning("database away", job=job.id, task=job.task)
        self._metrics.unavailable.labels(away.code).inc()
        self._count(job, "lost")

    def _retry(self, job: Job, failure: ServiceError) -> None:
        if isinstance(failure, Unavailable):
            self._metrics.unavailable.labels(failure.code).inc()
        try:
            with self._database.write() as tx:
                self._release_or_give_up(tx, job, failure)
        except DatabaseUnavailable as away:
            self._note_away(job, away)

    def _release_or_give_up(self, tx: Connection, job: Job, failure: ServiceError) -> None:
        if job.attempt < self._policy.max_attempts:
            outcome = (
                "retried" if table.release(tx, job, after=self._policy.back_off(job.attempt)) else "lost"
            )
        elif table.give_up(tx, job):
            self._tasks[job.task].fail(tx, job, failure)
            outcome = "failed"
        else:
            outcome = "lost"
        after_commit(tx, lambda: self._count(job, outcome))

    def sweep(self, *, alone: bool = False) -> None:
        """Take back what dead workers held. `alone`: no other can be alive, so leases do not matter."""
        with self._database.write() as tx:
            for job in table.expired(tx, self._tasks.keys(), orphans_of=self.id if alone else None):
                log.warning("lease expired", job=job.id, task=job.task, attempt=job.attempt)
                after_commit(tx, self._metrics.lease_expiries.labels(job.task).inc)
                self._release_or_give_up(tx, job, Abandoned())

    def next_due(self) -> datetime | None:
        with self._database.read() as tx:
            return table.next_due(tx, self._tasks.keys())

    def hand_back(self) -> None:
        """Stop what is running and let others do it; the attempt does not count."""
        with self._changed:
            running = list(self._running.values())
        for job, control in running:
            with self._database.write() as tx:
                table.release(tx, job, counts=False)
            control.cancelled.set()

    def _begin(self, job: Job) -> Control:
        control = Control()
        with self._changed:
            self._running[job.id] = (job, control)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="job-watcher", daemon=True)
                self._watcher.start()
        return control

    def _end(self, job: Job) -> None:
        with self._changed:
            self._running.pop(job.id, None)
            self._changed.notify_all()

    def _watch(self) -> None:
        """While something runs: prolong its lease, and tell it when it is not wanted any more."""
        ticks_to_renew = max(1, int(self._policy.lease_seconds / 4 / WATCH_SECONDS))
        ticks = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._running, timeout=WATCH_SECONDS)
                if not self._running:
                    self._watcher = None
                    return
            ticks += 1
            try:
                self._tell_the_unwanted(renew=ticks % ticks_to_renew == 0)
            except DatabaseUnavailable:
                log.warning("database away", worker=self.id)

    def _tell_the_unwanted(self, *, renew: bool) -> None:
        if renew:
            with self._database.write() as tx:
                table.renew(tx, self.id, self._policy)
        with self._changed:
            running = list(self._running.values())
        with self._database.read() as tx:
            held = table.held(tx, self.id)
        for job, control in running:
            if (job.id, job.attempt) not in held:
                control.cancelled.set()
