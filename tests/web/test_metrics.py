"""What is worth an alert can be read at /metrics, once it has happened."""

import re
import threading
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from assay import settings
from assay.app import create_app
from assay.content.blobs import StoreUnavailable
from assay.content.extraction.sandbox.outcomes import Cancelled, ChildCrashed
from assay.content.service import PROCESS
from assay.database.core import Database, DatabaseUnavailable
from assay.jobs.table import jobs
from assay.metrics import Metrics
from tests import factories
from tests.content.test_fetching import response, serving
from tests.content.test_lifecycle import JOBS
from tests.content.test_waiting import Waiters
from tests.gateways import free_port
from tests.jobs.doing import make_due

ROOT = Path(__file__).parents[2]
PAGE = b"<!doctype html><title>Terms</title><p>Be kind."


def figure(client, name, **labels):
    """The value of one series; None where there is none."""
    said = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    series = f"{name}{{{said}}}" if said else name
    found = re.search(rf"^{re.escape(series)} (\S+)$", client.get("/metrics").text, re.MULTILINE)
    return float(found.group(1)) if found else None


def outcome(client, name):
    return figure(client, "assay_jobs_total", task=PROCESS, outcome=name)


def owed(client, state):
    return figure(client, "assay_queue_jobs", task=PROCESS, state=state)


def age(client):
    return figure(client, "assay_queue_oldest_seconds", task=PROCESS)


def change_jobs(database, **values):
    with database.write() as tx:
        tx.execute(update(jobs).values(**values))


class Trouble:
    """Stands where the reader stands, and does to every document what a test says."""

    def __init__(self, trouble):
        self._trouble = trouble

    def read(self, *_arguments, **_options):
        raise self._trouble()


@pytest.fixture
def troubled(database, partner, tmp_path):
    """A client of a service whose reader has this trouble with every document."""
    with ExitStack() as opened:

        def troubled(trouble):
            config = settings.Settings(data_dir=tmp_path / "data")
            app = create_app(config, database, reader=Trouble(trouble), working=False)
            return factories.signed_in(opened.enter_context(TestClient(app)), partner)

        yield troubled


def test_an_idle_queue_is_told_as_empty(anonymous):
    assert (owed(anonymous, "waiting"), owed(anonymous, "running"), age(anonymous)) == (0, 0, 0)
    assert figure(anonymous, "assay_database_up") == 1


def test_the_depth_of_the_queue_and_the_age_of_its_oldest_job_are_told(client, database):
    factories.submitted(client)
    factories.submitted(client, factories.pdf("Be brief."))
    change_jobs(database, created_at=datetime.now(UTC) - timedelta(hours=1))

    assert (owed(client, "waiting"), owed(client, "running")) == (2, 0)
    assert 3600 <= age(client) < 3700

    assert client.app.state.worker._claim() is not None  # and its work takes long
    assert (owed(client, "waiting"), owed(client, "running")) == (1, 1)


def test_work_that_is_done_is_counted_and_leaves_the_queue(client, work):
    factories.submitted(client)
    work()

    assert outcome(client, "done") == 1
    assert (owed(client, "waiting"), age(client)) == (0, 0)


def test_an_attempt_that_is_made_again_and_a_job_that_is_given_up_are_told_apart(troubled, database):
    client = troubled(ChildCrashed)
    factories.submitted(client)
    for _ in range(3):
        make_due(database)
        assert client.app.state.worker.perform()

    assert (outcome(client, "retried"), outcome(client, "failed"), outcome(client, "done")) == (2, 1, None)
    assert figure(client, "assay_documents_failed_total", code="reader_failed") == 1


def test_a_document_that_cannot_be_read_is_work_done_and_a_failure_by_name(client, work):
    factories.submitted(client, b"%PDF-1.7 damaged")
    work()

    assert outcome(client, "done") == 1
    assert figure(client, "assay_documents_failed_total", code="damaged_document") == 1


def test_work_that_was_cancelled_is_told_as_that(troubled):
    def cancelled_meanwhile():
        client.delete(f"{JOBS}/{job}")
        return Cancelled()

    client = troubled(cancelled_meanwhile)
    job = factories.submitted(client)
    client.app.state.worker.perform()

    assert (outcome(client, "cancelled"), outcome(client, "lost"), outcome(client, "done")) == (1, None, None)


def test_work_that_another_has_taken_over_is_told_as_lost(troubled, database):
    def taken_meanwhile():
        change_jobs(database, worker="another", attempt=2)
        return Cancelled()

    client = troubled(taken_meanwhile)
    factories.submitted(client)
    client.app.state.worker.perform()

    assert (outcome(client, "cancelled"), outcome(client, "lost"), outcome(client, "done")) == (None, 1, None)


def test_a_document_store_that_is_away_is_counted_and_tried_again(troubled):
    client = troubled(StoreUnavailable)
    factories.submitted(client)
    client.app.state.worker.perform()

    assert figure(client, "assay_unavailable_total", code="store_unavailable") == 1
    assert outcome(client, "retried") == 1


def test_a_lease_that_ran_out_is_counted(client, database):
    factories.submitted(client)
    assert client.app.state.worker._claim() is not None
    change_jobs(database, due_at=datetime.now(UTC) - timedelta(seconds=1))

    client.app.state.worker.sweep()

    assert figure(client, "assay_lease_expiries_total", task=PROCESS) == 1
    assert outcome(client, "retried") == 1


@pytest.mark.parametrize(
    ("kind", "document"), [("pdf", factories.pdf("Be kind.")), ("docx", factories.docx("Be kind."))]
)
def test_the_time_to_read_an_upload_is_told_by_its_kind(client, work, kind, document):
    factories.submitted(client, document)
    work()

    assert figure(client, "assay_extraction_seconds_count", kind=kind) == 1
    assert 0 < figure(client, "assay_extraction_seconds_sum", kind=kind) < 60


