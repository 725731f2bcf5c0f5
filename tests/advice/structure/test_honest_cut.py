"""The honest cut parts no group, goes forward, keeps places apart; its line of code gives the same folds."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

import foldshift.advice
import foldshift.partition
from foldshift.advice.data import as_data
from foldshift.advice.structure.find import find_structure
from foldshift.advice.structure.honest_cut import honest_cut, rows_together
from foldshift.advice.structure.record import Declared
from held_out_structures import development

KINDS = {"groups": "groups", "copies": "groups", "time": "time", "space": "space"}


def splits(cut, X, y):
    return list(cut.splitter.split(X, y, cut.groups))


def plain(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    return X, X.a.to_numpy() + rng.normal(size=n), rng


@pytest.mark.parametrize("name", ["00", "04", "09", "10", "14", "18", "20", "22", "26", "28", "32", "36", "38", "44", "48"])
def test_the_printed_code_gives_the_folds(name):
    table = next(one for one in development() if one.name.startswith(name))
    structure = find_structure(as_data(table.X, table.y, task=table.task))
    cut = honest_cut(structure, 5, 3)
    assert cut.kind == KINDS.get(table.structure[0], "rows")
    assert cut.drop == tuple(filter(None, [table.declared.get("leak")]))
    names = {"foldshift": foldshift, "X": table.X, "y": table.y, "groups": None}
    exec(f"{cut.line}\n{cut.groups_line}", names)
    again = list(names["cv"].split(table.X, table.y, names["groups"]))
    for one, other in zip(splits(cut, table.X, table.y), again, strict=True):
        assert all(map(np.array_equal, one, other))


def test_groups_and_copies_across_them_are_kept_together():
    X, y, _rng = plain()
    sites = np.arange(240) // 8
    X.iloc[100] = X.iloc[0]
    X.iloc[101:140] = X.iloc[101:140].to_numpy()
    X = pd.concat([X, X.iloc[:60] + 1e-5], ignore_index=True)
    y, sites = np.concatenate([y, y[:60]]), np.concatenate([sites, 100 + np.arange(60) // 6])
    structure = find_structure(as_data(X, y), Declared(groups=sites))
    together = rows_together(structure)
    assert (together[240:] == together[:60]).all()
    for train, test in splits(honest_cut(structure), X, y):
        assert not set(sites[train]) & set(sites[test])
        assert not set(together[train]) & set(together[test])


def test_times_are_kept_apart_by_a_gap():
    X, y, _ = plain()
    times = pd.Series(pd.date_range("2020-01-01", periods=240, freq="6h"))
    structure = find_structure(as_data(X, y), Declared(times=times))
    cut = honest_cut(structure)
    assert cut.line == "cv = foldshift.partition.ForwardBlockKFold(n_splits=5, gap='6h')"
    for train, test in splits(cut, X, y):
        assert times[train].max() < times[test].min() - pd.Timedelta("6h")


def test_few_times_have_fewer_blocks_and_no_gap():
    X, y, _rng = plain()
    years = np.repeat(np.arange(2018, 2022), 60)
    cut = honest_cut(find_structure(as_data(X, y), Declared(times=years)))
    assert cut.n_folds == 3 and "gap" not in cut.line
    assert len(splits(cut, X, y)) == 3


def test_places_are_kept_apart_by_a_buffer():
    X, y, rng = plain()
    places = rng.random((240, 2))
    cut = honest_cut(find_structure(as_data(X, y), Declared(coordinates=places)))
    for train, test in splits(cut, X, y):
        assert cdist(places[train], places[test]).min() > cut.splitter.buffer > 0


def test_there_are_no_more_folds_than_groups():
    X, y, _ = plain()
    cut = honest_cut(find_structure(as_data(X, y), Declared(groups=np.arange(240) % 3)), 10)
    assert cut.n_folds == 3 and len(splits(cut, X, y)) == 3


def test_what_was_declared_comes_before_what_was_found():
    X, y, rng = plain()
    X["site"] = np.repeat([f"S{j}" for j in range(24)], 10)
    data = as_data(X, y)
    assert honest_cut(find_structure(data)).kind == "groups"
    assert honest_cut(find_structure(data, Declared(times=np.arange(240)))).kind == "time"
    assert honest_cut(find_structure(data, Declared(coordinates=rng.random((240, 2))))).kind == "space"


def test_what_was_muted_does_not_decide():
    X, y, _ = plain()
    X["site"] = np.repeat([f"S{j}" for j in range(24)], 10)
    X["late"] = 3 * y
    structure = find_structure(as_data(X, y))
    assert not honest_cut(structure).is_plain
    assert honest_cut(structure.without({"G2"})).drop == ("late",)
    assert honest_cut(structure.without({"G2", "L1"})).is_plain


def test_groups_that_copies_link_all_are_refused_with_a_remedy():
    X, y, _ = plain(40)
    X.iloc[1::2] = X.iloc[::2].to_numpy()
    structure = find_structure(as_data(X, y), Declared(groups=(np.arange(40) + 1) // 2 % 20))
    with pytest.raises(ValueError, match="nothing can be held out"):
        honest_cut(structure)
    assert honest_cut(structure.without({"D1", "D2"})).kind == "groups"
