"""`Prefer: wait=N`: the answer comes when the state changes, and whoever waits holds nothing up."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests import factories
from tests.asgi import PATIENCE
from tests.content.test_lifecycle import JOBS

LONG = {"Prefer": "wait=30"}


class Waiters:
    """Requests for a status that wait, each in a thread of its own."""

    def __init__(self, client, job, count=1, headers=LONG):
        self._client = client
        self._pool = ThreadPoolExecutor(count)
        self._answers = [
            self._pool.submit(client.get, f"{JOBS}/{job}/status", headers=headers) for _ in range(count)
        ]

    def until_waiting(self, count=1):
        """Until so many of them wait for a change."""
        listeners = self._client.app.state.desk.changes._listeners
        deadline = threading.Event()
        timer = threading.Timer(PATIENCE, deadline.set)
        timer.start()
        while sum(map(len, list(listeners.values()))) < count:
            assert not deadline.is_set()
        timer.cancel()

    def answers(self):
        with self._pool:
            return [answer.result(PATIENCE) for answer in self._answers]


def test_the_answer_comes_when_the_job_is_completed(client, work):
    job = factories.submitted(client)
    waiters = Waiters(client, job)
    waiters.until_waiting()

    work()

    [answer] = waiters.answers()
    assert (answer.status_code, answer.json()["status"]) == (303, "COMPLETED")
    assert answer.headers["preference-applied"] == "wait=30"


def test_the_answer_comes_when_the_job_has_failed(client, work):
    job = factories.submitted(client, b"%PDF-1.7 damaged")
    waiters = Waiters(client, job)
    waiters.until_waiting()

    work()

    assert waiters.answers()[0].json()["status"] == "FAILED"


def test_a_change_that_lasts_is_told_although_it_is_not_the_last(client):
    job = factories.submitted(client)
    waiters = Waiters(client, job)
    waiters.until_waiting()

    assert client.app.state.worker._claim() is not None  # and its work takes long

    assert waiters.answers()[0].json()["status"] == "RUNNING"


def test_the_answer_comes_when_the_job_is_cancelled(client):
    job = factories.submitted(client)
    waiters = Waiters(client, job)
    waiters.until_waiting()

    client.delete(f"{JOBS}/{job}")

    assert waiters.answers()[0].status_code == 404


def test_what_is_settled_is_answered_at_once(client, work):
    job = factories.submitted(client)
    work()

    # A wait would last longer than the patience of the test.
    assert Waiters(client, job).answers()[0].status_code == 303


def test_an_unknown_job_is_answered_at_once(client):
    assert Waiters(client, "unknown").answers()[0].status_code == 404


def test_when_the_time_is_up_the_answer_is_what_there_is(client):
    job = factories.submitted(client)

    answer = client.get(f"{JOBS}/{job}/status", headers={"Prefer": "wait=1"})

    assert (answer.status_code, answer.json()["status"]) == (200, "PENDING")
    assert answer.headers["preference-applied"] == "wait=1"
    assert "retry-after" in answer.headers


@pytest.mark.parametrize(
    "wish", ["wait", "wait=", "wait=x", "wait=-5", "wait=1.5", "await=30", "wait=0", "respond-async", ""]
)
def test_a_wish_that_cannot_be_understood_is_no_wish(client, wish):
    job = factories.submitted(client)

    answer = Waiters(client, job, headers={"Prefer": wish}).answers()[0]

    assert answer.status_code == 200
    assert "preference-applied" not in answer.headers


@pytest.mark.parametrize("wish", ["respond-async, wait=30", 'WAIT = "30"', "wait=900000"])
def test_a_wish_is_understood_in_every_spelling_and_no_longer_than_thirty_seconds(client, work, wish):
    job = factories.submitted(client)
    waiters = Waiters(client, job, headers={"Prefer": wish})
    waiters.until_waiting()

    work()

    assert waiters.answers()[0].headers["preference-applied"] == "wait=30"


def test_a_partner_that_waits_too_often_is_answered_at_once(make_client, partner, database):
    client = factories.signed_in(make_client(limits={"waits_per_partner": 2}), partner)
    job = factories.submitted(client)
    waiters = Waiters(client, job, 2)
    waiters.until_waiting(2)

    answer = Waiters(client, job).answers()[0]

    assert (answer.status_code, answer.json()["status"]) == (200, "PENDING")
    client.app.state.waiting.stop()
    assert [answer.status_code for answer in waiters.answers()] == [200, 200]
    assert client.app.state.waiting._waits == {}


def test_the_end_of_the_service_releases_whoever_waits(client):
    job = factories.submitted(client)
    waiters = Waiters(client, job, 3)
    waiters.until_waiting(3)

    client.app.state.waiting.stop()

    assert {answer.json()["status"] for answer in waiters.answers()} == {"PENDING"}


def test_more_may_wait_than_there_are_threads_and_connections(make_client, partner):
    """The pool of threads has 40, that of connections 32."""
    many = 60
    client = factories.signed_in(make_client(limits={"waits_per_partner": many}), partner)
    job = factories.submitted(client)
    waiters = Waiters(client, job, many)
    waiters.until_waiting(many)

    assert client.get("/readyz").status_code == 200  # in a thread, over a connection
    while client.app.state.worker.perform():
        pass

    assert {answer.status_code for answer in waiters.answers()} == {303}
