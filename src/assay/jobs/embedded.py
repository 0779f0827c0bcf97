"""The engine for one machine: threads of this process, woken at once, quiet when there is nothing to do."""

import threading
from datetime import UTC, datetime

import structlog
from sqlalchemy import Connection

from assay.database.core import DatabaseUnavailable, after_commit
from assay.jobs.models import Job
from assay.jobs.worker import Worker

log = structlog.get_logger()

DRAIN_SECONDS = 5.0
RETRY_SECONDS = 1.0


class EmbeddedEngine:
    def __init__(self, threads: int, *, alone: bool = False) -> None:
        """`alone`: no other process works on this database, so a lease held by another is a dead one's."""
        self._count = threads
        self._alone = alone
        self._threads: list[threading.Thread] = []
        self._wake = threading.Condition()
        self._signals = 0
        self._stopping = False
        self._worker: Worker | None = None

    def deliver(self, tx: Connection, job: Job) -> None:  # noqa: ARG002  # the table knows; a signal is enough
        after_commit(tx, self._signal)

    def _signal(self) -> None:
        with self._wake:
            self._signals += 1
            self._wake.notify()

    def start(self, worker: Worker) -> None:
        self._worker = worker
        for number in range(self._count):
            thread = threading.Thread(target=self._loop, args=(worker,), name=f"worker-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        deadline = datetime.now(UTC).timestamp() + DRAIN_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - datetime.now(UTC).timestamp()))
        if self._worker is not None and any(thread.is_alive() for thread in self._threads):
            self._worker.hand_back()
            for thread in self._threads:
                thread.join(1.0)

    def _loop(self, worker: Worker) -> None:
        swept = False
        while not self._stopping:
            try:
                if not swept:
                    worker.sweep(alone=self._alone)
                    swept = True
                if not worker.perform():
                    self._rest(worker)
            except DatabaseUnavailable:
                log.warning("database away", worker=worker.id)
                self._sleep(RETRY_SECONDS)

    def _rest(self, worker: Worker) -> None:
        """Until there is a signal, or until a back-off or a lease ends."""
        due = worker.next_due()
        seconds = None if due is None else max(0.0, (due - datetime.now(UTC)).total_seconds())
        if self._sleep(seconds):
            worker.sweep()

    def _sleep(self, seconds: float | None) -> bool:
        """True when the time was up, False when there was a signal."""
        with self._wake:
            signalled = self._wake.wait_for(lambda: self._signals or self._stopping, timeout=seconds)
            self._signals = max(0, self._signals - 1)
        return not signalled
