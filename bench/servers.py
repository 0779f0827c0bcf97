"""Servers under measurement: each a process of its own, on a free port of the loopback."""

import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.identity.issuer import TOKEN_PATH

_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")


@dataclass(frozen=True, slots=True)
class Server:
    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cpu_seconds(self) -> float:
        """What the process has used so far, by the kernel's account."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        """Memory of the process and all that it started; pages that they share count for each."""
        return sum(_resident_bytes(pid) for pid in _family(self.process.pid))

    def forget_peak(self) -> None:
        """Let `peak_bytes` begin anew."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5", "ascii")

    def peak_bytes(self) -> int:
        """The most memory that the process itself had at once, by the kernel's account."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) * 1024  # type: ignore[union-attr]  # Linux


def _resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _family(pid: int) -> Iterator[int]:
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text("ascii").split():
            yield from _family(int(child))


@contextmanager
def service(folder: Path, **environment: str) -> Iterator[Server]:
    """`assay serve` as it comes, but for how often a partner may call; its log goes to a file."""
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--data-dir", str(folder)]
    often = {
        "ASSAY_RATE__REQUESTS_PER_MINUTE": "1000000000",
        "ASSAY_RATE__SUBMISSIONS_PER_MINUTE": "1000000000",
    }
    with _running(command, folder.parent / "service.log", {**often, **environment}) as server:
        yield server


@contextmanager
def bare(folder: Path, body: object) -> Iterator[Server]:
    """A bare FastAPI route that returns this body."""
    with _running([sys.executable, "-m", "bench.bare"], folder / "bare.log", {}, json.dumps(body)) as server:
        yield server


@contextmanager
def bare_status(folder: Path, database_url: str) -> Iterator[Server]:
    """A bare FastAPI route that selects a content job from this database."""
    command = [sys.executable, "-m", "bench.bare_status"]
    with _running(command, folder / "bare_status.log", {}, database_url) as server:
        yield server


@contextmanager
def bare_bytes(folder: Path, body: Path) -> Iterator[Server]:
    """A bare FastAPI route that sends the bytes of this file."""
    command = [sys.executable, "-m", "bench.bare_bytes"]
    with _running(command, folder / "bare_bytes.log", {}, str(body)) as server:
        yield server


@contextmanager
def _running(
    command: list[str], log: Path, environment: Mapping[str, str], line: str = ""
) -> Iterator[Server]:
    with log.open("w", encoding="utf-8") as stderr:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        )
    try:
        yield Server(process, _port(process, line))
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _port(process: subprocess.Popen[str], line: str) -> int:
    """The port that the server names in its first words."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    for said in process.stdout:
        if found := _ADDRESS.search(said):
            return int(found.group(1))
    raise RuntimeError(f"{process.args!r} ended without a word of its address.")


def add_partner(folder: Path) -> dict[str, str]:
    """A partner made before the service runs, so that its first start makes no other."""
    command = [sys.executable, "-m", "assay", "partners", "add", "bench", "--json", "--data-dir", str(folder)]
    credentials: dict[str, str] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return credentials


def get_token(server: Server, partner: Mapping[str, str]) -> str:
    form = {
        "grant_type": "password",
        "username": partner["username"],
        "password": partner["password"],
        "client_id": partner["clientId"],
        "client_secret": partner["clientSecret"],
    }
    token: str = _json(
        urllib.request.Request(server.url + TOKEN_PATH, urllib.parse.urlencode(form).encode())
    )["access_token"]
    return token


def get(server: Server, path: str, token: str) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    return _json(urllib.request.Request(server.url + path, headers=headers))


def get_bytes(server: Server, path: str, token: str) -> bytes:
    request = urllib.request.Request(server.url + path, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        body: bytes = answer.read()
    return body


def _json(request: urllib.request.Request) -> Any:
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)
