"""A worker: does what it claims, tries again, gives up with a reason, and lets go of what is not wanted."""

import threading

import pytest

from assay.errors import Unavailable
from assay.jobs import table
from assay.jobs.models import Lost, Transient
from assay.jobs.table import Policy
from tests.jobs.doing import PATIENCE, Doing, let_leases_end, make_due, performing


@pytest.fixture
def doing(database):
    return Doing(database)


def test_a_job_is_started_run_and_gone(doing):
    job = doing.enqueue()
    worker = doing.worker()

    assert worker.perform()

    assert [(started.id, started.attempt) for started in doing.started] == [(job.id, 1)]
    assert doing.rows() == []
    assert not worker.perform()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Transient(Unavailable("The weather is bad.")), "The weather is bad."),
        (ZeroDivisionError("secret"), "Processing has failed for a reason that is the service's own."),
    ],
    ids=["transient", "bug"],
)
def test_a_failure_is_tried_again_three_times_in_all_and_then_stored_with_its_reason(
    database, doing, error, reason
):
    def fail(_job, _control):
        raise error

    doing.work = fail
    doing.enqueue()
    worker = doing.worker(Policy(max_attempts=3))
    waits = []
    while worker.perform():
        waits.extend(row.due_at for row in doing.rows())
        make_due(database)

    assert [job.attempt for job in doing.started] == [1, 2, 3]
    assert [(job.attempt, message) for job, message in doing.failed] == [(3, reason)]
    assert doing.rows() == []
    assert len(waits) == 2


def test_a_failed_attempt_waits_longer_each_time(database, doing):
    def fail(_job, _control):
        raise Transient(Unavailable())

    doing.work = fail
    doing.enqueue()
    worker = doing.worker(Policy(max_attempts=3))
    waits = []
    for _ in range(2):
        worker.perform()
        assert not worker.perform()  # not yet
        started_at = doing.rows()[0].created_at
        waits.append(doing.rows()[0].due_at - started_at)
        make_due(database)

    assert waits[0] < waits[1]


def test_a_success_after_failures_is_a_success(database, doing):
    def fail_once(job, control):
        if job.attempt == 1:
            raise Transient(Unavailable())
        doing.finish(job)

    doing.work = fail_once
    doing.enqueue()
    worker = doing.worker()
    worker.perform()
    make_due(database)
    worker.perform()

    assert (doing.rows(), doing.failed) == ([], [])


def test_a_worker_that_lost_its_lease_cannot_write_its_result(database, doing):
    successor = doing.worker()

    def be_too_late(job, _control):
        let_leases_end(database)
        successor.sweep()
        make_due(database)
        with database.write() as tx:
            table.enqueue(tx, "test.result", target=job.target, subject=job.subject)
            table.finish(tx, job)

    doing.work = be_too_late
    job = doing.enqueue()
    doing.worker().perform()
    assert [(row.id, row.task, row.worker) for row in doing.rows()] == [(job.id, "test.do", None)]

    doing.work = doing.finish
    assert successor.perform()
    assert doing.rows() == []
    assert doing.failed == []


def test_the_work_of_a_dead_worker_is_taken_over_when_its_lease_ends(database, doing):
    doing.enqueue()
    doing.worker()._claim()  # and dies
    living = doing.worker()
    living.sweep()
    assert not living.perform()

    let_leases_end(database)
    living.sweep()
    make_due(database)

    assert living.perform()
    assert [job.attempt for job in doing.started] == [1, 2]


def test_work_that_kills_its_worker_three_times_is_given_up_with_a_sentence(database, doing):
    doing.enqueue()
    living = doing.worker(Policy(max_attempts=3))
    for _ in range(3):
        doing.worker()._claim()  # and dies
        let_leases_end(database)
        living.sweep()
        make_due(database)

    assert [message for _, message in doing.failed] == [
        "Processing was interrupted too often and has been given up."
    ]
    assert doing.rows() == []


def test_a_worker_that_is_alone_takes_over_at_once(database, doing):
    doing.enqueue()
    doing.worker()._claim()  # and dies, with a lease of 15 s
    living = doing.worker()

    living.sweep(alone=True)
    make_due(database)

    assert living.perform()
    assert doing.rows() == []


def test_tasks_of_another_version_are_neither_done_nor_given_up(database, doing):
    job = doing.enqueue(task="test.newer")
    newer = doing.worker(name="test.newer")
    older = doing.worker()
    for _ in range(3):
        newer._claim()  # and dies
        let_leases_end(database)
        older.sweep()
        older.sweep(alone=True)
        assert not older.perform()
        newer.sweep()
        make_due(database)

    assert [failed.id for failed, _ in doing.failed] == [job.id]  # by the one that knows how
    assert older.next_due() is None


def test_a_lease_is_prolonged_as_long_as_the_work_runs(doing):
    prolonged = []

    def run(job, _control):
        first = doing.rows()[0].due_at
        while doing.rows()[0].due_at == first:
            pass
        prolonged.append(True)
        doing.finish(job)

    doing.work = run
    doing.enqueue()
    doing.worker(Policy(lease_seconds=1)).perform()

    assert prolonged == [True]
    assert doing.rows() == []


def test_running_work_is_told_when_it_was_withdrawn(database, doing):
    running, told = threading.Event(), []

    def run(_job, control):
        running.set()
        told.append(control.cancelled.wait(PATIENCE))
        raise Lost

    doing.work = run
    job = doing.enqueue()
    with performing(doing.worker()):
        assert running.wait(PATIENCE)
        with database.write() as tx:
            table.withdraw(tx, job.target)

    assert told == [True]
    assert (doing.rows(), doing.failed) == ([], [])


def test_work_that_another_has_taken_over_is_told_so(database, doing):
    running, told = threading.Event(), []

    def run(_job, control):
        running.set()
        told.append(control.cancelled.wait(PATIENCE))
        raise Lost

    doing.work = run
    doing.enqueue()
    with performing(doing.worker()):
        assert running.wait(PATIENCE)
        doing.worker().sweep(alone=True)

    assert told == [True]


def test_work_that_is_handed_back_stops_and_its_attempt_does_not_count(doing):
    running = threading.Event()

    def run(_job, control):
        running.set()
        assert control.cancelled.wait(PATIENCE)
        raise Lost

    doing.work = run
    job = doing.enqueue()
    worker = doing.worker()
    with performing(worker):
        assert running.wait(PATIENCE)
        worker.hand_back()

    assert [(row.id, row.attempt, row.worker) for row in doing.rows()] == [(job.id, 0, None)]
    doing.work = doing.finish
    assert doing.worker().perform()  # at once, without a back-off
