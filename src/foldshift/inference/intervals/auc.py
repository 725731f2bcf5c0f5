"""Interval for a cross-validated area under the ROC curve, by influence curves (LeDell et al. 2015)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm, rankdata
from scipy.stats import t as student_t

from foldshift.core.arguments import check_confidence, check_one_of
from foldshift.core.gate.folds import is_tested, named_folds
from foldshift.core.gate.numbers import as_numbers
from foldshift.core.gate.rows import check_same_rows
from foldshift.core.gate.targets import class_labels
from foldshift.core.repr import readable
from foldshift.inference.intervals.score_inputs import refuse_columns
from foldshift.inference.intervals.score_interval import chosen_positive, labels_as_scores, of_other_class
from foldshift.inference.intervals.score_names import SCORES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import BoolArray, FloatArray, IntArray

TARGET = "mean area under the ROC curve of these models"
AREA = SCORES["roc_auc"]
FEW_ROWS = 1000  # more have not been simulated
KNOWN_LOW = (
    "Its coverage is known to be low: .91 to .94 on average, .83 at the lowest, in 200 samples of 150 rows each of three "
    "populations, where .95 is promised (make validate WHAT=coverage)."
)


@readable
class AUCInterval(NamedTuple):
    """Result of `auc_interval`."""

    # estimate, low, high, standard_error: Of the mean over folds (and repetitions) of the area under the ROC curve; ends are cut
    # at 0 and 1
    estimate: float
    low: float
    high: float
    standard_error: float
    n_rows: int  # n_rows, n_folds, n_repetitions: Folds that hold both classes, of all repetitions; the others have no area
    n_folds: int
    n_repetitions: int
    n_folds_left_out: int  # folds with one class only
    target: str  # the number that the interval should cover
    confidence: float  # probability of coverage aimed at
    note: str = ""  # cautions; empty if there are none

    def sentences(self) -> list[str]:
        """Report the interval in words; a list of str."""
        left = self.n_folds_left_out
        said = [
            f"Area under the ROC curve: {self.estimate:.4g}, {100 * self.confidence:g} % interval {self.low:.4g} to "
            f"{self.high:.4g}, for the {self.target}, not for the model trained on all rows."
        ]
        said += [f"{left} folds hold one class only and are left out."] if left else []
        said += [f"Note: {self.note}."] if self.note else []
        return [*said, KNOWN_LOW] if self.n_rows <= FEW_ROWS else said

    def to_frame(self) -> pd.DataFrame:
        """Table of one row with the fields."""
        return pd.DataFrame([self._asdict()])


def auc_interval(
    y: ArrayLike,
    scores: ArrayLike,
    folds: ArrayLike,
    *,
    pos_label: Any = None,
    variance: Literal["unbiased", "plain"] = "unbiased",
    ends: Literal["logit", "normal"] = "logit",
    confidence: float = 0.95,
) -> AUCInterval:
    """Interval of the cross-validated area under the ROC curve.

    Parameters
    ----------
    y : array-like of shape (N,)
        Classes, two of them.
    scores : array-like of shape (N,) or (r, N)
        Score or probability of the positive class of every row, from the model of the fold that the row is in; of r repetitions.
    folds : array-like of integer, of the shape of scores
        Fold of every row; plain or stratified. A row with -1 is never tested and left out, and needs no score.
    pos_label : object, optional
        Positive class; the larger of the two by default.
    variance : {"unbiased", "plain"}, default="unbiased"
        Squares of the influences are those about a mean that was estimated from the rows of a class in a fold, so that their sum
        is too small by one row for each fold, by half where a fold has two rows of a class: ``unbiased`` puts that right, as
        DeLong's variance does for a single test set; ``plain`` is that of [1]_.
    ends : {"logit", "normal"}, default="logit"
        ``logit``: symmetric about the log odds of the area, with Student's t and one degree of freedom for each row of the
        smaller class but one in every fold, so that few rows widen it and it never leaves 0 to 1; ``normal``: estimate plus or
        minus a normal quantile times its standard error, cut at 0 and 1, as in [1]_. Where .95 is promised, the first covered
        .92 on average with ten folds of 150 rows, the second .89, of three populations (`make validate WHAT=coverage`).
    confidence : float, default=0.95
        Probability of coverage aimed at.

    Returns
    -------
    interval : AUCInterval
        Each fold has its own area, ties count half, and a fold with one class has none. The influence of a row is that on the
        area of its fold, of repetitions the mean over them, as the rows are the same: repeating makes the interval no narrower
        than the rows allow.

    Raises
    ------
    ValueError
        If there are not two classes, shapes do not fit, a score is not finite, no fold holds both classes, or confidence is out
        of range.

    Notes
    -----
    The weights are the class shares of the fold. The R package ``cvAUC`` takes those of all rows and breaks ties upwards: the
    same for stratified folds of equal size without ties.

    References
    ----------
    .. [1] LeDell, E., Petersen, M., van der Laan, M. (2015). Computationally efficient confidence intervals for cross-validated
       area under the ROC curve estimates. Electronic Journal of Statistics 9, 1583-1607.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 2
    >>> found = auc_interval(y, y + rng.standard_normal(200), rng.integers(5, size=200))
    >>> found.n_folds, bool(found.low < 0.76 < found.high)
    (5, True)
    """
    check_confidence(confidence)
    check_one_of("variance", variance, ("unbiased", "plain"))
    check_one_of("ends", ends, ("logit", "normal"))
    check_same_rows(y=y, scores=scores, folds=folds)
    y, scores, folds = class_labels(y, "y"), as_numbers(scores, "scores"), named_folds(folds)
    if y.ndim == 1:
        refuse_columns(scores, len(y), np.unique(y), AREA, int(pos_label is None or pos_label == np.unique(y)[-1]), "scores")
    scores, folds = np.atleast_2d(scores), np.atleast_2d(folds)
    if y.ndim != 1 or scores.shape != folds.shape or scores.ndim != 2 or scores.shape[1] != len(y):
        raise ValueError(
            f"scores and folds have shapes {scores.shape} and {folds.shape} for y of shape {y.shape}; expected (rows,) or "
            "(repetitions, rows) of both, and one class for every row"
        )
    tested = is_tested(folds)
    ever = tested.any(axis=0)
    y, scores, folds, tested = y[ever], scores[:, ever], folds[:, ever], tested[:, ever]
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(f"y has shape {y.shape} and {len(classes)} classes; expected two classes among tested rows")
    positive = classes[1] if pos_label is None else pos_label
    if positive not in classes:
        raise ValueError(f"pos_label={pos_label!r} is not one of the classes {classes[0]!r} and {classes[1]!r}")
    if not np.isfinite(scores[tested]).all():
        count = int((~np.isfinite(scores[tested])).sum())
        raise ValueError(f"scores has {count} NaN or infinite values; every row that a fold tests needs a score")
    right = y == positive
    found = [_repetition(right, *one, variance == "unbiased") for one in zip(scores, folds, tested)]
    if not any(len(areas) for areas, _, _ in found):
        raise ValueError("no fold holds both classes; use stratified folds, or fewer")
    found = [one for one in found if len(one[0])]
    estimate = float(np.mean([areas.mean() for areas, _, _ in found]))
    influence = np.mean([one for _, one, _ in found], axis=0)
    error = float(np.sqrt((influence**2).mean() / len(y)))
    if ends == "logit":
        folds_per_repetition = np.mean([len(areas) for areas, _, _ in found])
        df = max(1.0, min(right.sum(), (~right).sum()) - folds_per_repetition)
        low, high = _on_log_odds(estimate, float(student_t.isf((1 - confidence) / 2, df)) * error)
    else:
        half = float(norm.isf((1 - confidence) / 2)) * error
        low, high = max(0.0, estimate - half), min(1.0, estimate + half)
    notes = labels_as_scores(AREA, [one[there] for one, there in zip(scores, tested)], "scores") + of_other_class(estimate, high)
    notes += chosen_positive(classes) if pos_label is None else []
    return AUCInterval(
        estimate,
        low,
        high,
        error,
        len(y),
        sum(len(areas) for areas, _, _ in found),
        len(scores),
        sum(left for _, _, left in found),
        TARGET,
        confidence,
        "; ".join(notes),
    )


def _on_log_odds(estimate: float, half: float) -> tuple[float, float]:
    """Ends of an interval that is symmetric about the log odds of an area; an area of 0 or 1 is its own interval."""
    if not 0 < estimate < 1:
        return estimate, estimate
    middle, half = np.log(estimate / (1 - estimate)), half / (estimate * (1 - estimate))
    return float(expit(middle - half)), float(expit(middle + half))


def _repetition(
    right: BoolArray, scores: FloatArray, folds: IntArray, tested: BoolArray, unbiased: bool
) -> tuple[FloatArray, FloatArray, int]:
    """Areas of the folds with both classes, influence of every row on their mean, and the number of folds left out.

    The influence curve is that of the mean of the folds' areas, with every fold's own class shares in the weights, so that it
    sums to 0 within each class of a fold.
    """
    N, names = len(right), np.unique(folds[tested])
    kept = [fold for fold in names if 0 < right[folds == fold].sum() < (folds == fold).sum()]
    influence, areas = np.zeros(N), []
    for fold in kept:
        rows = np.flatnonzero(folds == fold)
        of_fold, value = right[rows], scores[rows]
        n_right, n_wrong = int(of_fold.sum()), int((~of_fold).sum())
        ranks = rankdata(value)
        below = np.empty(len(rows))  # share of the other class that a row is on the right side of, ties one half
        below[of_fold] = (ranks[of_fold] - rankdata(value[of_fold])) / n_wrong
        below[~of_fold] = 1 - (ranks[~of_fold] - rankdata(value[~of_fold])) / n_right
        area = below[of_fold].mean()
        sizes = np.where(of_fold, n_right, n_wrong)
        influence[rows] = N / (len(kept) * sizes) * (below - area)
        areas.append(area)
    for of_class in (right, ~right) if unbiased else ():
        n = int((of_class & np.isin(folds, kept)).sum())
        if n > len(kept):  # else every fold has one row of the class, and their spread is unknown
            influence[of_class] *= np.sqrt(n / (n - len(kept)))
    return np.array(areas), influence, len(names) - len(kept)
