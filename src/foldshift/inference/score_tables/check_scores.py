"""Check of printed scores: can they come from so many rows, classes and folds?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError, unknown
from foldshift.core.remedies import Given, Remedy
from foldshift.core.repr import readable
from foldshift.inference.score_tables.joint_means import means_together
from foldshift.inference.score_tables.score_counts import (
    EXACT,
    FoldKind,
    linear_sums,
    mean_of_fold_values,
    nearest_sum,
    plain_kinds,
    pooled_scores,
    reach_together,
    stratified_kinds,
)

if TYPE_CHECKING:
    from foldshift.core.remedies import Door
    from foldshift.core.types import FloatArray

NAMES = {
    "accuracy": "accuracy", "acc": "accuracy", "error": "error", "error_rate": "error", "err": "error",
    "sensitivity": "sensitivity", "sens": "sensitivity", "recall": "sensitivity", "tpr": "sensitivity",
    "specificity": "specificity", "spec": "specificity", "tnr": "specificity",
    "balanced_accuracy": "balanced_accuracy", "bacc": "balanced_accuracy", "precision": "precision", "ppv": "precision",
    "f1": "f1", "f1_score": "f1", "mcc": "mcc", "matthews_corrcoef": "mcc",
}  # fmt: skip
LINEAR = ("accuracy", "sensitivity", "specificity", "balanced_accuracy")
MOST_ROWS = 100_000
MOST_DECIMALS = 12
MOST_FREE = 120  # rows of a fold up to which all shares of the classes are looked at

Verdict = Literal["possible", "impossible", "not decided"]
Of = Literal["folds", "rows", "fold"]
OF = {"folds": "means over the folds", "rows": "scores of all rows together", "fold": "scores of one fold"}


@readable
class CheckedScores(NamedTuple):
    """Result of `check_scores`.

    Examples
    --------
    >>> check_scores({"accuracy": 0.915}, n=150, k=10, decimals=4).nearest
    {'accuracy': 0.913333333333}
    """

    verdict: Verdict  # of all scores together
    of: Of  # ``folds``: means over folds; ``rows``: of all rows at once; ``fold``: of one fold
    scores: dict[str, float]  # as given
    nearest: dict[str, float]  # nearest score that is possible, each alone
    alone: dict[str, Verdict]  # verdict on every score alone
    decimals: int
    reason: str  # what was not looked at; empty if everything was

    def sentences(self) -> list[str]:
        """Report the verdict in words; a list of str."""
        wrong = [name for name, verdict in self.alone.items() if verdict == "impossible"]
        digits = self.decimals + 3
        if wrong:
            near = ", ".join(f"{name} {self.scores[name]:.{self.decimals}f}: nearest possible is {self.nearest[name]:.{digits}f}"
                             for name in wrong)  # fmt: skip
            said = f"impossible: {near}"
        elif self.verdict == "impossible":
            said = f"impossible: each of {', '.join(self.scores)} is possible alone, but no counts give them together"
        else:
            said = self.verdict
        return [f"As {OF[self.of]}: {said}{f' ({self.reason})' if self.reason else ''}."]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row for each score."""
        rows = [(name, value, self.nearest[name], self.alone[name]) for name, value in self.scores.items()]
        return pd.DataFrame(rows, columns=["score", "printed", "nearest", "verdict"])


