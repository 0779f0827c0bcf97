import uuid

import pytest
from sqlalchemy import column, select, table

from assay.database.core import DatabaseUnavailable
from assay.identity import service, store
from tests import factories


def test_a_lookup_sees_what_another_connection_has_just_committed(database):
    partner = factories.partner(database, "acme")
    states = store.state_lookup(database)
    assert states.find(subject=partner.subject) == (None,)
    assert states.find(subject=str(uuid.uuid4())) is None

    with database.write() as tx:
        service.disable(tx, "acme")

    [disabled_at] = states.find(subject=partner.subject)
    assert disabled_at is not None


def test_a_lookup_leaves_no_transaction_open(database):
    """More of them than the pool has connections; and a writer is not held up."""
    states = store.state_lookup(database)
    for _ in range(100):
        states.find(subject=str(uuid.uuid4()))

    factories.partner(database, "acme")


def test_a_lookup_that_the_database_refuses_is_its_failure_and_the_next_one_works(database):
    missing = database.lookup(select(column("x")).select_from(table("no_such_table")))

    with pytest.raises(DatabaseUnavailable):
        missing.find()

    assert store.state_lookup(database).find(subject=str(uuid.uuid4())) is None
