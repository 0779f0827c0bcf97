"""How much of a policy page is read, and how much of the site comes with it, beside other libraries.

Run as `python -m evaluation.web [FOLDER]`. A page's score is the precision and recall of its 4-word
sequences against the curated reference; pages count alike.
"""

import importlib
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from rich.console import Console
from rich.table import Table

from assay.content.extraction import html
from assay.content.models import UnreadableDocument

Reader = Callable[[bytes], str]
_WORD = re.compile(r"\w+")
_LENGTH = 4
# Rules are made while looking at two pages of three; the third is only ever measured.
_HELD_OUT_EVERY = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One reader over one part of the pages. `lossy` is the share of pages that lose over a tenth."""

    reader: str
    part: str
    pages: int
    precision: float
    recall: float
    lossy: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Score:
    """One reader on one page."""

    page: str
    precision: float
    recall: float
    cpu_seconds: float


def measure(folder: Path) -> list[Row]:
    """Every reader that is installed, over the tuned pages, the held-out pages and all of them."""
    rows = []
    for name, reader in _readers():
        scores = score_pages(folder, reader)
        held_out = scores[::_HELD_OUT_EVERY]
        tuned = [score for score in scores if score not in held_out]
        for part, members in (("tuned", tuned), ("held out", held_out), ("all", scores)):
            rows.append(_row(name, part, members))
    return rows


def score_pages(folder: Path, reader: Reader) -> list[Score]:
    """One score a page, in the order of the index."""
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    scores = []
    for entry in index:
        page = (folder / entry["page"]).read_bytes()
        reference = (folder / entry["reference"]).read_text(encoding="utf-8")
        started = time.process_time()
        text = reader(page)
        spent = time.process_time() - started
        precision, recall = compare(text, reference)
        scores.append(Score(entry["page"], precision, recall, spent))
    return scores


def compare(text: str, reference: str) -> tuple[float, float]:
    """Precision and recall of word sequences, each counted as often as it stands."""
    found, wanted = _sequences(text), _sequences(reference)
    common = (found & wanted).total()
    return common / max(found.total(), 1), common / max(wanted.total(), 1)


def _sequences(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return Counter(zip(*(words[shift:] for shift in range(_LENGTH)), strict=False))


def _row(reader: str, part: str, scores: list[Score]) -> Row:
    return Row(
        reader=reader,
        part=part,
        pages=len(scores),
        precision=fmean(score.precision for score in scores),
        recall=fmean(score.recall for score in scores),
        lossy=fmean(score.recall < 0.9 for score in scores),
        cpu_seconds=sum(score.cpu_seconds for score in scores),
    )


def _assay(page: bytes) -> str:
    try:
        return html.read(page).text
    except UnreadableDocument:
        return ""


def _readers() -> Iterable[tuple[str, Reader]]:
    """Ours, and those of the others that are installed; none of them is a dependency."""
    yield "assay", _assay
    for name, make in (
        ("trafilatura", _trafilatura),
        ("resiliparse main", lambda: _resiliparse(main=True)),
        ("resiliparse full", lambda: _resiliparse(main=False)),
        ("inscriptis", _inscriptis),
    ):
        try:
            yield name, make()
        except ImportError:
            print(f"{name} is not installed and is left out.", file=sys.stderr)


def _trafilatura() -> Reader:
    library = importlib.import_module("trafilatura")
    return lambda page: library.extract(page) or ""


def _resiliparse(*, main: bool) -> Reader:
    library = importlib.import_module("resiliparse.extract.html2text")
    encodings = importlib.import_module("resiliparse.parse.encoding")

    def read(page: bytes) -> str:
        markup = encodings.bytes_to_str(page, encodings.detect_encoding(page))
        return str(library.extract_plain_text(markup, main_content=main, alt_texts=False))

    return read


def _inscriptis() -> Reader:
    library = importlib.import_module("inscriptis")
    encodings = importlib.import_module("resiliparse.parse.encoding")
    return lambda page: library.get_text(encodings.bytes_to_str(page, encodings.detect_encoding(page)))


def _print(rows: list[Row]) -> None:
    table = Table(title="Web pages: 4-word sequences against curated text")
    for heading in ("reader", "part", "pages", "precision", "recall", "lose > 1/10", "CPU s"):
        table.add_column(heading)
    for row in rows:
        figures = (f"{row.precision:.4f}", f"{row.recall:.4f}", f"{row.lossy:.1%}", f"{row.cpu_seconds:.2f}")
        table.add_row(row.reader, row.part, str(row.pages), *figures)
    Console().print(table)


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/eval/web")
    if target.is_dir():
        _print(measure(target))
    else:
        print(f"No pages at {target}; nothing was measured.")
