"""Documents that mean harm come to a clear end, within the limits, and the service goes on."""

import re
from pathlib import Path

import pytest

from assay.content.extraction import Reader, ReadingLimits
from tests import factories
from tests.content.hostile_files import FAMILIES, make
from tests.content.test_lifecycle import JOBS
from tests.jobs.doing import make_due

# What must be the end where there is only one right one.
ENDS = {
    "zip bomb": "limit",
    "lying sizes": "limit|damaged",
    "50,000 entries": "more than 10,000 parts",
    "billion laughs": "entit|limit|declar",
    "quadratic entity": "entit|limit|declar",
    "100,000 pages": "100000 pages; the limit is 5000",
    "page tree loop": "damaged|no text|limit",
    "encrypted PDF": "password",
    "encrypted DOCX": "password",
    "cut DOCX": "cut short|damaged|no ZIP directory",
    "wrong types": r"\.",
}


@pytest.fixture(scope="module")
def reader():
    """Limits so small that a bomb that is not stopped by its own reader is stopped soon."""
    tight = Reader(
        ReadingLimits(docx_bytes=20 * 2**20, text_bytes=2_000_000, seconds=15, memory_bytes=500 * 2**20)
    )
    yield tight
    tight.close()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_hostile_document_comes_to_a_clear_end(client, work, database, family):
    answer = client.post(f"{JOBS}/file", files={"file": ("a.pdf", make(family))})
    assert answer.status_code in {202, 415}, answer.text
    if answer.status_code == 415:
        assert family not in ENDS
        return

    while work():
        make_due(database)

    job = answer.json()["uuid"]
    record = client.get(f"{JOBS}/{job}/status").json()
    assert record["status"] in ({"FAILED"} if family in ENDS else {"COMPLETED", "FAILED"})
    if record["status"] == "FAILED":
        assert re.search(ENDS.get(family, r"\.$"), record["error"], re.IGNORECASE), record["error"]
        assert record["error"].endswith(".")
        assert not re.search(r"Traceback|/src/|Error\b|three times", record["error"])
    else:
        assert "root:" not in client.get(f"{JOBS}/{job}/content").text
    assert not Path("/tmp/assay-was-here").exists()
    assert client.get("/readyz").status_code == 200


def test_after_all_of_them_an_honest_document_is_still_read(client, work):
    job = factories.submitted(client)

    assert work() == 1
    assert client.get(f"{JOBS}/{job}/content").text == "Be kind."
