"""What judging costs: CPU of twenty pages against twenty criteria, beside extracting those pages."""

import time
from collections.abc import Callable
from pathlib import Path

from assay.assessments.judging import Corpus
from assay.assessments.judging.local import LocalJudge
from assay.assessments.models import Source
from assay.content.extraction import pdf
from assay.frameworks import files
from assay.frameworks.models import Framework
from bench.table import Table

_PAGES = 20
_CRITERIA = 20
_LINES = 45
_RUNS = 5
_WHO = ("The Processor", "The Controller", "Each sub-processor", "The supervisory authority", "Either party")
_WHAT = (
    "shall process personal data only on documented instructions of the other",
    "shall notify the other without undue delay of any personal data breach, and at the latest in {n} hours",
    "may audit the records that are kept under clause {n} once a year, on written notice",
    "keeps appropriate technical and organisational measures as annex {n} describes them",
    "shall not engage another processor without prior written authorisation under clause {n}",
    "pays the fees of schedule {n} within thirty days of the invoice",
    "returns or deletes all copies when the services of schedule {n} end",
    "is liable for its own acts and omissions up to the amount of clause {n}",
)


def measure() -> Table:
    """The fastest of several runs, for on a busy machine only that says much."""
    document = _document()
    framework = _framework("gdpr_art_28")
    text = pdf.read(document)
    extraction = _fastest(lambda: pdf.read(document))
    rows = [["extracting", extraction * 1000, 1.0]]
    for name in ("gdpr_art_28", "nda_confidentiality"):
        framework = _framework(name)
        judge = LocalJudge()

        def judged(framework: Framework = framework, judge: LocalJudge = judge) -> None:
            corpus = Corpus.of([(Source("contract.pdf", "1", text.digest), text)])
            for at in range(_CRITERIA):
                judge.judge(framework, framework.criteria[at % len(framework.criteria)], corpus)

        judged()  # the framework's phrases are read once in the life of a worker
        spent = _fastest(judged)
        rows.append([f"judging by {framework.code_name}", spent * 1000, spent / extraction])
    taken = f"{_PAGES} pages of a PDF, {_CRITERIA} criteria, fastest of {_RUNS} runs."
    note = f"{taken} To reach: at most 3 times extracting."
    return Table("Judging", ("what", "CPU ms", "times extracting"), rows, note)


def _framework(name: str) -> Framework:
    return files.load(Path(files.__file__).with_name("catalogue") / f"{name}.yaml")


def _fastest(action: Callable[[], object]) -> float:
    spent = []
    for _ in range(_RUNS):
        start = time.process_time()
        action()
        spent.append(time.process_time() - start)
    return min(spent)


def _document() -> bytes:
    """A PDF of clauses that differ from page to page."""
    kids = " ".join(f"{4 + 2 * page} 0 R" for page in range(_PAGES))
    bodies = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {_PAGES}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for page in range(_PAGES):
        content = f"BT /F1 10 Tf 15 TL 60 750 Td {_lines(page)}ET"
        bodies.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {5 + 2 * page} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>"
        )
        bodies.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    out = "%PDF-1.4\n"
    table = f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n"
    for number, body in enumerate(bodies, 1):
        table += f"{len(out):010d} 00000 n \n"
        out += f"{number} 0 obj{body} endobj\n"
    return f"{out}{table}trailer<</Size {len(bodies) + 1}/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF".encode()


def _lines(page: int) -> str:
    lines = []
    for line in range(_LINES):
        at = page * _LINES + line
        clause = f"{_WHO[at % len(_WHO)]} {_WHAT[(at // 3) % len(_WHAT)].format(n=at % 97 + 1)}."
        lines.append(f"({page + 1}.{line + 1} {clause})' ")
    return "".join(lines)
