"""Train the weights of NDA_CONFIDENTIALITY on ContractNLI: `python -m evaluation.train_nda`. Needs numpy.

Reads train.csv and train_50_documents.json in ASSAY_EVAL_DIR/contract-nli, and never dev.json. Deterministic:
the same data and the same framework file give the same weights.

Two steps. Heads tell from a clause's words whether it speaks to a criterion, and whether it says the
opposite. Scorers then tell the category from the best clauses of a document and from the authored evidence;
they learn from heads that have not seen the document (five folds), so that they know how far to trust them.
"""

import json
import os
import random
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from evaluation import nda_data, regression
from evaluation.nda_data import Document
from evaluation.regression import Rows, Vector

from assay.assessments.judging import aspects, features, trained
from assay.assessments.judging.aspects import Reading
from assay.assessments.judging.corpus import Corpus
from assay.assessments.judging.features import PassageScores
from assay.assessments.models import Category
from assay.assessments.passages import Passage
from assay.assessments.retrieval import Index
from assay.frameworks import files
from assay.frameworks.models import Framework
from assay.frameworks.words import Clause

CATALOGUE = Path(files.__file__).with_name("catalogue")
BUCKETS = 1 << 17
FOLDS = 5
CLASSES = (Category.SUFFICIENTLY_REGULATED, Category.NOT_SUFFICIENTLY_REGULATED, Category.MISSING)

_FEWEST_OPPOSITES = 20
_FEWEST_DOCUMENTS = 3  # a word that fewer clauses have is left out
_HEAD_RESTRAINT = 1.0
_SCORER_RESTRAINT = 6.0
_KEPT_WEIGHTS = 3_000  # of each head, the largest
_PADDING = 25


@dataclass(slots=True)
class Task:
    """All documents, their clauses in one long list, and who is in which fold."""

    framework: Framework
    documents: list[Document]
    folds: list[int]
    own: list[int]  # how many clauses of each document are its own, before the padding
    first: list[int]  # the place of each document's first clause
    hashes: list[list[int]]

    def places(self, document: int) -> range:
        return range(
            self.first[document], self.first[document] + len(self.documents[document].corpus.passages)
        )


@dataclass(frozen=True, slots=True)
class HeadWeights:
    criterion: str
    question: str
    weights: Vector
    bias: float


def main() -> int:
    folder = Path(os.environ.get("ASSAY_EVAL_DIR", "../shared/eval")) / "contract-nli"
    if not (folder / "train.csv").is_file():
        print("There is no contract-nli/train.csv in ASSAY_EVAL_DIR; nothing was trained.")
        return 1
    framework = files.load(CATALOGUE / "nda_confidentiality.yaml")
    task = gather(folder, framework)
    print(f"{len(task.documents)} documents, {len(task.hashes)} clauses")
    evidence = read_evidence(task)
    features_by_code = out_of_fold(task, evidence)
    scorers = {}
    right = total = 0
    for criterion in framework.criteria:
        scorer, hits = fit_scorer(task, criterion.code_name, features_by_code[criterion.code_name])
        scorers[criterion.code_name] = scorer
        right, total = right + hits, total + len(task.documents)
        print(f"{criterion.code_name:50} {hits / len(task.documents):.3f}")
    print(f"cross-validated accuracy {right / total:.3f}")
    heads = train_heads(task, range(len(task.documents)))
    path = write(framework, heads, scorers)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
    return 0


def gather(folder: Path, framework: Framework) -> Task:
    """Whole documents where they are known; elsewhere marked spans, padded with clauses that show nothing."""
    whole_path = folder / "train_50_documents.json"
    whole = list(nda_data.whole_documents(whole_path, framework))
    known = {
        passage.text for document in whole for passage in document.corpus.passages if len(passage.text) > 60
    }
    partial = [
        document
        for document in nda_data.partial_documents(
            folder / "train.csv", framework, nda_data.hypotheses(whole_path)
        )
        if not _is_known(document, known)
    ]
    documents = [*whole, *partial]
    folds = [at % FOLDS for at in range(len(documents))]
    own = [len(document.corpus.passages) for document in documents]
    _pad(documents, folds)
    first, hashes = [], []
    for document in documents:
        first.append(len(hashes))
        hashes += [trained.hashed(_clause(passage).words, BUCKETS) for passage in document.corpus.passages]
    return Task(framework, documents, folds, own, first, _common(hashes))


