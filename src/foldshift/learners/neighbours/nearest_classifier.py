"""Nearest-neighbour classification under distances for mixed data, with one neighbour order for all partitions where there is
one."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.core.gate.categorical import nominal_columns
from foldshift.learners.base import FoldClassifier
from foldshift.learners.neighbours._distances import (
    HVDM,
    METRICS,
    Measure,
    Settings,
    bound_of,
    distance_to,
    distances_to,
    frequencies_of,
    gaps_of,
    nearest_of,
    query_gaps_of,
    scales_of,
)
from foldshift.learners.neighbours._lists import lists, lists_of_new, scan, takes_tree, walk, walk_new
from foldshift.learners.neighbours.nearest_regressor import nearest_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, TableLike, UnsignedArray
    from foldshift.learners._states import Cuts

TIE_ORDERS = ("row", "fold")
LIST_LENGTH = 32  # neighbours listed per sample: a training part almost never lacks the k nearest of them
NEW_LENGTH = 12  # the same of samples that are in no fold: all but one of the folds are a training part
LOWER_LENGTH = 64  # the same where distances differ between training parts: bounds close within some 5 to 30
FIRST_WALKS = 256  # after these, lists of which most are too short are not looked at any more
MOST_GAPS = 2**18  # pairs of categories of all columns; data sets with more are scanned


class _Samples(NamedTuple):
    """Inputs and class codes; the different samples, and which of them every sample is."""

    X: FloatArray
    codes: IntArray
    distinct: FloatArray
    distinct_of: IntArray


class _Points(NamedTuple):
    """Different samples, and the ranks of the samples at each: ``ranks_of[starts[u] : starts[u + 1]]``, ascending."""

    distinct: FloatArray
    starts: IntArray
    ranks_of: IntArray
    in_training: BoolArray  # (n_samples,), by rank


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

    def __init__(
        self,
        n_neighbors: int = 1,
        metric: Literal["heom", "euclidean", "manhattan", "keel_hvdm"] = "heom",
        skip_zero_distance: bool = False,
        tie_order: Literal["row", "fold"] = "row",
        categorical_features: ArrayLike | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.skip_zero_distance = skip_zero_distance
        self.tie_order = tie_order
        self.categorical_features = categorical_features

    def _settings(self, X: FloatArray) -> Settings:
        if isinstance(self.n_neighbors, bool) or not isinstance(self.n_neighbors, numbers.Integral) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be an integer of at least 1; got {self.n_neighbors!r}")
        for name, allowed in (("metric", METRICS), ("tie_order", TIE_ORDERS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r} is not known; allowed: {', '.join(allowed)}")
        nominal = nominal_columns(self.categorical_features, X.shape[1])
        if self.metric in ("euclidean", "manhattan"):
            nominal[:] = False
        return Settings(
            int(self.n_neighbors), METRICS.index(self.metric), bool(self.skip_zero_distance), nominal, _n_codes(X, nominal)
        )

    def _fit(self, X: FloatArray, codes: IntArray, n_classes: int) -> None:
        self._settings(X)
        self.X_, self.codes_ = X, codes

    def _scores(self, X: FloatArray) -> FloatArray:
        settings = self._settings(self.X_)
        if not takes_tree(self.X_, settings.n_neighbors, settings):
            return scan(X, np.ascontiguousarray(self.X_.T), self.codes_, len(self.classes_), settings)
        scores, queries = np.zeros((len(X), len(self.classes_))), np.arange(len(X))
        for row in nearest_rows(X, self.X_, settings.n_neighbors).T:
            scores[queries, self.codes_[row]] += 1.0 / settings.n_neighbors
        return scores

    def _scores_folds(self, X: FloatArray, codes: IntArray, n_classes: int, cuts: Cuts) -> FloatArray:
        settings = self._settings(X)
        if self.metric == "keel_hvdm" or self.tie_order == "fold":
            length = max(LOWER_LENGTH, 4 * self.n_neighbors)
            return _search(X, codes, n_classes, cuts.folds, cuts.n_folds, self.tie_order == "fold", length, settings)
        length = min(max(LIST_LENGTH, 4 * self.n_neighbors), len(X))
        if takes_tree(X, length, settings):
            listed = nearest_rows(X, X, length, skip_self=True)
        else:
            listed, _ = lists(X, length, True, settings, np.full(X.shape[1], np.nan), np.empty(0))
        return walk(X, codes, n_classes, cuts.folds, cuts.n_folds, listed, settings)

    def fold_predictor(self, X: TableLike, y: ArrayLike, X_new: TableLike) -> Callable[..., Any] | None:
        """Make a function that predicts new samples by the models of all folds, (n_folds, n_new), from one list of neighbours.

        None where distances differ between training parts.
        """
        if self.metric == "keel_hvdm" or self.tie_order == "fold":
            return None
        X, X_new = self._numbers(X), self._numbers(X_new)
        settings = self._settings(X)
        classes, codes = np.unique(self._target_of_folds(y), return_inverse=True)
        length = min(max(NEW_LENGTH, 4 * settings.n_neighbors), len(X))
        if takes_tree(X, length, settings):
            listed = nearest_rows(X_new, X, length)
        else:
            listed = lists_of_new(X_new, np.ascontiguousarray(X.T), length, settings)

        def predict(folds: UnsignedArray) -> Array:
            own = folds.astype(np.int64)
            return classes[walk_new(X_new, listed, X, codes, len(classes), own, int(own.max()) + 1, settings)]

        return predict


def _n_codes(X: FloatArray, nominal: BoolArray) -> IntArray:
    """Number of category codes per column, 0 for numeric columns: shape (n_features,), int64."""
    n_codes = np.zeros(len(nominal), np.int64)
    if nominal.any():
        values = X[:, nominal]
        if (values < 0).any() or (values != np.floor(values)).any():
            raise ValueError("nominal columns must hold category codes 0, 1, ...; got a negative number or a fraction")
        n_codes[nominal] = values.max(axis=0).astype(np.int64) + 1
    return n_codes


def _search(
    X: FloatArray,
    codes: IntArray,
    n_classes: int,
    folds: UnsignedArray,
    n_folds: int,
    by_fold: bool,
    length: int,
    settings: Settings,
) -> FloatArray:
    """Shares of votes where distances, or the order of ties, differ between training parts.

    The lower metric has, column by column, the smallest distances of all training parts; a sum of these in the same order is, as
    the machine rounds it, in no training part larger than the distance there. So its lists, near to far, say when no nearer
    sample can come.
    """
    n_codes = settings.n_codes
    distinct, distinct_of = np.unique(X, axis=0, return_inverse=True)
    distinct, distinct_of = np.ascontiguousarray(distinct), distinct_of.reshape(-1)
    listed, lower = np.empty((len(distinct), 0), np.int32), np.empty((len(distinct), 0))
    if len(folds) > 1 and (n_codes**2).sum() <= MOST_GAPS:  # the lists take as long as a scan for one seed
        scales, gaps = _lower_metric(X, codes, n_classes, folds, n_folds, by_fold, settings.metric, n_codes)
        # What is at distance 0 in the lower metric need not be so in a training part: it stays, the sample itself too.
        all_kept = settings._replace(skip_zero=False)
        listed, lower = lists(distinct, min(length, len(distinct)), settings.skip_zero, all_kept, scales, gaps)
    samples = _Samples(X, codes, distinct, distinct_of)
    return _search_folds(samples, n_classes, folds, n_folds, by_fold, listed, lower, settings)


@compiled
def _order(folds: UnsignedArray, codes: IntArray, n_classes: int, by_fold: bool) -> IntArray:
    """Rows in the order in which training parts have them."""
    if by_fold:
        return np.argsort(folds.astype(np.int64) * n_classes + codes, kind="mergesort")
    return np.arange(len(folds))


@compiled
def _columns(X: FloatArray, rows: IntArray) -> FloatArray:
    """Some rows of X, column by column."""
    columns = np.empty((X.shape[1], len(rows)))
    for t in range(len(rows)):
        for j in range(len(columns)):
            columns[j, t] = X[rows[t], j]
    return columns


@compiled
def _lower_metric(
    X: FloatArray,
    codes: IntArray,
    n_classes: int,
    folds: UnsignedArray,
    n_folds: int,
    by_fold: bool,
    metric: int,
    n_codes: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Largest scales and smallest gaps over all training parts; the gaps are a (n_codes, n_codes) block per nominal column."""
    scales, gaps = np.full(X.shape[1], np.nan), np.full((n_codes**2).sum(), np.nan)
    if metric != HVDM:
        return scales, gaps
    part = np.empty(n_codes.max())
    for s in range(len(folds)):
        order = _order(folds[s], codes, n_classes, by_fold)
        for fold in range(n_folds):
            training = order[folds[s][order] != fold]
            columns = _columns(X, training)
            scales = np.fmax(scales, scales_of(columns, metric, n_codes))
            shares = frequencies_of(columns, codes[training], n_classes, metric, n_codes)
            start, at = 0, 0
            for c in n_codes:
                for code in range(c):
                    gaps_of(float(code), shares[start : start + c], part[:c])
                    gaps[at : at + c] = np.fmin(gaps[at : at + c], part[:c])
                    at += c
                start += c
    return scales, gaps


