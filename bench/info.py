"""The cost of a request that does nothing: `GET /api/v1/info`, against a bare FastAPI route."""

import asyncio
import statistics
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bench import load, servers
from bench.table import Table

PATH = "/api/v1/info"
CONNECTIONS = 16
REQUESTS = 1000
ROUNDS = 21
TARGET = 0.5


@dataclass(slots=True)
class Contender:
    name: str
    server: servers.Server
    request: bytes
    resident_bytes: int = 0
    rates: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)

    def go(self) -> None:
        used = self.server.cpu_seconds()
        took = asyncio.run(
            load.seconds(self.server.port, self.request, count=REQUESTS, connections=CONNECTIONS)
        )
        self.rates.append(REQUESTS / took)
        self.cpu_seconds.append(self.server.cpu_seconds() - used)

    def row(self) -> tuple[str, float, float, float]:
        return (
            self.name,
            statistics.median(self.rates),
            statistics.median(self.cpu_seconds) / REQUESTS * 1e6,
            self.resident_bytes / 2**20,
        )


def measure() -> Table:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-bench-")))
        contenders = _start(stack, folder)
        for contender in contenders:
            contender.go()  # to warm up; also the token has been seen before from here on
            contender.rates.clear()
            contender.cpu_seconds.clear()
        for _ in range(ROUNDS):
            for contender in contenders:
                contender.go()
    bare, service = (contender.row() for contender in contenders)
    return Table(
        title="A request that does nothing: GET /api/v1/info",
        columns=("", "requests a second", "CPU µs a request", "idle memory, MiB"),
        rows=[bare, service, ("ratio", service[1] / bare[1], service[2] / bare[2], service[3] / bare[3])],
        note=(
            f"Median of {ROUNDS} alternating rounds of {REQUESTS} requests over {CONNECTIONS} connections, "
            "with a token seen before. The service verifies the caller, looks up whether the partner is "
            "disabled, counts and logs; the bare route does none of it. "
            f"Aimed at: at least {TARGET} of the requests a second. "
            "Memory is the resident set of the whole process tree after its first answer."
        ),
    )


def _start(stack: ExitStack, folder: Path) -> tuple[Contender, Contender]:
    data = folder / "data"
    partner = servers.add_partner(data)
    service = stack.enter_context(servers.service(data))
    token = servers.get_token(service, partner)
    body = servers.get(service, PATH, token)
    bare = stack.enter_context(servers.bare(folder, body))
    assert servers.get(bare, PATH, token) == body
    request = load.get(PATH, service.port, Authorization=f"Bearer {token}")
    return (
        Contender("bare FastAPI", bare, load.get(PATH, bare.port), bare.resident_bytes()),
        Contender("the service", service, request, service.resident_bytes()),
    )
