"""Preparation: nothing lost, one order of rows whatever the source, scaling, and every refusal."""

import hashlib
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.core.errors import DataError
from foldshift.datasets.dataset import Dataset, read_prepared, write_prepared
from foldshift.datasets.prepare import SCALINGS, prepare
from foldshift.datasets.readers.raw_table import RawTable

QUICK = settings(max_examples=60, derandomize=True, deadline=None)
NUMBERS = st.one_of(st.integers(-5, 5).map(float), st.floats(-1e9, 1e9), st.just(float("nan")))
LABELS = st.sampled_from(["b", "a", "c", None])


def table(columns, target="y", notes=()):
    """Table of columns by name: numbers, or (labels, categories)."""
    frame, kinds = {}, {}
    for name, values in columns.items():
        if isinstance(values, tuple):
            frame[name], kinds[name] = pd.Categorical(values[0], categories=values[1]), "nominal"
        else:
            frame[name], kinds[name] = np.array(values, dtype=np.float64), "real"
    return RawTable(pd.DataFrame(frame), target, kinds, list(notes))


@st.composite
def tables(draw, task):
    """Tables with missing values and duplicates that can be prepared."""
    n = draw(st.integers(2, 12))
    columns = {
        "u": draw(st.lists(NUMBERS, min_size=n, max_size=n)),
        "v": (draw(st.lists(LABELS, min_size=n, max_size=n)), ["c", "a", "b"]),
        "y": (draw(st.lists(LABELS, min_size=n, max_size=n)), ["b", "a", "c"])
        if task == "classification"
        else draw(st.lists(NUMBERS, min_size=n, max_size=n)),
    }
    # two rows that make every table usable
    columns["u"] += [0.5, 2.5]
    columns["v"][0].extend(["a", "b"])
    if task == "classification":
        columns["y"][0].extend(["a", "b"])
    else:
        columns["y"] += [1.0, 2.0]
    return table(columns)


def same(one, other):
    """Report whether two data sets hold the same, except `rows`."""
    for field in fields(Dataset):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if field.name != "rows" and not np.array_equal(np.asarray(left, dtype=object), np.asarray(right, dtype=object)):
            return False
    return one.X.tobytes() == other.X.tobytes() and one.y.tobytes() == other.y.tobytes()


TASKS_TABLES = st.sampled_from(["regression", "classification"]).flatmap(lambda task: st.tuples(st.just(task), tables(task)))


@QUICK
@given(TASKS_TABLES, st.sampled_from(SCALINGS), st.randoms(use_true_random=False))
def test_shuffled_rows_of_a_source_give_the_same_data_set(task_and_table, scaling, random):
    task, source = task_and_table
    order = list(range(len(source.frame)))
    random.shuffle(order)
    shuffled = replace(source, frame=source.frame.iloc[order].reset_index(drop=True))
    assert same(prepare(source, "toy", task, scaling=scaling), prepare(shuffled, "toy", task, scaling=scaling))


@QUICK
@given(TASKS_TABLES)
def test_every_complete_row_is_kept_once_and_nothing_else(task_and_table):
    task, source = task_and_table
    data = prepare(source, "toy", task, scaling="none")
    assert sorted(data.rows.tolist()) == np.flatnonzero(source.complete()).tolist()
    assert len(data.rows) + data.n_dropped == len(source.frame)
    kept = source.frame.iloc[data.rows]
    assert data.X[:, 0].tolist() == kept["u"].tolist()
    assert [data.categories[1][int(code)] for code in data.X[:, 1]] == kept["v"].tolist()
    labels = [data.classes[code] for code in data.y] if task == "classification" else data.y.tolist()
    assert labels == kept["y"].tolist()


@QUICK
@given(tables("regression"))
def test_global_scaling_reaches_from_0_to_1_and_can_be_undone(source):
    raw, data = (prepare(source, "toy", "regression", scaling=scaling) for scaling in ("none", "global"))
    for values, unscaled, (low, high) in (
        (data.X[:, 0], raw.X[:, 0], data.feature_ranges[0]),
        (data.y, raw.y, data.target_range),
    ):
        assert (values.min(), values.max()) == (0, 1)
        assert (low, high) == (unscaled.min(), unscaled.max())
        np.testing.assert_allclose(values * (high - low) + low, unscaled, rtol=0, atol=4e-16 * max(abs(low), abs(high)))
    assert data.X[:, 1].tobytes() == raw.X[:, 1].tobytes()


def test_rows_are_in_the_order_of_the_sha256_of_their_text():
    source = table({"a": [1, 2, 3, 4], "n": (["x", "y", "x", "y"], ["x", "y"]), "y": [0.5, 1.5, 0.25, 7]})
    texts = ["1.0,x,0.5", "2.0,y,1.5", "3.0,x,0.25", "4.0,y,7.0"]
    order = sorted(range(4), key=lambda row: hashlib.sha256(texts[row].encode()).hexdigest())
    data = prepare(source, "toy", "regression")
    assert data.rows.tolist() == order == [1, 2, 3, 0]


