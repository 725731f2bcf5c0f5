"""Populations for the validation of intervals of scores, named before any interval was made.

`HELD_OUT` decides whether intervals hold; nothing is chosen on it. `DEVELOPMENT` is for choices. The two share no family. Every
population is a family with parameters, both drawn at random with a seed: its formula is the family's, written below.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldshift.core.types import Array, FloatArray, IntArray

    Draw = Callable[[int, np.random.Generator], tuple[FloatArray, Array]]

LEAST_POSITIVES = 5  # expected in a sample
RATES = (0.03, 0.5)  # share of positives, drawn on the logarithm
SIZES = (40, 400)  # rows of a sample, drawn on the logarithm
N_THRESHOLD = 100_000  # rows that the share of positives is set on
SCORES = {
    "binary": (
        "error", "accuracy", "balanced_accuracy", "f1", "recall", "precision", "specificity", "matthews_corrcoef",
        "cohen_kappa", "roc_auc", "average_precision", "brier_score", "log_loss",
    ),
    "classes": ("error", "accuracy", "balanced_accuracy", "f1_macro", "f1_weighted", "matthews_corrcoef", "cohen_kappa",
                "log_loss"),
    "numbers": ("root_mean_squared_error", "mean_absolute_error", "r2"),
}  # fmt: skip
LEARNERS = ("linear", "5NN", "tree")  # discriminant analysis or least squares; five neighbours; a tree of depth four


class Parameters(NamedTuple):
    """Parameters of a population; a family uses those that its formula names."""

    p: int  # inputs, 2 to 8
    signal: float  # strength of what can be learned, .3 to 2
    noise: float  # strength of what cannot, .2 to 1.2
    rate: float  # share of positives
    n_classes: int  # 3 to 5
    df: float  # degrees of freedom of a tail, 3 to 8
    weights: FloatArray  # of eight inputs, normal


class Population(NamedTuple):
    """A population, and the size of the samples that are drawn from it."""

    name: str
    task: str  # "binary", "classes" or "numbers"
    n: int
    parameters: Parameters
    draw: Draw


def _latent(family: Callable[..., tuple[FloatArray, FloatArray]]) -> Callable[..., tuple[FloatArray, IntArray]]:
    """Make classes of a hidden quantity: positive above the quantile that gives the share of positives."""

    def draw(n: int, rng: np.random.Generator, parameters: Parameters) -> tuple[FloatArray, IntArray]:
        key = (*parameters[:-1], *parameters.weights.tolist())
        if key not in known:
            values = family(N_THRESHOLD, np.random.default_rng(0), parameters)[1]
            known[key] = float(np.quantile(values, 1 - parameters.rate))
        X, hidden = family(n, rng, parameters)
        return X, (hidden > known[key]).astype(int)

    known: dict[tuple[float, ...], float] = {}
    draw.__name__ = family.__name__
    return draw


# Families of the populations that are held out.


@_latent
def mixed_logit(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """Sum of lognormal, normal and whole inputs, and logistic noise."""
    X = rng.standard_normal((n, q.p))
    X[:, 0], X[:, 1] = np.exp(0.7 * X[:, 0]), rng.integers(4, size=n)
    return X, q.signal * (X @ q.weights[: q.p]) + q.noise * rng.logistic(size=n)


@_latent
def ring(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """Distance of the first two inputs from a circle of radius 1.5."""
    X = rng.standard_normal((n, q.p))
    return X, -np.abs(np.hypot(X[:, 0], X[:, 1]) - 1.5) * q.signal + 0.5 * q.noise * rng.standard_normal(n)


@_latent
def turned_xor(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """Product of two inputs, of which the learner sees sums and differences."""
    X = rng.standard_normal((n, q.p))
    hidden = q.signal * X[:, 0] * X[:, 1] + 0.5 * q.noise * rng.standard_normal(n)
    X[:, 0], X[:, 1] = X[:, 0] + 0.5 * X[:, 1], X[:, 1] - 0.5 * X[:, 0]
    return X, hidden


@_latent
def both_large(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """Smaller of two uniform inputs, with noise of Student's t."""
    X = rng.random((n, q.p))
    return X, q.signal * np.minimum(X[:, 0], X[:, 1]) + 0.2 * q.noise * rng.standard_t(q.df, size=n)


