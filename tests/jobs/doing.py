"""Jobs whose work is whatever a test says."""

import threading
import uuid
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import select, update

from assay.jobs import table
from assay.jobs.models import Task
from assay.jobs.table import Policy, jobs
from assay.jobs.worker import Worker

DO = "test.do"
SUBJECT = str(uuid.UUID(int=1))
PATIENCE = 20.0


class Doing:
    """A task that runs `work`, and notes what else was asked of it."""

    def __init__(self, database):
        self.database = database
        self.started, self.failed = [], []
        self.work = self.finish

    def task(self):
        return Task(
            start=lambda _tx, job: self.started.append(job),
            run=self._run,
            fail=lambda _tx, job, failure: self.failed.append((job, failure.message)),
        )

    def _run(self, job, control):
        self.work(job, control)

    def finish(self, job, _control=None):
        with self.database.write() as tx:
            table.finish(tx, job)

    def worker(self, policy=None, name=DO):
        return Worker(self.database, {name: self.task()}, policy or Policy())

    def enqueue(self, engine=None, task=DO, subject=SUBJECT):
        with self.database.write() as tx:
            job = table.enqueue(tx, task, target=str(uuid.uuid4()), subject=subject)
            if engine is not None:
                engine.deliver(tx, job)
        return job

    def rows(self):
        with self.database.read() as tx:
            return tx.execute(select(jobs).order_by(jobs.c.created_at)).all()


def make_due(database):
    """Let every back-off be over."""
    with database.write() as tx:
        tx.execute(update(jobs).where(jobs.c.worker.is_(None)).values(due_at=datetime.now(UTC)))


def let_leases_end(database):
    with database.write() as tx:
        tx.execute(update(jobs).where(jobs.c.worker.is_not(None)).values(due_at=datetime.now(UTC)))


@contextmanager
def performing(worker):
    """One `perform` in another thread, which must have ended with the block."""
    thread = threading.Thread(target=worker.perform)
    thread.start()
    try:
        yield
    finally:
        thread.join(PATIENCE)
        assert not thread.is_alive()