def test_equal_rows_do_not_stand_together():
    # Side by side, TSCV would part every two copies of a sample, and what decides by the order of rows would take copies only.
    data = prepare(table({"a": [7, 3] * 500, "y": [1, 2] * 500}), "toy", "regression")
    alike = (np.diff(data.y) == 0).sum()  # of 999 neighbours; by chance 499.5, standard deviation 15.8
    assert abs(alike - 499.5) < 3 * 15.8


def test_the_first_of_equal_rows_stands_where_it_would_alone():
    values = np.arange(20.0)
    once = prepare(table({"a": values, "y": values}), "toy", "regression")
    twice = prepare(table({"a": np.r_[values, values], "y": np.r_[values, values]}), "toy", "regression")
    assert [row for row in twice.rows if row < 20] == once.rows.tolist()


def test_a_prepared_regression_set_holds_exact_values():
    source = table(
        {"a": [2, np.nan, 4, 3], "c": [5, 5, 5, 5], "n": (["q", "p", "p", "q"], ["q", "r", "p"]), "y": [10, 0, 30, 15]}
    )
    data = prepare(source, "toy", "regression", scaling="global")
    rows = {int(row): (x.tolist(), y) for row, x, y in zip(data.rows, data.X, data.y)}
    assert rows == {0: ([0, 0, 0], 0), 2: ([1, 0, 2], 1), 3: ([0.5, 0, 0], 0.25)}
    assert (data.X.dtype, data.y.dtype, data.rows.dtype) == (np.float64, np.float64, np.int64)
    assert data.X.flags.c_contiguous
    assert data.feature_names == ("a", "c", "n")
    assert data.kinds == ("real", "real", "nominal")
    assert data.categorical_features.tolist() == [False, False, True]
    assert data.categories == ((), (), ("q", "r", "p"))
    assert data.constant_features == ("c",)
    assert data.target_range == (10, 30)
    assert data.feature_ranges.tolist() == [[2, 4], [5, 5], [0, 2]]
    assert (data.n_dropped, data.classes, data.groups, data.notes) == (1, (), None, ())


@pytest.mark.parametrize("scaling", ["fold", "none"])
def test_other_scalings_leave_the_units_of_the_source(scaling):
    data = prepare(table({"a": [2, 4, 3], "y": [10, 30, 15]}), "toy", "regression", scaling=scaling)
    assert sorted(zip(data.X[:, 0], data.y)) == [(2, 10), (3, 15), (4, 30)]
    assert (data.scaling, data.target_range) == (scaling, (10, 30))


def test_classes_are_coded_in_the_order_of_the_header_without_those_that_do_not_occur():
    source = table({"a": [1, 2, 3], "y": (["no", "yes", "no"], ["yes", "maybe", "no"])})
    data = prepare(source, "toy", "classification")
    assert data.classes == ("yes", "no")
    assert data.y.dtype == np.int64
    assert {int(row): int(code) for row, code in zip(data.rows, data.y)} == {0: 1, 1: 0, 2: 1}
    assert data.target_range == (0, 0)


def test_groups_follow_their_rows_and_lose_those_that_are_dropped():
    source = table({"a": [1, np.nan, 3, 4], "y": [1, 2, 3, 4]})
    data = prepare(source, "toy", "regression", groups=[10, 20, 30, 40], scaling="none")
    assert data.groups.tolist() == [10 * y for y in data.y]


def test_negative_zero_is_zero():
    one, other = (prepare(table({"a": [zero, 1], "y": [1, zero]}), "toy", "regression", scaling="none") for zero in (0.0, -0.0))
    assert same(one, other)


def test_other_counts_than_expected_become_notes():
    source = table({"a": [1, 2, np.nan], "y": [1, 2, 3]}, notes=["a: 1 values outside the declared range [0, 1]"])
    data = prepare(source, "toy", "regression", expected_rows=3, expected_features=2)
    assert data.notes == (
        "a: 1 values outside the declared range [0, 1]",
        "2 rows without missing values, expected 3",
        "1 inputs, expected 2",
    )
    assert prepare(replace(source, notes=[]), "toy", "regression", expected_rows=2, expected_features=1).notes == ()


NAN, INF = float("nan"), float("inf")
FINITE = "only finite numbers can be used: fix the file, or say which text stands for a missing value, such as missing=['inf']"


