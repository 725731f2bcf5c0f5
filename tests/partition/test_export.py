"""Exports of folds, read again by the programs that they are for, where those are installed."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, PredefinedSplit, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

from foldshift.partition import ForwardBlockKFold, SpatialBlockKFold, as_splits, export_folds, make_folds

N = 30
X = np.random.default_rng(0).random((N, 2))
ROWS = np.random.default_rng(1).permutation(50)[:N]
CUTS = {
    "folds": make_folds("CV", X, None, 3, seeds=range(2)),
    "untested": np.where(np.arange(N) < 6, -1, np.arange(N) % 4),
    "forward": as_splits(ForwardBlockKFold(3, gap=2), X),
    "buffer": as_splits(SpatialBlockKFold(3, block_size=0.3, buffer=0.1, random_state=0), X, groups=X),
    "shuffled": as_splits(ShuffleSplit(4, test_size=0.2, random_state=0), X),
}


def splits_of(cut):
    return as_splits(cut, X) if isinstance(cut, np.ndarray) else cut


@pytest.mark.parametrize("name", CUTS)
def test_openml_reads_its_arff(name, tmp_path):
    reader = pytest.importorskip("openml.tasks.split").OpenMLSplit
    file = tmp_path / "splits.arff"
    file.write_text(export_folds(CUTS[name], "openml", rows=ROWS))
    found, splits = reader._from_arff_file(file), splits_of(CUTS[name])
    numbers = zip(splits.repeat, splits.fold) if name != "shuffled" else ((repeat, 0) for repeat in range(4))
    for (repeat, fold), train, test in zip(numbers, splits.train, splits.test):
        rows = found.get(repeat, fold)
        assert set(rows.train) == set(ROWS[train]) and set(rows.test) == set(ROWS[test])
    assert sum(len(of_repeat) for of_repeat in found.split.values()) == len(splits.test)


def test_an_arff_of_splits_is_as_openml_writes_them():
    expected = """@RELATION foldshift_splits

@ATTRIBUTE type {TRAIN,TEST}
@ATTRIBUTE rowid NUMERIC
@ATTRIBUTE repeat NUMERIC
@ATTRIBUTE fold NUMERIC

@DATA
TRAIN,1,0,0
TRAIN,2,0,0
TEST,0,0,0
TRAIN,0,0,1
TEST,1,0,1
TEST,2,0,1
"""
    assert export_folds([0, 1, 1], "openml") == expected


@pytest.mark.parametrize("name", CUTS)
def test_a_csv_holds_every_part(name):
    table = pd.read_csv(io.StringIO(export_folds(CUTS[name], rows=ROWS)), keep_default_na=False)
    splits = splits_of(CUTS[name])
    assert (table["row"] == ROWS + 1).all()
    if splits.folds is not None:
        assert (splits.folds == table.drop(columns="row").to_numpy().T).all()
        return
    for column, train, test in zip(table.columns[1:], splits.train, splits.test):
        assert ((table[column] == "train") == train).all() and ((table[column] == "test") == test).all()


def test_r_code_gives_manual_rset_one_list_of_positions_from_one_for_every_split():
    """The call is that of the help page of `rsample::manual_rset`."""
    text = export_folds([0, 1, 1, -1], "rsample", rows=[0, 1, 3, 5], names=["first", 'the "other"'])
    assert (
        text
        == """# Splits for the R package rsample. In R: source("splits.R"); folds <- foldshift_splits(data)
