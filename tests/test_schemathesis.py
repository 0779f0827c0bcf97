"""The OpenAPI document held against the service: schemathesis calls every operation as a partner."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import positive_data_acceptance

import assay.settings
from assay.app import create_app
from assay.database.core import Database, sqlite_url
from tests import factories

# Enough to reach every parameter in every wrong way, few enough for dozens of operations in seconds.
EXAMPLES = 25

# Operations are collected as tests of their own, so all this is needed when the module is imported.
FOLDER = tempfile.TemporaryDirectory()
DATABASE = Database(sqlite_url(Path(FOLDER.name)))


def _document() -> schemathesis.BaseSchema:
    """Of a service behind a gateway, where IDP_SUBJECT is required, as the document says."""
    factories.prepare(DATABASE)
    partner = factories.partner(DATABASE, "acme")
    said = factories.claims(partner.subject, exp=int(time.time()) + 3600)
    token = factories.signed(factories.signing_key(DATABASE), said)
    config = SchemathesisConfig.from_dict(
        {
            "headers": factories.bearer(token),
            "parameters": {"header.IDP_SUBJECT": partner.subject},
            "generation": {"mode": "all"},
        }
    )
    app = create_app(
        assay.settings.Settings(data_dir=Path(FOLDER.name), gateway="external"), DATABASE, working=False
    )
    return schemathesis.openapi.from_asgi("/openapi.json", app, config=config)


schema = _document()


@pytest.fixture(scope="module", autouse=True)
def _cleaned_up() -> Iterator[None]:
    yield
    DATABASE.close()
    FOLDER.cleanup()


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_operation_answers_as_its_document_says(case):
    # What a file holds, where an address leads and which framework there is, no schema can say.
    beyond_schema = (positive_data_acceptance,) if case.method == "POST" else ()
    case.call_and_validate(excluded_checks=beyond_schema)