def counts(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, IntArray]:
    """Poisson counts whose means go with the class."""
    y = (rng.random(n) < q.rate).astype(int)
    means = np.exp(1 + 0.5 * q.signal * y[:, None] * q.weights[: q.p] + 0.2 * q.noise * rng.standard_normal((n, q.p)))
    return rng.poisson(np.minimum(means, 1e4)).astype(float), y


def gamma_clouds(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, IntArray]:
    """Gamma inputs whose scale goes with the class."""
    y = (rng.random(n) < q.rate).astype(int)
    return rng.gamma(1 + q.noise, size=(n, q.p)) * np.exp(0.5 * q.signal * y[:, None] * q.weights[: q.p]), y


def rare_cluster(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, IntArray]:
    """Positives of which most form a tight cluster and the rest lie anywhere."""
    y = (rng.random(n) < q.rate).astype(int)
    X = rng.standard_normal((n, q.p))
    tight = (y == 1) & (rng.random(n) < 0.9 - 0.4 * q.noise)
    X[tight] = q.signal * q.weights[: q.p] + 0.4 * rng.standard_normal((int(tight.sum()), q.p))
    return X, y


def spokes(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, IntArray]:
    """Classes of falling size along spokes of a wheel."""
    shares = 0.7 ** np.arange(q.n_classes)
    y = rng.choice(q.n_classes, size=n, p=shares / shares.sum())
    angle = 2 * np.pi * y / q.n_classes + 0.3 * q.noise * rng.standard_normal(n)
    radius = (1 + q.signal) * rng.random(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), rng.standard_normal((n, q.p))]), y


def grades(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, IntArray]:
    """Ordered classes: a sum of inputs with noise, cut at the quantiles of a normal sum."""
    X = rng.standard_normal((n, q.p))
    weights = q.weights[: q.p] / np.linalg.norm(q.weights[: q.p])
    hidden = (q.signal * X @ weights + q.noise * rng.standard_normal(n)) / np.hypot(q.signal, q.noise)
    return X, np.searchsorted(np.linspace(-0.8, 1.2, q.n_classes - 1), hidden)