foldshift_splits <- function(data) {
  stopifnot(nrow(data) >= 6L)
  indices <- list(
    list(
      analysis = c(2L, 4L, 6L),
      assessment = c(1L)
    ),
    list(
      analysis = c(1L, 6L),
      assessment = c(2L, 4L)
    )
  )
  splits <- lapply(indices, rsample::make_splits, data = data)
  rsample::manual_rset(splits, c("first", "the \\\\"other\\\\""))
}
""".replace("\\\\", "\\")
    )


@pytest.mark.parametrize("name", CUTS)
def test_r_code_holds_every_part_in_lines_that_a_person_can_read(name):
    text, splits = export_folds(CUTS[name], "rsample", rows=ROWS), splits_of(CUTS[name])
    parts = re.findall(r"(analysis|assessment) = c\(([^)]*)\)", text)
    assert len(parts) == 2 * len(splits.test) and max(map(len, text.splitlines())) < 130
    for (_, held), part in zip(parts[1::2], splits.test):
        assert sorted(int(row.strip("L ")) - 1 for row in held.replace("\n", " ").split(",")) == sorted(ROWS[part])


def autogluon_splits(text, structure, n_folds):
    """Splits that AutoGluon makes of a table with the column that was written."""
    module = pytest.importorskip("autogluon.common.utils.validation_structure")
    table = pd.read_csv(io.StringIO(text))
    found = module.ValidationStructure.from_input(structure).custom_splits(table, pd.Series(np.zeros(len(table))), n_folds)
    return found[0]


def test_autogluon_tests_the_same_folds():
    text = export_folds(CUTS["folds"][:1], "autogluon", rows=ROWS)
    assert text.startswith(f"row,fold\n{ROWS[0] + 1},{CUTS['folds'][0, 0]}\n")
    found = autogluon_splits(text, {"group_on": "fold"}, 3)
    assert {frozenset(test) for _, test in found} == {frozenset(np.flatnonzero(CUTS["folds"][0] == fold)) for fold in range(3)}


def test_autogluon_goes_forward_by_the_same_blocks():
    splits = as_splits(ForwardBlockKFold(3), X, groups=np.arange(N) // 2)
    text = export_folds(splits, "autogluon")
    assert text.startswith("row,block\n1,0\n")
    found = autogluon_splits(text, {"time_on": "block", "temporal_forward_only": True}, 3)
    for (train, test), our_train, our_test in zip(found, splits.train, splits.test, strict=True):
        assert sorted(train) == np.flatnonzero(our_train).tolist() and sorted(test) == np.flatnonzero(our_test).tolist()


@pytest.mark.parametrize(
    ("name", "words"), [("folds", "2; take seeds"), ("untested", "never tested"), ("forward", "neither"), ("buffer", "neither")]
)
def test_what_autogluon_cannot_read_is_refused(name, words):
    with pytest.raises(ValueError, match=words):
        export_folds(CUTS[name], "autogluon")


@pytest.mark.parametrize("name", CUTS)
def test_python_code_makes_the_same_splits(name):
    namespace, splits = {}, splits_of(CUTS[name])
    exec(export_folds(CUTS[name], "sklearn"), namespace)
    again = as_splits(namespace["cv"], X)
    assert (again.test == splits.test).all() and (again.train == splits.train).all()
    assert isinstance(namespace["cv"], PredefinedSplit) == (name == "untested")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 1], "R"), "unknown format 'R'"),
        (([[0, 1], [0, 2.5]],), "whole numbers"),
        (([-1, -1],), "no test part"),
        ((KFold(2),), "is a splitter"),
    ],
)
def test_what_is_no_folds_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        export_folds(*arguments)


@pytest.mark.parametrize("rows", [[0], [0, 0, 1], [-1, 0, 1], [0, 1, 2.5]])
def test_rows_that_are_no_positions_are_refused(rows):
    with pytest.raises(ValueError, match="rows"):
        export_folds([0, 1, 0], rows=rows)


def test_repetitions_of_a_splitter_are_seeds():
    repeated = as_splits(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), X)
    assert export_folds(repeated).startswith("row,seed_0,seed_1\n")
    assert export_folds(as_splits(TimeSeriesSplit(3), X)).startswith("row,seed_0_fold_0,seed_0_fold_1,seed_0_fold_2\n")
