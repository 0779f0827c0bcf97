"""A large catalogue: what its listing costs beside a bare route, and what it adds to a start."""

import asyncio
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from assay import settings
from assay.app import open_database
from assay.frameworks import service as frameworks
from assay.frameworks.models import Criterion, Framework
from bench import load, servers
from bench.table import Table

PATH = "/api/v1/frameworks"
FRAMEWORKS = 200
CRITERIA = 250
REQUESTS = 40
ROUNDS = 5
DEMAND = "The organisation shall define, document, approve and review what this requirement asks for. "


def measure() -> Table:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-bench-")))
        partner = servers.add_partner(folder / "data")
        without = _start_seconds(folder / "data")
        _fill(folder / "data")
        with_many = _start_seconds(folder / "data")
        ratio, size = _listing(stack, folder, partner)
    return Table(
        f"A catalogue of {FRAMEWORKS} frameworks of {CRITERIA} criteria",
        ("what", "figure", "to reach"),
        [
            ("GET /api/v1/frameworks, requests a second against a bare route", ratio, "≥ 0.5"),
            ("… its size, MiB", size / 2**20, "–"),
            ("start-up, seconds more than without", with_many - without, "< 2"),
        ],
        f"Median of {ROUNDS} alternating rounds of {REQUESTS} requests, 4 connections; the bare route sends "
        "the same bytes. A start is measured from the command to its first words, the best of three.",
    )


def _fill(folder: Path) -> None:
    config = settings.load(data_dir=folder)
    database = open_database(config)
    for number in range(FRAMEWORKS):
        with database.write() as tx:
            frameworks.install(tx, _framework(number), origin_digest=f"{number:064x}")
    database.close()


def _framework(number: int) -> Framework:
    criteria = tuple(
        Criterion(f"C_{place}", f"Requirement {place}", DEMAND * 2) for place in range(1, CRITERIA + 1)
    )
    return Framework(
        f"FRAMEWORK_{number}", f"Framework {number}", "1", "Made for measuring.", "en", criteria=criteria
    )


def _start_seconds(folder: Path) -> float:
    taken = []
    for _ in range(3):
        started = time.perf_counter()
        with servers.service(folder):
            taken.append(time.perf_counter() - started)
    return min(taken)


def _listing(stack: ExitStack, folder: Path, partner: dict[str, str]) -> tuple[float, int]:
    service = stack.enter_context(servers.service(folder / "data"))
    token = servers.get_token(service, partner)
    body = servers.get_bytes(service, PATH, token)
    (folder / "listing.json").write_bytes(body)
    bare = stack.enter_context(servers.bare_bytes(folder, folder / "listing.json"))
    rates: dict[int, list[float]] = {service.port: [], bare.port: []}
    for _ in range(ROUNDS):
        for port, found in rates.items():
            request = load.get(PATH, port, Authorization=f"Bearer {token}")
            took = asyncio.run(load.seconds(port, request, count=REQUESTS, connections=4))
            found.append(REQUESTS / took)
    return statistics.median(rates[service.port]) / statistics.median(rates[bare.port]), len(body)
