"""What reading costs beside plain libraries, on the documents of ASSAY_EVAL_DIR and a long one of ours."""

import importlib.util
import os
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from evaluation.documents import pypdfium2, python_docx, trafilatura
from tests import factories

from assay.content.extraction import docx, html, pdf
from assay.content.models import UnreadableDocument
from bench.table import Table

ROUNDS = 3
LONG_PAGES = 1_000


def measure() -> Table:
    rows: list[tuple[str, str, float, str]] = [*_ratios(), *_long()]
    return Table(
        "Reading",
        ("what", "reference", "ratio or figure", "to reach"),
        rows,
        "CPU time of reading the same files, the best of three rounds that take turns; without OCR.",
    )


def _ratios() -> Iterator[tuple[str, str, float, str]]:
    folder = Path(os.environ.get("ASSAY_EVAL_DIR", "../shared/eval"))
    documents = folder / "documents"
    if not documents.is_dir():
        return
    yield "PDF", "pypdfium2, text only", _ratio(documents.glob("*.pdf"), pdf.read, pypdfium2), "≤ 3.0"
    if importlib.util.find_spec("docx"):
        yield (
            "DOCX, the files given",
            "python-docx",
            _ratio(documents.glob("*.docx"), docx.read, python_docx),
            "≤ 0.5",
        )
        contract = factories.docx(
            *(f"{n}. The supplier shall deliver item {n} on time." for n in range(1_000))
        )
        yield "DOCX, 1,000 clauses", "python-docx", _compare([contract], docx.read, python_docx), "≤ 0.5"
    if importlib.util.find_spec("trafilatura"):
        pages = (folder / "web").glob("*.html")
        yield "HTML", "trafilatura", _ratio(pages, html.read, trafilatura), "≤ 0.5"


def _ratio(paths: Iterator[Path], ours: Callable[[bytes], Any], theirs: Callable[[bytes], Any]) -> float:
    return _compare([path.read_bytes() for path in sorted(paths)], ours, theirs)


def _compare(files: list[bytes], ours: Callable[[bytes], Any], theirs: Callable[[bytes], Any]) -> float:
    rounds = [(_seconds(ours, files), _seconds(theirs, files)) for _ in range(ROUNDS)]
    return min(own for own, _ in rounds) / min(other for _, other in rounds)


def _seconds(read: Callable[[bytes], Any], files: list[bytes]) -> float:
    started = time.process_time()
    for data in files:
        try:
            read(data)
        except (UnreadableDocument, ValueError, RuntimeError, KeyError):
            continue  # a protected or damaged file: both give up
    return time.process_time() - started


def _long() -> Iterator[tuple[str, str, float, str]]:
    short, long = _pages(LONG_PAGES // 10), _pages(LONG_PAGES)
    few = _seconds(pdf.read, [short])
    many = _seconds(pdf.read, [long])
    yield f"PDF of {LONG_PAGES:,} pages", f"ten times one of {LONG_PAGES // 10}", many / (10 * few), "about 1"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield f"… MiB at the peak, with {LONG_PAGES:,} pages and all before", "–", peak, "under 400"


def _pages(count: int) -> bytes:
    return factories.pdf(*(f"Clause {n}. The supplier shall deliver item {n} on time." for n in range(count)))
