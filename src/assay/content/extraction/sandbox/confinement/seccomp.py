"""Seccomp: which system calls a parser may not make. A denied call fails with EPERM, so it ends cleanly.

A list of what is denied rather than of what is allowed: the C library's choice of calls changes with its
version, and a parser that stops working after an upgrade is the likelier accident. Landlock, the empty
network namespace and the resource limits stand behind it.
"""

import errno
import signal
import struct

from assay.content.extraction.sandbox.confinement import kernel, syscalls
from assay.content.extraction.sandbox.confinement.syscalls import Calls, Number

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_CALLS = 0x40000000
_NEW_NAMESPACES = 0x7E020000

_LOAD, _EQUALS, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_DENY = _ERRNO | errno.EPERM
_ABSENT = _ERRNO | errno.ENOSYS
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16


def server_filter(machine: str, *, may_execute: bool) -> bytes:
    """What neither the fork server nor any child needs, denied."""
    rules = _Rules(machine)
    for calls in (syscalls.NETWORK, syscalls.OTHER_PROCESSES, syscalls.KERNEL_SURFACE):
        rules.deny_all(calls)
    if not may_execute:
        rules.deny_all(syscalls.EXECUTION)
        rules.deny_all(syscalls.FILES)
    # The flags of clone3 lie behind a pointer, where no filter can read them; told that it is absent, the
    # C library falls back to clone.
    rules.answer(syscalls.CLONE3, _ABSENT)
    rules.deny_bits(syscalls.CLONE, argument=0, bits=_NEW_NAMESPACES)
    return rules.program()


def child_filter(machine: str, *, may_execute: bool) -> bytes:
    """What the fork server needs and a child does not, denied: to fork, to signal, to set limits.

    The same for every child, so that it is built once: a page touched after a fork is a page copied.
    """
    rules = _Rules(machine)
    rules.answer(syscalls.SETPGID, _DENY)
    rules.answer(syscalls.SETRLIMIT, _DENY)
    rules.deny_unless_null(syscalls.PRLIMIT, argument=2)
    if may_execute:
        rules.keep_death_signal()
    else:
        rules.deny_if(syscalls.PRCTL, argument=0, value=kernel.PR_SET_PDEATHSIG)
        rules.answer(syscalls.KILL, _DENY)
        rules.answer(syscalls.TGKILL, _DENY)  # abort() then dies of an illegal instruction, no less dead
        rules.deny_all(syscalls.FORKING)
    return rules.program()


class _Rules:
    """A program for the kernel's packet-filter machine, in 8-byte instructions; it answers a system call."""

    def __init__(self, machine: str) -> None:
        if machine not in _ARCHITECTURES:
            raise OSError(errno.ENOSYS, f"system calls of {machine} are not known")
        self._column = syscalls.COLUMNS[machine]
        self._code = [
            *_load(_ARCHITECTURE_AT),
            *_unless_equal(_ARCHITECTURES[machine], _answer(_DENY)),  # calls of a foreign ABI: none
            *_load(_NUMBER_AT),
        ]
        if machine == "x86_64":
            self._code += [_step(_AT_LEAST, _X32_CALLS, 0, 1), *_answer(_DENY)]

    def program(self) -> bytes:
        return b"".join([*self._code, *_answer(_ALLOW)])

    def deny_all(self, calls: Calls) -> None:
        for number in calls.values():
            self.answer(number, _DENY)

    def answer(self, number: Number, answer: int) -> None:
        self._when(number, _answer(answer))

    def deny_if(self, number: Number, *, argument: int, value: int) -> None:
        self._when(number, [*_load(_low(argument)), *_when_equal(value, _answer(_DENY)), *_answer(_ALLOW)])

    def deny_unless_null(self, number: Number, *, argument: int) -> None:
        checks = [
            step
            for word in (_low(argument), _low(argument) + 4)
            for step in (*_load(word), *_unless_equal(0, _answer(_DENY)))
        ]
        self._when(number, [*checks, *_answer(_ALLOW)])

    def deny_bits(self, number: Number, *, argument: int, bits: int) -> None:
        test = [*_load(_low(argument)), _step(_ANY_BIT, bits, 0, 1), *_answer(_DENY)]
        self._when(number, [*test, *_answer(_ALLOW)])

    def keep_death_signal(self) -> None:
        """A program started by a child may ask to die with it, and may not take that back."""
        wrong_signal = [*_load(_low(1)), *_unless_equal(signal.SIGKILL, _answer(_DENY))]
        body = [*_load(_low(0)), *_when_equal(kernel.PR_SET_PDEATHSIG, wrong_signal), *_answer(_ALLOW)]
        self._when(syscalls.PRCTL, body)

    def _when(self, number: Number, body: list[bytes]) -> None:
        here = number[self._column]
        if here is not None:
            self._code += _when_equal(here, body)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _load(offset: int) -> list[bytes]:
    return [_step(_LOAD, offset)]


def _answer(value: int) -> list[bytes]:
    return [_step(_RETURN, value)]


def _when_equal(value: int, body: list[bytes]) -> list[bytes]:
    return [_step(_EQUALS, value, 0, len(body)), *body]


def _unless_equal(value: int, body: list[bytes]) -> list[bytes]:
    return [_step(_EQUALS, value, len(body), 0), *body]


def _low(argument: int) -> int:
    """Where the lower half of an argument lies, on the little-endian machines that we know."""
    return _ARGUMENTS_AT + 8 * argument
