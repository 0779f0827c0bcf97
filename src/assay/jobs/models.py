"""A job: the promise that a service function will run for one thing, at least once, until it is settled."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection

from assay.errors import ServiceError


@dataclass(frozen=True, slots=True)
class Job:
    """`task` names the work, `target` the thing it is done to, `subject` the partner it is done for."""

    id: str
    task: str
    target: str
    subject: str
    attempt: int = 0
    worker: str | None = None
    created_at: datetime | None = None


class Transient(Exception):
    """The work failed for a reason that may pass; it is tried again, a bounded number of times."""

    def __init__(self, failure: ServiceError) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Abandoned(ServiceError):
    """Processing was interrupted too often and has been given up."""


class Lost(Exception):
    """The job is no longer this worker's: it was cancelled, or its lease ran out and another has it."""


@dataclass(slots=True)
class Control:
    """How running work learns that it is not wanted any more."""

    cancelled: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Task:
    """What a kind of job does.

    `start` and `fail` run inside the transactions that claim and give up the job. `run` does the work,
    slowly and without a transaction; it settles by `table.finish` in the one that writes its result.
    """

    start: Callable[[Connection, Job], None]
    run: Callable[[Job, Control], None]
    fail: Callable[[Connection, Job, ServiceError], None]
