"""Populations that draw as many rows as wanted, of two classes or with a number as target: a learner can be measured on rows it
has never met."""

import numpy as np

from foldshift.datasets.dataset import Dataset
from foldshift.errors import SourceError, unknown

DECIMALS = 6  # of generated numbers: the last bits of sine and square root differ between machines


def twonorm(n, rng):
    """Two normal clouds in 20 dimensions, unit covariance, means ``(a, ..., a)`` and ``-(a, ..., a)``, ``a = 2 / sqrt(20)`` [1]_.

    The best possible error is 2.3 %, by a plane that no axis-parallel cut approaches well.

    References
    ----------
    .. [1] Breiman, L. (1998). Arcing classifiers. Annals of Statistics 26(3), 801-849; first as Technical Report 460 (1996).
    """
    y = _coin(n, rng)
    return rng.standard_normal((n, 20)) + np.where(y == 0, 1, -1)[:, None] * 2 / np.sqrt(20), y


def ringnorm(n, rng):
    """A wide normal cloud around a narrow one, 20 dimensions: covariance 4 and mean 0 against covariance 1 and mean ``a = 2 /
    sqrt(20)`` everywhere [1]_.

    The boundary is a sphere. The best possible error is 1.2 % (Breiman: 1.3 %; with ``a = 1 / sqrt(20)``, as some implementations
    have it, 1.5 %).

    References
    ----------
    .. [1] Breiman (1998), as in `twonorm`; ``a`` as in the DELVE archive's ringnorm.
    """
    y = _coin(n, rng)
    x = rng.standard_normal((n, 20))
    return np.where(y[:, None] == 0, 2 * x, x + 2 / np.sqrt(20)), y


def threenorm(n, rng):
    """Two clouds at ``(a, ..., a)`` and ``-(a, ..., a)`` against one at ``(a, -a, a, ...)``, 20 dimensions, ``a = 2 / sqrt(20)``
    [1]_; best error 10.5 %.

    References
    ----------
    .. [1] Breiman (1998), as in `twonorm`.
    """
    y = _coin(n, rng)
    side = 1 - 2 * _coin(n, rng)
    centre = np.where(y[:, None] == 0, side[:, None], 1 - 2 * (np.arange(20) % 2))
    return rng.standard_normal((n, 20)) + centre * 2 / np.sqrt(20), y


def waveform(n, rng):
    """The first two of three classes of noisy mixtures of triangular waves, 21 inputs [1]_.

    References
    ----------
    .. [1] Breiman, L., Friedman, J.H., Olshen, R.A., Stone, C.J. (1984). Classification and regression trees, section 2.6.2.
    """
    y = _coin(n, rng)
    place = np.arange(1, 22)
    first, second, third = (np.maximum(6 - np.abs(place - centre), 0) for centre in (11, 15, 7))
    u = rng.random((n, 1))
    return u * first + (1 - u) * np.where(y[:, None] == 0, second, third) + rng.standard_normal((n, 21)), y


def unequal_gaussians(n, rng):
    """Two overlapping normal clouds in 4 dimensions, one unit apart along every axis; every fifth row belongs to the second.

    The model of linear discriminant analysis [1]_, with the imbalance that many real sets have.

    References
    ----------
    .. [1] Hastie, T., Tibshirani, R., Friedman, J. (2009). The elements of statistical learning, section 4.3.
    """
    y = (rng.random(n) < 0.2).astype(np.int64)
    return rng.standard_normal((n, 4)) + y[:, None], y


def xor_blobs(n, rng):
    """Four normal clouds of standard deviation 0.6 at the corners of a square of side 2; opposite corners have the same class
    [1]_.

    References
    ----------
    .. [1] Minsky, M., Papert, S. (1969). Perceptrons: the exclusive or, which no line separates.
    """
    corner = 1 - 2 * (rng.random((n, 2)) < 0.5).astype(np.int64)
    return corner + 0.6 * rng.standard_normal((n, 2)), (corner[:, 0] != corner[:, 1]).astype(np.int64)


def circles(n, rng):
    """Two rings of radius 1 and 0.5 around the same centre, normal noise of standard deviation 0.2 (scikit-learn's
    `make_circles`)."""
    y = _coin(n, rng)
    angle = 2 * np.pi * rng.random(n)
    return _polar(np.where(y == 0, 1.0, 0.5), angle) + 0.2 * rng.standard_normal((n, 2)), y


def spirals(n, rng):
    """Two spirals of one and a half turns that wind around each other [1]_, radius up to 1, normal noise of standard deviation
    0.06.

    References
    ----------
    .. [1] Lang, K.J., Witbrock, M.J. (1988). Learning to tell two spirals apart. Connectionist Models Summer School, 52-59.
    """
    y = _coin(n, rng)
    radius = np.sqrt(rng.random(n))
    return _polar(radius, 3 * np.pi * radius + np.pi * y) + 0.06 * rng.standard_normal((n, 2)), y


