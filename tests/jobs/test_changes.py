"""Word of a change reaches whoever listens, once it is certain, and nobody else."""

import pytest

from assay.jobs.changes import Changes


@pytest.fixture
def changes():
    return Changes()


def test_a_change_is_told_when_its_transaction_has_committed(database, changes):
    heard = []
    first, second = lambda: heard.append("first"), lambda: heard.append("second")
    with changes.listening("a", first), changes.listening("a", second):
        with database.write() as tx:
            changes.announce(tx, "a")
            changes.announce(tx, "b")
            assert heard == []

        assert heard == ["first", "second"]


def test_a_change_that_is_undone_is_not_told(database, changes):
    heard = []

    def announce_and_fail():
        with database.write() as tx:
            changes.announce(tx, "a")
            raise ZeroDivisionError

    with changes.listening("a", lambda: heard.append(1)):
        with pytest.raises(ZeroDivisionError):
            announce_and_fail()

        assert heard == []


def test_whoever_has_stopped_listening_hears_nothing_and_costs_nothing(database, changes):
    heard = []
    with changes.listening("a", lambda: heard.append(1)):
        pass
    with database.write() as tx:
        changes.announce(tx, "a")

    assert heard == []
    assert dict(changes._listeners) == {}
