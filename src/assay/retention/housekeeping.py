"""Erase what is over: hourly beside the worker, or by `assay housekeeping`. Any number may do it at once."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy import Connection

from assay.assessments.service import Docket
from assay.audit import service as audit
from assay.audit.models import Action, Actor, Deed
from assay.content.service import Desk
from assay.database.core import Database
from assay.errors import Unavailable
from assay.retention import store
from assay.retention.models import Stale
from assay.web.idempotency import KEPT

log = structlog.get_logger()

EVERY_SECONDS = 3_600.0

List = Callable[[Connection, datetime, int], Sequence[Stale]]
EraseOne = Callable[[Stale, datetime], bool]


class Housekeeper:
    """`days`: what has settled and not changed for longer is erased; None keeps it."""

    def __init__(
        self, database: Database, desk: Desk, docket: Docket, days: int | None, *, at_a_time: int = 500
    ) -> None:
        self._database = database
        self._desk = desk
        self._docket = docket
        self._days = days
        self._at_a_time = at_a_time
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Now, and then every hour."""
        self._thread = threading.Thread(target=self._loop, name="housekeeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(2.0)

    def _loop(self) -> None:
        while not self._stopping.is_set():
            try:
                log.info("housekeeping", **self.run())
            except Unavailable as away:
                log.warning("housekeeping put off", code=away.code)
            except Exception:
                log.exception("bug")
            self._stopping.wait(EVERY_SECONDS)

    def run(self) -> dict[str, int]:
        """What was erased, by kind."""
        now = datetime.now(UTC)
        with self._database.write() as tx:
            counts = Counter(
                idempotency_keys=store.forget_keys(tx, now - KEPT),
                login_sessions=store.forget_sessions(tx, now),
            )
        if self._days is not None:
            counts.update(self._retain(now - timedelta(days=self._days)))
        return dict(counts)

    def _retain(self, before: datetime) -> dict[str, int]:
        # Assessments first: what they alone kept can go in the same round.
        return {
            "assessments": self._erase_all(store.list_stale_assessments, self._erase_assessment, before),
            "content_jobs": self._erase_all(store.list_stale_contents, self._erase_content, before),
            "feedback": self._erase_feedback(before),
        }

    def _erase_all(self, list_: List, erase: EraseOne, before: datetime) -> int:
        return sum(erase(stale, before) for stale in self._each(list_, before))

    def _each(self, list_: List, before: datetime) -> Iterator[Stale]:
        """Each in a transaction of its own, so that nobody waits long; until no more is found."""
        while not self._stopping.is_set():
            with self._database.read() as tx:
                found = list_(tx, before, self._at_a_time)
            for stale in found:
                if self._stopping.is_set():
                    return
                yield stale
            if len(found) < self._at_a_time:
                return

    def _erase_assessment(self, stale: Stale, before: datetime) -> bool:
        with self._database.write() as tx:
            if not store.is_stale_assessment(tx, stale, before):
                return False  # opened anew since, or another has erased it
            self._docket.cancel(tx, stale.subject, stale.id)
            audit.append(tx, _deed(Action.ERASE_ASSESSMENT, stale.subject, stale.id))
        return True

    def _erase_content(self, stale: Stale, before: datetime) -> bool:
        with self._database.write() as tx:
            if not store.is_stale_content(tx, stale, before):
                return False  # refreshed or put to use since, or another has erased it
            self._desk.cancel(tx, stale.subject, stale.id)
            audit.append(tx, _deed(Action.ERASE_CONTENT, stale.subject, stale.id))
        return True

    def _erase_feedback(self, before: datetime) -> int:
        with self._database.write() as tx:
            erased = store.erase_stale_feedback(tx, before)
            for subject, number in erased.items():
                audit.append(tx, _deed(Action.ERASE_FEEDBACK, subject, feedback=number))
        return sum(erased.values())


def _deed(action: Action, subject: str, target: str | None = None, **counts: int) -> Deed:
    return Deed(action=action, subject=subject, actor=Actor.SERVICE, target=target, counts=counts)
