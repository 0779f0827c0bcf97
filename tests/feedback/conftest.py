"""The framework that these tests assess against."""

import pytest

from tests.assessments import house


@pytest.fixture(autouse=True)
def _house_rules(request, tmp_path):
    """Where there is a database at all: pure functions are tested beside the rest."""
    if "database" in request.fixturenames:
        house.install(request.getfixturevalue("database"), tmp_path)
