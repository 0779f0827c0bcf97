"""Documents with known facts: phrases that must stand in the text, must not, and their order."""

import importlib
import importlib.util
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from assay.content.extraction import ocr, pdf
from assay.content.extraction import read as read_any
from assay.content.models import UnreadableDocument

Reader = Callable[[bytes], str]

_SPACE = re.compile(r"\s+")
_MARKS = str.maketrans({"\u00ad": None, "\ufffe": None, "‘": "'", "’": "'", "“": '"', "”": '"'})
_OPTIONS = {
    "pages": 5_000,
    "docx_bytes": 500 * 2**20,
    "original": False,
    "charset": None,
    "url": None,
    "is_page": False,
}


@dataclass(frozen=True, slots=True)
class Row:
    """One reader on the files of one kind."""

    reader: str
    kind: str
    files: int
    all_facts_right: int
    wrong: str


def measure(folder: Path) -> list[Row]:
    facts = json.loads((folder / "facts.json").read_text())
    rows = []
    for kind in ("pdf", "docx", "html"):
        of_kind = [fact for fact in facts if fact["kind"] == kind]
        for name, reader in _readers(kind):
            wrong = [fact["file"] for fact in of_kind if not _is_right(folder, fact, reader)]
            shown = ", ".join(sorted(wrong)[:6]) + (" …" if len(wrong) > 6 else "")
            rows.append(Row(name, kind, len(of_kind), len(of_kind) - len(wrong), shown))
    return rows


def _readers(kind: str) -> Iterator[tuple[str, Reader]]:
    """Ours, and the usual library for this kind where it is installed."""
    yield "assay", _assay
    others = {
        "pdf": ("pypdfium2", pypdfium2),
        "docx": ("docx", python_docx),
        "html": ("trafilatura", trafilatura),
    }
    module, reader = others[kind]
    if importlib.util.find_spec(module):
        yield ("python-docx" if module == "docx" else module), reader


def _assay(data: bytes) -> str:
    if data.startswith(b"%PDF") and ocr.available():
        return pdf.read(data, recognise=ocr.recognise_pages).text
    return read_any(data, _OPTIONS, lambda _done, _total: None).text


def pypdfium2(data: bytes) -> str:
    library: Any = importlib.import_module("pypdfium2")
    return "\n".join(page.get_textpage().get_text_range() for page in library.PdfDocument(data))


def python_docx(data: bytes) -> str:
    library: Any = importlib.import_module("docx")
    document = library.Document(io.BytesIO(data))
    cells = (cell.text for table in document.tables for row in table.rows for cell in row.cells)
    return "\n".join([*(paragraph.text for paragraph in document.paragraphs), *cells])


def trafilatura(data: bytes) -> str:
    library: Any = importlib.import_module("trafilatura")
    return str(library.extract(data, favor_recall=True) or "")


def _is_right(folder: Path, fact: dict[str, Any], reader: Reader) -> bool:
    """A file without facts is one that must be refused."""
    try:
        text = _folded(reader((folder / fact["file"]).read_bytes()))
    except UnreadableDocument:
        return not fact["must_contain"]
    except Exception:  # noqa: BLE001  # whatever another library raises, it has not read the file
        return False
    wanted = [_folded(phrase) for phrase in fact["must_contain"]]
    unwanted = [_folded(phrase) for phrase in fact["must_not_contain"]]
    ordered = [text.find(_folded(phrase)) for phrase in fact["in_order"]]
    return (
        bool(wanted)
        and all(phrase in text for phrase in wanted)
        and not any(phrase in text for phrase in unwanted)
        and all(before < after for before, after in pairwise(ordered))
    )


def _folded(text: str) -> str:
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text).translate(_MARKS))
