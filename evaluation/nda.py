"""NDA_CONFIDENTIALITY on the development part of ContractNLI: categories, and how sure the engine is."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation import nda_data
from evaluation.tables import Table

from assay.assessments.judging.local import LocalJudge
from assay.assessments.models import Category
from assay.frameworks import files

FOLDER = "contract-nli"
_BINS = 10
_SUREST = 0.8
_NOTE = """Entailed counts as SUFFICIENTLY_REGULATED, contradicted as NOT_SUFFICIENTLY_REGULATED, the rest as
MISSING. To reach: accuracy .85, F1 of contradicted .62, accuracy on the surest 80 % .91, calibration error
(ten bins of equal count) .03. ContractNLI (Koreeda and Manning 2021, CC BY 4.0), 61 documents on which
nothing was trained; a clause is right when it shares most of its words with a marked span."""


@dataclass(frozen=True, slots=True)
class Outcome:
    criterion: str
    label: Category
    category: Category
    confidence: float
    hit: (
        bool | None
    )  # whether a marked clause is among the first five citations; None where nothing is marked

    @property
    def right(self) -> bool:
        return self.label is self.category


def judge(path: Path, advance: Callable[[], None] = lambda: None) -> list[Outcome]:
    framework = files.load(Path(files.__file__).with_name("catalogue") / "nda_confidentiality.yaml")
    engine = LocalJudge()
    outcomes = []
    for document in nda_data.whole_documents(path, framework):
        places = {(one.start, one.end): at for at, one in enumerate(document.corpus.passages)}
        for criterion in framework.criteria:
            verdict = engine.judge(framework, criterion, document.corpus)
            label = document.labels[criterion.code_name]
            cited = {places.get((one.start, one.end)) for one in verdict.citations[:5]}
            shown = document.shown_by[criterion.code_name]
            hit = None if label is Category.MISSING else bool(cited & shown)
            outcomes.append(Outcome(criterion.code_name, label, verdict.category, verdict.confidence, hit))
        advance()
    return outcomes


def measure(folder: Path, advance: Callable[[], None] = lambda: None) -> dict[str, Table]:
    outcomes = judge(folder / "dev.json", advance)
    rows: list[list[str | float | int]] = [
        ["accuracy", accuracy(outcomes)],
        ["F1 of contradicted", f1(outcomes, Category.NOT_SUFFICIENTLY_REGULATED)],
        ["F1 of entailed", f1(outcomes, Category.SUFFICIENTLY_REGULATED)],
        ["F1 of not mentioned", f1(outcomes, Category.MISSING)],
        ["accuracy on the surest 80 %", accuracy(surest(outcomes))],
        ["calibration error", calibration_error(outcomes)],
        ["a marked clause among the first five citations", _hits(outcomes)],
    ]
    names = dict.fromkeys(one.criterion for one in outcomes)
    by_criterion = [
        [name, accuracy(own), sum(one.label is Category.NOT_SUFFICIENTLY_REGULATED for one in own)]
        for name in names
        if (own := [one for one in outcomes if one.criterion == name])
    ]
    return {
        "nda": Table("NDA_CONFIDENTIALITY on non-disclosure agreements", ("figure", "value"), rows, _NOTE),
        "nda_criteria": Table(
            "NDA_CONFIDENTIALITY, by criterion", ("criterion", "accuracy", "contradicted"), by_criterion
        ),
    }


def accuracy(outcomes: Sequence[Outcome]) -> float:
    return sum(one.right for one in outcomes) / max(len(outcomes), 1)


def f1(outcomes: Sequence[Outcome], category: Category) -> float:
    counts = Counter((one.label is category, one.category is category) for one in outcomes)
    right = counts[True, True]
    return 2 * right / max(2 * right + counts[True, False] + counts[False, True], 1)


def surest(outcomes: Sequence[Outcome]) -> list[Outcome]:
    ranked = sorted(outcomes, key=lambda one: -one.confidence)
    return ranked[: round(_SUREST * len(ranked))]


def calibration_error(outcomes: Sequence[Outcome]) -> float:
    """Mean distance between confidence and accuracy over bins of equal count."""
    ranked = sorted(outcomes, key=lambda one: one.confidence)
    bounds = [round(at * len(ranked) / _BINS) for at in range(_BINS + 1)]
    error = 0.0
    for start, end in itertools.pairwise(bounds):
        own = ranked[start:end]
        mean = sum(one.confidence for one in own) / max(len(own), 1)
        error += len(own) / len(ranked) * abs(mean - accuracy(own))
    return error


def _hits(outcomes: Sequence[Outcome]) -> float:
    marked = [one for one in outcomes if one.hit is not None]
    return sum(bool(one.hit) for one in marked) / max(len(marked), 1)
