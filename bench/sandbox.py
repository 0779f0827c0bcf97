"""What a disposable child costs: medians of doing nothing and of small PDFs, beside no child at all.

Read the ratios: times depend on the machine and on who else uses it.
"""

import io
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

import pypdfium2

from assay.content.extraction.sandbox import Sandbox
from bench.table import Table

_SENTENCE = "The processor shall act only on documented instructions from the controller, clause {}."
_LINES = 45
_RUNS = 100


def nothing(_file: BinaryIO, _options: Mapping[str, Any], _progress: Callable[[int, int], None]) -> None:
    return None


def read_pdf(file: BinaryIO, _options: Mapping[str, Any], _progress: Callable[[int, int], None]) -> list[str]:
    with pypdfium2.PdfDocument(file) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def warm_up() -> None:
    read_pdf(io.BytesIO(pdf(1)), {}, lambda *_: None)


def pdf(pages: int) -> bytes:
    """A PDF with so many pages of text."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(pages))
    bodies = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {pages}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    lines = "".join(f"({_SENTENCE.format(number)})' " for number in range(_LINES))
    content = f"BT /F1 10 Tf 14 TL 72 740 Td {lines}ET"
    for number in range(pages):
        stream = 5 + 2 * number
        bodies.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {stream} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>"
        )
        bodies.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    return _with_table(bodies)


def _with_table(bodies: list[str]) -> bytes:
    out, table = "%PDF-1.4\n", f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n"
    for number, body in enumerate(bodies, 1):
        table += f"{len(out):010d} 00000 n \n"
        out += f"{number} 0 obj{body} endobj\n"
    end = f"trailer<</Size {len(bodies) + 1}/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF"
    return (out + table + end).encode()


def times_ms(action: Callable[[], object], runs: int = _RUNS) -> list[float]:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1000)
    return times


def shown(times: list[float]) -> str:
    """The median, and the fastest: on a busy machine only the second says much."""
    return f"{statistics.median(times):.1f} ms (fastest {min(times):.1f})"


def measure() -> Table:
    return Table(
        title="A disposable child for each document",
        columns=("", "median"),
        rows=rows(),
        note="Read the ratios: times depend on the machine and on who else uses it.",
    )


def rows() -> list[tuple[str, str]]:
    """What was measured, and its figure."""
    tasks = [f"{__name__}:{function.__name__}" for function in (nothing, read_pdf)]
    found = []
    with Sandbox(tasks) as sandbox:
        found.append(("confinement", json.dumps(dict(sandbox.confinement()))))
        found.append(("nothing, in a child", shown(times_ms(lambda: sandbox.run(tasks[0], b"")))))
        for pages in (1, 5):
            found += _pdf_rows(sandbox, tasks[1], pages)
        found.append(("nothing, 4 threads at once", f"{_rate(sandbox, tasks[0]):.0f} runs a second"))
    interpreter = times_ms(lambda: subprocess.run([sys.executable, "-c", "import pypdfium2"], check=True), 5)
    found.append(("a fresh interpreter that imports pypdfium2, instead", shown(interpreter)))
    return found


def _pdf_rows(sandbox: Sandbox, task: str, pages: int) -> list[tuple[str, str]]:
    document = pdf(pages)
    assert sandbox.run(task, document) == read_pdf(io.BytesIO(document), {}, lambda *_: None)
    here = times_ms(lambda: read_pdf(io.BytesIO(document), {}, lambda *_: None))
    there = times_ms(lambda: sandbox.run(task, document))
    name = f"PDF of {pages} page{'s' * (pages > 1)}"
    return [(f"{name}, in this process", shown(here)), (f"{name}, in a child", shown(there))]


def _rate(sandbox: Sandbox, task: str) -> float:
    start = time.perf_counter()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: sandbox.run(task, b""), range(2 * _RUNS)))
    return 2 * _RUNS / (time.perf_counter() - start)