@pytest.mark.parametrize(
    ("columns", "task", "message"),
    [
        ({"y": [1, 2]}, "regression", "no inputs, only the target 'y'; give a table with at least one more column"),
        (
            {"a": [NAN, 1], "y": [1, NAN]},
            "regression",
            "all 2 rows have missing values; missing are a 1, y 1 of 2; fill them in, or leave out columns: drop=['a']",
        ),
        ({"a": [], "y": []}, "regression", "0 of 0 rows without missing values; at least 2 are needed"),
        ({"a": [1, NAN], "y": [1, 2]}, "regression", "1 of 2 rows without missing values; at least 2 are needed"),
        ({"a": [1, 2], "y": [3, 3]}, "regression", "the target 'y' has one value, 3, in all 2 rows; nothing can be predicted"),
        (
            {"a": [1, 2], "y": [3, INF]},
            "regression",
            f"the target 'y' holds 1 infinite value, the first in row 2; {FINITE}",
        ),
        (
            {"a": [-INF, 2], "y": [3, 4]},
            "regression",
            f"input 'a' holds 1 infinite value, the first in row 1; {FINITE}",
        ),
        (
            {"a": [-1.5e308, 1.5e308], "y": [3, 4]},
            "regression",
            "input 'a' ranges from -1.5e+308 to 1.5e+308, too far for double precision; change its unit",
        ),
        (
            {"a": [1, 2], "y": (["p", "p"], ["p", "q"])},
            "regression",
            "the target 'y' is not numeric (e.g. 'p'); regression needs numbers; if it holds classes: task='classification'",
        ),
        (
            {"a": [1, 2, NAN], "y": (["p", "p", "q"], ["p", "q"])},
            "classification",
            "all rows are of class 'p'; at least two classes are needed",
        ),
        (
            {"a": [1, 2], "y": [1, 2]},
            "classification",
            "the target 'y' is numeric; classification needs labels: types={'y': 'nominal'}",
        ),
    ],
)
def test_a_table_from_which_nothing_can_be_learned_is_refused_by_name(columns, task, message):
    source = table(columns)
    with pytest.raises(DataError) as caught:
        prepare(source, "toy", task)
    assert str(caught.value) == f"data set toy: {message}"


def test_an_unknown_scaling_and_groups_of_another_length_are_refused():
    source = table({"a": [1, 2], "y": [1, 2]})
    with pytest.raises(DataError, match=r"^data set toy: scaling='z' must be one of global, fold, none$"):
        prepare(source, "toy", "regression", scaling="z")
    with pytest.raises(DataError, match=r"^data set toy: groups of shape \(3,\) for a table of 2 rows; give one per row$"):
        prepare(source, "toy", "regression", groups=[1, 2, 3])


# ---- files ----


@settings(max_examples=20, derandomize=True, deadline=None)
@given(TASKS_TABLES, st.booleans())
def test_a_written_data_set_is_read_back_whole_and_its_bytes_do_not_change(tmp_path_factory, task_and_table, grouped):
    task, source = task_and_table
    groups = np.arange(len(source.frame)) % 3 if grouped else None
    data = prepare(source, "toy", task, groups=groups, expected_rows=99)
    folder = tmp_path_factory.mktemp("prepared")
    for name in ("one.npz", "two.npz"):
        write_prepared(folder / name, data)
    again = read_prepared(folder / "one.npz")
    assert same(data, again)
    assert data.rows.tolist() == again.rows.tolist()
    assert (again.X.dtype, again.y.dtype, again.rows.dtype) == (data.X.dtype, data.y.dtype, data.rows.dtype)
    assert (folder / "one.npz").read_bytes() == (folder / "two.npz").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["one.npz", "two.npz"]


def test_a_prepared_file_holds_no_pickles_and_no_date(tmp_path):
    source = table({"a": [1, 2, 3], "n": (["p", "q", "p"], ["p", "q"]), "y": (["no", "yes", "no"], ["yes", "no"])})
    write_prepared(tmp_path / "toy.npz", prepare(source, "toy", "classification"))
    with np.load(tmp_path / "toy.npz", allow_pickle=False) as archive:
        assert all(archive[key].dtype.kind in "fiU" for key in archive.files)
        assert {member.date_time for member in archive.zip.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_failed_write_leaves_the_older_file_alone(tmp_path):
    data = prepare(table({"a": [1, 2], "y": [1, 2]}), "toy", "regression")
    write_prepared(tmp_path / "toy.npz", data)
    before = (tmp_path / "toy.npz").read_bytes()

    class Broken:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError):
        write_prepared(tmp_path / "toy.npz", replace(data, groups=Broken()))
    assert [path.name for path in tmp_path.iterdir()] == ["toy.npz"]
    assert (tmp_path / "toy.npz").read_bytes() == before


def test_declared_ranges_scale_inputs_and_nothing_else():
    source = table({"a": [2, 4, np.nan], "b": [1, 3, 9], "c": [7, 7, 7], "y": [1, 2, 3]})
    source.ranges = {"a": (0.0, 8.0), "c": (0.0, 14.0)}
    data = prepare(source, "mine", "regression")
    where = np.argsort(data.rows)
    assert data.X[where].tolist() == [[0.25, 0.0, 0.5], [0.5, 1.0, 0.5]]  # b by its values in complete rows
    assert data.feature_ranges.tolist() == [[0, 8], [1, 3], [0, 14]] and data.constant_features == ("c",)
    raw = prepare(source, "mine", "regression", scaling="none")
    assert raw.X[np.argsort(raw.rows)].tolist() == [[2, 1, 7], [4, 3, 7]]


def test_values_outside_the_declared_range_they_are_to_be_scaled_by_are_refused():
    source = table({"a": [2, 4], "y": [1, 2]})
    source.ranges = {"a": (0.0, 3.5)}
    message = "^data set mine: input 'a' has values from 2 to 4, the file declares 0 to 3.5; leave out ranges=declared$"
    with pytest.raises(DataError, match=message):
        prepare(source, "mine", "regression")
