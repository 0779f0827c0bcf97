"""What the tests of the sandbox share: its tasks, its limits, and a look at processes from outside."""

import os
import select
import subprocess
import sys
import textwrap
from dataclasses import replace

from assay.content.extraction.sandbox import Limits
from tests.content.extraction import sandbox_tasks

MIB = 1 << 20
LIMITS = Limits(memory_bytes=400 * MIB, wall_seconds=20, cpu_seconds=20, answer_bytes=64 * MIB)
BRIEF = replace(LIMITS, wall_seconds=0.8)


def task(name):
    return f"tests.content.extraction.sandbox_tasks:{name}"


TASKS = [
    task(name)
    for name, value in vars(sandbox_tasks).items()
    if getattr(value, "__module__", "") == sandbox_tasks.__name__
]


def server_of(sandbox):
    return sandbox._server._process.pid


def ends(process, seconds=5.0):
    """Whether a process has ended, or does so in time."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def is_reaped(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def script(body):
    lines = textwrap.dedent(body).splitlines()
    paths = f"import os, platform, signal, sys\nsys.path[:0] = {sys.path!r}\n"
    return paths + "from assay.content.extraction.sandbox import Sandbox\n" + "\n".join(lines)


def run_script(body):
    return subprocess.run(
        [sys.executable, "-c", script(body)], capture_output=True, check=True, text=True, timeout=30
    ).stdout
