"""Which features a cut into folds shifts: training part against test part of every fold, and random cuts beside them."""

from textwrap import fill
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from foldshift.inference.corrections import adjust_p
from foldshift.partition.common import fold_dtype
from foldshift.shift.columns import MISSING_LABEL, column_values, is_quantity, matched_columns, nominal_column, numeric_column
from foldshift.shift.failures import failing, jaccard, phi
from foldshift.shift.ks import fold_ks, fold_ks_in_order, ks_p_value
from foldshift.shift.words import check_alpha, counted, p_in_words, percent, shortened

AS_CHANCE = "as chance"


class FoldFeature(NamedTuple):
    """One feature of a `FoldDrift`.

    Attributes
    ----------
    name : str
    kind : str
        ``numeric``, ``nominal`` or ``target``.
    distance, distance_chance : float
        Mean over all folds of the largest difference in probability between training and test part (KS distance, or total
        variation), and the same for random folds of the same sizes.
    failing, failing_chance : float
        Share of the folds in which KS or chi-square rejects at alpha, and the same for random folds. The latter can be away from
        alpha: few values and small folds make the tests coarse.
    p_more, p_less : float
        Chance that random cuts have a mean distance as large, or as small.
    p_adjusted : float
        The smaller one times two, corrected over all features and the target by Holm.
    verdict : str
        ``more``: the cut shifts this feature; ``less``: the cut balances it better than chance; ``as chance``.
    """

    name: str
    kind: str
    distance: float
    distance_chance: float
    failing: float
    failing_chance: float
    p_more: float
    p_less: float
    p_adjusted: float
    verdict: str


class FoldDrift(NamedTuple):
    """Result of `fold_drift`; ``str()`` of it is a table to read.

    Attributes
    ----------
    features : list of FoldFeature
        In the order of the columns, then the target.
    p_values : ndarray of shape (n_seeds, n_folds, n_rows), dtype float64
        p of KS or chi-square in every fold, one for each row of `features`; NaN for a fold that is empty or holds all samples.
    phi, jaccard : ndarray of shape (n_rows, n_rows), dtype float64
        Co-failure over all folds of all seeds, `foldshift.shift.failures`; NaN for what never or (phi) always fails.
    alpha : float
    n_random : int
        Random cuts that say what chance gives.
    verdict : str
        One sentence.
    """

    features: list
    p_values: np.ndarray
    phi: np.ndarray
    jaccard: np.ndarray
    alpha: float
    n_random: int
    verdict: str

    def to_rows(self):
        """One dictionary for each feature."""
        return [row._asdict() for row in self.features]

    def __str__(self):
        width = min(max(len(row.name) for row in self.features), 40)
        lines = [
            f"Drift of folds: {self.p_values.shape[1]} folds, {counted(self.p_values.shape[0], 'seed')}; level {self.alpha:g}, "
            f"Holm; chance from {self.n_random} random cuts",
            "",
            fill(f"Verdict: {self.verdict}", 118),
            "",
            f"  {'':<{width}}  distance  chance   failing  chance   corrected p",
        ]
        for row in sorted(self.features, key=lambda row: (row.p_adjusted, row.name)):
            mark = "" if row.verdict == AS_CHANCE else f"  << {row.verdict} than chance"
            lines.append(
                f"  {shortened(row.name, width):<{width}}  {row.distance:8.4f}  {row.distance_chance:6.4f}  "
                f"{percent(row.failing):>8}  {percent(row.failing_chance):>6}   {p_in_words(row.p_adjusted)}{mark}"
            )
        return "\n".join(lines)


