"""Cuts by time, place, group and subset: exact shares, known shifts, reasons where there is no cut, and the table."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from foldshift.datasets import prepare
from foldshift.datasets.dataset import write_prepared
from foldshift.datasets.readers.parquet import read_frame
from foldshift.datasets.readers.read_options import make_options
from foldshift.studies.common.measure_structured_cuts import SHIFTS, cuts_of, measure_structured_cuts
from foldshift.studies.common.structured_cut_tables import WORDS, by_cut, structured_grid

ALL_OF_THEM = {"groups": "person", "time_on": "day", "space_on": ("east", "north"), "subset_on": "site"}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame({"east": rng.random(n), "north": rng.random(n), "day": rng.permutation(n), "site": ["a", "b", "b"] * 40})
    frame["person"] = [f"p{i}" for i in np.arange(n) // 10]
    frame["z"] = frame.day + rng.normal(size=n)  # an input that grows with time
    frame["y"] = frame.day / n + 10.0 * (frame.site == "b")
    return frame


def prepared(table, task="regression", **structure):
    return prepare(read_frame(table, options=make_options(structure), task=task, target="y"), "mine", task, scaling="none")


def measured(data, tmp_path, n_folds=(4,), n_runs=3):
    write_prepared(tmp_path / "data.npz", data)
    inputs = SimpleNamespace(data=tmp_path / "data.npz")
    rows = measure_structured_cuts(inputs, {}, n_folds=n_folds, n_runs=n_runs, master_seed=1)["structured_cuts"]
    return pd.concat([pd.DataFrame(row) for row in rows], ignore_index=True)


def test_every_structure_has_its_cuts_and_none_has_the_random_one(table):
    assert list(cuts_of(prepared(table, **ALL_OF_THEM))) == list(WORDS)
    assert list(cuts_of(prepared(table))) == ["CV"]
    assert list(cuts_of(prepared(table, time_on="day"))) == ["CV", "FORWARD"]


def test_parts_are_those_that_the_names_say(table):
    data = prepared(table, **ALL_OF_THEM)
    rng = np.random.default_rng(1)
    parts = {name: list(cutting(data, 3, rng)) for name, cutting in cuts_of(data).items()}
    for cut in parts["FORWARD"]:
        train, test = cut.rows[cut.folds == -1], cut.rows[cut.folds == 0]
        assert data.times[train].max() < data.times[test].min()
    (groups,) = parts["GROUPS"]
    assert all(len(set(groups.folds[data.groups == one])) == 1 for one in set(data.groups))
    assert np.bincount(groups.folds).tolist() == [40, 40, 40]
    for name, allowed in (("SAME", {True}), ("OTHER", {False}), ("ALL", {True, False})):
        assert len(parts[name]) == 6
        for cut in parts[name]:
            train, test = cut.rows[cut.folds == -1], cut.rows[cut.folds == 0]
            (subset,) = set(data.subsets[test].tolist())
            assert set((data.subsets[train] == subset).tolist()) == allowed
    tested = np.concatenate([cut.rows[cut.folds == 0] for cut in parts["ALL"]])
    assert sorted(tested.tolist()) == list(range(120))


def test_shifts_are_those_of_the_oracle_and_of_what_was_built_in(table, tmp_path):
    data = prepared(table, **ALL_OF_THEM)
    rows = measured(data, tmp_path)
    assert (rows["problem"] == "").all() and rows.groupby("cut").size().to_dict() == {**dict.fromkeys(WORDS, 3), "FORWARD": 1}
    of = by_cut(rows).set_index("cut")
    # Training on the other site: no target is shared.
    assert of.loc["OTHER", "target"] == 1 and of.loc["OTHER", "target_chance"] < 0.5 and of.loc["SAME", "target"] < 0.3
    # What grows with time is apart, and a cut at random hides it.
    assert of.loc["FORWARD", "ks_max"] > 0.95 and of.loc["CV", "ks_max"] < 0.5
    assert of.loc["FORWARD", "train_share"] == pytest.approx(np.mean([24, 48, 72, 96]) / 120)
    assert of.loc["CV", "ks_mean_ratio"] == pytest.approx(1, abs=0.25)
    (forward,) = rows[rows["cut"] == "FORWARD"].to_dict("records")
    order = np.argsort(data.times)
    expected = [ks_2samp(data.y[order[:at]], data.y[order[at : at + 24]]).statistic for at in (24, 48, 72, 96)]
    assert forward["target"] == pytest.approx(np.mean(expected), abs=1e-12)


def test_classes_are_compared_by_their_shares(table, tmp_path):
    data = prepared(table.assign(y=np.where(table.day < 60, "early", "late")), "classification", time_on="day")
    (row,) = measured(data, tmp_path, n_folds=(1,))[lambda rows: rows["cut"] == "FORWARD"].to_dict("records")
    assert row["target"] == 1 and row["n_parts"] == 1 and row["target_chance"] < 0.3


def test_the_same_rows_come_again_and_other_structure_leaves_them_alone(table, tmp_path):
    one = measured(prepared(table, **ALL_OF_THEM), tmp_path)
    assert one.equals(measured(prepared(table, **ALL_OF_THEM), tmp_path))


def test_a_cut_that_cannot_be_made_says_why_and_the_others_are_there(table, tmp_path):
    table.loc[table.index[:2], "site"] = "rare"
    rows = measured(prepared(table, groups="site", subset_on="person"), tmp_path, n_folds=(5,))
    assert rows.set_index("cut").loc["GROUPS", "problem"] == "3 groups are too few for 5 folds"
    assert rows[rows["cut"] == "SAME"]["problem"].tolist() == ["", "", ""]
    few = measured(prepared(table, subset_on="site"), tmp_path, n_folds=(5,))
    assert "subset 'rare' has 2 samples, fewer than the 5 folds" in few.groupby("cut")["problem"].first()["SAME"]
    grid = structured_grid(by_cut(few))
    texts = [[getattr(cell, "text", cell) for cell in row] for row in grid.rows]
    assert texts[0] == ["mine, 5 folds"] and texts[1][0] == "CV: at random" and texts[1][1] == "3 runs of 5 parts"
    assert len({len(row) for row in texts[1:]}) == 1 and "fewer than the 5 folds" in texts[2][1]
    assert by_cut(few).set_index("cut").loc["SAME", [*SHIFTS]].isna().all()