def _clause(passage: Passage) -> Clause:
    return Clause(f"{passage.lead_in} {passage.text}" if passage.lead_in else passage.text)


def _is_known(document: Document, known: set[str]) -> bool:
    """Whether the document is one of the whole ones: most of its longer clauses stand there."""
    own = [passage.text for passage in document.corpus.passages if len(passage.text) > 60]
    return sum(text in known for text in own) > 0.4 * len(own)


def _pad(documents: Sequence[Document], folds: Sequence[int]) -> None:
    """Real documents are mostly clauses that show nothing; these come from whole ones of the same fold."""
    chance = random.Random(1)
    for fold in range(FOLDS):
        pool = [
            passage
            for at, document in enumerate(documents)
            if folds[at] == fold and document.whole
            for place, passage in enumerate(document.corpus.passages)
            if not any(place in shown for shown in document.shown_by.values())
        ]
        for at, document in enumerate(documents):
            if folds[at] == fold and not document.whole:
                members = (*document.corpus.passages, *chance.sample(pool, min(_PADDING, len(pool))))
                document.corpus = Corpus(
                    document.corpus.sources, members, Index(passage.text for passage in members)
                )


def _common(hashes: Sequence[Sequence[int]]) -> list[list[int]]:
    counts = np.bincount(
        np.fromiter((one for row in hashes for one in row), dtype=np.int64), minlength=BUCKETS
    )
    return [[one for one in row if counts[one] >= _FEWEST_DOCUMENTS] for row in hashes]


def read_evidence(task: Task) -> list[dict[str, list[Reading]]]:
    """What the authored evidence finds, for each document and criterion."""
    library = aspects.Library()
    return [
        {
            criterion.code_name: aspects.read(library, task.framework, criterion, document.corpus)
            for criterion in task.framework.criteria
        }
        for document in task.documents
    ]


def out_of_fold(
    task: Task, evidence: Sequence[dict[str, list[Reading]]]
) -> dict[str, list[dict[str, float]]]:
    """The features of every document by heads that were trained without it."""
    found: dict[str, list[dict[str, float]]] = {
        criterion.code_name: [{} for _ in task.documents] for criterion in task.framework.criteria
    }
    for fold in range(FOLDS):
        heads = train_heads(task, [at for at, own in enumerate(task.folds) if own != fold])
        for at in (at for at, own in enumerate(task.folds) if own == fold):
            rows = Rows.of([task.hashes[place] for place in task.places(at)], BUCKETS)
            scores = {(head.criterion, head.question): rows.times(head.weights) + head.bias for head in heads}
            for code, row in found.items():
                opposite = scores.get((code, trained.OPPOSITE))
                passage_scores = PassageScores(
                    scores[code, trained.RELEVANT].tolist(), None if opposite is None else opposite.tolist()
                )
                readings = evidence[at][code]
                row[at] = (
                    features.of_readings(readings)
                    | features.of_passages(passage_scores)
                    | features.of_both(readings, passage_scores)
                )
        print(f"fold {fold + 1} of {FOLDS}")
    return found


def train_heads(task: Task, members: Sequence[int]) -> list[HeadWeights]:
    """Both questions of every criterion; the second only where enough clauses say the opposite."""
    places = [place for at in members for place in task.places(at)[: task.own[at]]]
    rows = Rows.of([task.hashes[place] for place in places], BUCKETS)
    at_place = {place: at for at, place in enumerate(places)}
    heads = []
    for criterion in task.framework.criteria:
        code = criterion.code_name
        speaks, opposes = set(), set()
        for at in members:
            shown = {at_place[task.first[at] + own] for own in task.documents[at].shown_by[code]}
            speaks |= shown
            if task.documents[at].labels[code] is Category.NOT_SUFFICIENTLY_REGULATED:
                opposes |= shown
        targets = np.zeros(len(places))
        targets[list(speaks)] = 1
        heads.append(_head(code, trained.RELEVANT, rows, targets))
        if len(opposes) >= _FEWEST_OPPOSITES:
            heads.append(_opposite(code, task, places, sorted(speaks), opposes))
    return heads