def fold_drift(X, y, folds, n_folds=None, *, categorical_features=None, feature_names=None, alpha=0.05, n_random=None, rng=0):
    """Which features does a cut into folds shift: training part against test part of every fold, and random cuts beside them.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        Inputs without missing values.
    y : array-like of shape (n_samples,), optional
        Target; it is looked at as one more feature. Floats that are not all whole are a quantity, anything else classes. None:
        without.
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer
        Fold of every sample from 0, one row per seed.
    n_folds : int, optional
        Number of folds; by default the largest fold number plus one.
    categorical_features, feature_names
        As of `DriftReport`.
    alpha : float, default=0.05
        Level at which a fold fails a test, and of the verdict.
    n_random : int, optional
        Random cuts: rows of `folds`, shuffled, so that they have the same sizes. Time grows with it. By default 1,999, or more
        where there are so many features that the smallest possible p would not survive the correction (one seed only).
    rng : numpy.random.Generator or int, default=0
        Source of the random cuts.

    Returns
    -------
    drift : FoldDrift

    Raises
    ------
    ValueError
        If the shapes do not fit, a value is missing or infinite, there are fewer than 5 samples or two folds, or `n_random` is
        below 99.

    Notes
    -----
    The folds of one cut are no independent samples, and those of different seeds share all their rows: the share that fails says
    nothing by itself. So the whole cut is compared with random cuts of the same sizes: ``p_more`` is exact for one seed; for
    several, means of as many random cuts are drawn 9,999 times or more from the `n_random`. Cuts by the classes or the
    neighbourhood can be closer than chance, which is said too. Memory grows with ``n_random * n_samples`` bytes.

    D and chi-square of every fold are those of two samples. The p of D is asymptotic, since it is only to be below alpha or not;
    how often that is by chance is counted and not assumed.
    """
    check_alpha(alpha)
    if n_random is not None and (isinstance(n_random, bool) or not isinstance(n_random, int | np.integer) or n_random < 99):
        raise ValueError(f"n_random={n_random!r} must be an integer of at least 99")
    rng = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
    columns = matched_columns(X, X, categorical_features, feature_names)
    if y is not None:
        columns.append(_target_column(np.asarray(y), len(columns[0].train)))
    for column in columns:
        if np.isnan(column.train).any() or MISSING_LABEL in column.categories:
            raise ValueError(f"column {column.name!r} holds missing values; drop or impute them first")
    folds = np.atleast_2d(folds)
    n = len(columns[0].train)
    if folds.ndim != 2 or folds.shape[1] != n or folds.dtype.kind not in "ui" or folds.size == 0 or folds.min() < 0:
        raise ValueError(f"folds have shape {folds.shape} and type {folds.dtype}; expected (n_seeds, {n}), integers from 0")
    n_folds = int(folds.max()) + 1 if n_folds is None else n_folds
    if n_folds < 2 or folds.max() >= n_folds:
        raise ValueError(f"n_folds={n_folds!r} must be at least 2 and above the largest fold, {folds.max()}")
    n_seeds = len(folds)
    enough = int(np.ceil(4 * len(columns) / alpha)) - 1  # the smallest corrected p, two-sided, is then half of alpha
    if n_random is None:
        n_random = max(1999, enough if n_seeds == 1 else 0)
    folds = folds.astype(fold_dtype(n_folds))
    cuts = rng.permuted(np.sort(folds, axis=1)[np.arange(n_random) % n_seeds], axis=1)
    sizes, random_sizes = (np.stack([np.bincount(cut, minlength=n_folds) for cut in some]) for some in (folds, cuts))
    nulls, rows, p_values = {}, [], np.empty((n_seeds, n_folds, len(columns)))
    picks = None if n_seeds == 1 else rng.integers(n_random, size=(max(9999, enough), n_seeds))
    for j, column in enumerate(columns):
        distance, p_values[:, :, j] = _fold_tests(column, folds, sizes)
        # A random cut knows no rows, only how many values are equal: columns without ties share one null distribution.
        ties = (column.kind, np.unique(column.train, return_counts=True)[1].tobytes())
        if ties not in nulls:
            nulls[ties] = _fold_tests(column._replace(train=np.sort(column.train)), cuts, random_sizes, in_order=True)
        random_distance, random_p = nulls[ties]
        found, by_cut = np.nanmean(distance), np.nanmean(random_distance, axis=1)
        null = by_cut if picks is None else by_cut[picks].mean(axis=1)
        slack = 1e-12 * max(abs(found), 1e-300)
        p_more, p_less = ((1 + (side * (null - found) >= -slack).sum()) / (1 + len(null)) for side in (1, -1))
        kind = "target" if y is not None and j == len(columns) - 1 else column.kind
        shares = _failing_share(p_values[:, :, j], alpha), _failing_share(random_p, alpha)
        rows.append(
            FoldFeature(
                column.name, kind, float(found), float(by_cut.mean()), *shares, float(p_more), float(p_less), 1.0, AS_CHANCE
            )
        )
    return _judged(rows, p_values, alpha, n_random)


