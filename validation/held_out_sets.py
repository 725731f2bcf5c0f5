"""Populations and data sets for tests of advice. They were named before the rules were made, and no rule has seen them.

The rules of `foldshift.advice` rest on theorems and on the tables of the study of honest cuts. Its populations, and the data
sets that it samples from, are not among these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray


def three_rings(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """Three classes on rings of radius 1, 2 and 3 around one centre, noise .45, and three inputs that mean nothing."""
    y = rng.choice(3, size=n, p=[0.45, 0.35, 0.2])
    angle = 2 * np.pi * rng.random(n)
    radius = 1 + y + 0.45 * rng.standard_normal(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), rng.standard_normal((n, 3))]), y


def rare_event(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """About one positive in ten, logistic in three of eight correlated inputs, one of them a site of five."""
    X = rng.standard_normal((n, 8)) + 0.6 * rng.standard_normal((n, 1))
    X[:, 7] = rng.integers(5, size=n)
    return X, (rng.random(n) < expit(1.2 * X[:, 0] - X[:, 1] + 0.8 * (X[:, 7] == 2) - 3)).astype(int)


def cube_corners(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """Clouds at the eight corners of a cube, their classes those of a parity with one corner wrong; seven inputs of noise."""
    corner = rng.integers(2, size=(n, 3))
    y = corner.sum(axis=1) % 2
    y[corner.all(axis=1)] = 0
    return np.column_stack([2 * corner + 0.7 * rng.standard_normal((n, 3)), rng.standard_normal((n, 7))]), y


def counts(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """Six counts with means that go with the class, as words in texts have; balanced classes."""
    y = rng.integers(2, size=n)
    means = np.where(y[:, None] == 0, [1, 2, 3, 0.5, 1, 4], [1.5, 1.4, 3, 0.9, 1, 3.2])
    return rng.poisson(means).astype(float), y


def impedance(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """The second function of Friedman (1991): ``sqrt(x1^2 + (x2 x3 - 1 / (x2 x4))^2)`` of a circuit, with noise."""
    low, high = np.array([0, 40 * np.pi, 0, 1]), np.array([100, 560 * np.pi, 1, 11])
    X = low + (high - low) * rng.random((n, 4))
    return X, np.hypot(X[:, 0], X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])) + 125 * rng.standard_normal(n)


def plane_heavy(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """A plane over eight inputs of unequal slope, and noise of Student's t with five degrees of freedom."""
    X = rng.standard_normal((n, 8))
    return X, X @ np.array([2, 1.5, 1, 0.5, 0, 0, 0, 0]) + 1.5 * rng.standard_t(5, size=n)


def sine_fan(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """A sine over one of three inputs; the noise grows along it from .1 to .7."""
    X = rng.random((n, 3))
    return X, np.sin(2 * np.pi * X[:, 0]) + (0.1 + 0.6 * X[:, 0]) * rng.standard_normal(n)


def prices(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """Prices: the exponential of a sum of six inputs and noise, two of the inputs whole numbers."""
    X = rng.standard_normal((n, 6))
    X[:, 4], X[:, 5] = rng.integers(1, 6, size=n), rng.integers(2, size=n)
    return X, np.exp(0.3 * X[:, 0] - 0.2 * X[:, 1] + 0.15 * X[:, 4] + 0.3 * X[:, 5] + 0.3 * rng.standard_normal(n))


CLASSES = {"three_rings": three_rings, "rare_event": rare_event, "cube_corners": cube_corners, "counts": counts}
NUMBERS = {"impedance": impedance, "plane_heavy": plane_heavy, "sine_fan": sine_fan, "prices": prices}
# Data sets of the catalogue that are large enough to be populations: samples are drawn from them, the rest is the truth.
DATA_SETS = ("satimage", "pendigits", "page", "airfoil", "wizmir", "concrete")
# Data without any fault that is known: a thousand rows of each population above, and these data sets.
CLEAN = ("wine", "breast_cancer", "diabetes", "sonar", "pima", "saheart", "spectfheart", "appendicitis", "dee", "wizmir",
         "friedman", "laser")  # fmt: skip
