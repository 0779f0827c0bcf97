"""Names of files as strangers give them, made fit to be shown and stored."""

import re
import unicodedata
from pathlib import PurePosixPath
from urllib.parse import unquote

MAX_CHARACTERS = 255

_EXTENDED = re.compile(r"""filename\*\s*=\s*"?(utf-8|iso-8859-1)'[^']*'([^\s;"]+)""", re.IGNORECASE)
_QUOTED = re.compile(r'filename\s*=\s*"((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_TOKEN = re.compile(r'filename\s*=\s*([^\s;"]+)', re.IGNORECASE)
# They turn `fdp.exe` around in a list of files.
_DIRECTION_MARKS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(name: str) -> str | None:
    """The last part of the path, without control characters and not too long; None if nothing is left."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(character for character in last if _is_shown(character)).strip()
    return _shortened(shown) if shown.strip(".") else None


def from_disposition(header: str) -> str | None:
    """The name that a Content-Disposition header gives; the extended form wins, as RFC 6266 has it."""
    if match := _EXTENDED.search(header):
        return clean(unquote(match[2], encoding=match[1], errors="replace"))
    if match := _QUOTED.search(header):
        return clean(re.sub(r"\\(.)", r"\1", match[1]))
    match = _TOKEN.search(header)
    return clean(match[1]) if match else None


def _is_shown(character: str) -> bool:
    return (
        unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"} and character not in _DIRECTION_MARKS
    )


def _shortened(name: str) -> str:
    """Cut in the middle, so that the ending stays."""
    ending = PurePosixPath(name).suffix[:16]
    return name if len(name) <= MAX_CHARACTERS else name[: MAX_CHARACTERS - len(ending)].rstrip() + ending