def _target_column(y, n):
    if y.shape != (n,):
        raise ValueError(f"y has shape {y.shape}; the table has {n} rows")
    values = column_values(y[:, None], 0)
    return numeric_column("target", values, values) if is_quantity([values]) else nominal_column("target", values, values)


def _fold_tests(column, folds, sizes, in_order=False):
    """Distance and p of every fold, of the sizes given, (n_seeds, n_folds): D, or total variation with the p of chi-square."""

    n, n_folds = folds.shape[1], sizes.shape[1]
    if column.kind == "numeric":
        if in_order:  # without the copy of all folds in the order of the values
            distance = fold_ks_in_order(folds, np.append(np.flatnonzero(np.diff(column.train)) + 1, n), n_folds)
        else:
            distance = fold_ks(column.train, folds, n_folds)
        return distance, ks_p_value(distance, n - sizes, sizes, "asymptotic")
    n_codes = len(column.categories)
    totals = np.bincount(column.train, minlength=n_codes)
    counts = np.stack([np.bincount(cut.astype(np.int64) * n_codes + column.train, minlength=n_folds * n_codes) for cut in folds])
    counts = counts.reshape(len(folds), n_folds, n_codes)
    size = sizes[:, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.abs(counts * n - totals * size).sum(axis=2) / (2 * sizes * (n - sizes))
        statistic = ((counts - totals * size / n) ** 2 / (totals * size / n * (1 - size / n))).sum(axis=2)
    return distance, np.where(np.isnan(statistic), np.nan, chi2.sf(statistic, n_codes - 1) if n_codes > 1 else 1.0)


def _failing_share(p_values, alpha):
    return float(np.nanmean(failing(p_values, alpha)))


def _judged(rows, p_values, alpha, n_random):
    adjusted = adjust_p(np.array([min(1.0, 2 * min(row.p_more, row.p_less)) for row in rows]), "holm")
    rows = [
        row._replace(
            p_adjusted=float(p),
            verdict=AS_CHANCE if p >= alpha else "more" if row.p_more < row.p_less else "less",
        )
        for row, p in zip(rows, adjusted)
    ]
    fails = failing(p_values, alpha).reshape(-1, len(rows))
    fails = fails[~np.isnan(fails).all(axis=1)]
    parts = []
    for which, says in (("more", "shifted by the cut"), ("less", "balanced better than by chance")):
        chosen = sorted((row for row in rows if row.verdict == which), key=lambda row: (row.p_adjusted, row.name))
        if chosen:
            shown = ", ".join(row.name for row in chosen[:5]) + (f" and {len(chosen) - 5} more" if len(chosen) > 5 else "")
            parts.append(f"{len(chosen)} of {len(rows)} {says}: {shown}")
    verdict = (
        "; ".join(parts) if parts else f"None of {counted(len(rows), 'feature')} differs from a random cut of the same sizes"
    )
    return FoldDrift(rows, p_values, phi(fails), jaccard(fails), alpha, n_random, verdict + ".")
