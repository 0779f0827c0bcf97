"""Several real processes on one PostgreSQL: APIs that answer and workers that work."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import psycopg

from tests import factories, service

JOBS = "/api/v1/content-processing"
PATIENCE_SECONDS = 90


@dataclass
class Fleet:
    """The processes, and a client that calls the first API as a partner."""

    database_url: str
    variables: Mapping[str, str]
    folder: Path
    stack: ExitStack
    ports: list[int] = field(default_factory=list)
    processes: dict[str, list[subprocess.Popen[bytes]]] = field(
        default_factory=lambda: {"api": [], "work": []}
    )
    client: httpx2.Client = field(default_factory=lambda: httpx2.Client(timeout=60, trust_env=False))

    def start(self, role: str, *options: str) -> None:
        """One more process of this role."""
        number = len(self.processes[role])
        with (self.folder / f"{role}-{number}.log").open("w") as log:
            command = [*service.COMMAND, role, *options]
            process = subprocess.Popen(
                command, env=service.environment(**self.variables), stdout=log, stderr=log, cwd=self.folder
            )
        self.processes[role].append(process)
        self.stack.callback(_end, process)

    def start_api(self, port: int) -> None:
        self.ports.append(port)
        self.start("api", "--port", str(port))
        for _ in patiently(f"the API on port {port}"):
            with suppress(httpx2.TransportError):
                if self.client.get(f"http://127.0.0.1:{port}/livez").is_success:
                    return

    def url(self, path: str, api: int = 0) -> str:
        return f"http://127.0.0.1:{self.ports[api]}{path}"

    def sign_in(self, name: str = "acme") -> None:
        added = service.run("partners", "add", name, "--json", **self.variables)
        made = json.loads(added.stdout)
        form = {
            "grant_type": "password",
            "username": made["username"],
            "password": made["password"],
            "client_id": made["clientId"],
            "client_secret": made["clientSecret"],
        }
        token = self.client.post(self.url("/realms/assay/protocol/openid-connect/token"), data=form).json()
        self.client.headers.update(factories.bearer(token["access_token"]))

    def submit(self, text: str, api: int = 0) -> str:
        files = {"file": (f"{text}.pdf", factories.pdf(text))}
        answer = self.client.post(self.url(f"{JOBS}/file", api), files=files)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["uuid"])

    def settled(self, uuids: list[str]) -> dict[str, str]:
        """The status of each job, once all are settled."""
        for _ in patiently("the jobs"):
            records = self.client.post(self.url(f"{JOBS}/status/batch"), json={"uuids": uuids}).json()
            found = {record["uuid"]: record["status"] for record in records}
            if len(found) == len(uuids) and set(found.values()) <= {"COMPLETED", "FAILED"}:
                return found
        raise AssertionError("unreachable")

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def afloat(server: str, folder: Path, *, apis: int, workers: int, **variables: str) -> Iterator[Fleet]:
    """A fleet on a database of its own, signed in as a partner."""
    name = f"fleet_{os.getpid()}_{time.monotonic_ns()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    url = server.replace("/postgres?", f"/{name}?")
    ports = [_free_port() for _ in range(apis)]
    settings = {
        "ASSAY_DATABASE__URL": url,
        "ASSAY_DATA_DIR": str(folder / "data"),
        "ASSAY_PUBLIC_URL": f"http://127.0.0.1:{ports[0]}",
        "ASSAY_JOBS__LEASE_SECONDS": "3",
        **variables,
    }
    migrated = service.run("migrate", **settings)
    assert migrated.returncode == 0, migrated.stderr
    with ExitStack() as stack:
        fleet = Fleet(url, settings, folder, stack)
        stack.callback(fleet.client.close)
        for port in ports:
            fleet.start_api(port)
        for _ in range(workers):
            fleet.start("work", "--concurrency", "2")
        fleet.sign_in()
        yield fleet


def patiently(what: str) -> Iterator[None]:
    """Ask again, a little apart, until it is so or patience ends."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        yield
        with suppress(subprocess.TimeoutExpired):  # the pause: nothing here can be waited for by itself
            subprocess.run(["sleep", "0.1"], check=False)
    raise AssertionError(f"Waited too long for {what}.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