def check_scores(
    scores: Mapping[str, float],
    *,
    n: int | None = None,
    k: int | None = None,
    classes: Sequence[int] | None = None,
    decimals: int | None = None,
    repeats: int = 1,
    of: Literal["folds", "rows", "fold"] | None = None,
) -> CheckedScores:
    """Check whether printed scores can come from a data set of so many rows, cut into so many folds.

    Parameters
    ----------
    scores : dict of str to float
        Printed scores by name, from 0 to 1: accuracy, error, sensitivity (recall), specificity, balanced_accuracy, precision, f1;
        mcc, from -1 to 1.
    n : int, optional
        Rows of the data set; the sum of `classes` by default.
    k : int, optional
        Folds; without, or with ``of="rows"``, the scores are those of all rows together.
    classes : (int, int), optional
        Rows of the negative and of the positive class; needed for scores other than accuracy and error.
    decimals : int, optional
        Digits behind the point that were printed; by default as many as the longest score has, which misses zeros at its end.
    repeats : int, default=1
        Repetitions of the cross-validation over which scores are means.
    of : {"folds", "rows", "fold"}, optional
        ``folds``: means of the scores of the folds; ``rows``: of the predictions of all rows; ``fold``: of one of the folds.
        ``folds`` if there is a k.

    Returns
    -------
    checked : CheckedScores
        ``possible``, ``impossible`` with the nearest score that is possible, or ``not decided`` where too many counts would have
        to be listed.

    Raises
    ------
    DataError
        If a score is unknown or out of range, sizes do not fit, or a score needs the classes.

    Notes
    -----
    All counts of right rows are looked at, and all scores together: those of one fold, or of all rows, must come from one
    confusion matrix, and means from one for each fold. Sizes of folds differ by at most a row; with classes the folds are taken
    for stratified, in any way that shares the classes out within a row. Scores that are not defined count 0. Means of precision,
    f1 or mcc beside other scores: where the counts are too many to list, what lies outside the hull of what folds can give is
    impossible, and the rest is not decided. What is impossible in stratified folds may be possible in others, and is said to be
    so of one fold. "Possible" does not mean right. The question is that of [1]_.

    References
    ----------
    .. [1] Fazekas, A., Kovacs, G. (2024). Testing the consistency of performance scores reported for binary classification
       problems. Applied Soft Computing 164, 111993.

    Examples
    --------
    >>> check_scores({"accuracy": 0.9133}, n=150, k=10).verdict
    'possible'
    >>> check_scores({"accuracy": 0.75, "f1": 0.8}, classes=(10, 10), decimals=2, k=2, of="fold").verdict
    'impossible'
    >>> print(check_scores({"accuracy": 0.9150}, n=150, k=10, decimals=4).sentences()[0])
    As means over the folds: impossible: accuracy 0.9150: nearest possible is 0.9133333.
    """
    named = _names(scores)
    classes, n = _sizes(n, classes)
    _check_whole("repeats", repeats, 1, 10_000)
    if k is not None:
        _check_whole("k", k, 2, n)
    if of not in (None, *OF):
        raise DataError(Given("of", str(of)), f" must be one of {', '.join(OF)}")
    if of in ("folds", "fold") and k is None:
        raise DataError("scores of folds need the number of folds: ", Remedy("k", "NUMBER"))
    of = of or ("rows" if k is None else "folds")
    decimals = _decimals(named) if decimals is None else decimals
    _check_whole("decimals", decimals, 0, MOST_DECIMALS)
    wanted = {
        ("accuracy" if name == "error" else name): (1 - value if name == "error" else value) for name, value in named.items()
    }
    if classes is None and set(wanted) - {"accuracy"}:
        raise DataError(f"{sorted(set(wanted) - {'accuracy'})[0]} needs the rows of both classes: ", CLASSES)
    half = 0.5 * 10.0**-decimals
    if of == "rows":
        nearest, together, reason = _of_rows(wanted, classes, n, repeats, half)
    elif of == "fold":
        nearest, together, reason = _of_one_fold(wanted, classes, n, int(k or 2), half)
    else:
        nearest, together, reason = _of_folds(wanted, classes, n, int(k or 2), repeats, half)
    alone: dict[str, Verdict] = {}
    for name in named:
        key = "accuracy" if name == "error" else name
        near, complete = nearest[key]
        alone[name] = "possible" if abs(near - wanted[key]) <= half + EXACT else "impossible" if complete else "not decided"
    if "impossible" in alone.values():
        together = "impossible"
    elif "not decided" in alone.values() and together != "impossible":
        together = "not decided"
    if together == "impossible" and classes is not None and of != "rows":
        free = of == "fold" and _in_any_fold(wanted, classes, int(k or 2), half)
        stratified = "possible in a fold that is not stratified" if free else "for stratified folds"
        reason = f"{reason}; {stratified}" if reason else stratified
    found = {name: 1 - nearest["accuracy"][0] if name == "error" else nearest[name][0] for name in named}
    return CheckedScores(together, of, named, found, alone, decimals, reason)


