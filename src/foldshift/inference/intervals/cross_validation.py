"""Confidence intervals for cross-validation estimates, each labelled with its target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.core.arguments import check_confidence, check_one_of
from foldshift.core.counting import bincount
from foldshift.core.gate.arrays import as_array
from foldshift.core.gate.folds import is_tested, named_folds
from foldshift.core.gate.numbers import as_numbers
from foldshift.core.gate.rows import check_same_rows
from foldshift.inference._fold_scores import fold_scores
from foldshift.inference.intervals.interval import (
    ALL_ROWS_MODEL,
    FEW_FOLDS,
    NEW_SOURCE,
    THESE_K_MODELS,
    THESE_SOURCES,
    THIS_POPULATION,
    Intervals,
    student_interval,
)
from foldshift.inference.intervals.interval import Interval as Interval  # offered by this module as well
from foldshift.inference.repetitions.variance import check_losses, cv_variance, fold_moments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, Floats, Splitter, TableLike
    from foldshift.inference._fold_scores import CutOptions, FoldScores

    Design = Literal["cvr", "cvs"]
    LossOf = Callable[[Any, Any], ArrayLike]  # of training and test rows, the losses of the test rows

MISSING = "does not exist"
# validation/tables/coverage_intervals.csv, at a promise of .95: six populations, 150 rows, ten folds, 400 samples, stable and
# unstable learners; means over populations, standard errors .01 for the mean error of these models, .02 to .03 otherwise. The
# lowest is that of one population and learner. Below, coverage_new_source.csv: ten sources of 200 rows, 400 samples.
_ROWS_ONLY = (
    "coverage is known to be low: .89 for the mean error of these models and .86 for the model of all rows, down to .46 for an "
    "unstable learner, where .95 is promised"
)
KNOWN_LOW = {
    "theta_A": _ROWS_ONLY,
    "all pairs": _ROWS_ONLY,
    "theta_B": "coverage is .95 on average, but down to .66 for an unstable learner",
    "S2/K": "coverage is known to be low: .90 for the mean error of these models and .88 for the model of all rows, down to .67 "
    "for an unstable learner, where .95 is promised",
    "theta_5": "coverage is known to be low: .49 where .95 is promised, as the variance estimate is often negative",
}
NEW_SOURCE_LOW = {
    "S2/K": "coverage is known to be low for a new source: .82 for an unstable learner, .92 for a stable one, where .95 is "
    "promised",
}


def cv_intervals(
    *unnamed: Any,
    losses: TableLike = None,
    folds: TableLike = None,
    scores: ArrayLike | dict[str, Any] | None = None,
    cv: int | Splitter | Iterable[tuple[Array, Array]] | None = None,
    n_splits: int | None = None,
    n_repeats: int | None = None,
    metric: str | None = None,
    n_train: float | None = None,
    n_test: float | None = None,
    design: Literal["cvr", "cvs"] = "cvr",
    confidence: float = 0.95,
) -> Intervals:
    """Compute all intervals that follow from the losses, or from the scores of the folds, of one cross-validation.

    Pass one of the two by its name: a score of a fold is a mean over rows, a loss belongs to a single row.

    Parameters
    ----------
    losses : array-like of shape (..., K, M), sequence of K arrays of shape (M_k,), or, with `folds`, of shape (N,)
        Loss of every test row by fold or source; leading axes are independent data sets.
    folds : array-like of shape (N,), optional
        Fold of every row, if losses are in the order of the rows; rows with -1 are never tested and left out.
    scores : array-like of shape (r, k), (k,) or (r * k,), or dict
        Scores of the folds of one partition, or of r: an array, or the result of scikit-learn's `cross_val_score` (flat; say
        `cv`, or `n_splits`, unless all are of one partition: ``n_repeats=1``) or `cross_validate`. Only the intervals that need
        no rows follow.
    cv : int, splitter or iterable of (train, test), optional
        Splitter that cut the data, its number of folds, or the rows of every fold; with `scores` only, like the next five.
    n_splits, n_repeats : int, optional
        Folds and repetitions, instead of `cv`; one of them is enough for flat scores. ``n_splits=1`` is repeated hold-out.
    metric : str, optional
        Name of the scorer, if `cross_validate` was given several.
    n_train, n_test : float, optional
        Rows in a training and in a test part (their means if folds differ); both or neither. They come before those of `cv`.
    design : {"cvr", "cvs"}, default="cvr"
        ``cvr``: folds are random, plain k-fold. ``cvs``: folds are sources, each left out in turn. It changes targets and notes,
        no number: with random folds there is no source to generalise to.
    confidence : float, default=0.95
        Probability of coverage aimed at.

    Returns
    -------
    intervals : Intervals
        A tuple of `Interval`, also by name. From losses: ``theta_A``, normal, variance within folds; with equal sizes the
        within-fold interval of [1]_. ``theta_B``, normal, twice that variance [3]_. ``S2/K``, Student's t with K - 1 degrees of
        freedom on the fold means; with random folds the fold-level interval of [2]_. ``all pairs``, normal, the all-pairs
        variance of [1]_, about the mean of all rows. ``theta_5``, normal [3]_. ``Nadeau-Bengio``, the fold means corrected for
        training sets that overlap, variance ``S2 (1 / K + 1 / (K - 1))``, Student's t with K - 1 degrees of freedom [4]_. From
        scores the last one (with r partitions variance ``s2 (1 / (r k) + n_test / n_train)`` and r k - 1 degrees of freedom) and,
        of one partition, ``S2/K``. An interval whose coverage is known to be low says so in its note; that of ``Nadeau-Bengio``
        was .95 on average and .83 for the most unstable learner measured.

    Raises
    ------
    TypeError
        If neither or both of `losses` and `scores` are passed, or one without its name.
    ValueError
        If confidence is not between 0 and 1, design is unknown, losses are not those that `cv_variance` accepts, or the
        shape of the scores is not the one that `cv` makes, flat scores can be read in two ways, a score is not finite, or a size
        is not positive.

    References
    ----------
    .. [1] Bayle, P., Bayle, A., Janson, L., Mackey, L. (2020). Cross-validation confidence intervals for test error. NeurIPS 33,
       section 4.
    .. [2] Wong, T.-T. (2015). Performance evaluation of classification algorithms by k-fold and leave-one-out cross validation.
       Pattern Recognition 48.
    .. [3] Geras, K. J., Sutton, C. (2013). Multiple-source cross-validation. ICML.
    .. [4] Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_predict, cross_val_score, KFold
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> cv = KFold(5, shuffle=True, random_state=0)
    >>> wrong = cross_val_predict(GaussianNB(), X, y, cv=cv) != y
    >>> folds = np.empty(len(y), dtype=int)
    >>> for k, (_, test) in enumerate(cv.split(X)):
    ...     folds[test] = k
    >>> found = cv_intervals(losses=wrong, folds=folds)
    >>> [one.name for one in found]
    ['theta_A', 'theta_B', 'S2/K', 'all pairs', 'theta_5', 'Nadeau-Bengio']
    >>> again = cv_intervals(scores=cross_val_score(GaussianNB(), X, y, cv=cv), cv=cv)
    >>> float(round(1 - again["Nadeau-Bengio"].high - found["Nadeau-Bengio"].low, 12))
    0.0
    """
    if unnamed or (losses is None) == (scores is None):
        raise TypeError(
            "cv_intervals must be told what it is given, by name and one of the two: losses= (of every test row, by fold) or "
            "scores= (one of every fold, as cross_val_score returns them)"
        )
    check_confidence(confidence)
    check_one_of("design", design, ("cvr", "cvs"))
    options: CutOptions = {
        "cv": cv,
        "n_splits": n_splits,
        "n_repeats": n_repeats,
        "metric": metric,
        "n_train": n_train,
        "n_test": n_test,
    }
    if scores is not None:
        if folds is not None:
            raise TypeError("folds= belongs to losses= of rows; scores= are of folds already")
        read = fold_scores(scores, **options)
        return _outside_said(_of_scores(read, design, confidence), [read[0]])
    if given := [name for name, value in options.items() if value is not None]:
        raise TypeError(f"{given[0]}= belongs to scores= of folds; for losses= of rows say folds=, the fold of every row")
    by_fold = check_losses(losses if folds is None else _by_fold(losses, folds))
    return _outside_said(_of_losses(by_fold, design, confidence), by_fold)


def _outside_said(intervals: Intervals, values: Iterable[Any]) -> Intervals:
    """Add a note to intervals with an end outside 0 to 1, if no value is."""
    if not all(np.min(part) >= 0 and np.max(part) <= 1 for part in values if np.size(part)):
        return intervals
    said = "an end is outside 0 to 1: of shares, read it as 0 or 1"
    return Intervals(
        one._replace(note="; ".join(filter(None, [one.note, said])))
        if np.ndim(one.low) == 0 and (one.low < 0 or one.high > 1)
        else one
        for one in intervals
    )


def _of_losses(losses: Any, design: Design, confidence: float) -> Intervals:
    moments = cv_variance(losses)
    K, equal = moments.K, isinstance(moments.M, int)
    means, within, sizes = fold_moments(losses)
    N, micro = sizes.sum(), np.asarray(moments.mean_micro)
    inside = np.where(sizes > 1, (sizes - 1) * within, 0.0).sum(axis=-1)
    all_pairs = (inside + (sizes * (means - micro[..., None]) ** 2).sum(axis=-1)) / N**2
    one_row = [] if (sizes > 1).all() else [f"{MISSING}: a fold has one row"]
    weighted = [] if equal else ["folds weigh by their rows"]
    negative = _negative_note(moments.theta_5) if equal else [f"{MISSING}: folds of unequal sizes"]
    for_random = ["derived for random folds"] if design == "cvs" else []

    interval = Labels(confidence, K, design).interval
    S2 = K * np.asarray(moments.theta_gamma)
    return Intervals(
        [
            interval("theta_A", moments.mean, moments.theta_A, np.inf, one_row),
            interval("theta_B", moments.mean, moments.theta_B, np.inf, one_row),
            interval("S2/K", moments.mean, moments.theta_gamma, K - 1.0),
            interval("all pairs", moments.mean_micro, all_pairs, np.inf, weighted),
            interval("theta_5", moments.mean, moments.theta_5, np.inf, (one_row or negative) + for_random),
            interval("Nadeau-Bengio", moments.mean, S2 * (1 / K + 1 / (K - 1)), K - 1.0),
        ]
    )


def _of_scores(read: FoldScores, design: Design, confidence: float) -> Intervals:
    scores, overlap = read
    r, k = scores.shape
    n, mean, S2 = r * k, float(scores.mean()), float((scores - scores.flat[0]).var(ddof=1)) if scores.size > 1 else np.nan
    if n < 2:
        raise ValueError("scores has 1 score; an interval needs those of two folds or more")
    if overlap is None:
        raise ValueError("scores are of hold-outs of unknown sizes; say n_train= and n_test=, the rows of the parts")
    corrected = Labels(confidence, n, design).interval("Nadeau-Bengio", mean, S2 * (1 / n + overlap), n - 1.0)
    if r > 1:
        return Intervals([corrected])
    return Intervals([Labels(confidence, k, design).interval("S2/K", mean, S2 / k, k - 1.0), corrected])


def _by_fold(losses: TableLike, folds: TableLike) -> list[FloatArray]:
    check_same_rows(losses=losses, folds=folds)
    losses, folds = as_numbers(losses, "losses"), named_folds(folds)
    if losses.ndim != 1 or losses.shape != folds.shape:
        raise ValueError(
            f"losses has shape {losses.shape} and folds {folds.shape}; expected one loss and one fold for every row, shape (N,)"
        )
    return [losses[folds == fold] for fold in np.unique(folds[is_tested(folds)])]


class Labels(NamedTuple):
    """Confidence, number of folds (or scores) and design of a cross-validation; they give its intervals targets and notes."""

    confidence: float
    K: int
    design: Design = "cvr"

    def interval(self, name: str, estimate: Floats, variance: Floats, df: float, notes: Sequence[str] = ()) -> Interval:
        """Interval of `cv_intervals` with its target, the notes on the data, and those that every reader needs."""
        sources = self.design == "cvs"
        if name in ("theta_A", "all pairs"):
            target = f"{THESE_K_MODELS}, on {THESE_SOURCES}" if sources else THESE_K_MODELS
        elif name in ("S2/K", "Nadeau-Bengio"):
            target = NEW_SOURCE if sources else THIS_POPULATION
        else:
            target = THESE_SOURCES if sources else THIS_POPULATION
        more = []
        if not any(note.startswith(MISSING) for note in notes):
            if self.K < FEW_FOLDS and target in (NEW_SOURCE, THIS_POPULATION) and np.isfinite(df):
                more.append(f"only {self.K} {'sources' if sources else 'folds'}")
            if known := (NEW_SOURCE_LOW if sources else KNOWN_LOW).get(name):
                more.append(known)
        return student_interval(name, target, estimate, variance, df, self.confidence, [*notes, *more])


def nested_cv_interval(loss_of: LossOf, folds: Array, *, confidence: float = 0.95, sources: bool = False) -> Interval:
    """Interval of nested cross-validation, for the error of the classifier trained on all rows.

    Every pair of folds is left out once; one fit serves both folds of the pair, so a row of folds takes K (K + 1) / 2 fits.

    Parameters
    ----------
    loss_of : callable
        ``loss_of(train_mask, test_mask)`` trains on the rows of the first boolean mask of shape (N,) and returns the losses of
        the rows of the second, in their order.
    folds : ndarray of shape (R, N), integer
        Fold 0 .. K - 1 of every row, for R partitions into the same K, at least three, folds. Estimates are averaged over the
        partitions; [1]_ uses 200, and a single one is unstable.
    confidence : float, default=0.95
        Probability of coverage aimed at.
    sources : bool, default=False
        Folds are sources: leave two sources out. One partition. This is an extension of ours, in none of the references: the unit
        is then the source, means weigh sources equally, the variance of a mean about its expectation is that of the source means
        (S2), and the quantile is Student's with K - 1 degrees of freedom.

    Returns
    -------
    Interval
        About `ALL_ROWS_MODEL` or, with sources, the model trained on all sources on `NEW_SOURCE`. Its centre is
        corrected for the rows (sources) that training went without. The standard error ``sqrt((K - 1) / K MSE)`` is restricted to
        between that of ordinary cross-validation and sqrt(K) times as much; the note says where that happened.

    Raises
    ------
    ValueError
        If confidence is not between 0 and 1, folds are not such an array, a fold is empty or (random folds) has one row, or
        losses are not finite numbers, one for every test row.

    Notes
    -----
    Estimate and mean squared error are those of algorithm 1 of [1]_; the limits of the standard error are of ordinary
    cross-validation. The R package ``mlr3inferr`` (0f7a94d) has the same centre and mean squared error, and takes the limits from
    the standard deviation of the errors of the inner folds. So does the authors' program, ``nestedcv`` (a3e3e14); its centre
    has another factor, ``1 + ((K - 2) / (K - 1))**1.5`` in place of ``1 + (K - 2) / K``, times a difference from an ordinary
    cross-validation of other partitions, a fifth as many, and it compares the inner errors with one other fold drawn at random.

    References
    ----------
    .. [1] Bates, S., Hastie, T., Tibshirani, R. (2024). Cross-validation: what does it estimate and how well does it do it? JASA
       119, algorithm 1 and section 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.random.default_rng(0).standard_normal(60)
    >>> folds = np.stack([np.random.default_rng(seed).permutation(60) % 5 for seed in range(10)])
    >>> found = nested_cv_interval(lambda train, test: (y[test] - y[train].mean()) ** 2, folds)
    >>> found.target, bool(found.low < 1 < found.high)
    ('the model trained on all rows', True)
    """
    check_confidence(confidence)
    folds = as_array(folds, "folds")
    K = _check_partitions(folds, sources)
    partitions = [_nested_moments(loss_of, row, K, sources) for row in folds]
    err_nested, err_cv, mse, naive_variance = np.mean(partitions, axis=0)
    naive = np.sqrt(naive_variance)
    unrestricted = np.sqrt(max(0.0, mse * (K - 1) / K))
    standard_error = min(max(unrestricted, naive), np.sqrt(K) * naive)
    note = ["leaving sources out is an extension of ours, without published coverage"] if sources else []
    if mse < 0:
        note.append("the estimated mean squared error is negative: the standard error is that of ordinary cross-validation")
    elif unrestricted < naive:
        note.append("the standard error is restricted to that of ordinary cross-validation")
    elif unrestricted > standard_error:
        note.append("the standard error is restricted to sqrt(K) times that of ordinary cross-validation")
    if sources and K < FEW_FOLDS:
        note.append(f"only {K} sources")
    # An error of c + b / (training size) at K - 2 and K - 1 of K folds gives what is left to K of K.
    estimate = err_nested - (1 + (K - 2) / K) * (err_nested - err_cv)
    target, df = (NEW_SOURCE, K - 1.0) if sources else (ALL_ROWS_MODEL, np.inf)
    return student_interval("nested", target, float(estimate), float(standard_error**2), df, confidence, note)


def _check_partitions(folds: Array, sources: bool) -> int:
    """Refuse folds that nested cross-validation cannot use; return their number."""
    if folds.ndim != 2 or folds.dtype.kind not in "ui" or not folds.size or folds.min() < 0:
        raise ValueError(
            f"folds has shape {folds.shape} and dtype {folds.dtype}; expected (partitions, rows) of fold numbers from 0"
        )
    if sources and len(folds) != 1:
        raise ValueError(f"folds has {len(folds)} partitions; sources are one partition")
    K = int(folds.max()) + 1
    if K < 3:
        raise ValueError(
            f"folds has {K} fold{'' if K == 1 else 's'}; nested cross-validation leaves two out and needs at least three"
        )
    fewest = 1 if sources else 2
    for number, row in enumerate(folds):
        sizes = bincount(row, minlength=K)
        if sizes.min() < fewest:
            raise ValueError(
                f"fold {sizes.argmin()} of partition {number} has {sizes.min()} rows; every fold needs at least {fewest}"
            )
    return K


def _nested_moments(loss_of: LossOf, row: Array, K: int, sources: bool) -> tuple[float, float, float, float]:
    """Nested and ordinary estimates, mean squared error and naive variance of one partition."""
    outer = [_losses(loss_of, row != k, row == k) for k in range(K)]
    inner: list[list[FloatArray]] = [[] for _ in range(K)]
    for k in range(K):
        for other in range(k + 1, K):
            held_out = (row == k) | (row == other)
            losses, of_k = _losses(loss_of, ~held_out, held_out), row[held_out] == k
            inner[k].append(losses[~of_k])
            inner[other].append(losses[of_k])
    outer_means = np.array([losses.mean() for losses in outer])
    if sources:
        inner_means = np.array([np.mean([losses.mean() for losses in parts]) for parts in inner])
        S2 = outer_means.var(ddof=1)
        return inner_means.mean(), outer_means.mean(), ((inner_means - outer_means) ** 2).mean() - S2, S2 / K
    nested = [np.concatenate(parts) for parts in inner]
    squared = [(losses.mean() - mean) ** 2 for losses, mean in zip(nested, outer_means)]
    variances = [losses.var(ddof=1) / len(losses) for losses in outer]
    every = np.concatenate(outer)
    return np.concatenate(nested).mean(), every.mean(), np.mean(squared) - np.mean(variances), every.var(ddof=1) / len(every)


def _losses(loss_of: LossOf, train: BoolArray, test: BoolArray) -> FloatArray:
    losses = as_numbers(loss_of(train, test), "what loss_of returned")
    if losses.shape != (int(test.sum()),):
        raise ValueError(f"loss_of returned shape {losses.shape} for {int(test.sum())} test rows; expected one loss for each")
    if not np.isfinite(losses).all():
        raise ValueError(
            f"loss_of returned {int((~np.isfinite(losses)).sum())} losses that are NaN or infinite; every loss must be "
            "a finite number"
        )
    return losses


def _negative_note(theta: Floats) -> list[str]:
    """List of one note if a variance estimate is negative, else of none."""
    if np.ndim(theta) == 0:
        return ["the variance estimate is negative: no interval"] if theta < 0 else []
    count = int((theta < 0).sum())
    return [f"the variance estimate is negative in {count} of {theta.size} data sets: no interval there"] if count else []
