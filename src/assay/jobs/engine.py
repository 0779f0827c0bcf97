"""The port: an engine carries word of jobs to workers, at least once, and nothing more.

What is owed, to whom it is leased and in whose turn stands in `jobs.table`. So an engine may lose its
memory, deliver twice or deliver in another order, and no job is lost, doubled or stuck.
"""

from typing import Protocol

from sqlalchemy import Connection

from assay.jobs.models import Job
from assay.jobs.worker import Worker


class Engine(Protocol):
    def deliver(self, tx: Connection, job: Job) -> None:
        """Let a worker know of the job once the transaction has committed."""

    def start(self, worker: Worker) -> None:
        """Begin to call `worker.perform` for what is delivered."""

    def stop(self) -> None:
        """Let nothing new begin, and wait a little for what is under way."""
