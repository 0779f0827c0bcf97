"""A floor under the quality of verdicts, on agreements of our own: a change may raise it, not lower it."""

from pathlib import Path

import pytest

from assay.assessments.judging.local import LocalJudge
from assay.frameworks import files
from tests.assessments import agreements

CATALOGUE = Path(files.__file__).with_name("catalogue")
FLOOR = 0.97


@pytest.fixture(scope="module")
def outcomes():
    judge = LocalJudge()
    frameworks = {
        name: files.load(CATALOGUE / f"{name.lower()}.yaml")
        for name in {one.framework for one in agreements.ALL}
    }
    found = {}
    for agreement in agreements.ALL:
        framework = frameworks[agreement.framework]
        criteria = {criterion.code_name: criterion for criterion in framework.criteria}
        corpus = agreements.corpus(agreement.text)
        for code, expected in agreement.expected.items():
            verdict = judge.judge(framework, criteria[code], corpus)
            found[agreement.name, code] = (expected, verdict)
    return found


def test_the_share_of_right_verdicts_does_not_fall_below_the_floor(outcomes):
    wrong = {
        key: verdict.category for key, (expected, verdict) in outcomes.items() if verdict.category != expected
    }

    assert 1 - len(wrong) / len(outcomes) >= FLOOR, wrong


def test_what_needs_no_review_is_right(outcomes):
    wrong = [
        key
        for key, (expected, verdict) in outcomes.items()
        if not verdict.needs_review and verdict.category != expected
    ]

    assert len(wrong) <= 1, wrong
