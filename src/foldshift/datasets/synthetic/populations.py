"""Generated populations, of two classes or with a numeric target, that give any number of new rows to test a learner on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.errors import SourceError, unknown
from foldshift.datasets.dataset import Dataset

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, IntArray

N_PLACES = 120  # of populations whose rows are near duplicates
DECIMALS = 6  # of generated numbers: the last bits of sine and square root differ between machines


def twonorm(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Two normal clouds in 20 dimensions, unit covariance, means ``(a, ..., a)`` and ``-(a, ..., a)``, ``a = 2 / sqrt(20)``.

    The best possible error is 2.3 %, by a plane that no axis-parallel cut approaches well.
    Source: Breiman, L. (1998). Arcing classifiers. Annals of Statistics 26(3), 801-849; first as Technical Report 460 (1996).
    """
    y = _coin(n, rng)
    return rng.standard_normal((n, 20)) + np.where(y == 0, 1, -1)[:, None] * 2 / np.sqrt(20), y


def ringnorm(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """A wide normal cloud around a narrow one, 20 dimensions: covariance 4 and mean 0 against covariance 1 and mean
    ``a = 2 / sqrt(20)`` everywhere.

    The boundary is a sphere. The best possible error is 1.2 % (Breiman: 1.3 %; with ``a = 1 / sqrt(20)``, as some implementations
    have it, 1.5 %). Source: Breiman (1998), as in `twonorm`; ``a`` as in the DELVE archive's ringnorm.
    """
    y = _coin(n, rng)
    x = rng.standard_normal((n, 20))
    return np.where(y[:, None] == 0, 2 * x, x + 2 / np.sqrt(20)), y


def threenorm(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Two clouds at ``(a, ..., a)`` and ``-(a, ..., a)`` against one at ``(a, -a, a, ...)``, ``a = 2 / sqrt(20)``.

    Twenty dimensions; best error 10.5 %. Source: Breiman (1998), as in `twonorm`.
    """
    y = _coin(n, rng)
    side = 1 - 2 * _coin(n, rng)
    centre = np.where(y[:, None] == 0, side[:, None], 1 - 2 * (np.arange(20) % 2))
    return rng.standard_normal((n, 20)) + centre * 2 / np.sqrt(20), y


def waveform(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """The first two of three classes of noisy mixtures of triangular waves, 21 inputs.

    Source: Breiman, L., Friedman, J.H., Olshen, R.A., Stone, C.J. (1984). Classification and regression trees, section 2.6.2.
    """
    y = _coin(n, rng)
    place = np.arange(1, 22)
    first, second, third = (np.maximum(6 - np.abs(place - centre), 0) for centre in (11, 15, 7))
    u = rng.random((n, 1))
    return u * first + (1 - u) * np.where(y[:, None] == 0, second, third) + rng.standard_normal((n, 21)), y


def unequal_gaussians(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Two overlapping normal clouds in 4 dimensions, one unit apart along every axis; every fifth row belongs to the second.

    The model of linear discriminant analysis, with the imbalance that many real sets have.
    Source: Hastie, T., Tibshirani, R., Friedman, J. (2009). The elements of statistical learning, section 4.3.
    """
    y = (rng.random(n) < 0.2).astype(np.int64)
    return rng.standard_normal((n, 4)) + y[:, None], y


def xor_blobs(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Four normal clouds of standard deviation 0.6 at the corners of a square of side 2; opposite corners have the same class.

    Source: Minsky, M., Papert, S. (1969). Perceptrons: the exclusive or, which no line separates.
    """
    corner = 1 - 2 * (rng.random((n, 2)) < 0.5).astype(np.int64)
    return corner + 0.6 * rng.standard_normal((n, 2)), (corner[:, 0] != corner[:, 1]).astype(np.int64)


def circles(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Two rings of radius 1 and 0.5 around the same centre, normal noise of standard deviation 0.2 (scikit-learn's
    `make_circles`)."""
    y = _coin(n, rng)
    angle = 2 * np.pi * rng.random(n)
    return _polar(np.where(y == 0, 1.0, 0.5), angle) + 0.2 * rng.standard_normal((n, 2)), y


def spirals(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Two spirals of one and a half turns that wind around each other, radius up to 1, normal noise of standard deviation 0.06.

    Source: Lang, K.J., Witbrock, M.J. (1988). Learning to tell two spirals apart. Connectionist Models Summer School, 52-59.
    """
    y = _coin(n, rng)
    radius = np.sqrt(rng.random(n))
    return _polar(radius, 3 * np.pi * radius + np.pi * y) + 0.06 * rng.standard_normal((n, 2)), y


def checkerboard(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """A board of 4 x 4 squares of alternating class, uniform inputs; one label in ten is flipped.

    Source: Ho, T.K., Kleinberg, E.M. (1996). Building projectable classifiers of arbitrary complexity. ICPR 2, 880-885.
    """
    X = 4 * rng.random((n, 2))
    y = np.floor(X).sum(axis=1).astype(np.int64) % 2
    return X, _flip(y, 0.1, rng)


def mixed_attributes(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Applicants for a loan: six numeric and three nominal attributes; age and education decide; one label in ten is flipped.

    Function 3 of the generator of the source: class 1 where age is below 40 and education 0 or 1, below 60 and 1 to 3, or above
    and 2 to 4. The nominal attributes are education, car and region.
    Source: Agrawal, R., Imielinski, T., Swami, A. (1993). Database mining: a performance perspective. IEEE TKDE 5(6), 914-925.
    """
    salary = 20_000 + 130_000 * rng.random(n)
    commission = np.where(salary >= 75_000, 0, 10_000 + 65_000 * rng.random(n))
    age = 20 + 60 * rng.random(n)
    education, car, region = (np.floor(values * rng.random(n)) for values in (5, 20, 9))
    house_value = (region + 1) * 100_000 * (0.5 + rng.random(n))
    house_years = 1 + np.floor(30 * rng.random(n))
    loan = 500_000 * rng.random(n)
    y = np.select([age < 40, age < 60], [education <= 1, (education >= 1) & (education <= 3)], education >= 2).astype(np.int64)
    X = np.column_stack([salary, commission, age, education, car, region, house_value, house_years, loan])
    return X, _flip(y, 0.1, rng)


def sparse_signal(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Sixty independent normal inputs, five of which differ between the classes, by one standard deviation each; best error 13.2
    %.

    Many inputs, few that matter: in the manner of Hastie, Tibshirani, Friedman (2009), as in `unequal_gaussians`, section 18.1.
    """
    y = _coin(n, rng)
    X = rng.standard_normal((n, 60))
    X[:, :5] += y[:, None]
    return X, y


def integer_grid(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Three inputs of whole numbers 0 to 4; most rows have duplicates, often of the other class; logistic in the sum of inputs.

    In the manner of sets such as haberman, monk-2 and titanic, with 125 distinct rows and noise: ``log odds = (x1 + x2 + x3 - 6)
    * 0.8``.
    """
    X = np.floor(5 * rng.random((n, 3)))
    y = (rng.random(n) < 1 / (1 + np.exp(-0.8 * (X.sum(axis=1) - 6)))).astype(np.int64)
    return X, y


def rare_class(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """One row in ten is of the second class, shifted by one and a half standard deviations along three of six normal inputs."""
    y = (rng.random(n) < 0.1).astype(np.int64)
    X = rng.standard_normal((n, 6))
    X[:, :3] += 1.5 * y[:, None]
    return X, y


def near_twins(n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Near duplicates, as from repeated measurements: 120 places in four dimensions, each with its own class, normal noise of
    standard deviation 0.02; one label in twenty is flipped.

    Places are the same in every draw. A learner that has seen a place knows its class, but nothing about unseen places.
    """
    places, at = _places(4), rng.integers(N_PLACES, size=n)
    X = places[at] + 0.02 * rng.standard_normal((n, 4))
    return X, _flip(at % 2, 0.05, rng)


def friedman_1991(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Ten uniform inputs, five of which matter: ``10 sin(pi x1 x2) + 20 (x3 - 0.5)^2 + 10 x4 + 5 x5 + e``, e normal of standard
    deviation 1.

    Source: Friedman, J.H. (1991). Multivariate adaptive regression splines. Annals of Statistics 19, section 4.3.
    """
    X = rng.random((n, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.standard_normal(n)


def pareto_costs(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Target with a heavy tail, as costs have: Pareto of index 5 above ``1 + x1 + 2 x2 x3``, three uniform inputs.

    Its first four moments exist: a squared error has a variance but no skewness, and its mean over some hundred rows is far from
    normal.
    """
    X = rng.random((n, 3))
    return X, (1 + X[:, 0] + 2 * X[:, 1] * X[:, 2]) * (1 - rng.random(n)) ** -0.2


def staircase(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Target of whole numbers with many ties: steps along three of four uniform inputs, and noise of -1, 0 or 1 (chances
    1/4, 1/2, 1/4)."""
    X, noise = rng.random((n, 4)), rng.random(n)
    y = np.floor(4 * X[:, 0]) + np.floor(3 * X[:, 1]) * (X[:, 2] > 0.5)
    return X, y + (noise > 0.75) - (noise < 0.25)


def linear_outliers(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """A plane over five normal inputs with errors of which one in twenty is ten times as wide; they mislead least squares.

    Source: Tukey, J.W. (1960). A survey of sampling from contaminated distributions. The contaminated normal.
    """
    X = rng.standard_normal((n, 5))
    width = np.where(rng.random(n) < 0.05, 10.0, 1.0)
    return X, X @ np.array([3, 2, 1, 0, 0]) + width * rng.standard_normal(n)


def correlated_inputs(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Forty normal inputs, neighbours correlated by 0.8, of which every eighth counts; noise of standard deviation 2.

    In the manner of Tibshirani, R. (1996). Regression shrinkage and selection via the lasso. JRSS B 58(1), section 7.
    """
    X = rng.standard_normal((n, 40))
    for j in range(1, 40):
        X[:, j] = 0.8 * X[:, j - 1] + 0.6 * X[:, j]
    return X, X[:, ::8] @ np.array([2, -1, 1, -2, 1]) + 2 * rng.standard_normal(n)


def phase_angle(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """The third function of Friedman: ``arctan((x2 x3 - 1 / (x2 x4)) / x1)`` of a circuit, noise of standard deviation 0.1.

    Source: Friedman (1991), as in `friedman_1991`, section 4.4.
    """
    low, high = np.array([0, 40 * np.pi, 0, 1]), np.array([100, 560 * np.pi, 1, 11])
    X = low + (high - low) * rng.random((n, 4))
    y = np.arctan2(X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3]), X[:, 0])
    return X, y + 0.1 * rng.standard_normal(n)


def mixed_premiums(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Insurance premiums: age, value and mileage, and three nominal inputs (region, make, use), two of which decide; the noise
    grows with the premium."""
    age, value, mileage = 18 + 62 * rng.random(n), 2 + 48 * rng.random(n), 30 * rng.random(n)
    region, make, use = (np.floor(values * rng.random(n)) for values in (8, 15, 3))
    y = 100 + 4 * np.abs(age - 45) + 6 * value + np.array([0, 60, 250])[use.astype(int)] + 25 * (region % 4)
    return np.column_stack([age, value, mileage, region, make, use]), y * np.exp(0.2 * rng.standard_normal(n))


def pure_interaction(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """The product of two of six normal inputs, neither of which is informative alone; noise of standard deviation 0.5."""
    X = rng.standard_normal((n, 6))
    return X, X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n)


def one_wave(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """A single input: two waves of a sine, noise of standard deviation 0.4."""
    X = rng.random((n, 1))
    return X, np.sin(4 * np.pi * X[:, 0]) + 0.4 * rng.standard_normal(n)


def twin_measurements(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Near duplicates as in `near_twins`; half of the target depends on the place only, half is a plane over the inputs."""
    places, at = _places(4), rng.integers(N_PLACES, size=n)
    X = places[at] + 0.02 * rng.standard_normal((n, 4))
    own = np.cos(np.arange(N_PLACES) * 37.0)  # without order in space
    return X, own[at] + X @ np.array([1, -1, 1, 0]) + 0.2 * rng.standard_normal(n)


POPULATIONS = {
    "twonorm": twonorm,
    "ringnorm": ringnorm,
    "threenorm": threenorm,
    "waveform": waveform,
    "unequal_gaussians": unequal_gaussians,
    "xor_blobs": xor_blobs,
    "circles": circles,
    "spirals": spirals,
    "checkerboard": checkerboard,
    "mixed_attributes": mixed_attributes,
    "sparse_signal": sparse_signal,
    "integer_grid": integer_grid,
    "rare_class": rare_class,
    "near_twins": near_twins,
}
# With a numeric target. Names differ from those of the catalogue, which would come first.
TARGET_POPULATIONS = {
    "friedman_1991": friedman_1991,
    "pareto_costs": pareto_costs,
    "staircase": staircase,
    "linear_outliers": linear_outliers,
    "correlated_inputs": correlated_inputs,
    "phase_angle": phase_angle,
    "mixed_premiums": mixed_premiums,
    "pure_interaction": pure_interaction,
    "one_wave": one_wave,
    "twin_measurements": twin_measurements,
}
N_CATEGORIES = {"mixed_attributes": {3: 5, 4: 20, 5: 9}, "mixed_premiums": {3: 8, 4: 15, 5: 3}}  # of nominal columns


def draw_population(name: str, n_rows: int, rng: np.random.Generator) -> Dataset:
    """Draw rows of a generated population; inputs and a numeric target are not scaled."""
    populations = POPULATIONS | TARGET_POPULATIONS
    if name not in populations:
        raise SourceError(unknown("generated population", name, populations))
    X, y = populations[name](n_rows, rng)
    classes = name in POPULATIONS
    if not classes:
        y = np.round(y, DECIMALS)
    X = np.ascontiguousarray(np.round(X, DECIMALS))
    n_categories = N_CATEGORIES.get(name, {})
    columns = range(X.shape[1])
    return Dataset(
        name=name,
        task="classification" if classes else "regression",
        X=X,
        y=y,
        feature_names=tuple(f"x{j + 1}" for j in columns),
        kinds=tuple("nominal" if j in n_categories else "real" for j in columns),
        categories=tuple(tuple(str(code) for code in range(n_categories.get(j, 0))) for j in columns),
        classes=("0", "1") if classes else (),
        groups=None,
        target="class" if classes else "y",
        target_range=(0.0, 0.0) if classes else (float(y.min()), float(y.max())),
        feature_ranges=np.column_stack([X.min(axis=0), X.max(axis=0)]),
        scaling="none",
        rows=np.arange(n_rows),
        n_dropped=0,
        constant_features=(),
        notes=(),
    )


def _places(n_columns: int) -> FloatArray:
    """Draw uniform points, the same in every draw of a population."""
    return np.random.default_rng(0).random((N_PLACES, n_columns))


def _coin(n: int, rng: np.random.Generator) -> IntArray:
    """Draw classes 0 and 1 with equal probabilities."""
    return (rng.random(n) < 0.5).astype(np.int64)


def _flip(y: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    """Exchange the labels of a share of rows."""
    return np.where(rng.random(len(y)) < share, 1 - y, y)


def _polar(radius: FloatArray, angle: FloatArray) -> FloatArray:
    """Convert polar to Cartesian coordinates."""
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
