"""Columns that give the target away, by their values, by what is missing in them, or together, as a sum or a product."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldshift.core.counting import bincount
from foldshift.partition.methods.cosine_features import mid_ranks

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.core.types import BoolArray, FloatArray, IntArray
    from foldshift.shift.columns import Column

GIVEN_AWAY = 0.99  # share of the target's variation that one column alone explains
MOST_WRONG = 0.03  # classes: share of the rows wrong by chance that may be wrong
FEWEST_WRONG, ENOUGH_WRONG = 10, 100  # rows wrong by chance: with fewer nothing is said, or no row may be wrong
# Words in names of predictions of the target, which give it away though they are often wrong, and the share that may be.
PREDICTED = {"pred", "preds", "predicted", "prediction", "predictions", "hat", "yhat", "ypred", "fitted", "residual", "residuals"}
MOST_WRONG_PREDICTED = 0.5
FEWEST_MARKED = 3  # rows of a class that a column marks
NEARLY = 0.9  # of the variation of ranks; along a line, single far values could explain all
FEWEST_GAPS = 10  # rows with a gap, and without one
MOST_ROWS = 5000  # rows looked at: a tree is grown for every column
FEW_LEAVES, MANY_LEAVES = 8, 64  # of trees: few follow no wrong rows, many follow a target that goes up and down
ENOUGH_ROWS = 200  # for the tree of few leaves; with fewer rows no row may be wrong
TREE_SEED = 0
FORMULA_SEED = 0  # of the rows that a formula is looked for in
EXACT = 1e-3  # standard deviations of the target that a formula may be wrong by: rounding, not noise
ROWS_EACH = 4  # rows for every column
FEWEST_WHOLE = 20  # rows without gaps
MOST_WHOLE, MOST_COLUMNS = 2000, 200  # rows and columns of a formula


def find_leaks(data: Data, rng: np.random.Generator) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find columns that alone predict the target: by their values, and by their gaps.

    A small tree is grown on each half of the rows and tested on the other half. In a few dozen rows no tree gives a quantity
    exactly: there the order of the values decides. A column with a name such as ``predicted_price`` need only do far better than
    chance.
    """
    rows = rng.permutation(data.n)[:MOST_ROWS]
    halves = (rows[: len(rows) // 2], rows[len(rows) // 2 :])
    by_value, by_gaps = list[str](), list[str]()
    for column in data.without_identifiers.columns:
        if data.task == "classification" and _marks_class(column, data):
            by_value.append(column.name)
            continue
        values = column.train.astype(np.float64)
        absent = np.isnan(values)
        has_gaps = 0 < absent.sum() < data.n
        quantities = data.task == "regression" and not column.categories
        if has_gaps and (
            (data.task == "regression" and _parted(absent[rows], data.target[rows]))
            or _given_away(absent.astype(np.float64), halves, data)
        ):
            by_gaps.append(column.name)
        elif (quantities and _same_order(values[rows], data.target[rows])) or _given_away(
            np.where(absent, np.nanmin(values) - 1 if (~absent).any() else 0.0, values), halves, data, _is_predicted(column.name)
        ):
            by_value.append(column.name)
    return tuple(by_value), tuple(by_gaps)


def _marks_class(column: Column, data: Data) -> bool:
    """Return True if a column of two values says exactly which rows are of one class, and bears its name or the target's."""
    values, codes = np.unique(column.train, return_inverse=True)
    if len(values) != 2:
        return False
    name, marks = f" {plain(column.name)} ", codes.ravel() == 1
    for code, label in enumerate(data.classes):
        own = data.target == code
        if own.sum() >= FEWEST_MARKED and ((own == marks).all() or (own != marks).all()):
            return f" {plain(label)} " in name or f" {plain(data.name)} " in name
    return False


def plain(name: object) -> str:
    """Write a name in small letters, with one blank between its words."""
    return " ".join(re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", str(name)).lower()))


def _is_predicted(name: str) -> bool:
    return bool(PREDICTED.intersection(plain(name).split()))


def _given_away(values: FloatArray, halves: tuple[IntArray, IntArray], data: Data, is_predicted: bool = False) -> bool:
    """Return True if a tree of few leaves, or one of many, on one column predicts the target in nearly every row.

    If the column `is_predicted`, by its name: in far more rows than chance.
    """
    if is_predicted and _predicts(values, halves, data, max(FEW_LEAVES, 4 * len(data.classes)), 5, MOST_WRONG_PREDICTED):
        return True
    few = max(FEW_LEAVES, 4 * len(data.classes))
    sizes = ((few, 5), (max(MANY_LEAVES, few), 2))
    return any(_predicts(values, halves, data, *size) for size in (sizes if len(values) >= ENOUGH_ROWS else sizes[1:]))


def _predicts(
    values: FloatArray, halves: tuple[IntArray, IntArray], data: Data, n_leaves: int, least: int, allowed: float | None = None
) -> bool:
    """Return True if a tree of at most `n_leaves`, of at least `least` rows each, predicts the target in nearly every row.

    `allowed` is the share of what is wrong by chance that may be wrong, at any number of rows.
    """
    wrong = chance = 0.0
    classes = data.task == "classification"
    make = DecisionTreeClassifier if classes else DecisionTreeRegressor
    for train, test in (halves, halves[::-1]):
        truth = data.target[test]
        by_chance = len(test) - bincount(truth.astype(int)).max() if classes else ((truth - truth.mean()) ** 2).sum()
        model = make(max_leaf_nodes=n_leaves, min_samples_leaf=least, random_state=TREE_SEED)
        predicted = model.fit(values[train, None], data.target[train]).predict(values[test, None])
        wrong += (predicted != truth).sum() if classes else ((predicted - truth) ** 2).sum()
        chance += by_chance
        if wrong > (allowed or (MOST_WRONG if classes else 1 - GIVEN_AWAY)) * 2 * by_chance:
            return False
    if allowed is not None:
        return bool(wrong <= allowed * chance)
    if classes:
        return bool(chance >= FEWEST_WRONG and wrong <= (MOST_WRONG * chance if chance >= ENOUGH_WRONG else 0))
    return bool(wrong <= (1 - GIVEN_AWAY) * chance)


def _same_order(values: FloatArray, target: FloatArray) -> bool:
    """Return True if a column, or its ranks, explain 99 % of the target's variation along a line, gaps aside."""
    known = ~np.isnan(values)
    if known.mean() < GIVEN_AWAY or len(np.unique(values[known])) < 3 or not np.ptp(target[known]):
        return False
    values, target = values[known], target[known]
    by_rank = np.corrcoef(mid_ranks(values), mid_ranks(target))[0, 1] ** 2
    return bool(by_rank >= GIVEN_AWAY or (by_rank >= NEARLY and np.corrcoef(values, target)[0, 1] ** 2 >= GIVEN_AWAY))


def _parted(absent: BoolArray, target: FloatArray) -> bool:
    """Return True if targets of rows with a gap are all above, or all below, those of the others: 99 % of the pairs."""
    n_absent, n = int(absent.sum()), len(target)
    if min(n_absent, n - n_absent) < FEWEST_GAPS:
        return False
    above = (mid_ranks(target)[absent].sum() - n_absent * (n_absent + 1) / 2) / (n_absent * (n - n_absent))
    return bool(max(above, 1 - above) >= GIVEN_AWAY)


def find_formula(data: Data, known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Find the fewest quantities whose weighted sum, or product of powers, is the target; not those that are `known`.

    The weights come from each half of the rows, and are tested on the other half.
    """
    columns = [column for column in data.without_identifiers.columns if not column.categories and column.name not in known]
    if data.task != "regression" or not 1 < len(columns) <= MOST_COLUMNS:
        return ()
    values = np.column_stack([column.train for column in columns]).astype(np.float64)
    whole = np.flatnonzero(~np.isnan(values).any(axis=1))
    rows = np.random.default_rng(FORMULA_SEED).permutation(whole)[:MOST_WHOLE]
    varies = np.array([len(rows) > 0 and np.ptp(one) > 0 for one in values[rows].T])
    for is_product in (False, True):
        used = np.flatnonzero(varies & ((values[rows] > 0).all(axis=0) | (not is_product)))
        target, some = data.target[rows], values[rows][:, used]
        if len(rows) < max(FEWEST_WHOLE, ROWS_EACH * len(used)) or len(used) < 2 or (is_product and (target <= 0).any()):
            continue
        if is_product:
            target, some = np.log(target), np.log(some)
        found = _fewest(some, target)
        if len(found):
            return tuple(columns[used[j]].name for j in found)
    return ()


def _fewest(values: FloatArray, target: FloatArray) -> IntArray:
    """Return the fewest columns, by the size of their terms, whose weighted sum is the target; none if it is not that of all."""
    centred = values - values.mean(axis=0)
    scales = centred.std(axis=0)
    scaled, spread = centred / scales, target.std()
    if spread == 0 or not _is_exact(scaled, target, spread):
        return np.array([], dtype=np.int64)
    weights = np.linalg.lstsq(scaled, target - target.mean(), rcond=None)[0]
    order = np.argsort(-np.abs(weights), kind="stable")
    # All of them are enough.
    enough = 1 + bisect_left(range(1, len(order)), True, key=lambda n: _is_exact(scaled[:, order[:n]], target, spread))
    return np.sort(order[:enough])


def _is_exact(values: FloatArray, target: FloatArray, spread: float) -> bool:
    """Say whether the sum with weights of each half of the rows gives the target of the other half."""
    half = len(target) // 2
    inputs = np.column_stack([np.ones(len(target)), values])
    for train, test in ((slice(half), slice(half, None)), (slice(half, None), slice(half))):
        weights = np.linalg.lstsq(inputs[train], target[train], rcond=None)[0]
        if np.sqrt(np.mean((inputs[test] @ weights - target[test]) ** 2)) > EXACT * spread:
            return False
    return True