@compiled
def _search_folds(
    samples: _Samples,
    n_classes: int,
    folds: UnsignedArray,
    n_folds: int,
    by_fold: bool,
    listed: NDArray[np.int32],
    lower: FloatArray,
    settings: Settings,
) -> FloatArray:
    """Search every training part along the lists, or scan it where they are too short; equal test samples are looked up once."""
    X, codes, distinct, distinct_of = samples
    metric, skip_zero, n_codes = settings.metric, settings.skip_zero, settings.n_codes
    n_seeds, n = folds.shape
    out = np.zeros((n_seeds, n, n_classes))
    starts = np.zeros(len(distinct) + 1, np.int64)
    starts[1:] = np.cumsum(np.bincount(distinct_of, minlength=len(distinct)))
    ranks_of, like = np.empty(n, np.int64), np.empty(len(distinct), np.int64)
    gaps, totals = np.empty(n_codes.sum()), np.empty(n)
    n_walks, n_short = 0, 0
    for s in range(n_seeds):
        order = _order(folds[s], codes, n_classes, by_fold)
        _group(distinct_of[order], starts, ranks_of)
        for fold in range(n_folds):
            in_training = folds[s][order] != fold
            training = order[in_training]
            columns = _columns(X, training)
            scales = scales_of(columns, metric, n_codes)
            shares = frequencies_of(columns, codes[training], n_classes, metric, n_codes)
            size = min(settings.n_neighbors, len(training))
            distances, ranks = np.empty(size), np.empty(size, np.int64)
            measure = Measure(metric, settings.nominal, n_codes, scales, gaps)
            points = _Points(distinct, starts, ranks_of, in_training)
            like[:] = -1
            for i in order[~in_training]:
                u = distinct_of[i]
                if like[u] >= 0:
                    out[s, i] = out[s, like[u]]
                    continue
                like[u] = i
                query_gaps_of(X[i], shares, metric, n_codes, gaps)
                rows, n_held = order, -1
                if n_walks < FIRST_WALKS or 2 * n_short < n_walks:
                    n_held = _along_list(X[i], listed[u], lower[u], points, skip_zero, measure, distances, ranks)
                    n_walks += 1
                    n_short += n_held < 0
                if n_held < 0:
                    rows = training
                    distances_to(X[i], columns, measure, totals)
                    n_held = nearest_of(totals[: len(training)], -1, metric == HVDM, skip_zero, distances, ranks)
                for t in range(len(ranks)):
                    out[s, i, codes[rows[ranks[t]] if t < n_held else training[0]]] += 1.0 / len(ranks)
    return out


