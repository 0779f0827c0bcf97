"""Run the service: take the port, prepare the data directory, listen until told to stop."""

import fcntl
import os
import signal
import socket
import threading
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI

from assay.settings import LimitSettings, Settings
from assay.web.protocol import protocol

# SIGTERM to the last byte; an orchestrator's patience is usually 10 s and more.
DRAIN_SECONDS = 8


class CannotStart(Exception):
    """The service cannot run here; the message is a sentence that says why."""


def take_port(host: str, port: int) -> socket.socket:
    """A listening socket, so that a port in use is known before anything else is done."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise CannotStart(
            f"Cannot listen on {host}:{port}: {(error.strerror or str(error)).lower()}."
        ) from None
    return listener


def prepare_folder(folder: Path) -> None:
    """Make the data directory, for this user alone, and see that it can be written."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CannotStart(f"The data directory {folder} cannot be written: {reason}.") from None


def is_alone(folder: Path) -> bool:
    """Whether no other service works on this data directory; the claim holds until this process ends.

    What a dead process was doing can then be taken over at once, without waiting for its lease to end.
    """
    claim = os.open(folder / ".claim", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(claim)
        return False
    return True


class _Server(uvicorn.Server):
    """Tells the application of the end when it is asked for, not when the last connection has closed."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        state = self.config.app.state  # type: ignore[union-attr]  # always the FastAPI app of `run`
        state.waiting.stop()
        # Beside the requests that are still being answered: one after the other they would take too long.
        threading.Thread(target=state.engine.stop, name="engine-stop", daemon=True).start()
        super().handle_exit(sig, frame)


def run_worker(app: FastAPI) -> None:
    """Do jobs until SIGTERM or SIGINT; then finish what is under way, or hand it back, and return."""
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: told.set())
    app.state.reader.sandbox.start()
    app.state.engine.start(app.state.worker)
    app.state.housekeeper.start()
    settings: Settings = app.state.settings
    with app.state.metrics.served(settings.host, settings.jobs.metrics_port):
        told.wait()
    app.state.housekeeper.stop()
    app.state.engine.stop()
    app.state.reader.close()
    app.state.database.close()


def run(app: FastAPI, listener: socket.socket, limits: LimitSettings) -> None:
    """Serve until SIGTERM or SIGINT; then finish what is under way and return."""
    config = uvicorn.Config(
        app,
        http=protocol(limits),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the edge reads X-Forwarded-For, by its own rule
        timeout_keep_alive=75,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    # After its orderly end uvicorn raises the signal once more; being told to stop is no failure.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)
    _Server(config).run(sockets=[listener])
