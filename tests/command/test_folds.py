"""The command `foldshift folds` where rows belong together: options of structure, formats, and mistakes."""

import io
import os

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from foldshift.command.main import MISTAKE, USAGE, main
from foldshift.partition import ForwardBlockKFold, SameOtherAllKFold, SpatialBlockKFold, as_splits, holdout

N = 60
RNG = np.random.default_rng(0)
DAYS = np.datetime64("2024-01-01") + RNG.integers(0, 40, N)
TABLE = pd.DataFrame(
    {
        "day": [str(day) for day in DAYS],
        "east": RNG.random(N).round(3),
        "north": RNG.random(N).round(3),
        "site": RNG.choice(["a", "b c"], N),
        "rank": RNG.permutation(N) // 2,
        "x": RNG.random(N).round(3),
        "y": RNG.random(N).round(3),
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    TABLE.to_csv(folder / "t.csv", index=False)
    TABLE.assign(y=np.where(np.arange(N) % 10 == 3, np.nan, TABLE.y)).to_csv(folder / "gaps.csv", index=False)
    TABLE.assign(east=np.where(np.arange(N) == 7, np.nan, TABLE.east)).to_csv(folder / "no_place.csv", index=False)
    return folder


def run(folder, *words):
    there = os.getcwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(main, ["folds", *words])
    finally:
        os.chdir(there)


def read(found):
    assert found.exit_code == 0, found.stderr
    return pd.read_csv(io.StringIO(found.stdout), keep_default_na=False)


def same_parts(table, splits):
    for column, train, test in zip(table.columns[1:], splits.train, splits.test, strict=True):
        assert ((table[column] == "train") == train).all() and ((table[column] == "test") == test).all()


@pytest.mark.parametrize(("column", "times"), [("day", DAYS.astype("M8[D]").astype(int)), ("rank", TABLE["rank"].to_numpy())])
def test_a_column_of_time_gives_splits_forward(folder, column, times):
    table = read(run(folder, "t.csv", "-t", "y", "--time-on", column, "--gap", "3", "-k", "4"))
    same_parts(table, as_splits(ForwardBlockKFold(4, gap=3), times, groups=times))
    assert list(table.columns) == ["row", *(f"seed_0_fold_{fold}" for fold in range(4))]


def test_seeds_of_a_cut_without_randomness_are_one(folder):
    found = run(folder, "t.csv", "-t", "y", "--time-on", "day", "--seeds", "5", "-k", "2")
    assert read(found).shape[1] == 3 and "no randomness" in found.stderr


def test_columns_of_the_place_give_blocks(folder):
    places = TABLE[["east", "north"]].to_numpy()
    whole = read(run(folder, "t.csv", "-t", "y", "--space-on", "east", "north", "-k", "3", "--seeds", "2"))
    for seed in range(2):
        splits = as_splits(SpatialBlockKFold(3, random_state=seed), places, TABLE.y, places)
        assert (whole[f"seed_{seed}"] == splits.folds[0]).all()
    words = ("--block-size", "0.25", "--buffer", "0.1")
    table = read(run(folder, "t.csv", "-t", "y", "--space-on", "east", "north", "-k", "3", *words))
    same_parts(table, as_splits(SpatialBlockKFold(3, block_size=0.25, buffer=0.1, random_state=0), places, groups=places))


def test_a_column_of_subsets_gives_same_other_and_all(folder):
    table = read(run(folder, "t.csv", "-t", "y", "--subset-on", "site", "-k", "2"))
    same_parts(table, as_splits(SameOtherAllKFold(2, random_state=0), TABLE, TABLE.y, TABLE.site))
    assert list(table.columns[1:4]) == ["seed_0_a_fold_0_same", "seed_0_a_fold_0_other", "seed_0_a_fold_0_all"]


def test_columns_to_balance_are_balanced_and_groups_have_two_names(folder):
    table = read(run(folder, "t.csv", "-t", "y", "--stratify-on", "site", "--stratify-on", "rank", "-k", "3", "--seeds", "20"))
    shares = [np.bincount(table[column][TABLE.site == "a"], minlength=3) for column in table.columns[1:]]
    assert np.ptp(shares, axis=1).max() <= 2
    by_chance = read(run(folder, "t.csv", "-t", "y", "-p", "CV", "-k", "3", "--seeds", "20"))
    assert np.ptp([np.bincount(by_chance[c][TABLE.site == "a"], minlength=3) for c in by_chance.columns[1:]], axis=1).max() > 2
    one, other = (run(folder, "t.csv", "-t", "y", name, "rank", "-k", "3").stdout for name in ("--groups", "--group-on"))
    assert one == other and (pd.read_csv(io.StringIO(one)).groupby(TABLE["rank"])["seed_0"].nunique() == 1).all()


@pytest.mark.parametrize("groups", [(), ("--group-on", "rank")])
def test_one_test_part_in_place_of_folds(folder, groups):
    found = run(folder, "t.csv", "-t", "y", "--test-size", "0.2", "--validation-size", "0.1", "--seeds", "3", *groups)
    table = read(found)
    y, labels = TABLE.y + 0.25, TABLE["rank"].astype(str) if groups else None
    for seed in range(3):
        sizes = {"test_size": 0.2, "validation_size": 0.1}
        parts = holdout(TABLE, **sizes, stratify=y, groups=labels, random_state=seed)
        for word, part in parts._asdict().items():
            assert (np.flatnonzero(table[f"seed_{seed}"] == word) == part).all()
    sklearn = run(folder, "t.csv", "-t", "y", "--test-size", "0.2", "--format", "sklearn").stdout
    namespace = {}
    exec(sklearn, namespace)
    ((train, test),) = as_pairs(namespace["cv"])
    assert (len(train), len(test)) == (48, 12)


def as_pairs(cv):
    splits = as_splits(cv, TABLE)
    return [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in zip(splits.train, splits.test)]


def test_rows_without_a_target_are_left_out_of_every_format(folder):
    kept = np.flatnonzero(np.arange(N) % 10 != 3)
    table = read(run(folder, "gaps.csv", "-t", "y", "--time-on", "rank", "-k", "2"))
    assert (table["row"] == kept + 1).all()
    arff = run(folder, "gaps.csv", "-t", "y", "--space-on", "east", "north", "-k", "2", "--format", "openml").stdout
    rows = {int(line.split(",")[1]) for line in arff.partition("@DATA\n")[2].split()}
    assert rows == set(kept)


@pytest.mark.parametrize("program", ["csv", "openml", "rsample", "autogluon", "sklearn"])
def test_every_program_gets_its_format(folder, program):
    found = run(folder, "t.csv", "-t", "y", "-k", "3", "--format", program)
    begin = {
        "csv": "row,seed_0\n",
        "openml": "@RELATION",
        "rsample": "# Splits for the R",
        "autogluon": "row,fold\n",
        "sklearn": "from sklearn",
    }
    assert found.exit_code == 0 and found.stdout.startswith(begin[program])


SPACE = ("--space-on", "east", "north")
MISTAKES = {
    "no such time": (("--time-on", "dat"), MISTAKE, "--time-on dat: unknown column 'dat'; did you mean day?"),
    "no such place": (("--space-on", "east", "nord"), MISTAKE, "north"),
    "one column of place": (("--space-on", "east"), USAGE, "--space-on"),
    "one column twice": (("--space-on", "east", "east"), MISTAKE, "names one column twice; name two"),
    "labels as time": (("--time-on", "site"), MISTAKE, "--types site=date"),
    "labels as place": (("--space-on", "east", "site"), MISTAKE, "--types site=number"),
    "target as time": (("--time-on", "y"), MISTAKE, "is the target"),
    "time and place": (("--time-on", "day", *SPACE), MISTAKE, "--time-on day and --space-on east north"),
    "time and groups": (("--time-on", "day", "--group-on", "site"), MISTAKE, "--time-on day and --groups site"),
    "subsets and a partitioner": (("--subset-on", "site", "-p", "CV"), MISTAKE, "--partitioner CV"),
    "place and strata": ((*SPACE, "--stratify-on", "site"), MISTAKE, "--stratify-on site"),
    "a gap without time": (("--gap", "3"), MISTAKE, "--gap 3 goes with --time-on"),
    "a buffer without place": (("--buffer", "3"), MISTAKE, "--buffer 3 goes with --space-on"),
    "a validation part alone": (("--validation-size", "0.2"), MISTAKE, "--validation-size 0.2 goes with --test-size SHARE"),
    "a test part and time": (("--test-size", "0.2", "--time-on", "day"), MISTAKE, "different cuts"),
    "a test part and a partitioner": (("--test-size", "0.2", "-p", "CV"), MISTAKE, "different cuts"),
    "parts beyond the table": (("--test-size", "0.6", "--validation-size", "0.5"), MISTAKE, "at least one to train on"),
    "a share in percent": (("--test-size", "20"), USAGE, "20"),
    "a validation part that a program cannot read": (
        ("--test-size", "0.2", "--validation-size", "0.2", "--format", "openml"),
        MISTAKE,
        "--format csv",
    ),
    "a gap in words": (("--time-on", "day", "--gap", "week"), USAGE, "week"),
    "a gap beyond the table": (("--time-on", "day", "--gap", "90"), MISTAKE, "a smaller gap"),
    "a block beyond the table": ((*SPACE, "--block-size", "9"), MISTAKE, "smaller blocks"),
    "a buffer beyond the table": ((*SPACE, "--block-size", "0.2", "--buffer", "9"), MISTAKE, "a smaller buffer"),
    "more blocks than times": (("--time-on", "day", "-k", "50"), MISTAKE, "take fewer blocks"),
    "more folds than places": ((*SPACE, "-k", "90"), MISTAKE, "fewer than the 90"),
    "a subset of few": (("--subset-on", "rank", "-k", "3"), MISTAKE, "subset '0' has 2 samples, fewer than the 3 folds"),
    "strata that a cut does not take": (("--stratify-on", "site", "-p", "CV"), MISTAKE, "CB-TSCV"),
    "no such format": (("--format", "weka"), USAGE, "openml"),
    "no such column to balance": (("--stratify-on", "sites"), MISTAKE, "site"),
    "blocks without a place": (("-p", "BLOCKS"), MISTAKE, "--space-on"),
    "forward without a time": (("-p", "FORWARD"), MISTAKE, "--time-on"),
    "subsets without a column": (("-p", "SOAK"), MISTAKE, "--subset-on"),
    "seeds that a program cannot read": (("--seeds", "3", "--format", "autogluon"), MISTAKE, "--seeds 1"),
    "splits that a program cannot read": (("--time-on", "day", "--gap", "2", "--format", "autogluon"), MISTAKE, "--format csv"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_said_in_one_line_with_a_remedy(folder, mistake):
    words, code, said = MISTAKES[mistake]
    found = run(folder, "t.csv", "-t", "y", *words)
    assert found.exit_code == code and said in found.stderr, found.stderr
    assert isinstance(found.exception, SystemExit) and "Traceback" not in found.stderr
    if code == MISTAKE:
        assert found.stderr.strip().splitlines()[-1].startswith("foldshift: ") and found.stdout == ""


def test_rows_without_a_place_are_named(folder):
    found = run(folder, "no_place.csv", "-t", "y", *SPACE)
    assert found.exit_code == MISTAKE and "row 8" in found.stderr
