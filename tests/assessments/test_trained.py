"""The weights that ship: they fit their framework, are small, and their verdicts keep the rule."""

import json
import zlib
from pathlib import Path

import pytest

from assay.assessments.citations import holds
from assay.assessments.judging import trained
from assay.assessments.judging.local import LocalJudge
from assay.assessments.models import AspectStatus, Category
from assay.frameworks import files
from tests.assessments import agreements

CATALOGUE = Path(files.__file__).with_name("catalogue")
NDA = files.load(CATALOGUE / "nda_confidentiality.yaml")
WEIGHTS = trained.FOLDER / "nda_confidentiality.json.z"


def test_the_weights_were_trained_on_this_version_of_the_framework():
    data = json.loads(zlib.decompress(WEIGHTS.read_bytes()))

    assert data["framework_version"] == NDA.version
    assert set(data["scorers"]) == {criterion.code_name for criterion in NDA.criteria}


def test_the_weights_are_small():
    assert WEIGHTS.stat().st_size < 300_000


def test_other_frameworks_have_no_weights():
    assert trained.find("GDPR_ART_28") is None


def test_the_scorer_is_named_for_the_provenance():
    assert LocalJudge().model(NDA, NDA.criteria[0]) == "contract-nli/no_reverse_engineering"


def test_hashing_is_the_same_on_every_machine():
    assert trained.hashed(["not", "copy", "72"], 1 << 17) == [32805, 39512, 48002, 87457, 106239, 130421]


@pytest.mark.parametrize("agreement", [agreements.STRICT_NDA, agreements.LOOSE_NDA, agreements.UNRELATED])
def test_verdicts_of_scorers_keep_the_rule_and_stand_on_quotes(agreement):
    judge, text = LocalJudge(), agreement.text
    corpus = agreements.corpus(text)
    for criterion in NDA.criteria:
        verdict = judge.judge(NDA, criterion, corpus)
        statuses = [aspect.status for aspect in verdict.aspects if aspect.mandatory]
        assert (verdict.category is Category.MISSING) == (verdict.absence is not None)
        assert (verdict.category is Category.SUFFICIENTLY_REGULATED) == (
            set(statuses) == {AspectStatus.COVERED}
        )
        assert verdict.category is Category.MISSING or verdict.citations
        assert all(holds(citation, text.text) for citation in verdict.citations)


def test_what_is_clearly_there_and_clearly_not_there_is_told_surely():
    judge = LocalJudge()
    corpus = agreements.corpus(agreements.STRICT_NDA.text)
    criteria = {criterion.code_name: criterion for criterion in NDA.criteria}
    found = judge.judge(NDA, criteria["NO_REVERSE_ENGINEERING"], corpus)
    missing = judge.judge(NDA, criteria["NO_SOLICITATION"], corpus)

    assert (found.category, found.needs_review) == (Category.SUFFICIENTLY_REGULATED, False)
    assert "reverse engineer" in found.citations[0].quote
    assert (missing.category, missing.needs_review) == (Category.MISSING, False)