@compiled
def _group(distinct_of: IntArray, starts: IntArray, ranks_of: IntArray) -> None:
    """Ranks of the samples that are equal, together and in order."""
    free = starts[:-1].copy()
    for rank in range(len(distinct_of)):
        ranks_of[free[distinct_of[rank]]] = rank
        free[distinct_of[rank]] += 1


@compiled
def _along_list(
    query: FloatArray,
    listed: NDArray[np.int32],
    lower: FloatArray,
    points: _Points,
    skip_zero: bool,
    measure: Measure,
    distances: FloatArray,
    ranks: IntArray,
) -> int:
    """Nearest training samples into `ranks`, ties by rank; return how many there are, -1 if the list is too short."""
    distinct, starts, ranks_of, in_training = points
    if math.isnan(distance_to(query, query, measure, np.inf)):
        return 0
    n_held, bound, rooted = 0, np.inf, measure.metric == HVDM
    for t in range(len(listed)):
        if listed[t] < 0 or lower[t] > bound:
            return n_held
        at, end = starts[listed[t]], starts[listed[t] + 1]
        while at < end and not in_training[ranks_of[at]]:
            at += 1
        if at == end:
            continue
        total = distance_to(query, distinct[listed[t]], measure, bound)
        if not total <= bound or (skip_zero and total == 0):
            continue
        distance, n_new = math.sqrt(total) if rooted else total, 0
        while at < end and n_new < len(ranks):
            if in_training[ranks_of[at]]:
                n_held = _insert_ranked(distances, ranks, n_held, distance, ranks_of[at])
                n_new += 1
            at += 1
        if n_held == len(ranks):
            bound = bound_of(distances[n_held - 1], rooted)
    return n_held if len(listed) == len(distinct) else -1


@compiled(inline="always")
def _insert_ranked(distances: FloatArray, ranks: IntArray, n_held: int, distance: float, rank: int) -> int:
    """Insert into a list sorted by distance and rank."""
    if n_held == len(ranks):
        at = n_held - 1
        if distance > distances[at] or (distance == distances[at] and rank > ranks[at]):
            return n_held
    else:
        at = n_held
        n_held += 1
    while at > 0 and (distances[at - 1] > distance or (distances[at - 1] == distance and ranks[at - 1] > rank)):
        distances[at], ranks[at] = distances[at - 1], ranks[at - 1]
        at -= 1
    distances[at], ranks[at] = distance, rank
    return n_held
