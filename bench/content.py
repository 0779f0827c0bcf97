"""Content processing: the way to a text, the price of polling, and what stays in memory."""

import asyncio
import http.client
import json
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from assay.content.extraction import Reader, ReadingLimits, Source
from assay.database.core import Database, sqlite_url
from assay.jobs import table
from assay.jobs.embedded import EmbeddedEngine
from assay.jobs.models import Control, Job, Task
from assay.jobs.worker import Worker
from bench import load, polling, servers
from bench.sandbox import pdf
from bench.table import Cell, Table

JOBS = "/api/v1/content-processing"
ROUNDS = 60
POLLS = 1000
POLL_ROUNDS = 9
CONNECTIONS = 16
POLLERS, UPLOADERS, UPLOADS = 64, 4, 15
CONVERSIONS = 200
MIB = 2**20
LARGE = 45 * MIB


@dataclass(frozen=True, slots=True)
class Client:
    """One client over one connection that stays open."""

    connection: http.client.HTTPConnection
    token: str

    def submit(self, document: bytes) -> str:
        boundary = "bench"
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
        body = head.encode() + document + f"\r\n--{boundary}--\r\n".encode()
        answer = self._ask("POST", f"{JOBS}/file", body, f"multipart/form-data; boundary={boundary}")
        identifier: str = answer["uuid"]
        return identifier

    def wait(self, job: str) -> str:
        """How the job has ended."""
        while True:
            status: str = self._ask("GET", f"{JOBS}/{job}/status")["status"]
            if status in {"COMPLETED", "FAILED"}:
                return status

    def convert(self, document: bytes) -> None:
        assert self.wait(self.submit(document)) == "COMPLETED"

    def _ask(
        self, method: str, path: str, body: bytes | None = None, content_type: str = ""
    ) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {self.token}", "Prefer": "wait=20", "Content-Type": content_type}
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        record: dict[str, str] = json.loads(answer.read())
        assert answer.status in {200, 202, 303}, record
        return record


def measure() -> Table:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-bench-")))
        partner = servers.add_partner(folder / "data")
        service = stack.enter_context(servers.service(folder / "data"))
        bare = stack.enter_context(servers.bare_status(folder, sqlite_url(folder / "data")))
        rows: list[tuple[Cell, ...]] = []
        for figures in (_to_text, partial(_polls, service, bare), partial(_growth, service)):
            # A token of its own for each, because it holds for five minutes only.
            with _client(service, servers.get_token(service, partner)) as client:
                rows += figures(client)
        rows.insert(1, ("picked up, ms, p50", "", _pick_up_ms(folder / "idle"), "", "under 20"))
    return Table(
        title="Content processing, embedded",
        columns=("", "bare", "the service", "ratio", "aimed at"),
        rows=rows,
        note=(
            f"To a text: median of {ROUNDS} alternating rounds with a dense page; bare is the reading in a "
            "warm child alone, the service is upload, store, database, queue and that reading, by one client "
            f"over HTTP. Polls: median of {POLL_ROUNDS} alternating rounds of {POLLS} over {CONNECTIONS} "
            "connections; bare is a FastAPI route with the same SELECT and no caller to verify. "
            f"While {UPLOADERS} clients upload, {POLLERS} others poll; every answer must be 200."
        ),
    )


@contextmanager
def _client(service: servers.Server, token: str) -> Iterator[Client]:
    with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)) as connection:
        yield Client(connection, token)


def _to_text(client: Client) -> list[tuple[Cell, ...]]:
    document = pdf(1)
    bare, ours = [], []
    with closing(Reader(ReadingLimits())) as reader:
        for round_number in range(ROUNDS + 5):
            alone = _ms(lambda: reader.read(document, Source()))
            # Bytes of its own each time: equal ones are kept once, which would be less work.
            whole = _ms(lambda number=round_number: client.convert(document + b"\n%%%d" % number))  # type: ignore[misc]
            if round_number >= 5:  # both are warm
                bare.append(alone)
                ours.append(whole)
    alone, whole = statistics.median(bare), statistics.median(ours)
    return [("a page to COMPLETED, ms", alone, whole, whole / alone, "at most 4")]