def _head(code: str, question: str, rows: Rows, targets: Vector) -> HeadWeights:
    share = targets.mean()
    weights = np.where(targets > 0, min(8.0, 0.2 / max(share, 1e-3)), 1.0)
    return HeadWeights(code, question, *regression.binary(rows, targets, weights, _HEAD_RESTRAINT))


def _opposite(
    code: str, task: Task, places: Sequence[int], speaks: Sequence[int], opposes: set[int]
) -> HeadWeights:
    rows = Rows.of([task.hashes[places[at]] for at in speaks], BUCKETS)
    targets = np.array([float(at in opposes) for at in speaks])
    return HeadWeights(
        code, trained.OPPOSITE, *regression.binary(rows, targets, np.ones(len(targets)), _HEAD_RESTRAINT)
    )


def fit_scorer(task: Task, code: str, rows: Sequence[dict[str, float]]) -> tuple[dict[str, object], int]:
    """A scorer, calibrated by predictions on folds that it has not seen; and how many of those were right."""
    names = sorted({name for row in rows for name in row})
    table = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    labels = [document.labels[code] for document in task.documents]
    classes = [category for category in CLASSES if category in labels]
    targets = np.array([classes.index(label) for label in labels])
    means, scales = table.mean(axis=0), np.maximum(table.std(axis=0), 1e-6)
    scaled = (table - means) / scales
    sums = np.zeros((len(rows), len(classes)))
    folds = np.array(task.folds)
    for fold in range(FOLDS):
        weights = regression.softmax(
            scaled[folds != fold], targets[folds != fold], len(classes), _SCORER_RESTRAINT
        )
        sums[folds == fold] = np.hstack([scaled, np.ones((len(rows), 1))])[folds == fold] @ weights.T
    weights = regression.softmax(scaled, targets, len(classes), _SCORER_RESTRAINT)
    scorer = {
        "name": f"contract-nli/{code.lower()}",
        "classes": [category.value for category in classes],
        "means": dict(zip(names, np.round(means, 4).tolist(), strict=True)),
        "scales": dict(zip(names, np.round(scales, 6).tolist(), strict=True)),
        "weights": [dict(zip(names, np.round(row[:-1], 4).tolist(), strict=True)) for row in weights],
        "bias": np.round(weights[:, -1], 4).tolist(),
        "temperature": _temperature(sums, targets),
    }
    return scorer, int((sums.argmax(axis=1) == targets).sum())


def _temperature(sums: Vector, targets: np.ndarray) -> float:
    """By which the sums are divided so that probabilities fit best what was not trained on.

    Never below one: padded documents are easier than real ones, so nothing may get surer than it was trained.
    """
    grid = [1.0 + 0.05 * step for step in range(21)]
    return round(min(grid, key=lambda temperature: _surprise(sums / temperature, targets)), 2)


def _surprise(sums: Vector, targets: np.ndarray) -> float:
    log = sums - np.log(np.exp(sums - sums.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True))
    log -= sums.max(axis=1, keepdims=True)
    return float(-log[np.arange(len(targets)), targets].mean())


def write(framework: Framework, heads: Sequence[HeadWeights], scorers: dict[str, dict[str, object]]) -> Path:
    """The weights in eight bits, the largest of each head, as steps between their places."""
    table = []
    for head in heads:
        largest = np.argsort(-np.abs(head.weights), kind="stable")[:_KEPT_WEIGHTS]
        places = np.sort(largest[np.abs(head.weights[largest]) > 0])
        unit = float(np.abs(head.weights).max()) / 127
        values = np.round(head.weights[places] / unit).astype(int)
        kept = values != 0
        steps = np.diff(places[kept], prepend=0)
        table.append([steps.tolist(), values[kept].tolist(), round(unit, 6)])
    data = {
        "name": f"{framework.code_name.lower()} 1 on framework {framework.version}",
        "framework_version": framework.version,
        "buckets": BUCKETS,
        "heads": [[head.criterion, head.question, round(head.bias, 4)] for head in heads],
        "table": table,
        "scorers": scorers,
    }
    path = trained.FOLDER / f"{framework.code_name.lower()}.json.z"
    path.write_bytes(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9))
    return path


if __name__ == "__main__":
    sys.exit(main())
