"""The service as a real process group on a data directory, for what only a real one can show."""

import os
import re
import resource
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from assay.database.core import Database, sqlite_url
from assay.identity.issuer import TOKEN_PATH
from tests import factories

_ADDRESS = re.compile(rb"http://127\.0\.0\.1:(\d+)")
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Service:
    process: subprocess.Popen[bytes]
    port: int

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def signed_in(self, credentials):
        """A client that calls as this partner."""
        with httpx2.Client(base_url=self.url, timeout=30) as client:
            answer = client.post(TOKEN_PATH, data=factories.login_form(credentials))
            client.headers.update(factories.bearer(answer.json()["access_token"]))
            yield client

    def kill(self):
        """As a power cut ends it: the whole group, at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def terminate(self, seconds):
        """As an orchestrator asks it to end; its exit code, if it ends in time."""
        self.process.terminate()
        return self.process.wait(seconds)


def prepared(folder):
    """A data directory with a schema and a partner, whose credentials are returned."""
    folder.mkdir(parents=True, exist_ok=True)
    database = Database(sqlite_url(folder))
    factories.prepare(database)
    credentials = factories.partner(database, "acme")
    database.close()
    return credentials


@contextmanager
def serving(folder, *, max_file_bytes=None, **environment):
    """`assay serve`. `max_file_bytes`: no file may grow larger, as on a disk that is full."""
    with (folder / "service.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "assay", "serve", "--port", "0", "--data-dir", str(folder)],
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "PYTHONUNBUFFERED": "1",
                **environment,
            },
        )
    if max_file_bytes is not None:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (max_file_bytes, max_file_bytes))
    with process:
        try:
            yield Service(process, _port(process))
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def _port(process):
    said = b""
    while not (found := _ADDRESS.search(said)):
        assert select.select([process.stdout], [], [], _START_SECONDS)[0], "The service did not start."
        some = os.read(process.stdout.fileno(), 4096)
        assert some, f"The service ended with code {process.wait()}."
        said += some
    return int(found[1])


def logged(folder):
    return Path(folder / "service.log").read_text("utf-8")


def until(holds, seconds=20.0):
    """Look until it is so. Looking is all the waiting there is; the deadline is for what is stuck."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "It did not come about in time."
        os.sched_yield()


def ends(process, seconds=20.0):
    """Whether the process with this number has ended, or does so in time."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)