@pytest.mark.parametrize(
    ("kind", "body", "media_type"),
    [
        ("html", PAGE, "text/html"),
        ("text", b"Be kind.", "text/plain"),
        ("html", b"<em>Be kind.", "text/html"),
    ],
)
def test_the_time_to_read_a_page_is_told_by_its_kind(make_client, partner, kind, body, media_type):
    with serving() as site:
        site.pages["/"] = response(body, Content_Type=media_type)
        client = factories.signed_in(make_client(fetch={"allow": f"127.0.0.1:{site.port}"}), partner)
        client.post(f"{JOBS}/url", json={"url": site.url("/")})
        client.app.state.worker.perform()

    assert figure(client, "assay_extraction_seconds_count", kind=kind) == 1


def test_requests_that_wait_are_counted_while_they_do(client, work):
    job = factories.submitted(client)
    assert figure(client, "assay_waits") == 0
    waiters = Waiters(client, job, count=2)
    waiters.until_waiting(2)
    assert figure(client, "assay_waits") == 2

    work()

    waiters.answers()
    assert figure(client, "assay_waits") == 0


def test_uploads_that_are_refused_are_counted_by_reason(make_client, partner):
    client = factories.signed_in(make_client(limits={"file_bytes": 2000}), partner)
    route = f"{JOBS}/file"
    client.post(route, files={"file": ("notes.txt", b"Be kind.")})
    client.post(route, files={"file": ("empty.pdf", b"")})
    client.post(route, files={"file": ("large.pdf", b"%PDF-1.7" + bytes(3000))})

    for code in ("unsupported_document", "invalid_upload", "too_large"):
        assert figure(client, "assay_http_errors_total", route=route, code=code) == 1


def test_a_failed_fetch_of_the_providers_keys_is_counted(make_client):
    identity = {"issuer": "http://127.0.0.1:1/realms/partners"}
    client = make_client(identity=identity)
    assert figure(client, "assay_key_fetch_failures_total") == 0

    assert client.get("/readyz").status_code == 503

    assert figure(client, "assay_key_fetch_failures_total") == 1


@pytest.fixture(params=["sqlite", "postgres"])
def away(request, tmp_path):
    """A service whose database is not there."""
    urls = {"sqlite": f"sqlite:///{tmp_path}/gone/assay.sqlite3", "postgres": "postgresql://a@127.0.0.1:1/a"}
    app = create_app(settings.Settings(data_dir=tmp_path), Database(urls[request.param]), working=False)
    with TestClient(app) as client:
        yield client


def test_the_metrics_are_served_while_the_database_is_away(away):
    answer = away.get("/metrics")

    assert answer.status_code == 200
    assert figure(away, "assay_database_up") == 0
    assert owed(away, "waiting") is None, "what is not known is not told as nothing"


def test_a_database_that_is_away_is_counted_where_requests_and_workers_meet_it(away):
    token = factories.signed(factories.jwk.RSAKey.generate_key(2048, auto_kid=True), factories.claims("x"))
    assert away.get("/api/v1/info", headers=factories.bearer(token)).status_code == 503
    assert figure(away, "assay_unavailable_total", code="database_unavailable") == 1

    with pytest.raises(DatabaseUnavailable):
        away.app.state.worker.perform()

    assert figure(away, "assay_unavailable_total", code="database_unavailable") == 2


def test_a_scrape_does_not_disturb_the_work(client, work):
    """The figures are read as a snapshot: neither waits for the other."""
    for number in range(3):
        factories.submitted(client, factories.pdf(f"Clause {number}."))
    answers = []
    scraping = threading.Thread(
        target=lambda: answers.extend(client.get("/metrics").status_code for _ in range(10))
    )
    scraping.start()
    assert work() == 3
    scraping.join()

    assert answers == [200] * 10


def test_a_worker_without_an_api_serves_its_figures_at_a_port_of_its_own():
    metrics, port = Metrics(), free_port()
    metrics.lease_expiries.labels(PROCESS).inc()

    with metrics.served("127.0.0.1", port):
        text = httpx2.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text

    assert f'assay_lease_expiries_total{{task="{PROCESS}"}} 1.0' in text
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"http://127.0.0.1:{port}/metrics", trust_env=False)


PAGE_OF_OPERATORS = (ROOT / "docs" / "howto" / "operate.md").read_text()


def test_operators_are_told_of_every_figure_and_of_none_that_is_not_there(anonymous):
    families = re.findall(r"^# TYPE (assay_\w+) (\w+)$", anonymous.get("/metrics").text, re.MULTILINE)
    told = set(re.findall(r"\bassay_\w+[a-z]\b", PAGE_OF_OPERATORS))
    there = {name for name, kind in families if not name.endswith("_created")}
    assert {re.sub(r"_(bucket|count|sum)$", "", name) for name in told} == there


def test_operators_are_told_what_every_503_means():
    codes = re.findall(r"^\| 503 \| `(\w+)`", (ROOT / "docs/reference/errors.md").read_text(), re.MULTILINE)
    assert len(codes) > 3
    for code in codes:
        assert f"\n| `{code}` |" in PAGE_OF_OPERATORS, code


def test_operators_are_told_what_every_event_in_the_log_means():
    source = "".join(file.read_text() for file in (ROOT / "src").rglob("*.py"))
    events = set(re.findall(r"\blog\.\w+\(\s*\"([^\"]+)\"", source))
    assert {"request", "bug"} <= events
    for event in events:
        assert f"`{event}`" in PAGE_OF_OPERATORS, event
