"""Landlock: no file, no TCP port and no signal outside, whoever the user is."""

import ctypes
import os
import struct
from collections.abc import Iterable

from assay.content.extraction.sandbox.confinement import kernel

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIRECTORY = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_FILE_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many of the rights, counted from bit 0
_BIND_AND_CONNECT = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

_READABLE = _EXECUTE | _READ_FILE | _READ_DIRECTORY
_BLACK_HOLE = _READ_FILE | _WRITE_FILE


def restrict(readable: Iterable[str]) -> None:
    """Nothing may be opened any more but `readable`, to read and to execute, and the null device."""
    abi = kernel.system_call(_CREATE_RULESET, None, 0, _VERSION)
    attributes = ctypes.create_string_buffer(_attributes(abi))
    size = len(attributes) - 1 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = kernel.system_call(_CREATE_RULESET, attributes, size, 0)
    try:
        for path in readable:
            _allow(ruleset, path, _READABLE)
        _allow(ruleset, os.devnull, _BLACK_HOLE)
        kernel.system_call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _attributes(abi: int) -> bytes:
    files = (1 << _FILE_RIGHTS_BY_ABI[min(abi, 5)]) - 1
    return struct.pack("=QQQ", files, _BIND_AND_CONNECT, _ABSTRACT_SOCKETS_AND_SIGNALS)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # what is not there needs no door
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - a string from the settings of the profile
            rights &= ~_READ_DIRECTORY
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place))
        kernel.system_call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(place)
