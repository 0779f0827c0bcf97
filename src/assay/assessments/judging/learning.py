"""A small logistic regression over named features, and the refit of a bar: what feedback teaches with.

Pure Python and deterministic: no order of examples, no chance. Meant for tens to a few hundred examples.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.assessments.models import Category

Features = Mapping[str, float]
_ROUNDS = 300
_RATE = 0.5
_MOMENTUM = 0.9
_CLASSES = (Category.SUFFICIENTLY_REGULATED, Category.NOT_SUFFICIENTLY_REGULATED, Category.MISSING)
# A bar is never moved farther than this from 0.5: some evidence is always asked for, and can always be given.
FARTHEST_SHIFT = 0.35
_STEP = 0.05


@dataclass(frozen=True, slots=True)
class Regression:
    """Probabilities of the categories from features: a softmax of weighted sums. Satisfies `Scorer`.

    `bias` pulls categories up or down; a category that no example had keeps none (`classes` leaves it out).
    """

    name: str
    classes: tuple[Category, ...]
    means: Mapping[str, float]
    scales: Mapping[str, float]
    weights: tuple[Mapping[str, float], ...]
    bias: tuple[float, ...]
    temperature: float = 1.0

    def probabilities(self, features: Features) -> dict[Category, float]:
        sums = [
            (bias + sum(weight * self._scaled(features, name) for name, weight in weights.items()))
            / self.temperature
            for weights, bias in zip(self.weights, self.bias, strict=True)
        ]
        shares = dict(zip(self.classes, _softmax(sums), strict=True))
        return {category: shares.get(category, 0.0) for category in _CLASSES}

    def _scaled(self, features: Features, name: str) -> float:
        return (features.get(name, 0.0) - self.means[name]) / self.scales[name]

    def to_json(self) -> dict[str, Any]:
        """As plain data, to be stored."""
        return {
            "name": self.name,
            "classes": [category.value for category in self.classes],
            "means": dict(self.means),
            "scales": dict(self.scales),
            "weights": [dict(weights) for weights in self.weights],
            "bias": list(self.bias),
            "temperature": self.temperature,
        }

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> "Regression":
        return cls(
            name=data["name"],
            classes=tuple(Category(value) for value in data["classes"]),
            means=data["means"],
            scales=data["scales"],
            weights=tuple(data["weights"]),
            bias=tuple(data["bias"]),
            temperature=data["temperature"],
        )


def fit(name: str, examples: Sequence[tuple[Features, Category]], *, restraint: float = 1.0) -> Regression:
    """A regression trained on examples; a higher `restraint` keeps its weights smaller (L2).

    One that has seen a single category always says that one: compare on held-out documents before using it.
    """
    if not examples:
        raise ValueError("A regression needs examples.")
    names = sorted({key for features, _ in examples for key in features})
    means, scales = _scales(examples, names)
    rows = [
        [(features.get(key, 0.0) - means[key]) / scales[key] for key in names] for features, _ in examples
    ]
    classes = tuple(category for category in _CLASSES if any(one == category for _, one in examples))
    targets = [classes.index(category) for _, category in examples]
    weights, bias = _descend(rows, targets, len(classes), restraint / len(rows))
    return Regression(
        name,
        classes,
        means,
        scales,
        tuple(dict(zip(names, row, strict=True)) for row in weights),
        tuple(bias),
    )


def _scales(
    examples: Sequence[tuple[Features, Category]], names: Sequence[str]
) -> tuple[dict[str, float], dict[str, float]]:
    means, scales = {}, {}
    for name in names:
        values = [features.get(name, 0.0) for features, _ in examples]
        means[name] = math.fsum(values) / len(values)
        spread = math.sqrt(math.fsum((value - means[name]) ** 2 for value in values) / len(values))
        scales[name] = spread if spread > 1e-9 else 1.0
    return means, scales


def _descend(
    rows: Sequence[Sequence[float]], targets: Sequence[int], classes: int, restraint: float
) -> tuple[list[list[float]], list[float]]:
    """Full-batch descent with momentum; the last column of `weights` is the bias, which is not restrained."""
    width = len(rows[0]) + 1
    weights = [[0.0] * width for _ in range(classes)]
    speed = [[0.0] * width for _ in range(classes)]
    for _ in range(_ROUNDS):
        slope = [[restraint * value for value in row[:-1]] + [0.0] for row in weights]
        for row, target in zip(rows, targets, strict=True):
            _add_slope(slope, weights, row, target, len(rows))
        for at in range(classes):
            speed[at] = [
                _MOMENTUM * v - _RATE * (1 - _MOMENTUM) * s for v, s in zip(speed[at], slope[at], strict=True)
            ]
            weights[at] = [w + v for w, v in zip(weights[at], speed[at], strict=True)]
    return [row[:-1] for row in weights], [row[-1] for row in weights]


def _add_slope(
    slope: list[list[float]],
    weights: Sequence[Sequence[float]],
    row: Sequence[float],
    target: int,
    count: int,
) -> None:
    sums = [own[-1] + sum(w * value for w, value in zip(own, row, strict=False)) for own in weights]
    for at, share in enumerate(_softmax(sums)):
        error = (share - (at == target)) / count
        own = slope[at]
        for column, value in enumerate(row):
            own[column] += error * value
        own[-1] += error


def _softmax(sums: Sequence[float]) -> list[float]:
    top = max(sums)
    shares = [math.exp(value - top) for value in sums]
    total = math.fsum(shares)
    return [share / total for share in shares]


def fit_shift(examples: Sequence[tuple[float, Category]]) -> float:
    """The shift of the bar that agrees best with experts: `presence` of findings, and what they said.

    Among equally good shifts the smallest, so that little is moved without need.
    """
    steps = round(FARTHEST_SHIFT / _STEP)
    shifts = sorted(
        (step * _STEP for step in range(-steps, steps + 1)), key=lambda shift: (abs(shift), shift)
    )
    return min(shifts, key=lambda shift: _disagreements(examples, shift))


def _disagreements(examples: Sequence[tuple[float, Category]], shift: float) -> int:
    return sum((presence >= 0.5 + shift) == (category is Category.MISSING) for presence, category in examples)
