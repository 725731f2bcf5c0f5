"""Columns that give the target away, by their values or by what is missing in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldshift.partition.methods.cosine_features import mid_ranks

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.core.types import BoolArray, FloatArray

GIVEN_AWAY = 0.99  # share of the target's variation that one column alone explains
NEARLY = 0.9  # of the variation of ranks; along a line, single far values could explain all
FEWEST_GAPS = 10  # rows with a gap, and without one
STRAY = 2  # test rows that a column may get wrong all the same, if chance gets at least ten times as many wrong
MOST_ROWS = 5000  # rows looked at: a tree is grown for every column
TREE_SEED = 0


def find_leaks(data: Data, rng: np.random.Generator) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find columns that alone predict the target: by their values, and by their gaps.

    A small tree is grown on half of the rows and tested on the other half. In a few dozen rows no tree gives a quantity exactly:
    there the order of the values decides.
    """
    rows = rng.permutation(data.n)[:MOST_ROWS]
    half = len(rows) // 2
    train, test = rows[:half], rows[half:]
    target, classes = data.target, data.task == "classification"
    make = DecisionTreeClassifier if classes else DecisionTreeRegressor
    if classes:
        chance = 1 - np.bincount(target[test].astype(int)).max() / len(test)
    else:
        chance = target[test].var()
    if not chance or len(np.unique(target[train])) < 2:
        return (), ()
    few = STRAY / len(test) if classes and chance * len(test) >= 10 * STRAY else 0.0
    by_value, by_gaps = list[str](), list[str]()
    for column in data.without_identifiers.columns:
        values = column.train.astype(np.float64)
        absent = np.isnan(values)
        if not classes and not column.categories and _same_order(values[rows], target[rows]):
            by_value.append(column.name)
            continue
        if not classes and _parted(absent[rows], target[rows]):
            by_gaps.append(column.name)
            continue
        tries = [(np.where(absent, np.nanmin(values) - 1 if (~absent).any() else 0.0, values), by_value)]
        if 0 < absent.sum() < data.n:
            tries.insert(0, (absent.astype(np.float64), by_gaps))
        for inputs, names in tries:
            model = make(max_leaf_nodes=max(64, 4 * len(data.classes)), min_samples_leaf=2, random_state=TREE_SEED)
            predicted = model.fit(inputs[train, None], target[train]).predict(inputs[test, None])
            error = (predicted != target[test]).mean() if classes else ((predicted - target[test]) ** 2).mean()
            if error <= max((1 - GIVEN_AWAY) * chance, few):
                names.append(column.name)
                break
    return tuple(by_value), tuple(by_gaps)


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
