"""Nearest-neighbour classification under distances for mixed data, with one neighbour order for all partitions where there is
one."""

import math
import numbers

import numpy as np

from foldshift.compiling import compiled
from foldshift.learners.base import FoldClassifier
from foldshift.learners.nearest import insert
from foldshift.nominal import nominal_columns

METRICS = ("heom", "euclidean", "manhattan", "keel_hvdm")
TIE_ORDERS = ("row", "fold")
LIST_LENGTH = 32  # neighbours listed per sample: a training part almost never lacks the k nearest of them
_MANHATTAN, _HVDM = METRICS.index("manhattan"), METRICS.index("keel_hvdm")


class NNClassifier(FoldClassifier):
    """Majority vote of the nearest training samples.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number of neighbours k. A training part with fewer samples uses all of them.
    metric : {"heom", "euclidean", "manhattan", "keel_hvdm"}, default="heom"
        ``heom``: root of the sum of squared differences, a nominal column adding 0 or 1 (equal or not) [1]_. ``euclidean`` and
        ``manhattan``: category codes count as numbers. ``keel_hvdm``: what KEEL computes; see Notes.
    skip_zero_distance : bool, default=False
        Whether training samples at distance exactly 0 are no neighbours (the `paper` setting, as in KEEL).
    tie_order : {"row", "fold"}, default="row"
        Which of several training samples at the same distance is nearer: the first in the order of the training data, always, and
        this is about the order in which the shared path takes the training samples. ``row``: as in the data set. ``fold``: fold
        after fold, inside a fold class after class, inside a class as in the data set, as KEEL's training files have them (the
        `paper` setting). The plain path knows no folds: give it the samples in that order, and both agree.
    categorical_features : None, array-like of bool or of int, default=None
        Mask or positions of the nominal columns, which hold category codes 0, 1, ...

    Notes
    -----
    Inputs are taken as they are. In ``heom``, ``euclidean`` and ``manhattan``, scale numeric columns first: to [0, 1] over the
    whole data set, as data preparation does with ``scaling: global``, so that the distances of a data set are the same in all
    training parts and one order of neighbours serves all of them; or per training part, with a scaler before this estimator in a
    pipeline.

    The distance of ``keel_hvdm`` is the root of a sum over columns: ``|a - b| / (4 sd)`` for a numeric one, the root of ``sum
    over classes of (P(class | a) - P(class | b))**2`` for a nominal one. It is a Manhattan sum under a root, not the published
    HVDM [1]_. Standard deviation (population) and class frequencies come from the training part. The root stays, since it makes
    ties of sums one unit in the last place apart; for the same reason scale numeric columns to [0, 1] over the whole data set
    here too, as KEEL does (on `monk-2` rounding decides). A sample with a category that is not in the training part is at no
    distance from any, nor is one of any where a numeric column is constant in the training part: 0 / 0 in both cases.

    Places among the k neighbours that no sample takes (all others are skipped, or the distance is undefined) go to the first
    training sample. Vote ties go to the lower class. Scores are shares of votes.

    References
    ----------
    .. [1] Wilson, Martinez (1997). Improved heterogeneous distance functions. Journal of Artificial Intelligence Research 6,
           1-34, sections 2.3 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldshift.learners import NNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = NNClassifier(n_neighbors=3).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.96
    """

    def __init__(self, n_neighbors=1, metric="heom", skip_zero_distance=False, tie_order="row", categorical_features=None):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.skip_zero_distance = skip_zero_distance
        self.tie_order = tie_order
        self.categorical_features = categorical_features

    def _settings(self, X):
        if isinstance(self.n_neighbors, bool) or not isinstance(self.n_neighbors, numbers.Integral) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be an integer of at least 1; got {self.n_neighbors!r}")
        for name, allowed in (("metric", METRICS), ("tie_order", TIE_ORDERS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r} is not known; allowed: {', '.join(allowed)}")
        nominal = nominal_columns(self.categorical_features, X.shape[1])
        if self.metric in ("euclidean", "manhattan"):
            nominal[:] = False
        return int(self.n_neighbors), METRICS.index(self.metric), bool(self.skip_zero_distance), nominal, _n_codes(X, nominal)

    def _fit(self, X, codes, n_classes):
        self._settings(X)
        self.X_, self.codes_ = X, codes

    def _scores(self, X):
        return _scan(X, np.ascontiguousarray(self.X_.T), self.codes_, len(self.classes_), *self._settings(self.X_))

    def _scores_folds(self, X, codes, n_classes, folds, n_folds, random_states):
        settings = self._settings(X)
        if self.metric == "keel_hvdm" or self.tie_order == "fold":
            _, duplicate_of = np.unique(X, axis=0, return_inverse=True)
            return _scan_folds(X, codes, n_classes, folds, n_folds, duplicate_of.reshape(-1), self.tie_order == "fold", *settings)
        length = min(max(LIST_LENGTH, 4 * self.n_neighbors), len(X))
        return _walk(X, codes, n_classes, folds, n_folds, _lists(X, length, *settings[1:]), *settings)


def _n_codes(X, nominal):
    """Number of category codes per column, 0 for numeric columns: shape (n_features,), int64."""
    n_codes = np.zeros(len(nominal), np.int64)
    if nominal.any():
        values = X[:, nominal]
        if (values < 0).any() or (values != np.floor(values)).any():
            raise ValueError("nominal columns must hold category codes 0, 1, ...; got a negative number or a fraction")
        n_codes[nominal] = values.max(axis=0).astype(np.int64) + 1
    return n_codes


@compiled(error_model="numpy")
def _scales(columns, metric, n_codes):
    """Four standard deviations of every numeric column; NaN for a constant one."""
    p, n = columns.shape
    scales = np.full(p, np.nan)
    if metric != _HVDM:
        return scales
    for j in range(p):
        if n_codes[j] > 0:
            continue
        total, squares, low, high = 0.0, 0.0, columns[j, 0], columns[j, 0]
        for value in columns[j]:
            total += value
            squares += value * value
            low, high = min(low, value), max(high, value)
        variance = squares / n - (total / n) * (total / n)
        if low < high and variance > 0:
            scales[j] = 4 * math.sqrt(variance)
    return scales


@compiled(error_model="numpy")
def _frequencies(columns, codes, n_classes, metric, n_codes):
    """Share of every class among the training samples with every category, a (n_codes, n_classes) block per nominal column; NaN
    where there are none."""
    shares = np.zeros((n_codes.sum(), n_classes))
    if metric != _HVDM:
        return shares
    start = 0
    for j in range(len(columns)):
        if n_codes[j] > 0:
            for i in range(len(codes)):
                shares[start + np.int64(columns[j, i]), codes[i]] += 1
        start += n_codes[j]
    for v in range(len(shares)):
        shares[v] /= shares[v].sum()
    return shares


@compiled
def _gaps(code, shares, gaps):
    """Nominal part of `keel_hvdm` between a category and all of a column; NaN where one is not in the training part."""
    known = code >= 0 and code < len(shares) and code == np.floor(code)
    for v in range(len(shares)):
        total = 0.0
        for c in range(shares.shape[1]):
            gap = shares[np.int64(code), c] - shares[v, c] if known else np.nan
            total += gap * gap
        gaps[v] = math.sqrt(total)


@compiled(error_model="numpy")
def _distances(query, columns, metric, nominal, n_codes, scales, shares, gaps, out):
    """Distances between a query and all samples, before the root; column after column, so that the sums run side by side."""
    n = columns.shape[1]
    out[:n] = 0.0
    start = 0
    for j in range(len(query)):
        value, column = query[j], columns[j]
        if nominal[j] and metric == _HVDM:
            part = gaps[: n_codes[j]]
            _gaps(value, shares[start : start + n_codes[j]], part)
            start += n_codes[j]
            for i in range(n):
                out[i] += part[np.int64(column[i])]
        elif nominal[j]:
            for i in range(n):
                out[i] += 1.0 if column[i] != value else 0.0
        elif metric == _HVDM:
            scale = scales[j]
            for i in range(n):
                out[i] += abs(value - column[i]) / scale
        elif metric == _MANHATTAN:
            for i in range(n):
                out[i] += abs(value - column[i])
        else:
            for i in range(n):
                out[i] += (value - column[i]) * (value - column[i])


@compiled
def _nearest(totals, skipped, metric, skip_zero, distances, rows):
    """Nearest samples into `rows`, ties in row order; return how many there are. The row `skipped` is left out."""
    n_held, bound = 0, np.inf
    for i in range(len(totals)):
        if totals[i] <= bound and i != skipped and not (skip_zero and totals[i] == 0):
            n_held = insert(distances, rows, n_held, math.sqrt(totals[i]) if metric == _HVDM else totals[i], i)
            if n_held == len(rows):
                farthest = distances[n_held - 1]
                # The root may round a slightly larger sum to the same distance, never one beyond the factor.
                bound = farthest * farthest * (1 + 1e-12) if metric == _HVDM else farthest
    return n_held


@compiled
def _scan(queries, columns, codes, n_classes, n_neighbors, metric, skip_zero, nominal, n_codes):
    """Shares of votes for every query, from all samples; these are given column by column, (n_features, n_samples)."""
    n = len(codes)
    out = np.zeros((len(queries), n_classes))
    scales = _scales(columns, metric, n_codes)
    shares = _frequencies(columns, codes, n_classes, metric, n_codes)
    gaps, totals = np.empty(max(n_codes.max(), 1)), np.empty(n)
    distances, rows = np.empty(min(n_neighbors, n)), np.empty(min(n_neighbors, n), np.int64)
    for q in range(len(queries)):
        _distances(queries[q], columns, metric, nominal, n_codes, scales, shares, gaps, totals)
        n_held = _nearest(totals, -1, metric, skip_zero, distances, rows)
        for t in range(len(rows)):
            out[q, codes[rows[t] if t < n_held else 0]] += 1.0 / len(rows)
    return out


@compiled
def _scan_folds(X, codes, n_classes, folds, n_folds, duplicate_of, by_fold, n_neighbors, metric, skip_zero, nominal, n_codes):
    """Scan every training part; equal test samples are looked up once."""
    n_seeds, n = folds.shape
    out = np.zeros((n_seeds, n, n_classes))
    columns = np.ascontiguousarray(X.T)
    order, training, place = np.arange(n), np.empty(n, np.int64), np.empty(n, np.int64)
    queries, part = np.empty_like(X), np.empty(X.size)
    for s in range(n_seeds):
        if by_fold:
            order = np.argsort(folds[s].astype(np.int64) * n_classes + codes, kind="mergesort")
        for fold in range(n_folds):
            n_training, n_distinct = 0, 0
            place[:] = -1
            for i in order:
                if folds[s, i] != fold:
                    training[n_training] = i
                    n_training += 1
                elif place[duplicate_of[i]] < 0:
                    queries[n_distinct] = X[i]
                    place[duplicate_of[i]] = n_distinct
                    n_distinct += 1
            kept = part[: n_training * len(columns)].reshape(len(columns), n_training)
            for j in range(len(columns)):
                for t in range(n_training):
                    kept[j, t] = columns[j, training[t]]
            kept_codes = codes[training[:n_training]]
            scores = _scan(queries[:n_distinct], kept, kept_codes, n_classes, n_neighbors, metric, skip_zero, nominal, n_codes)
            for i in range(n):
                if folds[s, i] == fold:
                    out[s, i] = scores[place[duplicate_of[i]]]
    return out


@compiled
def _lists(X, length, metric, skip_zero, nominal, n_codes):
    """Nearest other samples of every sample, near to far, ties in row order; -1 behind the last: (n_samples, length) int32."""
    out = np.full((len(X), length), -1, np.int32)
    columns, totals = np.ascontiguousarray(X.T), np.empty(len(X))
    unused = np.empty(0)
    distances, rows = np.empty(length), np.empty(length, np.int64)
    for i in range(len(X)):
        _distances(X[i], columns, metric, nominal, n_codes, unused, np.empty((0, 0)), unused, totals)
        n_held = _nearest(totals, i, metric, skip_zero, distances, rows)
        for t in range(n_held):
            out[i, t] = rows[t]
    return out


@compiled
def _walk(X, codes, n_classes, folds, n_folds, listed, n_neighbors, metric, skip_zero, nominal, n_codes):
    """Walk along the lists, skipping samples of the own fold; scan the training part where a list is too short."""
    n_seeds, n = folds.shape
    out = np.zeros((n_seeds, n, n_classes))
    for s in range(n_seeds):
        sizes = np.bincount(folds[s], minlength=n_folds)
        for i in range(n):
            own = folds[s, i]
            wanted = min(n_neighbors, n - sizes[own])
            found = 0
            for t in range(listed.shape[1]):
                j = listed[i, t]
                if j >= 0 and folds[s, j] != own:
                    out[s, i, codes[j]] += 1.0 / wanted
                    found += 1
                    if found == wanted:
                        break
            if found < wanted:
                rows = np.flatnonzero(folds[s] != own)
                columns = np.ascontiguousarray(X[rows].T)
                out[s, i] = _scan(
                    X[i : i + 1], columns, codes[rows], n_classes, n_neighbors, metric, skip_zero, nominal, n_codes
                )[0]
    return out
