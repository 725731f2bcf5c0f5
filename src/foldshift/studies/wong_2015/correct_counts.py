"""Intervals, comparisons, repetitions and average ranks from counts of correct predictions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foldshift.inference.comparisons.accuracy_tests import compare_independent, compare_matched, correctness_phi, loo_matched
from foldshift.inference.comparisons.paired import mcnemar, nadeau_bengio
from foldshift.inference.comparisons.ranks import critical_difference
from foldshift.inference.intervals.accuracy import accuracy_interval, large_sample
from foldshift.inference.repetitions.recommend import recommend_repetitions
from foldshift.studies.wong_2015.accuracy_rows import LEAVE_ONE_OUT, REPETITIONS

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray, IntArray, Rows
    from foldshift.inference.comparisons.accuracy_tests import AccuracyTest
    from foldshift.inference.comparisons.paired import McNemar, TTest
    from foldshift.inference.comparisons.ranks import CriticalDifference

INTERVALS = {
    "dataset": "Wong, data set (z)",
    "fold": "Wong, folds (t)",
    "wilson": "Wilson",
    "corrected": "Nadeau-Bengio, all repetitions",
}
# Test, formula and whether it is made on leave-one-out, by words in tables.
TESTS = {
    ("matched t over folds", "paper", False): "matched t over folds (Wong)",
    ("Nadeau-Bengio", "corrected", False): "Nadeau-Bengio, all repetitions",
    ("McNemar", "exact", False): "McNemar",
    ("independent z", "paper", False): "independent z (Wong)",
    ("McNemar", "exact", True): "leave-one-out: McNemar",
    ("independent z", "paper", True): "leave-one-out: independent z (Wong)",
    ("matched t over instances", "corrected", True): "leave-one-out: matched t (Wong, corrected)",
    ("matched t over instances", "paper", True): "leave-one-out: matched t as printed",
}


class LearnerCounts(NamedTuple):
    """Counts of one learner on one data set at one k (0: leave-one-out): arrays of shape (n_repetitions, n_folds).

    `right` is NaN where a fit was lost; `messages` says why.
    """

    dataset: str
    learner: str
    k: int
    right: FloatArray
    sizes: IntArray
    messages: list[str]


def intervals_table(folds: pd.DataFrame, level: float) -> pd.DataFrame:
    """Compute every interval of every learner, from the columns `FOLDS`.

    Accuracy and the first three intervals are of the first repetition; ``n_small`` counts folds (or totals of leave-one-out) that
    fail the large-sample conditions.
    """
    rows: Rows = []
    for dataset, learner, k, right, sizes, messages in _learner_counts(folds):
        row: dict[str, Any] = {"dataset": dataset, "learner": learner, "k": k, "n": int(sizes[0].sum()), "accuracy": np.nan}
        row |= {"n_small": np.nan, "large_sample": np.nan} | {
            f"{name}_{end}": np.nan for name in INTERVALS for end in ("low", "high")
        }
        row["repeated_accuracy"] = np.nan
        complete = _complete(right)
        if complete[0]:
            first, m = right[0], sizes[0]
            large = np.atleast_1d(large_sample(first, m))
            row |= {"accuracy": first.sum() / m.sum(), "n_small": float((~large).sum()), "large_sample": bool(large.all())}
            found = {
                "dataset": accuracy_interval(first, m, method="normal", confidence=level),
                "wilson": accuracy_interval(first, m, method="wilson", confidence=level),
            }
            if k != LEAVE_ONE_OUT:
                found["fold"] = accuracy_interval(first, m, "fold", confidence=level)
            row |= _ends(found)
        if k != LEAVE_ONE_OUT and complete.any():
            test = nadeau_bengio((right / sizes)[complete], k - 1, 1, confidence=level)
            row |= _ends({"corrected": test}) | {"repeated_accuracy": test.estimate}
        row |= {"n_repetitions": int(complete.sum()), "n_failed": int(np.isnan(right).sum()), "message": next(iter(messages), "")}
        rows.append(row)
    names = ["dataset", "learner", "k", "n", "accuracy", "n_small", "large_sample"]
    names += [f"{name}_{end}" for name in INTERVALS for end in ("low", "high")]
    return pd.DataFrame(rows, columns=[*names, "repeated_accuracy", "n_repetitions", "n_failed", "message"])


def comparisons_table(folds: pd.DataFrame, pairs: pd.DataFrame, level: float) -> pd.DataFrame:
    """Compare every pair of learners by every test; NaN where one of the two has no result.

    Nadeau-Bengio is over all complete repetitions, the other tests are made on the first one. ``phi`` is the correlation of being
    right on the same row.
    """
    by_learner = {(one.dataset, one.learner, one.k): one for one in _learner_counts(folds)}
    rows: Rows = []
    for pair in pairs.itertuples():
        keys = {"dataset": pair.dataset, "learner_a": pair.learner_a, "learner_b": pair.learner_b, "k": int(pair.k)}
        a, b = (by_learner[pair.dataset, name, pair.k] for name in (pair.learner_a, pair.learner_b))
        counts = np.array([pair.both, pair.only_a, pair.only_b, pair.neither])
        found, phi = _tests_of_pair(a.right, b.right, a.sizes, counts, pair.k == LEAVE_ONE_OUT)
        for test, formula, loo in TESTS:
            if loo == (pair.k == LEAVE_ONE_OUT):
                rows.append(
                    keys | {"test": test, "formula": formula} | _result(found.get((test, formula)), 1 - level) | {"phi": phi}
                )
    names = [
        "dataset",
        "learner_a",
        "learner_b",
        "k",
        "test",
        "formula",
        "difference",
        "statistic",
        "df",
        "p_value",
        "rejects",
        "phi",
    ]
    return pd.DataFrame(rows, columns=names)


def agreement_table(comparisons: pd.DataFrame, level: float) -> pd.DataFrame:
    """Count how often every test rejects, and how often two tests disagree, over data sets and pairs of learners."""
    keys = ["dataset", "learner_a", "learner_b"]
    labels = [TESTS[row.test, row.formula, row.k == LEAVE_ONE_OUT] for row in comparisons.itertuples()]
    comparisons = comparisons.assign(label=labels)
    rows: Rows = []
    for k in sorted(set(comparisons["k"]) - {LEAVE_ONE_OUT}):
        part = comparisons[comparisons["k"].isin([k, LEAVE_ONE_OUT])]
        p = part.set_index([*keys, "label"])["p_value"].unstack("label").reindex(columns=list(TESTS.values()))
        for a, b in itertools.product(TESTS.values(), repeat=2):
            there = p[[a, b]].notna().all(axis=1)
            rejects_a, rejects_b = (p.loc[there, name] <= 1 - level + 1e-12 for name in (a, b))
            only_a, only_b, n = int((rejects_a & ~rejects_b).sum()), int((rejects_b & ~rejects_a).sum()), int(there.sum())
            row = {"k": k, "test_a": a, "test_b": b, "n": n, "rejects_a": int(rejects_a.sum()), "rejects_b": int(rejects_b.sum())}
            share = 100 * (only_a + only_b) / n if n else np.nan
            rows.append(row | {"only_a": only_a, "only_b": only_b, "disagree_percent": share})
    names = ["k", "test_a", "test_b", "n", "rejects_a", "rejects_b", "only_a", "only_b", "disagree_percent"]
    return pd.DataFrame(rows, columns=names)


def repetitions_table(folds: pd.DataFrame) -> pd.DataFrame:
    """Compute the variance between partitions, and the gain of repeating, from the complete repetitions of every learner."""
    numbers = ["mean", "partition_variance", "partition_bound", "fixed_variance", "rho", "most_gain", "repetitions", "plug_in"]
    columns = [*numbers[:5], f"ratio_{REPETITIONS}", *numbers[5:]]
    rows: Rows = []
    for dataset, learner, k, right, sizes, _ in _learner_counts(folds):
        if k == LEAVE_ONE_OUT:
            continue
        complete = _complete(right)
        row: dict[str, Any] = {"dataset": dataset, "learner": learner, "k": k, "n_repetitions": int(complete.sum())}
        row |= dict.fromkeys(columns, np.nan)
        try:
            found = recommend_repetitions((right / sizes)[complete])
            values = (getattr(found, name) for name in numbers)
            row |= {name: np.nan if value is None else float(value) for name, value in zip(numbers, values)}
            row |= {f"ratio_{REPETITIONS}": found.curve(REPETITIONS), "note": found.note}
        except ValueError as error:  # fewer than two complete partitions
            row["note"] = str(error)
        rows.append(row)
    return pd.DataFrame(rows, columns=["dataset", "learner", "k", "n_repetitions", *columns, "note"])


def ranks_table(intervals: pd.DataFrame, level: float) -> tuple[pd.DataFrame, CriticalDifference | None]:
    """Rank the learners over the data sets by leave-one-out accuracy, the best first.

    Learners that share a letter in ``groups`` are not told apart. Data sets on which a learner has no accuracy are left out; the
    table is empty for fewer than two learners or data sets.
    """
    columns = [
        "learner",
        "average_rank",
        "mean_accuracy",
        "groups",
        "p_from_best",
        "n_datasets",
        "critical_difference",
        "chi2",
        "p_chi2",
        "f",
        "p_f",
    ]
    part = intervals[(intervals["k"] == LEAVE_ONE_OUT) & intervals["accuracy"].notna()]
    scores = part.pivot(index="dataset", columns="learner", values="accuracy").dropna()
    if min(scores.shape) < 2:
        return pd.DataFrame(columns=columns), None
    result = critical_difference(scores.to_numpy(), list(scores.columns), alpha=round(1 - level, 10))
    test, rows = result.friedman, []
    for i, name in enumerate(result.names):
        letters = "".join(_letter(g) for g, group in enumerate(result.groups) if i in group)
        own = name, result.average_ranks[i], scores[name].mean(), letters, result.p_values[0, i]
        rows.append((*own, result.n_blocks, result.difference, test.chi2, test.p_chi2, test.f, test.p_f))
    return pd.DataFrame(rows, columns=columns), result


def _learner_counts(folds: pd.DataFrame) -> Iterator[LearnerCounts]:
    """Yield the counts of every data set, learner and k, in the order of first appearance."""
    for (dataset, learner, k), part in folds.groupby(["dataset", "learner", "k"], sort=False, observed=True):
        part = part.sort_values(["repetition", "fold"], kind="stable")
        shape = part["repetition"].nunique(), -1
        messages = list(dict.fromkeys(part["message"][part["status"] != "ok"]))
        yield LearnerCounts(
            dataset,
            learner,
            int(k),
            part["n_correct"].to_numpy(np.float64).reshape(shape),
            part["n_test"].to_numpy().reshape(shape),
            messages,
        )


def _complete(right: FloatArray) -> BoolArray:
    """Mark the repetitions without a lost fit."""
    return ~np.isnan(right.sum(axis=1))


def _ends(found: dict[str, Any]) -> dict[str, float]:
    """Ends of intervals by column."""
    return {f"{name}_{end}": getattr(interval, end) for name, interval in found.items() for end in ("low", "high")}


def _tests_of_pair(
    right_a: FloatArray, right_b: FloatArray, sizes: IntArray, counts: FloatArray, loo: bool
) -> tuple[dict[tuple[str, str], AccuracyTest | McNemar | TTest], float]:
    """Compare one pair at one k: results by (test, formula) without those that cannot be computed, and phi."""
    found: dict[tuple[str, str], AccuracyTest | McNemar | TTest] = {}
    phi = np.nan
    complete = _complete(right_a) & _complete(right_b)
    if not np.isnan(counts).any():
        x_a, x_b = (np.repeat(right, counts.astype(np.int64)) for right in ((1, 1, 0, 0), (1, 0, 1, 0)))
        phi = correctness_phi(x_a, x_b)
        found["McNemar", "exact"] = mcnemar(x_a, x_b)
        if loo:
            found["matched t over instances", "corrected"] = loo_matched(x_a, x_b, formula="corrected")
            found["matched t over instances", "paper"] = loo_matched(x_a, x_b, formula="paper")
    if complete[0]:
        a, b, m = right_a[0], right_b[0], sizes[0]
        found["independent z", "paper"] = compare_independent(a, m, b, m)
        if not loo:
            found["matched t over folds", "paper"] = compare_matched(a, b, m)
    if not loo and complete.any():
        differences = ((right_a - right_b) / sizes)[complete]
        found["Nadeau-Bengio", "corrected"] = nadeau_bengio(differences, sizes.shape[1] - 1, 1)
    return found, phi


def _result(test: AccuracyTest | McNemar | TTest | None, alpha: float) -> dict[str, Any]:
    """Make the columns of a test; NaN where there is none."""
    if test is None:
        return dict.fromkeys(("difference", "statistic", "df", "p_value", "rejects"), np.nan)
    numbers = {
        "difference": test.estimate,
        "statistic": test.statistic,
        "df": getattr(test, "df", np.nan),
        "p_value": test.p_value,
    }
    return numbers | {"rejects": bool(test.p_value <= alpha + 1e-12)}


def _letter(index: int) -> str:
    """Letter of a group of learners."""
    return chr(ord("a") + index % 26)