def _ms(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


def _pick_up_ms(folder: Path) -> float:
    """From the commit that promises a job to the moment when its work begins, on an idle engine."""
    folder.mkdir()
    database = Database(sqlite_url(folder))
    database.migrate()
    begun = threading.Event()
    moments: list[float] = []

    def run(job: Job, _control: Control) -> None:
        moments.append(time.perf_counter())
        with database.write() as tx:
            table.finish(tx, job)
        begun.set()

    task = Task(start=lambda _tx, _job: None, run=run, fail=lambda _tx, _job, _failure: None)
    engine = EmbeddedEngine(1)
    engine.start(Worker(database, {"bench": task}, table.Policy()))
    waits = []
    for _ in range(ROUNDS):
        begun.clear()
        with database.write() as tx:
            engine.deliver(tx, table.enqueue(tx, "bench", target=str(uuid.uuid4()), subject="bench"))
        committed = time.perf_counter()
        begun.wait()
        waits.append((moments[-1] - committed) * 1000)
    engine.stop()
    database.close()
    return statistics.median(waits)


def _polls(service: servers.Server, bare: servers.Server, client: Client) -> list[tuple[Cell, ...]]:
    job = client.submit(b"%PDF-1.7 damaged")  # one that has failed is told of by a 200
    assert client.wait(job) == "FAILED"
    path = f"{JOBS}/{job}/status"
    request = load.get(path, service.port, Authorization=f"Bearer {client.token}")
    rates: dict[int, list[float]] = {bare.port: [], service.port: []}
    for _ in range(POLL_ROUNDS + 1):
        for port, asked in ((bare.port, load.get(path, bare.port)), (service.port, request)):
            took = asyncio.run(load.seconds(port, asked, count=POLLS, connections=CONNECTIONS))
            rates[port].append(POLLS / took)
    alone, ours = (statistics.median(rates[port][1:]) for port in (bare.port, service.port))
    crowd = _crowd(service, request, client.token)
    return [
        ("status polls a second", alone, ours, ours / alone, "at least 0.4"),
        (f"{POLLERS} poll while {UPLOADERS} upload, ms, p50", "", statistics.median(crowd) * 1000, "", ""),
        (f"{POLLERS} poll while {UPLOADERS} upload, ms, p99", "", _p99(crowd) * 1000, "", "no error"),
    ]


def _p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


def _crowd(service: servers.Server, request: bytes, token: str) -> list[float]:
    document = pdf(20)

    def upload(number: int) -> None:
        with _client(service, token) as client:
            for turn in range(UPLOADS):
                client.convert(document + b"\n%%%d-%d" % (number, turn))

    with ThreadPoolExecutor(UPLOADERS) as pool:
        uploads = [pool.submit(upload, number) for number in range(UPLOADERS)]
        crowd = polling.latencies(
            service.port, request, clients=POLLERS, until=lambda: all(done.done() for done in uploads)
        )
        taken = asyncio.run(crowd)
        for done in uploads:
            done.result()
    return taken


def _growth(service: servers.Server, client: Client) -> list[tuple[Cell, ...]]:
    return [_upload_growth(service, client), _conversion_growth(service, client)]


def _upload_growth(service: servers.Server, client: Client) -> tuple[Cell, ...]:
    """By the peak, so that what is given back in time counts too."""
    document = pdf(1)
    client.convert(document + bytes(MIB))
    service.forget_peak()
    before = service.peak_bytes()
    client.convert(document + bytes(LARGE))
    return (
        f"an upload of {LARGE // MIB} MiB, MiB more",
        "",
        (service.peak_bytes() - before) / MIB,
        "",
        "under 20",
    )


def _conversion_growth(service: servers.Server, client: Client) -> tuple[Cell, ...]:
    document = pdf(1)
    client.convert(document)
    before = service.resident_bytes()
    for number in range(CONVERSIONS):
        client.convert(document + b"\n%%again %d" % number)
    return (
        f"{CONVERSIONS} conversions, MiB more",
        "",
        (service.resident_bytes() - before) / MIB,
        "",
        "under 10",
    )
