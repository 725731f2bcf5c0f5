"""Folds balanced in target and inputs at once: CB-TSCV, CB-SCV, CB-CV, and for targets of several columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled, form_for
from foldshift.core.counting import bincount
from foldshift.core.gate.rows import check_rows
from foldshift.core.gate.targets import class_target, numeric_target
from foldshift.partition._inputs import column_mask, measurable
from foldshift.partition.fold_numbers import check_n_folds, fold_dtype, rows_by_class
from foldshift.partition.methods import deal_in_numpy
from foldshift.partition.methods._assignment import assign
from foldshift.partition.methods.cosine_features import SCALE, group_sums, terms_of
from foldshift.partition.methods.grouped import folds_of_groups
from foldshift.partition.methods.leave_group_out import group_codes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from foldshift.core.types import BoolArray, FloatArray, IntArray, TableLike, UnsignedArray

SWEEPS = 3  # over all runs; more change little
TARGET = 4.0  # weight of what is stratified on beside an input
SIZE = TARGET * SCALE  # of a sample in the size of a group


class _Runs(NamedTuple):
    """Samples run by run; a run of r samples goes to the r folds from its first fold on."""

    rows: IntArray  # (n_samples,)
    starts: IntArray  # (n_runs + 1,)
    firsts: IntArray  # (n_runs,)


class _Targets(NamedTuple):
    """Columns to stratify on."""

    columns: FloatArray  # (n_samples, n_targets)
    nominal: BoolArray  # (n_targets,)


def cb_tscv_folds(
    X: TableLike,
    y: ArrayLike,
    n_folds: int,
    rngs: Iterable[np.random.Generator],
    *,
    groups: TableLike = None,
    stratify: TableLike = None,
    categorical_features: TableLike = None,
) -> UnsignedArray:
    """Assign samples to folds balanced in a continuous target and in the inputs (CB-TSCV), once per generator.

    The samples are sorted by target, and every run of k neighbours in target goes to k different folds, as in total
    stratification (TSCV), whichever permutation of the folds is taken. Here it is the permutation that brings the distributions
    of the inputs in the folds nearest together.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs: an array or a data frame (pandas, polars); NaN where a value is missing.
    y : array-like of shape (n_samples,)
        Target, finite numbers. Ties are broken at random.
    n_folds : int
        Number of folds k, ``2 <= k <= n_samples``, and no more than there are groups.
    rngs : iterable of numpy.random.Generator
        One source of randomness per seed.
    groups : array-like of shape (n_samples,), optional
        Group of every sample. No group is in two folds.
    stratify : None, array-like of bool of shape (n_features,), of int or of str, default=None
        Columns of X, by mask, positions or names, that count like a target among the inputs.
    categorical_features : None, "from_dtype", array-like of bool of shape (n_features,), of int or of str, default=None
        Nominal columns: a mask, positions or names; ``from_dtype``: those of a categorical type or of text.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of every sample, in ``0 .. k - 1``. Fold sizes differ by at most one; with groups by no more than the size of the
        largest group.

    Raises
    ------
    ValueError
        If `n_folds` is out of range, X is not a dense table with as many rows as y has samples, a column holds text and is not
        nominal, a value is infinite, a target or a group is missing, or a column is not known.

    Notes
    -----
    With z_i the terms of sample i (`foldshift.partition.methods.cosine_features.terms_of`: 16 to 32 cosines of the rank of
    every numeric input, the categories of every nominal one) and S_f their sum over fold f, the cut makes
    ``sum over f of |S_f|**2`` small: equal sums in all folds are equal distributions. The runs are visited in random order, three
    times; each time the k samples of a run are assigned to the folds again at the least cost ``sum of z_i . S_f``, an assignment
    problem. In the end the names of the folds are permuted, so that a sample is in every fold with the same probability.

    With groups, runs are of k groups of similar size; the target counts by its cosines, with four times the weight of an input,
    and groups of different folds change places after the deal. The folds of a seed are then the same in whatever order the rows
    stand.

    Time grows with ``n_samples * k * n_terms``.

    Balance means that training and test part are alike. It does not mean that the estimated error is nearer to the truth: near
    twins in different folds make it smaller.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import make_folds
    >>> from foldshift.shift import fold_ks
    >>> X, y = np.random.default_rng(0).random((2, 200))
    >>> total, joint = (make_folds(name, X[:, None], y, 5, range(20)) for name in ("TSCV", "CB-TSCV"))
    >>> bool(fold_ks(X, joint).mean() < 0.5 * fold_ks(X, total).mean())
    True
    """
    check_rows(X=X, y=y, groups=groups)
    table = _Table(X, n_folds, groups, stratify, categorical_features)
    y = numeric_target(y)
    if table.groups is not None:
        return table.grouped(rngs, _Targets(y[:, None].astype(np.float64), np.zeros(1, dtype=bool)))
    order = np.argsort(y, kind="stable")
    has_ties = (np.diff(y[order]) == 0).any()

    def runs(rng: np.random.Generator) -> _Runs:
        rows = np.lexsort((rng.random(len(y)), y)) if has_ties else order
        return _cut_into_runs([rows], n_folds)

    return table.dealt(rngs, runs)


def cb_scv_folds(
    X: FloatArray,
    y: ArrayLike,
    n_folds: int,
    rngs: list[np.random.Generator],
    *,
    groups: IntArray | None = None,
    stratify: Any = None,
    categorical_features: BoolArray | None = None,
) -> UnsignedArray:
    """Assign samples to folds balanced in classes and in the inputs (CB-SCV), once per generator.

    The samples of a class are shuffled, and every run of k goes to k different folds, as in stratified cross-validation (SCV):
    by the permutation of the folds that brings the distributions of the inputs nearest together.

    Parameters
    ----------
    X, n_folds, rngs, groups, stratify, categorical_features
        As in `cb_tscv_folds`.
    y : array-like of shape (n_samples,)
        Class labels of any type that sorts.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold of every sample, in ``0 .. k - 1``. Class counts and fold sizes differ by at most one; a class with fewer samples
        than folds is in as many folds as it has samples. With groups, fold sizes differ by no more than the largest group.

    Raises
    ------
    ValueError
        As in `cb_tscv_folds`; or if y is continuous.

    Notes
    -----
    As in `cb_tscv_folds`. What is left of a class after its runs of k goes to the folds that are next in turn, from class to
    class. With groups, classes count as nominal columns with four times the weight of an input.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import cb_scv_folds
    >>> X, y = np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> (folds,) = cb_scv_folds(X, y, 2, [np.random.default_rng(0)])
    >>> np.bincount(folds[:4]).tolist(), np.bincount(folds[4:]).tolist()
    ([2, 2], [2, 2])
    """
    check_rows(X=X, y=y, groups=groups)
    table = _Table(X, n_folds, groups, stratify, categorical_features)
    codes = np.unique(class_target(y), return_inverse=True)[1]
    if table.groups is not None:
        return table.grouped(rngs, _Targets(codes[:, None].astype(np.float64), np.ones(1, dtype=bool)))
    members = rows_by_class(codes)

    def runs(rng: np.random.Generator) -> _Runs:
        return _cut_into_runs([rng.permutation(rows) for rows in members], n_folds)

    return table.dealt(rngs, runs)


def cb_cv_folds(
    X: FloatArray,
    y: Any,
    n_folds: int,
    rngs: list[np.random.Generator],
    *,
    groups: IntArray | None = None,
    stratify: Any = None,
    categorical_features: Any = None,
) -> UnsignedArray:
    """Assign samples to folds balanced in the inputs, blind to the target (CB-CV), once per generator.

    Parameters
    ----------
    X, n_folds, rngs, groups, stratify, categorical_features
        As in `cb_tscv_folds`.
    y : object
        Not looked at.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        As in `cb_tscv_folds`.

    Raises
    ------
    ValueError
        As in `cb_tscv_folds`, but for the target.

    Notes
    -----
    As in `cb_tscv_folds`, with runs of k random samples.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import cb_cv_folds
    >>> cb_cv_folds(np.arange(6.0)[:, None], None, 3, [np.random.default_rng(seed) for seed in range(9)]).shape
    (9, 6)
    """
    check_rows(X=X, y=y, groups=groups)
    table = _Table(X, n_folds, groups, stratify, categorical_features)
    if table.groups is not None:
        return table.grouped(rngs)
    return table.dealt(rngs, lambda rng: _cut_into_runs([rng.permutation(table.n_samples)], n_folds))


def cb_table_folds(
    X: FloatArray,
    Y: ArrayLike,
    n_folds: int,
    rngs: list[np.random.Generator],
    *,
    groups: IntArray | None = None,
    stratify: Any = None,
    categorical_features: Any = None,
    nominal: Literal["from_dtype"] | ArrayLike | None = None,
) -> UnsignedArray:
    """Assign samples to folds balanced in a target of several columns and in the inputs, once per generator.

    Parameters
    ----------
    X, n_folds, rngs, groups, stratify, categorical_features
        As in `cb_tscv_folds`. X may be None: only the target is balanced.
    Y : array-like of shape (n_samples, n_targets)
        Targets: numbers, classes, or labels that are there or not (0 and 1).
    nominal : None, "from_dtype", array-like of bool of shape (n_targets,), of int or of str, default=None
        Which columns of Y are nominal. None: those with two values, and those of text.

    Returns
    -------
    folds : ndarray of shape (n_seeds, n_samples), dtype uint8 (uint16 above 256 folds)
        Fold sizes differ by at most one; with groups by no more than the size of the largest group.

    Raises
    ------
    ValueError
        As in `cb_tscv_folds`; or if a target is missing.

    Notes
    -----
    Every column of Y counts with four times the weight of an input, and their combinations like one more column, so that labels
    that come together stay together in the same proportion in every fold.

    Examples
    --------
    >>> import numpy as np
    >>> from foldshift.partition import cb_table_folds
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    >>> (folds,) = cb_table_folds(None, Y, 2, [np.random.default_rng(0)])
    >>> Y[folds == 0].sum(axis=0).tolist(), Y[folds == 1].sum(axis=0).tolist()
    ([2, 2], [2, 2])
    """
    check_rows(X=X, Y=Y, groups=groups)
    targets, is_nominal = measurable(Y, "from_dtype" if nominal is None else nominal)
    if np.isnan(targets).any():
        row = int(np.isnan(targets).any(axis=1).argmax())
        raise ValueError(f"y contains NaN: row {row} has a missing target; drop such rows before cutting")
    if nominal is None:
        is_nominal = is_nominal | [len(np.unique(column)) <= 2 for column in targets.T]
    if X is None:
        X = np.zeros((len(targets), 1))
    table = _Table(X, n_folds, groups, stratify, categorical_features)
    return table.grouped(rngs, _Targets(targets, is_nominal))


class _Table:
    """Checked inputs of a cut, and the two ways to cut them."""

    def __init__(
        self,
        X: FloatArray,
        n_folds: int,
        groups: IntArray | None,
        stratify: ArrayLike | None,
        categorical_features: BoolArray | None,
    ) -> None:
        self.X, self.nominal = measurable(X, categorical_features, what="balancing")
        self.n_samples, self.n_folds = len(self.X), n_folds
        check_n_folds(n_folds, self.n_samples)
        self.weights = np.ones(self.X.shape[1])
        self.weights[column_mask(X, stratify, "stratify")] = TARGET
        self.groups = None if groups is None else group_codes(groups, self.n_samples)
        if self.groups is not None and n_folds > self.groups.max() + 1:
            raise ValueError(
                f"n_folds={n_folds} is greater than the number of groups, {self.groups.max() + 1}: a group is never in two folds"
            )

    def dealt(self, rngs: Iterable[np.random.Generator], runs_of: Callable[[np.random.Generator], _Runs]) -> UnsignedArray:
        """Deal samples into folds once per generator, by the runs that `runs_of` makes with it."""
        rngs = list(rngs)
        folds = np.empty((len(rngs), self.n_samples), dtype=fold_dtype(self.n_folds))
        if self.n_folds == self.n_samples:  # every sample by itself: nothing to balance
            for row, rng in zip(folds, rngs):
                row[:] = rng.permutation(self.n_samples)
            return folds
        terms = terms_of(self.X, self.nominal, self.weights)
        deal = form_for(_deal, deal_in_numpy.deal, float(SWEEPS) * terms.size * len(rngs))
        for row, rng in zip(folds, rngs):
            runs = runs_of(rng)
            orders = np.array([rng.permutation(len(runs.firsts)) for _ in range(SWEEPS)])
            dealt = deal(terms, runs, orders, self.n_folds)
            row[:] = rng.permutation(self.n_folds)[dealt]
        return folds

    def grouped(self, rngs: Iterable[np.random.Generator], targets: _Targets | None = None) -> UnsignedArray:
        """Cut whole groups (single samples where there are none) into folds once per generator, targets among the terms."""
        columns, is_nominal, weights = list(self.X.T), self.nominal, self.weights
        order = np.zeros(self.n_samples)
        if targets is not None:
            columns += list(targets.columns.T)
            is_nominal = np.append(is_nominal, targets.nominal)
            weights = np.append(weights, np.full(len(targets.nominal), TARGET))
            order = np.unique(targets.columns, axis=0, return_inverse=True)[1].ravel().astype(np.float64)
            if len(targets.nominal) > 1:
                columns, is_nominal, weights = [*columns, order], np.append(is_nominal, True), np.append(weights, 1.0)
        groups = np.arange(self.n_samples) if self.groups is None else self.groups
        sizes = bincount(groups)
        terms = group_sums(columns, is_nominal, weights, groups)
        # How many samples a fold holds is one more thing that should be alike.
        terms[:, -1] = sizes * (SIZE if (sizes != sizes[0]).any() else 0)
        order = bincount(groups, order) / sizes
        dtype = fold_dtype(self.n_folds)
        folds = [folds_of_groups(terms, sizes, order, self.n_folds, rng).astype(dtype)[groups] for rng in rngs]
        return np.array(folds, dtype=dtype).reshape(-1, self.n_samples)


def _cut_into_runs(strata: list[IntArray], n_folds: int) -> _Runs:
    """Cut each stratum into runs of k samples; what is left of the strata goes to the folds in turn."""
    sizes: list[int] = []
    firsts: list[int] = []
    turn = 0
    for stratum in strata:
        whole, left = divmod(len(stratum), n_folds)
        sizes += [n_folds] * whole + [left] * (left > 0)
        firsts += [0] * whole + [turn] * (left > 0)
        turn = (turn + left) % n_folds
    return _Runs(np.concatenate(strata), np.append(0, np.cumsum(sizes)), np.array(firsts, dtype=np.int64))


# The terms are whole numbers, and their sums and products far below 2**53: sums are exact in any order.
@compiled(fastmath={"reassoc", "contract", "nsz"})
def _deal(terms: NDArray[np.int16], runs: _Runs, orders: IntArray, n_folds: int) -> IntArray:
    """Assign every sample to a fold; see `cb_tscv_folds`. `orders` has the order of the runs in every sweep."""
    rows, starts, firsts = runs
    n_terms = terms.shape[1]
    folds = np.empty(len(terms), np.int64)
    totals = np.zeros((n_folds, n_terms))
    own = np.empty((n_folds, n_terms))
    costs = np.empty((n_folds, n_folds))
    for sweep in range(len(orders)):
        for run in orders[sweep]:
            start, size = starts[run], starts[run + 1] - starts[run]
            for i in range(size):
                row = rows[start + i]
                for t in range(n_terms):
                    own[i, t] = terms[row, t]
                if sweep > 0:
                    for t in range(n_terms):
                        totals[folds[row], t] -= own[i, t]
            for i in range(size):
                for j in range(size):
                    fold = (firsts[run] + j) % n_folds
                    cost = 0.0
                    for t in range(n_terms):
                        cost += own[i, t] * totals[fold, t]
                    costs[i, j] = cost
            chosen = assign(costs, size)
            for i in range(size):
                fold = (firsts[run] + chosen[i]) % n_folds
                folds[rows[start + i]] = fold
                for t in range(n_terms):
                    totals[fold, t] += own[i, t]
    return folds