def waves(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """Sum of sines of uniform inputs, normal noise."""
    X = rng.random((n, q.p))
    return X, q.signal * np.sin(2 * np.pi * X) @ q.weights[: q.p] + q.noise * rng.standard_normal(n)


def gamma_prices(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """Gamma noise times the exponential of a sum."""
    X = rng.standard_normal((n, q.p))
    return X, np.exp(0.25 * q.signal * X @ q.weights[: q.p]) * rng.gamma(1 + 2 / q.noise, size=n)


def student_product(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """A plane and one product of inputs, noise of Student's t."""
    X = rng.standard_normal((n, q.p))
    return X, q.signal * (X @ q.weights[: q.p] + X[:, 0] * X[:, 1]) + q.noise * rng.standard_t(q.df, size=n)


def steps(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """Steps of three inputs, noise that grows along the first."""
    X = rng.random((n, max(q.p, 3)))
    level = np.floor(3 * X[:, 0]) + np.floor(2 * X[:, 1]) - np.floor(4 * X[:, 2])
    return X, q.signal * level + q.noise * (0.3 + X[:, 0]) * rng.standard_normal(n)


# Families of the populations that choices may be made on.


@_latent
def plain_logit(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """Sum of correlated normal inputs, logistic noise."""
    X = rng.standard_normal((n, q.p)) + 0.6 * rng.standard_normal((n, 1))
    return X, q.signal * (X @ q.weights[: q.p]) + q.noise * rng.logistic(size=n)


@_latent
def hill(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """Distance from a point, with noise."""
    X = rng.standard_normal((n, q.p))
    return X, -q.signal * np.hypot(X[:, 0] - 0.7, X[:, 1]) + 0.5 * q.noise * rng.standard_normal(n)


def clouds(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, IntArray]:
    """Two normal clouds of unequal spread."""
    y = (rng.random(n) < q.rate).astype(int)
    return rng.standard_normal((n, q.p)) * (1 + 0.5 * q.noise * y[:, None]) + 0.7 * q.signal * y[:, None] * q.weights[: q.p], y


def crescents(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, IntArray]:
    """Two half moons with noise."""
    y = (rng.random(n) < q.rate).astype(int)
    angle = np.pi * rng.random(n)
    X = np.column_stack([np.where(y, 1 - np.cos(angle), np.cos(angle)), np.where(y, 0.5 - np.sin(angle), np.sin(angle))])
    return np.column_stack([X + 0.4 * q.noise * rng.standard_normal((n, 2)), rng.standard_normal((n, q.p - 1))]), y


def many_clouds(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, IntArray]:
    """Normal clouds of falling size."""
    shares = 0.65 ** np.arange(q.n_classes)
    y = rng.choice(q.n_classes, size=n, p=shares / shares.sum())
    centres = np.random.default_rng(round(1e6 * q.signal)).standard_normal((q.n_classes, q.p))
    return q.signal * centres[y] + rng.standard_normal((n, q.p)), y


def plane(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """A plane, noise of Student's t."""
    X = rng.standard_normal((n, q.p))
    return X, q.signal * X @ q.weights[: q.p] + q.noise * rng.standard_t(q.df, size=n)


def fan(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """A sine, noise that grows along it."""
    X = rng.random((n, q.p))
    return X, q.signal * np.sin(2 * np.pi * X[:, 0]) + q.noise * (0.1 + X[:, 0]) * rng.standard_normal(n)


def lognormal_sum(n: int, rng: np.random.Generator, q: Parameters) -> tuple[FloatArray, FloatArray]:
    """Exponential of a sum and noise."""
    X = rng.standard_normal((n, q.p))
    return X, np.exp(0.3 * q.signal * X @ q.weights[: q.p] + 0.5 * q.noise * rng.standard_normal(n))


FAMILIES = {
    "held out": {
        "binary": (mixed_logit, ring, turned_xor, both_large, counts, gamma_clouds, rare_cluster),
        "classes": (spokes, grades),
        "numbers": (waves, gamma_prices, student_product, steps),
    },
    "development": {
        "binary": (plain_logit, hill, clouds, crescents),
        "classes": (many_clouds,),
        "numbers": (plane, fan, lognormal_sum),
    },
}
NUMBERS_OF = {
    "held out": {"binary": 16, "classes": 4, "numbers": 6},
    "development": {"binary": 10, "classes": 2, "numbers": 5},
}
SEEDS = {"held out": 531, "development": 530}


def _drawn(
    family: Callable[..., tuple[FloatArray, Array]], q: Parameters, n: int, rng: np.random.Generator
) -> tuple[FloatArray, Array]:
    """Draw rows of a family with its parameters."""
    return family(n, rng, q)


def drawn_populations(which: str) -> tuple[Population, ...]:
    """Draw the populations of a list: families in turn, with random parameters."""
    rng, found = np.random.default_rng(SEEDS[which]), []
    for task, number in NUMBERS_OF[which].items():
        families = FAMILIES[which][task]
        order = np.concatenate([rng.permutation(len(families)) for _ in range(number // len(families) + 1)])[:number]
        for place in order:
            family = families[place]
            n = round(float(np.exp(rng.uniform(*np.log(SIZES)))))
            least = max(RATES[0], LEAST_POSITIVES / n)
            parameters = Parameters(
                p=int(rng.integers(2, 9)),
                signal=float(rng.uniform(0.3, 2)),
                noise=float(rng.uniform(0.2, 1.2)),
                rate=float(np.exp(rng.uniform(*np.log((least, RATES[1]))))),
                n_classes=int(rng.integers(3, 6)),
                df=float(rng.uniform(3, 8)),
                weights=rng.standard_normal(8),
            )
            name = f"{family.__name__} {sum(one.name.startswith(family.__name__) for one in found) + 1}"
            found.append(Population(name, task, n, parameters, partial(_drawn, family, parameters)))
    return tuple(found)


HELD_OUT = drawn_populations("held out")
DEVELOPMENT = drawn_populations("development")
