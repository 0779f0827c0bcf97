"""The real command in a process of its own, for what only a process can show."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2

SOURCE = Path(__file__).parents[1] / "src"
COMMAND = [sys.executable, "-W", "error", "-m", "assay"]


def environment(**variables: str) -> Mapping[str, str]:
    """Ours, without settings that whoever runs the tests may have."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    return {**kept, "PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1", **variables}


def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command, to its end."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, env=environment(**variables), capture_output=True, text=True, timeout=60, check=False
    )


@dataclass(frozen=True)
class Running:
    process: subprocess.Popen[bytes]
    output: Path
    errors: Path

    @property
    def url(self) -> str:
        found = re.search(r"listens on (http://\S+)", self.output.read_text())
        assert found, self.errors.read_text()
        return found.group(1)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def running(data_dir: Path, *, port: str = "0", **variables: str) -> Iterator[Running]:
    """`assay serve` on a free port or this one, from its first answer to the end of the block."""
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    output, errors = (data_dir.parent / f"{data_dir.name}.{name}" for name in ("out", "err"))
    command = [*COMMAND, "serve", "--port", port, "--data-dir", str(data_dir)]
    with output.open("w") as out, errors.open("w") as err:
        process = subprocess.Popen(command, env=environment(**variables), stdout=out, stderr=err)
    service = Running(process, output, errors)
    try:
        _wait(service)
        yield service
    finally:
        process.kill()
        process.wait()


def _wait(service: Running) -> None:
    """Ask until there is an answer: what it listens on takes connections before it serves them."""
    while "listens on" not in service.output.read_text():
        with suppress(subprocess.TimeoutExpired):
            code = service.process.wait(0.02)
            raise AssertionError(f"ended with {code}: {service.errors.read_text()}")
    httpx2.get(f"{service.url}/livez", timeout=30, trust_env=False)
