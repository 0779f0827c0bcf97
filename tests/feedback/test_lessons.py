"""What is learned from opinions, whoever gave them and wherever they are kept."""

import random

import pytest

from assay.assessments.judging import NO_ADJUSTMENT, Adjustment, replaying
from assay.assessments.judging.teaching import Pupil, mark
from assay.assessments.models import Category, Opinion
from assay.frameworks import files
from tests.assessments import house

SUFFICIENT, INSUFFICIENT, MISSING = "SUFFICIENTLY_REGULATED", "NOT_SUFFICIENTLY_REGULATED", "MISSING"

FRAMEWORK = files.parse(house.FRAMEWORK.format(code_name="HINTS", version="1.0.0"))
KINDNESS, QUIET, _ = FRAMEWORK.criteria


def opinion(number, category, **features):
    return Opinion(number, f"document {number}", Category(category), features)


def test_a_replay_says_what_the_rules_would():
    for shown, contradicted, shift, expected in (
        (1.0, 0.0, 0.0, SUFFICIENT),
        (0.4, 0.0, 0.0, MISSING),
        (0.4, 0.0, -0.1, SUFFICIENT),
        (0.6, 0.0, 0.15, MISSING),
        (0.0, 1.0, 0.0, INSUFFICIENT),
        (1.0, 0.4, 0.0, SUFFICIENT),
    ):
        features = {"shown0": shown, "contradicted0": contradicted}
        assert replaying.category("HINTS", QUIET, features, Adjustment(shift)).value == expected


def test_a_scorer_that_is_no_better_on_held_out_documents_is_not_used():
    chance = random.Random(7)
    opinions = [
        opinion(number, chance.choice([SUFFICIENT, MISSING]), shown0=1.0, noise=chance.random())
        for number in range(40)
    ]

    lesson = Pupil("HINTS", QUIET).learn(opinions)

    assert lesson.scorer is None
    assert lesson.agreed_before == sum(one.category is Category.SUFFICIENTLY_REGULATED for one in opinions)


def test_many_opinions_on_few_documents_train_no_scorer():
    said = [SUFFICIENT, MISSING]
    opinions = [
        Opinion(number, f"document {number % 4}", Category(said[number % 2]), {"shown0": float(number % 2)})
        for number in range(60)
    ]

    assert Pupil("HINTS", QUIET).learn(opinions).scorer is None


def test_the_same_opinions_teach_the_same_in_any_order():
    opinions = [
        opinion(
            number, SUFFICIENT if number % 2 else MISSING, shown0=float(number % 2), shown1=1.0 - number % 2
        )
        for number in range(24)
    ]
    shuffled = random.Random(3).sample(opinions, len(opinions))
    pupil = Pupil("HINTS", KINDNESS)

    one, other = pupil.learn(opinions), pupil.learn(shuffled)

    assert one.scorer is not None
    assert one.scorer.name == other.scorer.name
    assert (one.agreed_after, one.opinions) == (other.agreed_after, other.opinions) == (24, 24)
    for number in range(2):
        features = opinions[number].features
        assert one.scorer.probabilities(features) == pytest.approx(other.scorer.probabilities(features))
    assert mark(opinions) == mark(shuffled)


def test_nothing_is_learned_from_nothing():
    lesson = Pupil("HINTS", QUIET).learn([])

    assert (lesson.adjustment, lesson.opinions) == (NO_ADJUSTMENT, 0)
