"""What the sandbox is tried with: tasks that are well, and tasks that misbehave in every way."""

import contextlib
import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pypdfium2
from lxml import html

from assay.content.extraction.sandbox.confinement import die_with_parent
from assay.content.models import DamagedDocument, PasswordProtected


def echo(file, options, progress):
    return {"read": file.read().decode(), "options": options, "process": os.getpid()}


def nothing(file, options, progress):
    return None


def environment(file, options, progress):
    return dict(os.environ)


def descriptors(file, options, progress):
    return [number for number in range(256) if _is_open(number)]


def _is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def identity(file, options, progress):
    header, granted = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capget(header, granted)
    return {"user": os.getuid(), "capabilities": sum(granted)}


def pdf_text(file, options, progress):
    with pypdfium2.PdfDocument(file) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def html_text(file, options, progress):
    return html.fromstring(file.read()).text_content()


def decoded(file, options, progress):
    return file.read().decode(options["encoding"])


def big(file, options, progress):
    return "é" * options["characters"]


def reports(file, options, progress):
    progress(1, 2)
    return "done"


def abort(file, options, progress):
    os.abort()


def segfault(file, options, progress):
    ctypes.string_at(0)


def leave(file, options, progress):
    os._exit(3)


def exit_politely(file, options, progress):
    sys.exit(0)


def spin(file, options, progress):
    progress(os.getpid(), 0)
    while True:
        pass


def sleep(file, options, progress):
    progress(os.getpid(), 0)
    time.sleep(3600)


def sleep_deaf(file, options, progress):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):
        signal.signal(number, signal.SIG_IGN)
    sleep(file, options, progress)


def hoard(file, options, progress):
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def hoard_natively(file, options, progress):
    """Native code does not raise: it fills memory, then gives up its life."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    while block := libc.malloc(ctypes.c_size_t(1 << 20)):
        ctypes.memset(block, 1, 1 << 20)
    os.abort()


def open_many(file, options, progress):
    return [os.dup(0) for _ in range(100)]


def ramble(file, options, progress):
    """Writes whatever it is given to its answer channel, as a parser that was taken over might."""
    _channel(progress).sendall(bytes.fromhex(options["hex"]))
    os._exit(0)


def flood(file, options, progress):
    channel = _channel(progress)
    while True:
        channel.sendall(b"P" + (5).to_bytes(8) + b"[1,2]")


def answer_and_linger(file, options, progress):
    progress(os.getpid(), 0)
    _channel(progress).sendall(b"A" + (1).to_bytes(8) + b"7")
    while True:
        pass


def _channel(progress):
    return progress._channel


def fail_by_name(file, options, progress):
    kinds = {"password": PasswordProtected, "damaged": DamagedDocument}
    raise kinds[options["kind"]](options.get("message"))


def fail_loudly(file, options, progress):
    raise RuntimeError(file.read().decode())


def recurse(file, options, progress):
    return recurse(file, options, progress)


def unspeakable(file, options, progress):
    return options["value"].encode().decode("unicode-escape")


def attempt(file, options, progress):
    """Tries something forbidden; gives the name of the exception that stopped it."""
    try:
        _ATTEMPTS[options["what"]](file)
    except Exception as error:  # noqa: BLE001 (raised again in the thread that waits)
        return type(error).__name__
    return "allowed"


def _ptrace_parent():
    if ctypes.CDLL(None, use_errno=True).ptrace(16, os.getppid(), 0, 0) < 0:
        raise PermissionError


def _set_death_signal():
    if ctypes.CDLL(None, use_errno=True).prctl(1, 0, 0, 0, 0) < 0:
        raise PermissionError


def _start_thread():
    threading.Thread(target=print).start()


def _fork():
    if os.fork() == 0:
        os._exit(0)


_ATTEMPTS = {
    "tcp": lambda _: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    "udp": lambda _: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "unix": lambda _: socket.socket(socket.AF_UNIX),
    "read": lambda _: Path("/etc/passwd").read_bytes(),
    "list": lambda _: list(Path("/").iterdir()),
    "write": lambda _: Path("/tmp/assay-sandbox-was-here").write_bytes(b"x"),
    "write to the document": lambda file: os.write(file.fileno(), b"x"),
    "truncate the document": lambda file: os.ftruncate(file.fileno(), 0),
    "unlink": lambda _: Path("/tmp/assay-sandbox-is-not-here").unlink(),
    "make a folder": lambda _: Path("/tmp/assay-sandbox-was-here").mkdir(),
    "execute": lambda _: os.execv("/bin/true", ["true"]),
    "spawn": lambda _: subprocess.run(["/bin/true"], check=True),
    "fork": lambda _: _fork(),
    "thread": lambda _: _start_thread(),
    "new session": lambda _: os.setsid(),
    "new group": lambda _: os.setpgid(0, os.getppid()),
    "signal the server": lambda _: os.kill(os.getppid(), 0),
    "signal all": lambda _: os.kill(-1, 0),
    "trace the server": lambda _: _ptrace_parent(),
    "outlive the server": lambda _: _set_death_signal(),
    "raise its limits": lambda _: _raise_limit(),
}


def _raise_limit():
    resource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU))


def fork_bomb(file, options, progress):
    started = []
    with contextlib.suppress(OSError):
        while len(started) < 2_000:
            process = os.fork()
            if process == 0:
                time.sleep(3600)
            started.append(process)
    return started


def run_program(file, options, progress):
    return subprocess.run(["/bin/cat"], stdin=file, capture_output=True, check=True).stdout.decode()


def start_program(file, options, progress):
    program = subprocess.Popen(["/bin/sleep", "3600"], preexec_fn=die_with_parent)  # noqa: PLW1509 - a child has one thread
    progress(program.pid, 0)
    time.sleep(3600)


def abandon_program(file, options, progress):
    progress(subprocess.Popen(["/bin/sleep", "3600"]).pid, 0)
    os._exit(0)
