"""Many small data sets in one job: the same tables as one job each, a bad one loses its own rows, a killed run goes on."""

import json

import numpy as np
import pandas as pd
import pytest

from crash_runner import crash_and_resume, temporaries
from workflow_runner import ROOT, Workflow

pytestmark = pytest.mark.workflow
PER_UNIT = ("fetch_dataset", "prepare_dataset", "make_folds", "measure_shift", "evaluate", "collect_scores", "collect_shift")
BAD = "made2"


def study_of(folder, names, many=4, bad=()):
    """The study of `benchmarks/many_sets` on small files; those in `bad` have a target of one value."""
    (folder / "data").mkdir(parents=True)
    entries = {}
    for i, name in enumerate(names):
        X = np.random.default_rng(i).normal(size=(30, 2)).round(3)
        table = pd.DataFrame(X, columns=["a", "b"]).assign(y=1.0 if name in bad else X[:, 0] ** 2)
        table.to_csv(folder / f"data/{name}.csv", index=False)
        entries[name] = {"task": "regression", "target": "y", "sources": f"file:data/{name}.csv"}
    settings = {"datasets": list(names), "learners": ["Ridge"], "n_seeds": 2}
    config = {"studies_from": [str(ROOT / "benchmarks/many_sets")], "extra_datasets": entries, "many_datasets": many}
    return Workflow(folder, config | {"studies": {"many_sets": settings}})


def names_of(n):
    return [f"made{i}" for i in range(n)]


@pytest.fixture(scope="module")
def united(tmp_path_factory):
    """A finished run of four data sets in one unit, of which one is bad."""
    workflow = study_of(tmp_path_factory.mktemp("united"), names_of(4), bad=[BAD])
    done = workflow(check=True)
    return workflow, done.stdout + done.stderr


def test_jobs_grow_with_units_and_not_with_data_sets(tmp_path):
    plan = study_of(tmp_path / "many", names_of(600)).plan()
    assert all(plan[rule] == 1 for rule in PER_UNIT)
    few = study_of(tmp_path / "few", names_of(3)).plan()
    assert all(few[rule] == 3 for rule in PER_UNIT)


def test_tables_are_those_of_single_jobs_and_a_bad_data_set_loses_its_own_rows_and_is_named(united, tmp_path):
    workflow, said = united
    good = [name for name in names_of(4) if name != BAD]
    single = study_of(tmp_path, names_of(4), many=None)
    single(check=True, config=[f"datasets={','.join(good)}"])
    ours, theirs = workflow.tables(), single.tables()
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name] and "failures" not in name] == []
    for kind in ("seed_scores", "seed_shift"):
        rows = [pd.read_parquet(one.folder / "results/many_sets" / kind) for one in (workflow, single)]
        left, right = (frame.astype({"dataset": str}).sort_values("dataset", kind="stable", ignore_index=True) for frame in rows)
        assert left.equals(right.astype(left.dtypes.to_dict())) and BAD not in set(left["dataset"])
    failed = pd.read_csv(workflow.folder / "results/many_sets/tables/failures.csv")
    assert failed["dataset"].tolist() == [BAD] and failed["n_failed"].tolist() == [20]
    assert "one value, 1, in all 30 rows" in failed["message"][0] and BAD in failed["message"][0]
    assert f"20 of 80 fits failed, all learners on {BAD}: data set {BAD}: " in said
    origins = json.loads((workflow.folder / "results/provenance/datasets_many_sets.json").read_text())
    assert list(origins) == good


def test_what_is_done_is_not_planned_again_and_added_data_sets_make_units_of_their_own(united, tmp_path):
    workflow, _ = united
    assert workflow.plan() == {}
    more = study_of(tmp_path, names_of(7), bad=[BAD])
    (tmp_path / "results").symlink_to(workflow.folder / "results")
    (tmp_path / "resources").symlink_to(workflow.folder / "resources")
    (tmp_path / ".snakemake").symlink_to(workflow.folder / ".snakemake")
    plan = more.plan()
    assert all(plan[rule] == 1 for rule in PER_UNIT)


def test_a_mended_file_is_read_again(united):
    workflow, _ = united
    file = workflow.folder / f"data/{BAD}.csv"
    text = file.read_text()
    file.write_text((workflow.folder / "data/made1.csv").read_text())
    try:
        assert workflow.plan()["fetch_dataset"] == 1
    finally:
        file.write_text(text)


@pytest.mark.thorough
def test_a_killed_run_goes_on_to_the_same_tables(united, tmp_path):
    workflow = study_of(tmp_path, names_of(4), bad=[BAD])
    crash = crash_and_resume(workflow, 5, 0.3, with_jobs=True)
    assert workflow.tables() == united[0].tables()
    assert 0 <= crash.n_redone <= 2 and workflow.plan() == {} and temporaries(tmp_path) == []
