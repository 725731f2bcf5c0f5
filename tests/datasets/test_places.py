"""Columns of place, time and subset: read with the table, kept unscaled, and refused where they are none."""

import numpy as np
import pandas as pd
import pytest

from foldshift.core.errors import DataError
from foldshift.core.remedies import at
from foldshift.datasets import prepare, read_file
from foldshift.datasets.dataset import read_prepared, write_prepared
from foldshift.datasets.readers.read_options import make_options, parse_options
from foldshift.engine.storage.raw_table_files import read_raw, write_raw


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"east": 100 * rng.random(20).round(3), "north": rng.random(20).round(3), "site": list("ab") * 10})
    table["y"] = rng.random(20).round(3)
    table.loc[4, "north"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_places_follow_their_rows_unscaled_through_every_file(file, tmp_path):
    table = read_file(file, target="y", space_on=["east", "north"])
    write_raw(tmp_path / "raw.parquet", table)
    again = read_raw(tmp_path / "raw.parquet")
    assert again.space_on == table.space_on == ("east", "north") and again.features == ["east", "north", "site"]
    data = prepare(again, "mine", "regression")
    assert (data.coordinates == table.frame[["east", "north"]].to_numpy()[data.rows]).all() and len(data.y) == 19
    assert any("BLOCKS keeps near rows together" in note for note in data.notes)
    write_prepared(tmp_path / "data.npz", data)
    assert (read_prepared(tmp_path / "data.npz").coordinates == data.coordinates).all()


def test_tables_without_a_place_are_written_as_ever(file, tmp_path):
    table = read_file(file, target="y")
    write_raw(tmp_path / "raw.parquet", table)
    assert read_raw(tmp_path / "raw.parquet").space_on == () and b"space_on" not in (tmp_path / "raw.parquet").read_bytes()
    data = prepare(table, "mine", "regression")
    write_prepared(tmp_path / "data.npz", data)
    assert data.coordinates is None and "coordinates" not in np.load(tmp_path / "data.npz").files


def test_times_and_subsets_follow_their_rows_and_are_no_inputs(tmp_path):
    rng = np.random.default_rng(1)
    days = pd.date_range("2024-02-20", periods=20).to_series().sample(frac=1, random_state=1).dt.strftime("%Y-%m-%d").tolist()
    table = pd.DataFrame({"day": days, "site": [*"aab"] * 6 + ["b", "a"], "x": rng.random(20).round(3), "y": rng.random(20)})
    table.to_csv(tmp_path / "t.csv", index=False)
    table = read_file(tmp_path / "t.csv", target="y", time_on="day", subset_on="site")
    write_raw(tmp_path / "raw.parquet", table)
    again = read_raw(tmp_path / "raw.parquet")
    assert again.features == ["x"] and (again.time_on, again.subset_on, again.space_on) == ("day", "site", ())
    data = prepare(again, "mine", "regression")
    write_prepared(tmp_path / "data.npz", data)
    data = read_prepared(tmp_path / "data.npz")
    since = (pd.to_datetime(pd.Series(days)) - pd.Timestamp("1970-01-01")).dt.days
    assert data.times.tolist() == since[data.rows].tolist() and data.feature_names == ("x",)
    assert data.subsets.tolist() == np.array([*"aab"] * 6 + ["b", "a"])[data.rows].tolist()
    assert any("FORWARD" in note for note in data.notes) and any("SAME, OTHER and ALL" in note for note in data.notes)


def test_numbers_can_be_times_and_rows_without_one_are_dropped(file, tmp_path):
    data = prepare(read_file(file, target="y", time_on="north"), "mine", "regression")
    assert len(data.times) == 19 and data.times.max() <= 1 and "north" not in data.feature_names


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"time_on": "site"}, "'site', holds neither dates of one form nor numbers"),
        ({"time_on": "y"}, "the column of times, 'y', is the target"),
        ({"subset_on": "site", "groups": "site"}, "the column of subsets, 'site', is the column of groups"),
        ({"subset_on": "sit"}, "subset_on: unknown column 'sit'; did you mean site?"),
        ({"time_on": "east", "space_on": ["east", "north"]}, "the column of the place, 'east', is the column of times"),
        ({"time_on": "east", "drop": ["east"]}, "is among the dropped columns"),
    ],
)
def test_columns_that_are_no_time_or_subset_are_refused(file, options, words):
    with pytest.raises(DataError) as error:
        read_file(file, target="y", **options)
    assert words in at(error.value.message, "python")


def test_a_source_names_places_and_groups_in_the_words_of_the_command():
    options = parse_options("space_on=east,north&group_on=site")
    assert (options.space_on, options.groups) == (("east", "north"), "site")
    assert options == make_options({"space_on": ["east", "north"], "group_on": "site"})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"space_on": ["east", "nord"]}, "space_on: unknown column 'nord'; did you mean north?"),
        ({"space_on": ["east"]}, "two or three different columns"),
        ({"space_on": ["east", "east"]}, "two or three different columns"),
        ({"space_on": ["east", "y"]}, "'y', is the target"),
        ({"space_on": ["east", "site"]}, "'site', holds no numbers"),
        ({"space_on": ["east", "site"], "groups": "site"}, "is the column of groups"),
        ({"space_on": ["east", "north"], "drop": ["north"]}, "is among the dropped columns"),
    ],
)
def test_columns_that_are_no_place_are_refused(file, options, words):
    with pytest.raises(DataError) as error:
        read_file(file, target="y", **options)
    assert words in at(error.value.message, "python")
