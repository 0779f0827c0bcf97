"""Logistic regression for training, in numpy: over sparse rows of hashed words, and over dense features."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
_MEMORY = 8


@dataclass(frozen=True, slots=True)
class Rows:
    """Sparse rows: for each entry its row, its column and its value."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    value: Vector
    count: int
    width: int

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], width: int) -> "Rows":
        """Rows of ones, each scaled to length one."""
        sizes = np.array([len(row) for row in rows])
        at = np.repeat(np.arange(len(rows)), sizes)
        columns = np.fromiter(
            (column for row in rows for column in row), dtype=np.int64, count=int(sizes.sum())
        )
        return cls(at, columns, 1 / np.sqrt(np.maximum(sizes, 1))[at], len(rows), width)

    def times(self, weights: Vector) -> Vector:
        return np.bincount(self.row, self.value * weights[self.column], minlength=self.count)

    def transposed_times(self, values: Vector) -> Vector:
        return np.bincount(self.column, self.value * values[self.row], minlength=self.width)


def binary(
    rows: Rows, targets: Vector, weights: Vector, restraint: float, rounds: int = 60
) -> tuple[Vector, float]:
    """Weights and bias of a yes-or-no question; `weights` say how much each row counts."""

    def loss(point: Vector) -> tuple[float, Vector]:
        sums = rows.times(point[:-1]) + point[-1]
        chance = 1 / (1 + np.exp(-np.clip(sums, -30, 30)))
        value = float(np.sum(weights * (np.logaddexp(0, sums) - targets * sums)))
        error = weights * (chance - targets)
        slope = np.append(rows.transposed_times(error) + restraint * point[:-1], error.sum())
        return value + 0.5 * restraint * float(point[:-1] @ point[:-1]), slope

    found = minimise(loss, np.zeros(rows.width + 1), rounds)
    return found[:-1], float(found[-1])


def softmax(
    features: NDArray[np.float64], targets: NDArray[np.int64], classes: int, restraint: float
) -> Vector:
    """Weights (classes × features and a bias) of a multinomial regression."""
    with_bias = np.hstack([features, np.ones((len(features), 1))])
    wanted = np.eye(classes)[targets]

    def loss(point: Vector) -> tuple[float, Vector]:
        weights = point.reshape(classes, -1)
        sums = with_bias @ weights.T
        sums -= sums.max(axis=1, keepdims=True)
        log = sums - np.log(np.exp(sums).sum(axis=1, keepdims=True))
        held = weights.copy()
        held[:, -1] = 0
        slope = (np.exp(log) - wanted).T @ with_bias + restraint * held
        return float(-(wanted * log).sum() + 0.5 * restraint * (held**2).sum()), slope.ravel()

    return minimise(loss, np.zeros(classes * with_bias.shape[1]), 200).reshape(classes, -1)


def minimise(loss: Callable[[Vector], tuple[float, Vector]], point: Vector, rounds: int) -> Vector:
    """L-BFGS with halving steps: deterministic, and enough for convex losses."""
    steps: list[tuple[Vector, Vector]] = []
    value, slope = loss(point)
    for _ in range(rounds):
        direction = -_two_loops(slope, steps)
        along = float(slope @ direction)
        size = 1.0 if steps else 1.0 / max(1.0, float(np.linalg.norm(slope)))
        while True:
            candidate = point + size * direction
            new_value, new_slope = loss(candidate)
            if new_value <= value + 1e-4 * size * along or size < 1e-10:
                break
            size /= 2
        change, turn = candidate - point, new_slope - slope
        if change @ turn > 1e-12:
            steps = [*steps, (change, turn)][-_MEMORY:]
        done = abs(value - new_value) < 1e-7 * max(1.0, abs(value))
        point, value, slope = candidate, new_value, new_slope
        if done:
            break
    return point


def _two_loops(slope: Vector, steps: Sequence[tuple[Vector, Vector]]) -> Vector:
    direction = slope.copy()
    shares = []
    for change, turn in reversed(steps):
        share = float(change @ direction) / float(change @ turn)
        direction -= share * turn
        shares.append(share)
    if steps:
        change, turn = steps[-1]
        direction *= float(change @ turn) / float(turn @ turn)
    for (change, turn), share in zip(steps, reversed(shares), strict=True):
        direction += (share - float(turn @ direction) / float(change @ turn)) * change
    return direction
