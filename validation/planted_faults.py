"""Tables with one planted fault each, and tables without a known fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from foldshift.advice.data import as_data
from foldshift.advice.issues import find_faults
from foldshift.datasets import load_dataset
from foldshift.datasets.catalogue import DEFAULT_CATALOGUE, read_catalogue
from foldshift.partition.folds import as_folds
from held_out_sets import CLASSES, CLEAN, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldshift.core.types import Array, PathLike, Splitter, TableLike

    Planted = tuple[Any, ...]  # X, y, and where needed groups and a splitter

EMBEDDED = ("sklearn:", "generated:")  # sources that need no host
SHUFFLED = KFold(5, shuffle=True, random_state=0)


def found_codes(X: TableLike, y: Array, groups: Array | None = None, cv: Splitter = SHUFFLED, grave: bool = False) -> set[str]:
    """Return the codes of the faults that are found in a table; those of notes too unless `grave`."""
    data = as_data(X, y, groups=groups)
    faults = find_faults(data, as_folds(cv, np.zeros((data.n, 1)), data.target, groups))
    return {fault.code for fault in faults if not grave or fault.severity != "note"}


def _plain(rng: np.random.Generator, n: int = 300) -> tuple[pd.DataFrame, Array]:
    X = pd.DataFrame(rng.standard_normal((n, 5)).round(6), columns=["height", "weight", "pulse", "lactate", "sodium"])
    return X, np.where(X.height + 0.7 * X.pulse + rng.standard_normal(n) > 0, "sick", "well")


def identifier(rng: np.random.Generator) -> Planted:
    """Numbers of the rows, shuffled."""
    X, y = _plain(rng)
    return X.assign(record=rng.permutation(len(X)) + 1000), y


def duplicates(rng: np.random.Generator) -> Planted:
    """Every tenth row occurs twice."""
    X, y = _plain(rng)
    return pd.concat([X, X[::10]], ignore_index=True), np.concatenate([y, y[::10]])


def near_duplicates(rng: np.random.Generator) -> Planted:
    """Every tenth row was measured twice, with an error in the sixth digit."""
    X, y = _plain(rng)
    again = X[::10] + 1e-6 * rng.standard_normal((len(X[::10]), 5))
    return pd.concat([X, again], ignore_index=True), np.concatenate([y, y[::10]])


def groups_cut(rng: np.random.Generator) -> Planted:
    """Sixty patients of five rows, and folds by rows."""
    X, y = _plain(rng)
    return X, y, np.arange(len(X)) // 5


def like_groups(rng: np.random.Generator) -> Planted:
    """A column with the number of the patient, and age and sex of each, and no groups."""
    X, y = _plain(rng)
    patient = rng.permutation(np.arange(len(X)) // 5)
    return X.assign(case_of=patient, age=rng.integers(20, 80, 60)[patient], sex=rng.choice(["f", "m"], 60)[patient]), y


def given_away(rng: np.random.Generator) -> Planted:
    """A column that is known only after the target."""
    X, y = _plain(rng)
    return X.assign(days_in_hospital=np.where(y == "sick", 5, 0) + rng.random(len(X))), y


def given_away_by_gaps(rng: np.random.Generator) -> Planted:
    """A column that is measured on the sick only."""
    X, y = _plain(rng)
    return X.assign(follow_up=np.where(y == "sick", rng.standard_normal(len(X)), np.nan)), y


def sorted_blocks(rng: np.random.Generator) -> Planted:
    """Rows in order of the class, folds without shuffling."""
    X, y = _plain(rng)
    order = np.argsort(y)
    return X.iloc[order].reset_index(drop=True), y[order], None, KFold(5)


def time(rng: np.random.Generator) -> Planted:
    """Rows with a date."""
    X, y = _plain(rng)
    return X.assign(taken=pd.date_range("2021-03-01", periods=len(X))), y


def rare_class(rng: np.random.Generator) -> Planted:
    """A class of three rows."""
    X, y = _plain(rng)
    y = y.astype(object)
    y[:3] = "dead"
    return X, y


def few_rows(rng: np.random.Generator) -> Planted:
    """Thirty rows."""
    X, y = _plain(rng, 30)
    return X, y


def scaled_before(rng: np.random.Generator) -> Planted:
    """Columns scaled on all rows."""
    X, y = _plain(rng)
    return (X - X.mean()) / X.std(ddof=0), y


PLANTED = {
    make.__name__: make
    for make in (
        identifier, duplicates, near_duplicates, groups_cut, like_groups, given_away, given_away_by_gaps, sorted_blocks, time,
        rare_class, few_rows, scaled_before,
    )
}  # fmt: skip


def clean_sets(mirror: PathLike | None = None, seed: int = 11) -> Iterator[tuple[str, TableLike, Array]]:
    """Yield name, X and y of every clean set; without a mirror no host is asked, and its data sets are left out."""
    for name, draw in {**CLASSES, **NUMBERS}.items():
        yield name, *draw(1000, np.random.default_rng(seed))
    catalogue = read_catalogue(DEFAULT_CATALOGUE)
    for name in CLEAN:
        if mirror is None and not catalogue[name].sources[0].startswith(EMBEDDED):
            continue
        data = load_dataset(name, mirror=mirror)
        X = pd.DataFrame(data.X, columns=data.feature_names)
        for column, kind in zip(data.feature_names, data.kinds):
            if kind == "nominal":
                X[column] = X[column].astype(int).astype(str)
        yield name, X, data.y
