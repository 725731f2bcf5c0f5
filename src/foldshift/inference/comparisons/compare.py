"""Choice of tests for a comparison of learners, with the reason why each applies or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np
import pandas as pd

from foldshift.core.arguments import check_confidence, column_names
from foldshift.core.errors import DataError, unknown
from foldshift.core.remedies import Number, Remedy
from foldshift.inference._fold_scores import (
    cut_differently,
    cuts_anew,
    first_of_equal,
    fold_scores,
    is_report,
    of_cross_validate,
    rows_of_folds,
)
from foldshift.inference.comparisons.compare_estimators import scored_folds
from foldshift.inference.comparisons.comparison import Comparison, Row
from foldshift.inference.comparisons.over_blocks import BLOCKS, block_rows, block_scores
from foldshift.inference.comparisons.over_folds import fold_rows, instance_rows, shape_in_words
from foldshift.inference.comparisons.score_design import DESIGNS, check_kinds, design_of, is_search
from foldshift.inference.mixed_units import refuse_mixed_units
from foldshift.inference.score_tables.score_columns import TableColumns

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, Splitter, TableLike
    from foldshift.inference._fold_scores import CutOptions
    from foldshift.inference.score_tables.table_comparison import TableComparison


@overload
def compare(
    scores_a: pd.DataFrame,
    scores_b: None = None,
    *,
    design: None = None,
    cv: int | Splitter | Iterable[tuple[Array, Array]] | None = None,
    n_splits: int | None = None,
    n_repeats: int | None = None,
    metric: str | None = None,
    n_train: float | None = None,
    n_test: float | None = None,
    rope: float = 0.0,
    confidence: float = 0.95,
    **columns: Unpack[TableColumns],
) -> TableComparison: ...


@overload
def compare(
    scores_a: TableLike,
    scores_b: TableLike = None,
    *,
    design: Literal["folds", "datasets", "sources"] | None = None,
    names: Sequence[str] | None = None,
    cv: int | Splitter | Iterable[tuple[Array, Array]] | None = None,
    n_splits: int | None = None,
    n_repeats: int | None = None,
    metric: str | None = None,
    n_train: float | None = None,
    n_test: float | None = None,
    correct_a: TableLike = None,
    correct_b: TableLike = None,
    same_folds: bool | None = None,
    rope: float = 0.0,
    confidence: float = 0.95,
) -> Comparison: ...


@overload
def compare(
    scores_a: Estimator,
    scores_b: Estimator,
    *,
    X: TableLike,
    y: TableLike,
    groups: TableLike = None,
    design: Literal["folds"] | None = None,
    names: Sequence[str] | None = None,
    cv: int | Splitter | Iterable[tuple[Array, Array]] | None = None,
    metric: str | Callable[[Any, Any, Any], float] | None = None,
    rope: float = 0.0,
    confidence: float = 0.95,
) -> Comparison: ...


def compare(
    scores_a: TableLike,
    scores_b: TableLike = None,
    *,
    design: Literal["folds", "datasets", "sources"] | None = None,
    names: Sequence[str] | None = None,
    cv: int | Splitter | Iterable[tuple[Array, Array]] | None = None,
    n_splits: int | None = None,
    n_repeats: int | None = None,
    metric: Any = None,
    n_train: float | None = None,
    n_test: float | None = None,
    correct_a: TableLike = None,
    correct_b: TableLike = None,
    same_folds: bool | None = None,
    rope: float = 0.0,
    confidence: float = 0.95,
    X: TableLike = None,
    y: TableLike = None,
    groups: TableLike = None,
    **columns: Unpack[TableColumns],
) -> Comparison | TableComparison:
    """Report which tests apply to a comparison of learners and why the others do not, with the figures of all of them.

    Parameters
    ----------
    scores_a, scores_b : array-like or dict
        ``design="folds"``: scores of two learners on one data set, each of shape (r, k), r repetitions of k folds, k = 1 for
        repeated hold-out; or flat, as scikit-learn's `cross_val_score` returns them, with `cv` or `n_splits` to say how they are
        arranged; or the result of its `cross_validate`, or skore's report of it. ``design="datasets"`` or ``"sources"``: scores_a
        of shape (n_blocks, n_learners), one number for every data set or source, averaged over its folds and repetitions; or two
        learners as scores_a and scores_b of shape (n_blocks,). The names of a data frame's columns are those of the learners. Any
        design: scores_a may be a dict of each learner's name to its scores. No design and one data frame: a table of scores, see
        `columns`.
    design : {"folds", "datasets", "sources"}, optional
        Unit that a score belongs to. ``sources``: one score for each source left out. By default ``folds`` if an argument is for
        folds alone (`cv`, `n_splits`, `n_repeats`, sizes, `correct_a`), or if scores are those of `cross_validate`, a report, or
        of shape (r, k). Flat scores without any of these are refused, as they may be either.
    names : sequence of str, optional
        Names of the learners; by default those in the scores, else "a", "b", ...
    cv : int, splitter or iterable of (train, test), optional
        Splitter that cut the data, for folds: the numbers of folds and repetitions are read from it; other shapes are refused.
    n_splits, n_repeats : int, optional
        Folds and repetitions, instead of `cv`. They also say what the rows of a table of scores are, in the order of
        `cross_val_score` where no column names the fold.
    metric : str, optional
        Name of the scorer, if `cross_validate` was given several.
    n_train, n_test : float, optional
        Rows in a training and in a test part, for folds; k - 1 and 1 unless given. Needed for repeated hold-out if `cv` does not
        know them.
    correct_a, correct_b : array-like of shape (r, n) or (n,), bool or 0/1, optional
        True where the learner got the row right, in each repetition, for folds.
    same_folds : bool, optional
        True if both learners were trained and tested on the same folds. If not, the shapes of the scores may differ. By default
        the folds decide: those in the scores (a report, or `cross_validate` with ``return_indices=True``), else `cv`. A splitter
        that shuffles without a random state cuts anew for each learner, so that there is nothing to pair.
    rope : float, default=0.0
        Half-width of the region of practical equivalence, in units of the score.
    confidence : float, default=0.95
        Of the intervals.
    X, y : array-like of shape (n, p) and (n,), optional
        Data on which scores_a and scores_b, then two learners, are cross-validated on the same folds of `cv` (by default ten).
        `metric` is then a score by the names of `score_interval`, whose difference is taken from the predictions of all rows, or
        a scorer of your own, ``scorer(estimator, X, y)``, which has the scores of the folds alone.
    groups : array-like of shape (n,), optional
        With X: rows that belong together, for `cv` and for the interval.
    **columns : str
        For a table of scores, a data frame with a row for every score (long form) or a column for every learner (wide form): the
        names of its columns, where they are not plain. ``learner``; ``item``, ``fold``, ``repeat``, ``dataset``: what a row is;
        ``score``, or ``truth``, the true value, for a table of predictions (and ``prediction`` in long form): classes are scored
        right or wrong, numbers by the squared error; ``clusters``: which items belong together. ``unit``, one of item, fold and
        dataset: what the answer is about;
        ``better``, higher or lower, where the name of the metric does not tell.

    Returns
    -------
    comparison : Comparison or TableComparison
        For a table of scores: the test that fits, verdicts, power. Items: paired differences, mid-p McNemar for scores of 0 and
        1, else sign flips, of whole clusters if given. Folds: the corrected t. Data sets: Wilcoxon's test, and Friedman's.
        Otherwise one row per test. More than two learners: Friedman's test, and Wilcoxon's of every pair with p corrected by
        Holm and intervals that hold for all pairs together (Bonferroni).

    Raises
    ------
    ValueError
        If the design is unknown, an argument does not go with it, a shape is wrong or can be read in two ways, or a score is not
        finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    >>> scores = [cross_val_score(model, X, y, cv=cv) for model in (KNeighborsClassifier(), GaussianNB())]
    >>> comparison = compare(*scores, cv=cv, names=["5NN", "naive Bayes"])
    >>> comparison.shape, round(comparison.row("Nadeau-Bengio corrected t").estimate, 4)
    ('one data set, 2 x 5 folds', 0.0067)

    A table of scores, with a row for every item:

    >>> import pandas as pd
    >>> table = pd.DataFrame({"item": range(8), "old": [0, 0, 0, 0, 0, 0, 1, 1], "new": [1, 1, 1, 1, 1, 1, 1, 0]})
    >>> compare(table).pairs[0].verdict
    'not decided'

    References
    ----------
    .. [1] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning algorithms.
           Neural Computation 10, 1895-1923.
    .. [2] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.
    .. [3] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30.
    .. [4] Benavoli, A., Corani, G. and Mangili, F. (2016). Should we really use post-hoc tests based on mean-ranks? JMLR 17(5),
           1-10.
    .. [5] Wong, T.-T. (2015). Performance evaluation of classification algorithms by k-fold and leave-one-out cross validation.
           Pattern Recognition 48, Theorems 2 and 4.
    """
    table = isinstance(scores_a, pd.DataFrame) and not of_cross_validate(scores_a) and not is_search(scores_a)
    if table and design is None and scores_b is None:
        cut = {"cv": cv, "n_splits": n_splits, "n_repeats": n_repeats}
        others = {"names": names, "correct_a": correct_a, "correct_b": correct_b, "same_folds": same_folds}
        return _of_table(scores_a, columns, (cut, others), metric, (n_train, n_test), rope, confidence)
    if X is not None or y is not None:
        found = scored_folds((scores_a, scores_b), X, y, cv, metric, groups, confidence)
        over_folds = compare(
            *found.scores, design="folds", cv=found.splits, names=names or found.names, rope=rope, confidence=confidence
        )  # fmt: skip
        return over_folds._replace(rows=[found.pooled, *over_folds.rows])
    if columns:
        raise ValueError(
            f"{', '.join(columns)} {'are' if len(columns) > 1 else 'is'} for a table of scores: one data frame, no design"
        )
    check_kinds(scores_a, scores_b, design)
    of_folds = {"cv": cv, "n_splits": n_splits, "n_repeats": n_repeats, "n_train": n_train, "n_test": n_test,
                "correct_a": correct_a, "correct_b": correct_b, "same_folds": same_folds}  # fmt: skip
    if design is None:
        design = design_of(scores_a, scores_b, [name for name, value in of_folds.items() if value is not None])
    if design not in DESIGNS:
        raise ValueError(
            f"design={design!r} must say what a score stands for: 'folds' (of one data set), 'datasets' (one score for each) or "
            "'sources' (one for each source left out)"
        )
    check_confidence(confidence)
    if not 0 <= rope < np.inf:
        raise ValueError(f"rope={rope!r} must be 0 or a positive number in units of the score")
    if scores_b is None:
        scores_a, scores_b, names = _by_name(scores_a, names, design)
    options: CutOptions = {
        "cv": cv,
        "n_splits": n_splits,
        "n_repeats": n_repeats,
        "metric": metric,
        "n_train": n_train,
        "n_test": n_test,
    }
    if design != "folds":
        given = {**options, "correct_a": correct_a, "correct_b": correct_b}
        wrong = [name for name, value in given.items() if value is not None]
        if wrong:
            raise ValueError(f"{', '.join(wrong)} cannot be used with design={design!r}; they are for the folds of one data set")
        scores = block_scores(scores_a, scores_b)
        names = _names(names, scores.shape[1])
        refuse_mixed_units(scores, names)
        shape = f"{scores.shape[1]} learners on {scores.shape[0]} {BLOCKS[design]}"
        return Comparison(names, design, shape, confidence, block_rows(scores, names, design, confidence, rope), rope)
    if scores_b is None:
        raise ValueError("scores_b is missing; design='folds' compares two learners, each with scores of shape (r, k)")
    if same_folds is not False and cut_differently(scores_a, scores_b):
        what = "reports" if is_report(scores_a) and is_report(scores_b) else "learners"
        raise ValueError(
            f"the two {what} have different folds; give both a splitter with the same random_state (or same_folds=False)"
        )
    known = rows_of_folds(scores_a) is not None and rows_of_folds(scores_b) is not None
    unpaired = ""
    if same_folds is None and not known and cuts_anew(cv):
        unpaired = (
            f"cv={cv!r} has no random state, so that it cuts anew for every learner and there is nothing to pair; give it a "
            "random_state, or run both on one list of its folds and say same_folds=True"
        )
    same_folds = not unpaired and same_folds is not False
    options["cv"] = cv = list(cv) if isinstance(cv, Iterable) and not hasattr(cv, "get_n_splits") else cv
    a, overlap = fold_scores(scores_a, name="scores_a", **options)
    b, _ = fold_scores(scores_b, name="scores_b", **options)
    if same_folds and a.shape != b.shape:
        raise ValueError(
            f"scores_a and scores_b have shapes {a.shape} and {b.shape}; on the same folds they are equal (else same_folds=False)"
        )
    size = min(a.size, b.size)
    refuse_mixed_units(np.column_stack([a.ravel()[:size], b.ravel()[:size]]), ("scores_a", "scores_b"))
    if overlap is None and a.size > 1:
        raise ValueError(
            "n_train and n_test are missing; repeated hold-out (k = 1) needs the sizes of its training and test parts"
        )
    n_made = len(a)
    if same_folds:
        first = first_of_equal(cv, n_made)
        a, b = a[first], b[first]
        if correct_a is not None and correct_b is not None and len(first) < n_made:
            correct_a, correct_b = (np.atleast_2d(correct)[first] for correct in (correct_a, correct_b))
    rows = fold_rows(a, b, overlap, unpaired if not same_folds else None, rope, confidence)
    rows += instance_rows(correct_a, correct_b, a.shape, confidence)
    blocks = f"its blocks must be independent, data sets or sources; the {a.size} results here are about the rows of one data set"
    rows += [Row(test, False, blocks) for test in ("Wilcoxon signed ranks", "sign test", "Friedman", "Iman-Davenport F")]
    names = _names(names, 2)
    shape = f"one data set, {shape_in_words(a.shape)}" + ("" if same_folds else f" and {shape_in_words(b.shape)}, different ones")
    if len(a) < n_made:
        shape += f" ({n_made} repetitions, of which {n_made - len(a)} repeat a partition and do not count)"
    return Comparison(names, design, shape, confidence, rows, rope)


def _of_table(
    frame: pd.DataFrame, columns: TableColumns, how: tuple[dict[str, Any], dict[str, Any]], metric: str | None,
    sizes: tuple[Any, Any], rope: float, confidence: float,
) -> TableComparison:  # fmt: skip
    """Compare the learners of a table of scores; `how` it was cut, and arguments that are for other designs."""
    from foldshift.inference.score_tables.score_comparison import compare_table
    from foldshift.inference.score_tables.stated_cut import with_stated_cut

    wrong = [name for name, value in how[1].items() if value is not None and value is not True]
    if wrong:
        why = "its columns name the learners" if wrong == ["names"] else "give the scores of either learner as an array"
        raise ValueError(f"{', '.join(wrong)} cannot be used with a table of scores; {why}")
    strange = [name for name in columns if name not in TableColumns.__annotations__]
    if strange:
        raise TypeError(unknown("argument", strange[0], TableColumns.__annotations__))
    if cuts_anew(how[0]["cv"]) and not how[1]["same_folds"]:
        what = f"cv={how[0]['cv']!r} has no random state, so that it cuts anew for every learner and there is nothing to pair"
        raise DataError(f"{what}; give it a random_state, or say same_folds=True if all learners had the same folds")
    table = with_stated_cut(frame, columns, sizes, how[0])
    return compare_table(table.frame, table.columns, metric=metric, sizes=table.sizes, rope=rope, confidence=confidence)


def _by_name(scores: Any, names: Sequence[str] | None, design: str) -> tuple[Any, Any, Sequence[str] | None]:
    """Read the scores of both learners, or of all as a table, and their names from a dict or a data frame that has them."""
    if design == "folds" and isinstance(scores, pd.DataFrame) and column_names(scores) and not of_cross_validate(scores):
        scores = {name: scores[name] for name in scores}
    if isinstance(scores, Mapping) and not of_cross_validate(scores):
        names = list(scores) if names is None else names
        if design == "folds":
            if len(scores) == 1:
                raise DataError(f"scores_a holds the scores of one learner, {next(iter(scores))!r}; it needs those of two")
            if len(scores) != 2:
                what = f"scores_a holds {len(scores)} learners; design='folds' compares two of them at a time; for all of them "
                call = "compare(pd.DataFrame(scores_a), ", Number("n_splits", "FOLDS"), ", ", Remedy("better", "higher"), ")"
                raise DataError(what, *call)
            return *scores.values(), names
        sizes = {key: np.shape(values) for key, values in scores.items()}
        if len(set(sizes.values())) != 1 or len(next(iter(sizes.values()))) != 1:
            raise ValueError(f"scores_a holds shapes {sizes}; expected (n_blocks,) for every learner, the same blocks")
        return np.column_stack([np.asarray(values, dtype=np.float64) for values in scores.values()]), None, names
    return scores, None, column_names(scores) if names is None and design != "folds" else names


def _names(given: Sequence[str] | None, k: int) -> tuple[str, ...]:
    names = tuple(f"{name}" for name in (given if given is not None else (_letter(i) for i in range(k))))
    if len(names) != k or len(set(names)) != k:
        raise ValueError(
            f"names has {len(names)} names, {len(set(names))} of them different; expected {k}, one for every learner"
        )
    return names


def _letter(i: int) -> str:
    return chr(ord("a") + i) if i < 26 else f"learner {i + 1}"
