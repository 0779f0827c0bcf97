"""What a parser may not do, taken from it step by step, without root and without a package.

The fork server confines itself once, after it has loaded everything; its children inherit that, and each
adds its own limits. A kernel or container may refuse a step: the others still hold, and the report says
which one does not.
"""

import os
import platform
import pwd
import resource
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from assay.content.extraction.sandbox.confinement import kernel, landlock, seccomp

_MIB = 1 << 20
_NOBODY = 65_534
HOLDS = "holds"

Step = tuple[str, Callable[[], None]]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one parse may use. `memory_bytes` is address space and includes the loaded libraries."""

    memory_bytes: int = 1024 * _MIB
    wall_seconds: float = 120.0
    cpu_seconds: int = 120
    open_files: int = 64
    answer_bytes: int = 400_000_000


@dataclass(frozen=True, slots=True)
class Profile:
    """What the children of one server may reach beyond the document that they are handed.

    With `processes` above 0 they may start programs (a text recogniser), so many at a time over all
    children, and the paths in `readable` are open to reading and executing. The network never is.
    """

    processes: int = 0
    readable: tuple[str, ...] = ()

    @property
    def may_execute(self) -> bool:
        return self.processes > 0


@dataclass(frozen=True, slots=True)
class Confinement:
    """How the server stands confined (each measure, and whether it holds), and what a child adds."""

    profile: Profile
    report: Mapping[str, str]
    child_filter: bytes | None

    def confine_child(self, limits: Limits) -> None:
        """The limits of one parse, for good. To be called before any of the document is read."""
        _limit(resource.RLIMIT_AS, limits.memory_bytes)
        _limit(resource.RLIMIT_CPU, limits.cpu_seconds, slack=1)  # a child deaf to the first is killed
        _limit(resource.RLIMIT_NOFILE, limits.open_files)
        _limit(resource.RLIMIT_FSIZE, 0)
        if not self.profile.may_execute:
            _limit(resource.RLIMIT_NPROC, 0)
        elif self.report.get("userNamespace") == HOLDS:  # else it would count all processes of this user
            _limit(resource.RLIMIT_NPROC, self.profile.processes)
        if self.child_filter is not None:
            kernel.install_filter(self.child_filter)


def confine_server(profile: Profile) -> Confinement:
    """Take from this process, for good, what no parser needs."""
    report: dict[str, str] = {}
    for name, step in _linux_steps(profile) if kernel.LINUX else _PORTABLE_STEPS:
        if report.get(name) != HOLDS:
            report[name] = _attempt(step)
    child_filter = None
    if report.get("seccomp") == HOLDS:
        child_filter = seccomp.child_filter(platform.machine(), may_execute=profile.may_execute)
    return Confinement(profile, report, child_filter)


def die_with_parent() -> None:
    """End with the process that forked this one, however it ends. Fit for `preexec_fn` of a program."""
    if kernel.LINUX:
        kernel.die_with_parent(signal.SIGKILL)


def adopt_orphans() -> None:
    """Let programs that outlive their parser come to this process, which reaps them."""
    if kernel.LINUX:
        kernel.adopt_orphans()


def _attempt(step: Callable[[], None]) -> str:
    try:
        step()
    except OSError as error:
        return f"refused: {error.strerror}"
    return HOLDS


def _become_nobody() -> None:
    if os.geteuid() != 0:
        return
    user = group = _NOBODY
    with suppress(KeyError):
        user, group = pwd.getpwnam("nobody")[2:4]
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)


def _no_dumps() -> None:
    _limit(resource.RLIMIT_CORE, 0)


def _shut_in() -> None:
    kernel.forbid_new_privileges()
    kernel.hide_memory()


def _filter(profile: Profile) -> None:
    kernel.install_filter(seccomp.server_filter(platform.machine(), may_execute=profile.may_execute))


_PORTABLE_STEPS: list[Step] = [("unprivilegedUser", _become_nobody), ("resourceLimits", _no_dumps)]


def _linux_steps(profile: Profile) -> list[Step]:
    """An administrator can leave the network only before becoming nobody, others only from a user namespace.

    So that step stands twice; one that holds is not tried again.
    """
    leave_network = partial(kernel.unshare, kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC)
    return [
        ("networkNamespace", leave_network),
        ("unprivilegedUser", _become_nobody),
        ("userNamespace", partial(kernel.unshare, kernel.CLONE_NEWUSER)),
        ("networkNamespace", leave_network),
        ("capabilities", kernel.drop_capabilities),
        ("resourceLimits", _no_dumps),
        ("noNewPrivileges", _shut_in),
        ("landlock", partial(landlock.restrict, profile.readable)),
        ("seccomp", partial(_filter, profile)),
    ]


def _limit(kind: int, value: int, slack: int = 0) -> None:
    """Lower a limit, soft and hard. A lower one stays: raising it would need an administrator."""
    _, hard = resource.getrlimit(kind)
    allowed = value + slack if hard == resource.RLIM_INFINITY else min(value + slack, hard)
    try:
        resource.setrlimit(kind, (min(value, allowed), allowed))
    except (OSError, ValueError):
        if kernel.LINUX:  # elsewhere not every limit exists, and the wall clock still does
            raise
