"""The truth about jobs: in whose turn they are claimed, to whom they are leased, when they are given up."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from sqlalchemy import event

from assay.jobs import table
from assay.jobs.models import Lost
from assay.jobs.table import Policy

TASK = "test.do"
ACME, OTHER, THIRD = (str(uuid.UUID(int=number)) for number in (1, 2, 3))
POLICY = Policy(lease_seconds=10, running_per_partner=100, running_in_all=100)


@pytest.fixture
def enqueue(database):
    """Promise so many jobs for a partner; the last one."""

    def enqueue(subject=ACME, task=TASK, count=1):
        with database.write() as tx:
            made = [table.enqueue(tx, task, target=str(uuid.uuid4()), subject=subject) for _ in range(count)]
        return made[-1]

    return enqueue


@pytest.fixture
def claim(database):
    def claim(worker="w1", policy=POLICY, tasks=(TASK,)):
        with database.write() as tx:
            return table.claim(tx, worker, policy, tasks)

    return claim


@pytest.fixture
def act(database):
    """Do something to the table in a transaction of its own."""

    def act(function, *arguments, **options):
        with database.write() as tx:
            return function(tx, *arguments, **options)

    return act


def later(seconds):
    return time_machine.travel(datetime.now(UTC) + timedelta(seconds=seconds))


# Promising


def test_a_job_exists_if_and_only_if_its_transaction_commits(database, claim):
    def promise_and_fail():
        with database.write() as tx:
            table.enqueue(tx, TASK, target=str(uuid.uuid4()), subject=ACME)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        promise_and_fail()

    assert claim() is None


def test_a_job_is_owed_until_it_is_finished_or_withdrawn(enqueue, claim, act):
    first, second = enqueue(), enqueue()
    act(table.finish, claim())
    assert (act(table.is_owed, first.target), act(table.is_owed, second.target)) == (False, True)

    act(table.withdraw, second.target)

    assert not act(table.is_owed, second.target)
    assert claim() is None


# Claiming


def test_of_one_partner_the_job_that_has_waited_longest_comes_first(enqueue, claim):
    waiting = [enqueue().id for _ in range(3)]

    assert [claim().id for _ in range(3)] == waiting
    assert claim() is None


def test_a_claim_names_the_attempt_and_the_worker(enqueue, claim):
    enqueue()

    claimed = claim("w7")

    assert (claimed.attempt, claimed.worker, claimed.subject) == (1, "w7", ACME)


def test_a_single_job_does_not_wait_behind_another_partners_thousand(enqueue, claim):
    enqueue(ACME, count=1_000)
    single = enqueue(OTHER)
    assert claim().subject == ACME

    assert claim().id == single.id


def test_partners_take_turns(enqueue, claim):
    for subject in (ACME, OTHER, THIRD):
        enqueue(subject, count=3)

    taken = [claim().subject for _ in range(9)]

    assert [set(taken[start : start + 3]) for start in (0, 3, 6)] == [{ACME, OTHER, THIRD}] * 3


def test_a_long_queue_costs_a_claim_no_more_statements_than_a_short_one(database, enqueue, claim):
    statements = []
    event.listen(database.engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    counts = []
    for more in (1, 500):
        enqueue(ACME, count=more)
        statements.clear()
        claim()
        counts.append(len(statements))

    assert counts[0] == counts[1] > 0


def test_a_partner_runs_no_more_than_its_limit(enqueue, claim, act):
    enqueue(ACME, count=5)
    policy = Policy(running_per_partner=2)
    first, second = claim(policy=policy), claim(policy=policy)
    assert claim(policy=policy) is None

    enqueue(OTHER)
    assert claim(policy=policy).subject == OTHER
    act(table.finish, first)

    assert claim(policy=policy).subject == second.subject == ACME


def test_all_partners_together_run_no_more_than_the_limit_in_all(enqueue, claim, act):
    for subject in (ACME, OTHER, THIRD):
        enqueue(subject)
    policy = Policy(running_in_all=2)
    first = claim(policy=policy)
    assert claim(policy=policy) is not None
    assert claim(policy=policy) is None

    act(table.finish, first)

    assert claim(policy=policy) is not None


def test_limits_hold_and_no_job_is_claimed_twice_when_many_workers_come_at_once(enqueue, claim):
    enqueue(ACME, count=20)
    policy = Policy(running_per_partner=5)
    together = threading.Barrier(8)

    def take(number):
        together.wait()
        return [claim(f"w{number}", policy) for _ in range(3)]

    with ThreadPoolExecutor(8) as pool:
        taken = [job for jobs in pool.map(take, range(8)) for job in jobs if job is not None]

    assert len(taken) == len({job.id for job in taken}) == 5


def test_workers_that_come_at_once_all_get_a_job_where_there_are_enough(enqueue, claim):
    enqueue(ACME, count=4)
    together = threading.Barrier(4)

    def take(number):
        together.wait()
        return claim(f"w{number}")

    with ThreadPoolExecutor(4) as pool:
        assert None not in list(pool.map(take, range(4)))


def test_tasks_that_a_worker_does_not_know_are_left_for_others(enqueue, claim):
    enqueue(task="test.newer")
    known = enqueue()

    assert claim().id == known.id
    assert claim() is None
    assert claim(tasks=("test.newer",)) is not None


# Leases and the fence


def test_a_lease_that_has_run_out_is_found_and_one_that_holds_is_not(enqueue, claim, act):
    enqueue()
    claimed = claim()
    assert act(table.expired, (TASK,)) == []

    with later(POLICY.lease_seconds + 1):
        assert [job.id for job in act(table.expired, (TASK,))] == [claimed.id]
        assert act(table.expired, ("test.other",)) == []


def test_a_lease_is_prolonged_by_its_worker_alone(enqueue, claim, act):
    enqueue(count=2)
    mine, other = claim("mine"), claim("other")

    with later(POLICY.lease_seconds - 1):
        act(table.renew, "mine", POLICY)
    with later(POLICY.lease_seconds + 1):
        assert [job.id for job in act(table.expired, (TASK,))] == [other.id]
    assert act(table.held, "mine") == {(mine.id, 1)}


def test_to_a_worker_that_is_alone_all_leases_of_others_are_over(enqueue, claim, act):
    enqueue(count=2)
    claim("mine")
    other = claim("other")

    assert [job.id for job in act(table.expired, (TASK,), orphans_of="mine")] == [other.id]


def test_whoever_lost_the_lease_can_neither_finish_release_nor_give_up(database, enqueue, claim, act):
    enqueue()
    lost = claim("first")
    act(table.release, lost)
    held = claim("second")

    def finish_too_late():
        with database.write() as tx:
            table.enqueue(tx, TASK, target=held.target, subject=OTHER)  # stands for a result
            table.finish(tx, lost)

    with pytest.raises(Lost):
        finish_too_late()
    assert not act(table.release, lost)
    assert not act(table.give_up, lost)

    assert act(table.held, "second") == {(held.id, 2)}
    act(table.finish, held)
    assert not act(table.is_owed, held.target)  # the result of the first was undone


def test_the_same_worker_cannot_finish_an_attempt_that_is_over(enqueue, claim, act):
    enqueue()
    first = claim()
    act(table.release, first)
    claim()

    with pytest.raises(Lost):
        act(table.finish, first)


# Trying again


def test_a_released_job_waits_for_its_back_off(enqueue, claim, act):
    enqueue()
    act(table.release, claim(), after=timedelta(seconds=30))
    assert claim() is None

    with later(31):
        assert claim().attempt == 2


def test_an_attempt_that_was_cut_short_does_not_count(enqueue, claim, act):
    enqueue()
    act(table.release, claim(), counts=False)

    assert claim().attempt == 1


def test_back_off_grows():
    waits = [POLICY.back_off(attempt) for attempt in (1, 2, 3)]

    assert timedelta(0) < waits[0] < waits[1] < waits[2]
    assert waits[1] >= 2 * waits[0]


def test_what_is_due_next_is_the_end_of_a_back_off_or_of_a_lease(enqueue, claim, act):
    assert act(table.next_due, (TASK,)) is None
    enqueue()
    assert act(table.next_due, (TASK,)) is None  # it is due now: whoever claims it need not wait
    claimed = claim()
    lease = act(table.next_due, (TASK,))
    assert lease > datetime.now(UTC)
    act(table.release, claimed, after=timedelta(seconds=1))

    assert act(table.next_due, (TASK,)) < lease
    assert act(table.next_due, ("test.other",)) is None


def test_a_lease_that_is_over_is_due_until_somebody_has_taken_care_of_it(enqueue, claim, act):
    enqueue()
    claim()

    with later(POLICY.lease_seconds + 1):
        assert act(table.next_due, (TASK,)) < datetime.now(UTC)
