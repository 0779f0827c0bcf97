"""Optical character recognition by tesseract, where it is installed: pictures of pages into words.

Rendering needs PDFium and no program; recognising needs a program and no PDF. A parser that may not
start programs renders here and has the pictures recognised elsewhere.
"""

import csv
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from typing import Any

DPI = 200
_MOST_PIXELS = 25_000_000
_POINTS = 72.0
_WORD_LEVEL = "5"
_LEAST_CONFIDENCE = 10.0
# The order counts: tesseract prefers the first. More than these would only slow it down.
_LANGUAGES = ("eng", "deu", "fra", "spa", "ita", "nld", "por", "pol")


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """A page as a grey picture: `pixels` holds a byte for each, row by row from the top."""

    number: int
    width: int
    height: int
    dpi: float
    pixels: bytes


@dataclass(frozen=True, slots=True)
class RecognisedWord:
    """A word with its box in points from the top left; `line` is equal for words of one line."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    line: int


Recogniser = Callable[[Sequence[ScannedPage]], Sequence[Sequence[RecognisedWord]]]


def render(page: Any, number: int) -> ScannedPage:
    """Render an open page of pypdfium2, upright; a very large one at fewer dots an inch."""
    width, height = page.get_size()
    scale = DPI / _POINTS
    if width * height * scale * scale > _MOST_PIXELS:
        scale = (_MOST_PIXELS / (width * height)) ** 0.5
    bitmap = page.render(scale=scale, grayscale=True, draw_annots=False)
    try:
        rows = bytes(bitmap.buffer)
        if bitmap.stride != bitmap.width:
            rows = b"".join(
                rows[start : start + bitmap.width]
                for start in range(0, bitmap.stride * bitmap.height, bitmap.stride)
            )
        return ScannedPage(number, bitmap.width, bitmap.height, scale * _POINTS, rows)
    finally:
        bitmap.close()


def available() -> bool:
    return bool(languages())


@lru_cache(maxsize=1)
def languages() -> tuple[str, ...]:
    """The language packs to use; none when there is no tesseract."""
    program = shutil.which("tesseract")
    if program is None:
        return ()
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program and fixed arguments
            [program, "--list-langs"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    installed = set(done.stdout.split())
    return tuple(language for language in _LANGUAGES if language in installed)


def recognise_pages(
    pages: Sequence[ScannedPage], *, workers: int | None = None, timeout_seconds: float = 120.0
) -> list[list[RecognisedWord]]:
    """The words of each page, several pages at once. A page that fails or takes too long has none."""
    count = workers or max(1, min(len(pages), os.cpu_count() or 1))
    with ThreadPoolExecutor(max_workers=count) as pool:
        return list(pool.map(lambda page: _recognise(page, timeout_seconds), pages))


def _recognise(page: ScannedPage, timeout_seconds: float) -> list[RecognisedWord]:
    program = shutil.which("tesseract")
    if program is None:
        return []
    picture = b"P5 %d %d 255\n" % (page.width, page.height) + page.pixels
    arguments = ["stdin", "stdout", "-l", "+".join(languages()), "--dpi", str(round(page.dpi)), "tsv"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program and fixed arguments
            [program, *arguments],
            input=picture,
            capture_output=True,
            timeout=timeout_seconds,
            check=True,
            # One thread a page: pages run side by side, and more threads only wait for each other.
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return words_of(done.stdout.decode("utf-8", "replace"), page.dpi)


def words_of(table: str, dpi: float) -> list[RecognisedWord]:
    """The words of tesseract's table (TSV)."""
    scale = _POINTS / dpi
    lines: dict[tuple[str, ...], int] = {}
    words: list[RecognisedWord] = []
    for entry in csv.DictReader(StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (entry.get("text") or "").strip()
        if entry["level"] != _WORD_LEVEL or not text or float(entry["conf"]) < _LEAST_CONFIDENCE:
            continue
        key = (entry["block_num"], entry["par_num"], entry["line_num"])
        left, top = int(entry["left"]), int(entry["top"])
        right, bottom = left + int(entry["width"]), top + int(entry["height"])
        line = lines.setdefault(key, len(lines))
        words.append(RecognisedWord(text, left * scale, top * scale, right * scale, bottom * scale, line))
    return words
