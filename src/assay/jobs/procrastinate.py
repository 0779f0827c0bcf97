"""The engine for many machines: Procrastinate on PostgreSQL carries word of jobs, by NOTIFY.

A message only says "there is something to do": whoever gets it claims the next job in fairness from our
table. So a message that is lost with its worker (fetched, and nobody lived to claim) costs a delay and no
job: every worker looks after the table by itself when a back-off or a lease ends, and every few seconds.
"""

import asyncio
import threading
from contextlib import suppress
from datetime import UTC, datetime

import procrastinate
import structlog
from procrastinate.exceptions import ConnectorException
from sqlalchemy import Connection, text

from assay.database.core import Database, DatabaseUnavailable
from assay.jobs.models import Job
from assay.jobs.worker import Worker

log = structlog.get_logger()

TASK = "assay.perform"
DRAIN_SECONDS = 5.0
# How long a job may wait whose message was lost, and how soon a broken connection is tried again.
LOOK_SECONDS = 5.0
RETRY_SECONDS = 1.0


class ProcrastinateEngine:
    def __init__(self, url: str, *, concurrency: int) -> None:
        self._concurrency = concurrency
        self._app = procrastinate.App(
            connector=procrastinate.PsycopgConnector(conninfo=url, min_size=1, max_size=concurrency + 2)
        )
        self._perform = self._app.task(name=TASK, queue="assay")(self._on_message)
        self._worker: Worker | None = None
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listening: asyncio.Task[None] | None = None

    def deliver(self, tx: Connection, job: Job) -> None:  # noqa: ARG002  # the table knows which; word is enough
        """In the caller's transaction: the message is sent if, and only if, the job exists."""
        if not tx.in_transaction():
            raise RuntimeError("A message outside a transaction would be dropped in silence.")
        self._perform.configure(connection=tx.connection.driver_connection).defer()

    def start(self, worker: Worker) -> None:
        self._worker = worker
        for name, target in (("listener", self._listen), ("caretaker", self._take_care)):
            thread = threading.Thread(target=target, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._loop is not None and self._listening is not None:
            with suppress(RuntimeError):  # it has just ended by itself
                self._loop.call_soon_threadsafe(self._listening.cancel)
        for thread in self._threads:
            thread.join(DRAIN_SECONDS)
        if self._worker is not None and any(thread.is_alive() for thread in self._threads):
            self._worker.hand_back()

    def _on_message(self) -> None:
        """Called in a thread by Procrastinate for each message."""
        if self._worker is not None and not self._stopping.is_set():
            with suppress(DatabaseUnavailable):
                self._worker.perform()

    def _listen(self) -> None:
        while not self._stopping.is_set():
            with suppress(asyncio.CancelledError):
                asyncio.run(self._listen_once())
            self._stopping.wait(RETRY_SECONDS)

    async def _listen_once(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._listening = asyncio.current_task()
        try:
            async with self._app.open_async():
                await self._app.run_worker_async(
                    queues=["assay"],
                    concurrency=self._concurrency,
                    install_signal_handlers=False,
                    delete_jobs="always",
                    shutdown_graceful_timeout=DRAIN_SECONDS,
                )
        except (ConnectorException, OSError) as error:
            log.warning("queue away", reason=type(error).__name__)

    def _take_care(self) -> None:
        """Do what nobody brings word of: back-offs that end, leases that expire, messages that were lost."""
        assert self._worker is not None
        while not self._stopping.is_set():
            try:
                self._worker.sweep()
                while not self._stopping.is_set() and self._worker.perform():
                    pass
                due = self._worker.next_due()
            except DatabaseUnavailable:
                log.warning("database away", worker=self._worker.id)
                due = None
            seconds = LOOK_SECONDS if due is None else (due - datetime.now(UTC)).total_seconds()
            self._stopping.wait(min(LOOK_SECONDS, max(0.05, seconds)))


def prepare(database: Database, url: str) -> None:
    """Make Procrastinate's own tables, if they are not there; to be called after `migrate`."""
    with database.read() as tx:
        known = tx.execute(text("SELECT to_regclass('procrastinate_jobs')")).scalar_one()
    if known is None:
        connector = procrastinate.SyncPsycopgConnector(conninfo=url)
        with procrastinate.App(connector=connector).open() as app:
            app.schema_manager.apply_schema()
