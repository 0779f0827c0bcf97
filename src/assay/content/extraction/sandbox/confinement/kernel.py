"""The few calls into the Linux kernel that Python does not offer. Each raises OSError when refused."""

import ctypes
import os
import sys

LINUX = sys.platform == "linux"

CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000

PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


class _SocketFilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _prctl(option: int, *values: int) -> None:
    words = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _checked(_libc.prctl(ctypes.c_int(option), *words))


def system_call(number: int, *arguments: int | ctypes.Array[ctypes.c_char] | None) -> int:
    """Integers go as 64-bit words: a variadic C function would read rubbish above an int."""
    words = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *words))


def forbid_new_privileges() -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def hide_memory() -> None:
    """No core file, and no look into this process by others of the same user."""
    _prctl(_PR_SET_DUMPABLE, 0)


def adopt_orphans() -> None:
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(signal_number: int) -> None:
    """Ask for a signal when the parent *thread* ends: only for parents that have a single one."""
    _prctl(PR_SET_PDEATHSIG, signal_number)


def unshare(namespaces: int) -> None:
    _checked(_libc.unshare(ctypes.c_int(namespaces)))


def drop_capabilities() -> None:
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(header, nothing))


def install_filter(program: bytes) -> None:
    """Add a seccomp filter to this process and all that it will fork."""
    fprog = _SocketFilterProgram(len(program) // 8, program)
    _checked(
        _libc.prctl(
            ctypes.c_int(_PR_SET_SECCOMP),
            ctypes.c_ulong(_SECCOMP_MODE_FILTER),
            ctypes.byref(fprog),
            ctypes.c_ulong(0),
            ctypes.c_ulong(0),
        )
    )