class _Classes(Remedy):
    """Rows of both classes, which the command takes as two words."""

    def at(self, door: Door) -> str:
        """Write the remedy for a door."""
        return "--classes NEGATIVE POSITIVE" if door == "command" else "classes=(negative, positive)"


CLASSES = _Classes("classes", ("negative", "positive"))
Found = dict[str, tuple[float, bool]]  # nearest score, and whether all counts were looked at


def _of_rows(
    wanted: dict[str, float], classes: tuple[int, int] | None, n: int, repeats: int, half: float
) -> tuple[Found, Verdict, str]:
    """Check scores of all rows together; over repetitions means of such scores."""
    if classes is None or repeats > 1:
        kinds = [FoldKind(*(classes or (0, n)), repeats)]
        return _of_kinds([kinds], wanted, half)
    negative, positive = classes
    names, values = tuple(wanted), np.array(list(wanted.values()))
    nearest = np.full(len(names), np.inf)
    together = False
    tn = np.arange(negative + 1)
    for start in range(0, positive + 1, step := max(1, 500_000 // (negative + 1))):
        tp = np.arange(start, min(start + step, positive + 1))
        found = pooled_scores(negative, positive, names, np.repeat(tp, len(tn)), np.tile(tn, len(tp)))
        together |= bool((np.abs(found - values) <= half + EXACT).all(axis=1).any())
        gaps = np.abs(found - values)
        best = np.take_along_axis(found, gaps.argmin(axis=0)[None], axis=0)[0]
        nearest = np.where(gaps.min(axis=0) < np.abs(nearest - values), best, nearest)
    return {name: (float(near), True) for name, near in zip(names, nearest)}, "possible" if together else "impossible", ""


def _of_folds(
    wanted: dict[str, float], classes: tuple[int, int] | None, n: int, k: int, repeats: int, half: float
) -> tuple[Found, Verdict, str]:
    """Check means over folds."""
    ways = plain_kinds(n, k, repeats) if classes is None else stratified_kinds(*classes, k, repeats)
    if classes is not None and min(classes) < k and set(wanted) - {"accuracy"}:
        raise DataError(f"a class of {min(classes)} rows is missing from some of {k} folds, where scores of it are not defined; "
                        "check the scores of all rows: ", Remedy("of", "rows"))  # fmt: skip
    return _of_kinds(ways, wanted, half)


def _of_one_fold(
    wanted: dict[str, float], classes: tuple[int, int] | None, n: int, k: int, half: float
) -> tuple[Found, Verdict, str]:
    """Check scores of one fold, of any size that a fold has."""
    ways = plain_kinds(n, k, 1) if classes is None else stratified_kinds(*classes, k, 1)
    found: Found = dict.fromkeys(wanted, (np.inf, True))
    verdicts = set[Verdict]()
    for negative, positive in sorted({(kind.negative, kind.positive) for kinds in ways for kind in kinds}):
        own = None if classes is None else (negative, positive)
        nearest, together, _ = _of_rows(wanted, own, negative + positive, 1, half)
        verdicts.add(together)
        for name, (near, _) in nearest.items():
            if abs(near - wanted[name]) < abs(found[name][0] - wanted[name]):
                found[name] = (near, True)
    return found, "possible" if "possible" in verdicts else "impossible", ""


def _in_any_fold(wanted: dict[str, float], classes: tuple[int, int], k: int, half: float) -> bool:
    """Say whether one fold of any share of the classes can have the scores; False where the shares are too many to look at."""
    sizes = {sum(classes) // k, -(-sum(classes) // k)}
    if max(sizes) > MOST_FREE:
        return False
    shares = {(size - up, up) for size in sizes for up in range(max(0, size - classes[0]), min(size, classes[1]) + 1)}
    return any(_of_rows(wanted, share, sum(share), 1, half)[1] == "possible" for share in sorted(shares))


def _of_kinds(ways: list[list[FoldKind]], wanted: dict[str, float], half: float) -> tuple[Found, Verdict, str]:
    """Check means over folds for every way of sharing out the classes; one that fits is enough."""
    names = tuple(name for name in wanted if name in LINEAR)
    values = np.array([wanted[name] for name in names])
    found: Found = dict.fromkeys(wanted, (np.inf, True))
    verdicts, reasons = list[Verdict](), set[str]()

    def note(name: str, near: float, complete: bool) -> bool:
        before, whole = found[name]
        near = near if abs(near - wanted[name]) < abs(before - wanted[name]) else before
        found[name] = (near, whole and complete)
        return abs(near - wanted[name]) <= half + EXACT

    for kinds in ways:
        fits: Verdict = "possible"
        if names:
            fits = _linear(kinds, names, values, half, note)
        for name in wanted:
            if name not in LINEAR:
                near, complete = mean_of_fold_values(kinds, name, wanted[name])
                if not note(name, near, complete):
                    fits = "impossible" if complete else "not decided"
        if fits == "possible" and len(wanted) > max(len(names), 1):
            fits = means_together(kinds, tuple(wanted), np.array(list(wanted.values())), half)
        if fits == "not decided":
            reasons.add("too many counts to list")
        verdicts.append(fits)
    best: Verdict = "possible" if "possible" in verdicts else "not decided" if "not decided" in verdicts else "impossible"
    return found, best, "; ".join(sorted(reasons))


def _linear(kinds: list[FoldKind], names: tuple[str, ...], values: FloatArray, half: float, note: Any) -> Verdict:
    """Check scores that are sums over folds of right rows, each alone and all together."""
    fits = True
    for name, value in zip(names, values):
        own = linear_sums(kinds, (name,))
        if own is None:
            note(name, np.inf, False)
            fits = False
        else:
            fits &= note(name, nearest_sum(own.positive[:, 0], own.negative[:, 0], value), True)
    sums = linear_sums(kinds, names)
    if sums is None:
        return "not decided"
    return "possible" if fits and reach_together(sums, values - half, values + half) else "impossible"


def _names(scores: Mapping[str, float]) -> dict[str, float]:
    """Check names and values of the scores."""
    if not isinstance(scores, Mapping) or not scores:
        raise DataError("scores must be a dictionary of names and values, such as {'accuracy': 0.91}")
    named: dict[str, float] = {}
    for name, value in scores.items():
        key = str(name).strip().lower().replace(" ", "_").replace("-", "_")
        if key not in NAMES:
            raise DataError(unknown("score", str(name), NAMES))
        if isinstance(value, str) or np.ndim(value) or not np.isreal(value) or not np.isfinite(value):
            raise DataError(f"{name} is {value!r}; expected one finite number")
        lowest = -1 if NAMES[key] == "mcc" else 0
        if not lowest <= value <= 1:
            percent = "; in percent? Divide it by 100" if 1 < value <= 100 else ""
            raise DataError(f"{name} is {value:g}; these scores lie from {lowest} to 1{percent}")
        if NAMES[key] in named:
            raise DataError(f"{NAMES[key]} is given twice, under two names; give it once")
        named[NAMES[key]] = float(value)
    if {"accuracy", "error"} <= set(named):
        raise DataError("accuracy and error are one score; give one of them")
    return named


def _sizes(n: Any, classes: Any) -> tuple[tuple[int, int] | None, int]:
    """Check rows and classes."""
    if classes is not None:
        counts = tuple(np.ravel(np.asarray(classes, dtype=object)))
        if len(counts) != 2:
            raise DataError(f"classes has {len(counts)} values; expected the rows of the negative and of the positive class")
        for count in counts:
            _check_whole("classes", count, 1, MOST_ROWS)
        total = int(sum(counts))
        if n is not None and n != total:
            raise DataError(
                Given("n", str(n)), f" does not fit the classes, which have {total} rows; leave it out or correct one"
            )
        return (int(counts[0]), int(counts[1])), total
    if n is None:
        raise DataError("the number of rows is missing: ", Remedy("n", "ROWS"), " or ", CLASSES)
    _check_whole("n", n, 1, MOST_ROWS)
    return None, int(n)


def _check_whole(name: str, value: Any, low: int, high: int) -> None:
    """Refuse what is not a whole number between two ends."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not low <= value <= high:
        raise DataError(Given(name, str(value)), f" must be a whole number from {low} to {high}")


def _decimals(scores: dict[str, float]) -> int:
    """Digits behind the point of the longest score."""
    return min(
        max(len(np.format_float_positional(value, trim="-").partition(".")[2]) for value in scores.values()), MOST_DECIMALS
    )
