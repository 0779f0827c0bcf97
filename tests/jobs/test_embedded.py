"""The engine for one machine: woken at once, quiet when there is nothing to do, and orderly in its end."""

import threading

import pytest
from sqlalchemy import event

from assay.errors import Unavailable
from assay.jobs import embedded, table
from assay.jobs.embedded import EmbeddedEngine
from assay.jobs.models import Lost, Transient
from assay.jobs.table import Policy
from tests.jobs.doing import PATIENCE, Doing, let_leases_end


class Watched(EmbeddedEngine):
    """Notes for how long it goes to rest."""

    def __init__(self, threads=1, **options):
        super().__init__(threads, **options)
        self.rests = []
        self._resting = threading.Condition()

    def _sleep(self, seconds):
        with self._resting:
            self.rests.append(seconds)
            self._resting.notify_all()
        return super()._sleep(seconds)

    def wait_for_rest(self, number):
        with self._resting:
            assert self._resting.wait_for(lambda: len(self.rests) >= number, PATIENCE)


@pytest.fixture
def doing(database):
    return Doing(database)


@pytest.fixture
def start(doing):
    """Engines that end with the test."""
    engines = []

    def start(engine=None, policy=None):
        engine = engine or Watched()
        engine.start(doing.worker(policy))
        engines.append(engine)
        return engine

    yield start
    for engine in engines:
        engine.stop()


def test_a_job_is_done_as_soon_as_its_transaction_has_committed(doing, start):
    done = threading.Event()

    def run(job, _control):
        doing.finish(job)
        done.set()

    doing.work = run
    engine = start()
    engine.wait_for_rest(1)
    assert engine.rests == [None]  # so nothing but a signal can wake it

    doing.enqueue(engine)

    assert done.wait(PATIENCE)
    assert doing.rows() == []


def test_a_job_whose_transaction_is_undone_wakes_nobody(database, doing, start):
    engine = start()
    engine.wait_for_rest(1)

    def promise_and_fail():
        with database.write() as tx:
            engine.deliver(tx, table.enqueue(tx, "test.do", target="x", subject="y"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        promise_and_fail()

    assert engine._signals == 0
    assert engine.rests == [None]


def test_an_idle_engine_asks_the_database_nothing(database, doing, start):
    statements = []
    event.listen(database.engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    engine = start(Watched(3))
    engine.wait_for_rest(3)
    statements.clear()

    assert engine.rests == [None] * 3  # each rests without an end, so nothing can come
    assert statements == []


def test_what_was_left_by_an_earlier_process_is_done_at_the_start(doing, start):
    done = threading.Event()

    def run(job, _control):
        doing.finish(job)
        done.set()

    doing.work = run
    doing.enqueue()

    start()

    assert done.wait(PATIENCE)


def test_alone_it_takes_over_at_once_what_a_dead_process_held(doing, start):
    done = threading.Event()

    def run(job, _control):
        doing.finish(job)
        done.set()

    doing.work = run
    doing.enqueue()
    doing.worker()._claim()  # and dies

    start(Watched(alone=True), Policy(lease_seconds=3600))

    assert done.wait(PATIENCE)


def test_jobs_run_side_by_side_on_as_many_threads_as_it_has(doing, start):
    together = threading.Barrier(3)

    def run(job, _control):
        together.wait(PATIENCE)  # breaks unless three are here at once
        doing.finish(job)

    doing.work = run
    engine = start(Watched(3))
    for _ in range(3):
        doing.enqueue(engine)
    engine.wait_for_rest(4)

    assert not together.broken
    assert doing.failed == []


def test_a_back_off_ends_without_anybodys_call(doing, start):
    done = threading.Event()

    def run(job, _control):
        if job.attempt == 1:
            raise Transient(Unavailable())
        doing.finish(job)
        done.set()

    doing.work = run
    engine = start()

    doing.enqueue(engine)

    assert done.wait(PATIENCE)
    assert any(seconds is not None and 0 < seconds <= 0.5 for seconds in engine.rests)


def test_a_lease_that_ended_while_all_threads_were_busy_is_rescued_all_the_same(database, doing, start):
    rescued = threading.Event()

    def run(job, _control):
        if not doing.failed and job.attempt == 1:
            doing.enqueue()
            doing.worker()._claim()  # and dies
            doing.finish(job)
            let_leases_end(database)
        else:
            doing.finish(job)
            rescued.set()

    doing.work = run
    engine = start()

    doing.enqueue(engine)

    assert rescued.wait(PATIENCE)
    assert doing.rows() == []


def test_stopping_waits_a_little_for_what_is_under_way(doing, start):
    running, stopping = threading.Event(), threading.Event()

    def run(job, _control):
        running.set()
        assert stopping.wait(PATIENCE)
        doing.finish(job)

    doing.work = run
    engine = start()
    doing.enqueue(engine)
    assert running.wait(PATIENCE)
    stopper = threading.Thread(target=engine.stop)
    stopper.start()
    stopping.set()
    stopper.join(PATIENCE)

    assert doing.rows() == []


def test_stopping_hands_back_what_takes_longer(doing, start, monkeypatch):
    monkeypatch.setattr(embedded, "DRAIN_SECONDS", 0.1)
    running = threading.Event()

    def run(_job, control):
        running.set()
        assert control.cancelled.wait(PATIENCE)
        raise Lost

    doing.work = run
    engine = start()
    job = doing.enqueue(engine)
    doing.enqueue(engine)
    assert running.wait(PATIENCE)

    engine.stop()

    assert [(row.attempt, row.worker) for row in doing.rows()] == [(0, None)] * 2
    assert [started.id for started in doing.started] == [job.id]  # nothing new was begun
