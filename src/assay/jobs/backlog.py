"""How much work is owed, and for how long: counted on request, from the table that all machines share."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Any

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import Row, case, func, select
from sqlalchemy.exc import SQLAlchemyError

from assay.database.core import Database, DatabaseUnavailable
from assay.jobs.table import jobs

_WAITING = jobs.c.worker.is_(None)
_COUNTS = select(
    jobs.c.task,
    func.count(case((_WAITING, 1))).label("waiting"),
    func.count(jobs.c.worker).label("running"),
    func.min(case((_WAITING, jobs.c.created_at))).label("oldest"),
).group_by(jobs.c.task)


class Backlog(Collector):
    """Every process tells the same figures. Without a database it tells that, and nothing else."""

    def __init__(self, database: Database, tasks: Collection[str]) -> None:
        self._database = database
        self._tasks = tasks

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("assay_database_up", "Whether the database answered just now.")
        rows = self._count()
        up.add_metric([], 0.0 if rows is None else 1.0)
        yield up
        if rows is not None:
            yield from self._figures({row.task: row for row in rows})

    def _count(self) -> list[Row[Any]] | None:
        try:
            with self._database.read() as tx:
                return list(tx.execute(_COUNTS))
        except (DatabaseUnavailable, SQLAlchemyError):  # the second: a schema that is not ours yet
            return None

    def _figures(self, rows: dict[str, Row[Any]]) -> Iterator[Metric]:
        owed = GaugeMetricFamily("assay_queue_jobs", "Jobs owed at present.", labels=("task", "state"))
        oldest = GaugeMetricFamily(
            "assay_queue_oldest_seconds", "How long the oldest waiting job has waited.", labels=("task",)
        )
        now = datetime.now(UTC)
        for task in sorted({*self._tasks, *rows}):
            row = rows.get(task)
            owed.add_metric([task, "waiting"], row.waiting if row else 0)
            owed.add_metric([task, "running"], row.running if row else 0)
            since = row.oldest if row else None
            oldest.add_metric([task], max(0.0, (now - since).total_seconds()) if since else 0.0)
        yield owed
        yield oldest
