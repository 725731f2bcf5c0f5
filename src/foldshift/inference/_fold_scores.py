"""Reader for the scores of folds: arrays or results of scikit-learn, and the splitter that says how they are arranged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from foldshift.core.gate.numbers import as_numbers

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray, Splitter

    Cut = int | Splitter | Iterable[tuple[Array, Array]] | None  # number of folds, splitter, or rows of every (train, test)


class CutOptions(TypedDict):
    """Options of `fold_scores` that say how the data were cut and which scorer is meant; None for those not given."""

    cv: Cut
    n_splits: int | None
    n_repeats: int | None
    metric: str | None
    n_train: float | None
    n_test: float | None


class FoldScores(NamedTuple):
    """Result of `fold_scores`."""

    scores: FloatArray  # scores of the k folds of r repetitions; k = 1 for repeated hold-out; shape (r, k)
    # rows in a test part over rows in a training part, ``1 / (k - 1)`` for k folds; None if unknown (repeated hold-out without
    # sizes)
    overlap: float | None


def fold_scores(
    scores: Any,
    cv: Cut = None,
    n_splits: int | None = None,
    n_repeats: int | None = None,
    metric: str | None = None,
    name: str = "scores",
    *,
    n_train: float | None = None,
    n_test: float | None = None,
) -> FoldScores:
    """Arrange the scores of folds by repetition and fold; refuse scores that can be read in two ways.

    Flat scores are in the order of `cross_val_score`: the folds of the first repetition first. They need `cv`, `n_splits` or
    `n_repeats`, unless their number is prime. ``n_splits=1`` is repeated hold-out. `n_train` and `n_test` are rows of the parts
    (means if folds differ) and come before those of `cv`. Messages call the scores `name`.

    >>> from sklearn.model_selection import RepeatedKFold
    >>> read = fold_scores(range(10), cv=RepeatedKFold(n_splits=5, n_repeats=2))
    >>> read.scores.shape, read.overlap
    ((2, 5), 0.25)
    """
    if is_report(scores):
        values = _of_report(scores, metric, name)
        cv = scores.splitter if cv is None and n_splits is None and n_repeats is None else cv
    else:
        values = _values(scores, metric, name)
    design = _design(cv, n_splits, n_repeats, values.size, name)
    array = _shaped(values, design, name, n_train, n_test)
    bad = ~np.isfinite(array)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"{name} has {bad.sum()} NaN or infinite values, the first at {first} (a fit that failed?); leave that repetition "
            "out for all learners alike"
        )
    return FoldScores(array, _overlap(array.shape[1], design, n_train, n_test))


def is_report(scores: Any) -> bool:
    """Recognise a cross-validation report of skore, or one like it: it has metrics, and the splitter that cut its data."""
    return hasattr(scores, "metrics") and hasattr(scores, "splitter")


def of_cross_validate(scores: Any) -> bool:
    """Recognise what `cross_validate` returns, as a dict or as a frame that holds nothing else."""
    keys = [str(key) for key in (scores if isinstance(scores, Mapping) else getattr(scores, "columns", ()))]
    own = isinstance(scores, Mapping) or all(key.startswith(("test_", "train_", "fit_", "score_", "estimator")) for key in keys)
    return own and any(key.startswith("test_") for key in keys)


def cut_differently(a: Any, b: Any) -> bool:
    """Return True if the scores of two learners say that their folds hold different rows."""
    first, second = rows_of_folds(a), rows_of_folds(b)
    if first is None or second is None:
        return False
    same = len(first) == len(second)
    return not (same and all(np.array_equal(x, y) for pair in zip(first, second) for x, y in zip(*pair)))


def rows_of_folds(scores: Any) -> list[tuple[Array, Array]] | None:
    """Return the rows of every (train, test) that scores bring with them: a report, or `cross_validate` with its indices."""
    if isinstance(scores, Mapping) and isinstance(scores.get("indices"), Mapping):
        indices = scores["indices"]
        return [(_row_numbers(train), _row_numbers(test)) for train, test in zip(indices["train"], indices["test"])]
    return getattr(scores, "split_indices", None)


def cuts_anew(cv: Cut) -> bool:
    """Return True for a splitter that cuts in another way whenever it is asked: it shuffles without a fixed random state."""
    if not hasattr(cv, "get_n_splits") or not getattr(cv, "shuffle", True) or not hasattr(cv, "random_state"):
        return False
    return not isinstance(getattr(cv, "random_state", None), int | np.integer | np.random.SeedSequence)


def first_of_equal(cv: Cut, n_repeats: int) -> list[int]:
    """Return the positions of the repetitions that are the first of their partition; all where `cv` has no rows."""
    if cv is None or isinstance(cv, int | np.integer) or hasattr(cv, "get_n_splits"):
        return list(range(n_repeats))
    parts = [tuple(frozenset(map(int, _row_numbers(rows))) for rows in pair) for pair in cv]
    k = len(parts) // n_repeats
    if k * n_repeats != len(parts):
        return list(range(n_repeats))
    rows = [frozenset(parts[at : at + k]) for at in range(0, len(parts), k)]
    return [at for at, one in enumerate(rows) if one not in rows[:at]]


def _of_report(report: Any, metric: str | None, name: str) -> FloatArray:
    """Values of one metric of a report, one for every split."""
    if metric is None:
        raise ValueError(f"{name} is a report with several metrics; say which with metric=, such as 'accuracy' or 'rmse'")
    measure = getattr(report.metrics, str(metric), None)
    if not callable(measure):
        raise ValueError(f"metric={metric!r} is not among the metrics of {name}, a {type(report).__name__}")
    table = np.atleast_2d(np.asarray(measure(aggregate=None), dtype=np.float64))
    if len(table) != 1:
        raise ValueError(
            f"metric={metric!r} of {name} has {len(table)} values for each split; choose one that is a single number"
        )
    return table[0]


class _Design(NamedTuple):
    """Repetitions r, folds k and rows tested per row trained on (None if unknown), and the option that says so."""

    r: int | None
    k: int | None
    overlap: float | None
    said: str


def _values(scores: Any, metric: str | None, name: str) -> FloatArray:
    """Read the numbers of an array, or of one column of `cross_validate`, as float64."""
    if isinstance(scores, Mapping) or any(str(c).startswith("test_") for c in getattr(scores, "columns", ())):
        found = {str(key).removeprefix("test_"): key for key in scores if str(key).startswith("test_")}
        listed = ", ".join(map(repr, found))
        if not found:
            raise ValueError(f"{name} has no key that begins with 'test_'; expected what cross_validate returns, or an array")
        if metric is None and len(found) > 1:
            raise ValueError(f"{name} holds several metrics; say which with metric=, one of {listed}")
        metric = next(iter(found)) if metric is None else str(metric).removeprefix("test_")
        if metric not in found:
            raise ValueError(f"metric={metric!r} is not in {name}; it has {listed}")
        scores = scores[found[metric]]
    elif metric is not None:
        raise ValueError(f"metric={metric!r} is for what cross_validate returns; {name} is a {type(scores).__name__}")
    values = as_numbers(scores, name)
    if values.ndim not in (1, 2) or values.size == 0:
        raise ValueError(f"{name} has shape {values.shape}; expected (r, k), k folds of r repetitions, or their scores in a row")
    return values


def _design(cv: Cut, n_splits: int | None, n_repeats: int | None, size: int, name: str) -> _Design:
    for label, value in (("n_splits", n_splits), ("n_repeats", n_repeats)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1):
            raise ValueError(f"{label}={value!r} must be a whole number from 1")
    if cv is None:
        said = ", ".join(f"{label}={v}" for label, v in (("n_splits", n_splits), ("n_repeats", n_repeats)) if v is not None)
        return _Design(n_repeats, n_splits, None, said)
    if n_splits is not None or n_repeats is not None:
        raise ValueError("cv= already says how many folds and repetitions there are; give it, or n_splits= and n_repeats=")
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv={cv} must be 2 folds or more, a splitter, or the (train, test) rows of every fold")
        return _Design(1, int(cv), None, f"cv={cv}")
    if hasattr(cv, "get_n_splits"):
        return _of_splitter(cv, size)
    return _of_splits(cv, name)


def _of_splitter(cv: Splitter, size: int) -> _Design:
    """Repetitions and folds of a scikit-learn splitter or one like it."""
    from sklearn import model_selection as ms

    said = type(cv).__name__
    if isinstance(cv, ms.TimeSeriesSplit | ms.LeavePOut | ms.LeavePGroupsOut):
        raise ValueError(
            f"cv={said} has test parts that are not k folds of all rows, and no test here is for its scores; use k-fold, "
            "repeated k-fold or ShuffleSplit"
        )
    if isinstance(cv, ms.ShuffleSplit | ms.StratifiedShuffleSplit | ms.GroupShuffleSplit):
        default = 0.2 if isinstance(cv, ms.GroupShuffleSplit) else 0.1  # documented defaults of test_size
        return _Design(int(cv.n_splits), 1, _ratio(cv.test_size, cv.train_size, default), f"{said}(n_splits={cv.n_splits})")
    if isinstance(cv, ms.LeaveOneOut | ms.LeaveOneGroupOut):
        return _Design(1, size, None, said)
    total, r = int(cv.get_n_splits()), int(getattr(cv, "n_repeats", 1))
    k = total // r
    return _Design(r, k, None, f"{said}(n_splits={k}" + (f", n_repeats={r})" if r > 1 else ")"))


def _ratio(test: float | None, train: float | None, default: float) -> float | None:
    """Rows tested per row trained on, from shares or numbers of rows; None if one is a share and the other unknown."""
    if test is None and train is None:
        test = default
    if test is None and train is not None and train < 1:
        test = 1 - train
    if train is None and test is not None and test < 1:
        train = 1 - test
    if test is None or train is None or (test < 1) != (train < 1):
        return None
    return float(test / train)


def _of_splits(cv: Any, name: str) -> _Design:
    """Count the repetitions and folds of (train, test) pairs: a repetition ends when every row has been tested once."""
    try:
        parts = [(_row_numbers(train), _row_numbers(test)) for train, test in cv]
    except (TypeError, ValueError):
        raise ValueError(
            f"cv must be a number of folds, a splitter, or the (train, test) rows of every fold; got a {type(cv).__name__}"
        ) from None
    if not parts:
        raise ValueError(f"cv has no (train, test) pair left to say what {name} are; pass a list, not a generator that was used")
    rows = np.unique(np.concatenate([np.concatenate(part) for part in parts]))
    overlap = float(np.mean([len(test) for _, test in parts]) / np.mean([len(train) for train, _ in parts]))
    r, k = 0, 0
    tested: list[Array] = []
    for _, test in parts:
        tested.append(test)
        if sum(map(len, tested)) >= len(rows):
            if not np.array_equal(np.sort(np.concatenate(tested)), rows) or k not in (0, len(tested)):
                return _Design(len(parts), 1, overlap, f"cv of {len(parts)} hold-outs")
            r, k, tested = r + 1, len(tested), []
    if tested or k < 2:
        return _Design(len(parts), 1, overlap, f"cv of {len(parts)} hold-outs")
    return _Design(r, k, overlap, f"cv of {len(parts)} (train, test) pairs")


def _row_numbers(part: Any) -> Array:
    rows = np.atleast_1d(part)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _shaped(values: FloatArray, design: _Design, name: str, n_train: float | None, n_test: float | None) -> FloatArray:
    r, k = design.r, design.k
    if values.ndim == 2:
        if (r or len(values), k or values.shape[1]) != values.shape:
            wanted = f"({r or 'r'}, {k or 'k'})"
            turned = (r or values.shape[1], k or len(values)) == values.shape[::-1]
            hint = f"; it is the other way round: pass {name}.T" if turned else ""
            raise ValueError(f"{name} has shape {values.shape}, but {design.said} makes {wanted}, repetitions by folds{hint}")
        return values
    size = len(values)
    if r is None and k is None:
        if not (_prime(size) or size == 1 or _folds_of_sizes(n_train, n_test) == size):
            options = [f"{size // k} x {k}" for k in range(2, size) if size % k == 0]
            shown = ", ".join([options[0], "...", options[-1]] if len(options) > 3 else options)
            raise ValueError(
                f"{name} has {size} scores in a row: {size} folds of one partition, or {shown} repetitions x folds? Say so with "
                "cv= (the splitter, or a number of folds), or n_splits= and n_repeats="
            )
        r, k = 1, size
    elif r is None or k is None:
        known = r or k or 1  # one of the two is given
        if size % known:
            raise ValueError(f"{name} has {size} scores, which {design.said} does not divide")
        r, k = r or size // known, k or size // known
    if r * k != size:
        raise ValueError(f"{name} has {size} scores, but {design.said} makes {r * k}, {r} x {k} repetitions x folds")
    return values.reshape(r, k)


def _folds_of_sizes(n_train: float | None, n_test: float | None) -> int | None:
    """Number of folds with parts of these sizes; None if the sizes are not given."""
    if n_train is None or n_test is None:
        return None
    return round(n_train / n_test) + 1 if n_test > 0 else None


def _prime(n: int) -> bool:
    return n > 1 and all(n % i for i in range(2, int(n**0.5) + 1))


def _overlap(k: int, design: _Design, n_train: float | None, n_test: float | None) -> float | None:
    """Rows tested per row trained on, from the sizes if given, else from the design."""
    if (n_train is None) != (n_test is None):
        raise ValueError(f"n_train={n_train!r} and n_test={n_test!r} must both be given or neither")
    if n_train is not None and n_test is not None:
        for label, value in (("n_train", n_train), ("n_test", n_test)):
            if not (np.ndim(value) == 0 and 0 < value < np.inf):
                raise ValueError(f"{label}={value!r} must be a positive number of rows (the mean where folds differ)")
        return float(n_test / n_train)
    if design.overlap is not None:
        return design.overlap
    return 1 / (k - 1) if k > 1 else None
