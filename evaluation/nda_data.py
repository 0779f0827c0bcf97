"""The labelled NDAs of ContractNLI (Koreeda and Manning 2021, CC BY 4.0), as passages and categories."""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from assay.assessments import passages
from assay.assessments.judging import Corpus
from assay.assessments.models import Category, Source
from assay.assessments.passages import Passage
from assay.assessments.retrieval import Index
from assay.content.extraction import plain
from assay.content.extraction.assembly import assemble
from assay.content.models import Text
from assay.frameworks.models import Framework

CATEGORIES = {
    "Entailment": Category.SUFFICIENTLY_REGULATED,
    "Contradiction": Category.NOT_SUFFICIENTLY_REGULATED,
    "NotMentioned": Category.MISSING,
}
_BY_NUMBER = dict(enumerate(CATEGORIES.values()))
_ROWS_A_DOCUMENT = 17


@dataclass(slots=True)
class Document:
    """An NDA, or what is known of it; for each criterion its category and the passages that show it."""

    name: str
    corpus: Corpus
    labels: dict[str, Category] = field(default_factory=dict)
    shown_by: dict[str, set[int]] = field(default_factory=dict)
    whole: bool = True


def text_of(words: str) -> Text:
    """A plain text with its structure, as the service reads it."""
    return assemble(plain.drafts(words), language="en")


def whole_documents(path: Path, framework: Framework) -> Iterator[Document]:
    """NDAs in full. A passage shows a criterion when it shares most of its words with a marked span."""
    data = json.loads(path.read_text(encoding="utf-8"))
    codes = _codes_by_key(framework)
    for entry in data["documents"]:
        text = text_of(entry["text"])
        corpus = Corpus.of([(Source(entry["file_name"], str(entry["id"]), text.digest), text)])
        document = Document(str(entry["id"]), corpus)
        own = [_words(passage.text) for passage in corpus.passages]
        for key, annotation in entry["annotation_sets"][0]["annotations"].items():
            spans = [entry["text"][slice(*entry["spans"][at])] for at in annotation["spans"]]
            document.labels[codes[key]] = CATEGORIES[annotation["choice"]]
            document.shown_by[codes[key]] = _overlapping(own, [_words(span) for span in spans])
        yield document


def partial_documents(path: Path, framework: Framework, hypotheses: dict[str, str]) -> Iterator[Document]:
    """NDAs of which only the marked spans, and some others, are known: seventeen rows each."""
    codes = {hypotheses[key]: code for key, code in _codes_by_key(framework).items()}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for first in range(0, len(rows), _ROWS_A_DOCUMENT):
        yield _partial(f"row {first}", rows[first : first + _ROWS_A_DOCUMENT], codes)


def _partial(name: str, rows: list[dict[str, str]], codes: dict[str, str]) -> Document:
    source = Source(name, name, name)
    found: dict[str, Passage] = {}
    shows: dict[str, set[str]] = defaultdict(set)
    labels = {}
    for row in rows:
        code, category = codes[row["hypothesis"]], _BY_NUMBER[int(row["label"])]
        labels[code] = category
        for passage in passages.split(text_of(row["concatenated_spans"]), source):
            known = found.get(passage.text)
            if known is None or len(known.lead_in) < len(passage.lead_in):
                found[passage.text] = passage
            if category is not Category.MISSING:
                shows[code].add(passage.text)
    places = {text: at for at, text in enumerate(found)}
    members = tuple(found.values())
    corpus = Corpus((source,), members, Index(passage.text for passage in members))
    shown_by = {code: {places[text] for text in shows[code]} for code in labels}
    return Document(name, corpus, labels, shown_by, whole=False)


def hypotheses(path: Path) -> dict[str, str]:
    """What each key of the data set claims."""
    labels = json.loads(path.read_text(encoding="utf-8"))["labels"]
    return {key: entry["hypothesis"] for key, entry in labels.items()}


def _codes_by_key(framework: Framework) -> dict[str, str]:
    return {criterion.reference.split()[-1]: criterion.code_name for criterion in framework.criteria}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().split())


def _overlapping(own: list[frozenset[str]], spans: list[frozenset[str]]) -> set[int]:
    return {
        at
        for at, words in enumerate(own)
        for span in spans
        if len(words & span) >= 0.7 * min(len(words), len(span)) and len(words & span) >= 3
    }