def checkerboard(n, rng):
    """A board of 4 x 4 squares of alternating class [1]_, uniform inputs; one label in ten is flipped.

    References
    ----------
    .. [1] Ho, T.K., Kleinberg, E.M. (1996). Building projectable classifiers of arbitrary complexity. ICPR 2, 880-885.
    """
    X = 4 * rng.random((n, 2))
    y = np.floor(X).sum(axis=1).astype(np.int64) % 2
    return X, _flip(y, 0.1, rng)


def mixed_attributes(n, rng):
    """Applicants for a loan: six numeric and three nominal attributes (education, car, region), of which age and education
    decide; one label in ten is flipped.

    Function 3 of the generator of [1]_: class 1 where age is below 40 and education 0 or 1, below 60 and 1 to 3, or above and 2
    to 4.

    References
    ----------
    .. [1] Agrawal, R., Imielinski, T., Swami, A. (1993). Database mining: a performance perspective. IEEE TKDE 5(6), 914-925.
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


def sparse_signal(n, rng):
    """Sixty independent normal inputs, five of which differ between the classes, by one standard deviation each; best error 13.2
    %.

    In the manner of the simulations of [1]_, section 18.1: many inputs, few that matter.

    References
    ----------
    .. [1] Hastie, Tibshirani, Friedman (2009), as in `unequal_gaussians`.
    """
    y = _coin(n, rng)
    X = rng.standard_normal((n, 60))
    X[:, :5] += y[:, None]
    return X, y


def integer_grid(n, rng):
    """Three inputs of whole numbers 0 to 4, so that most rows have duplicates, often of the other class; logistic in their sum.

    In the manner of sets such as haberman, monk-2 and titanic, with 125 distinct rows and noise: ``log odds = (x1 + x2 + x3 - 6)
    * 0.8``.
    """
    X = np.floor(5 * rng.random((n, 3)))
    y = (rng.random(n) < 1 / (1 + np.exp(-0.8 * (X.sum(axis=1) - 6)))).astype(np.int64)
    return X, y


def friedman_1991(n, rng):
    """Ten uniform inputs, five of which matter: ``10 sin(pi x1 x2) + 20 (x3 - 0.5)^2 + 10 x4 + 5 x5 + e``, e normal of standard
    deviation 1 [1]_.

    References
    ----------
    .. [1] Friedman, J.H. (1991). Multivariate adaptive regression splines. Annals of Statistics 19, section 4.3.
    """
    X = rng.random((n, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.standard_normal(n)


def pareto_costs(n, rng):
    """A target with a heavy tail, such as costs have: Pareto of index 5 above ``1 + x1 + 2 x2 x3``, three uniform inputs.

    Its first four moments exist: a squared error has a variance but no skewness, and its mean over some hundred rows is far from
    normal.
    """
    X = rng.random((n, 3))
    return X, (1 + X[:, 0] + 2 * X[:, 1] * X[:, 2]) * (1 - rng.random(n)) ** -0.2


def staircase(n, rng):
    """A target in whole numbers, hence with many ties: steps along three of four uniform inputs, and noise of -1, 0 or 1 (chances
    1/4, 1/2, 1/4)."""
    X, noise = rng.random((n, 4)), rng.random(n)
    y = np.floor(4 * X[:, 0]) + np.floor(3 * X[:, 1]) * (X[:, 2] > 0.5)
    return X, y + (noise > 0.75) - (noise < 0.25)


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
}
# With a number as target. No name is that of a data set of the catalogue, which would come first.
TARGET_POPULATIONS = {
    "friedman_1991": friedman_1991,
    "pareto_costs": pareto_costs,
    "staircase": staircase,
}
N_CATEGORIES = {"mixed_attributes": {3: 5, 4: 20, 5: 9}}  # of nominal columns


def draw_population(name, n_rows, rng):
    """Draw rows of a generated population.

    Parameters
    ----------
    name : str
        A name of `POPULATIONS` or `TARGET_POPULATIONS`.
    n_rows : int
        How many; rows are independent.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    data : foldshift.datasets.Dataset
        Inputs as drawn, not scaled; classes ``0`` and ``1``, or a float64 target, not scaled either.

    Raises
    ------
    SourceError
        If there is no such population.
    """
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


def _coin(n, rng):
    """Classes 0 and 1 with equal chances."""
    return (rng.random(n) < 0.5).astype(np.int64)


def _flip(y, share, rng):
    """Labels of which a share is exchanged."""
    return np.where(rng.random(len(y)) < share, 1 - y, y)


def _polar(radius, angle):
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
