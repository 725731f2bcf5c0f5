"""Learners that raise, hang, crash or exhaust memory: the run ends well, and the rows of the others are the same bytes as without
them."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from foldshift.core.user_code.guarded_process import ISOLATES
from foldshift.engine.storage.prediction_files import read_predictions
from foldshift.evaluation.regression_scores import CLASSIFICATION_METRICS, METRICS
from workflow_runner import ROOT, Workflow

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(not ISOLATES, reason="cells are isolated on Linux only"),
]
DAMAGE = ("raise", "sleep", "hoard", "kill", "crash")  # ways of tests/misbehaving.py
STUDIES = {
    "saez_2022": {
        "datasets": ["friedman3", "diabetes"],
        "partitioners": ["CV", "TSCV"],
        "learners": ["NN", "GBM"],
        "n_folds": [2],
        "n_seeds": 3,
    },
    "moreno_torres_2012": {
        "datasets": ["iris"],
        "partitioners": ["SCV", "DOB-SCV"],
        "learners": ["1NN", "LDA"],
        "schemes": ["2x2"],
        "n_seeds": 2,
        "n_truth": 2,
        "ablation": {"n_seeds": 1, "schemes": ["2x2"], "metrics": ["heom"]},
        "held_out": {"populations": []},
    },
}
KEYS = ["dataset", "learner", "partitioner", "k", "seed", "fold"]
SPOILED = ["friedman3", "iris"]  # the sets of four inputs, where the learners misbehave


def run(folder, name, more=(), targets=None):
    """The scores of both studies, with some more learners before their own."""
    studies = {study: settings | {"learners": [*more, *settings["learners"]]} for study, settings in STUDIES.items()}
    limits = {"cell_minutes": 0.25, "cell_memory_mb": 300, "minutes_per_job": 60}
    workflow = Workflow(folder, {"learners_file": "learners.yaml", "results": name, "studies": studies} | limits)
    workflow("--until", "evaluate", "classify", check=True)
    if targets:
        done = workflow(targets=[f"{name}/{target}" for target in targets], check=True)
        (folder / "said.txt").write_text(done.stdout + done.stderr)
    return folder / name


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results without the bad learners, and with them."""
    folder = tmp_path_factory.mktemp("failures")
    learners = yaml.safe_load((ROOT / "config/learners.yaml").read_text())
    for way in DAMAGE:
        params = {"way": way, "n_features": 4}
        learners[way] = {"import": "misbehaving.Misbehaving", "params": params, "tasks": ["regression", "classification"]}
    (folder / "learners.yaml").write_text(yaml.safe_dump(learners))
    shutil.copy(ROOT / "tests/misbehaving.py", folder)
    tables = ["provenance/config.yaml", *(f"{study}/tables/failures.html" for study in STUDIES)]
    return run(folder, "without"), run(folder, "with", DAMAGE, tables)


def test_the_run_ends_with_how_many_fits_failed_why_most_of_them_and_where_they_are_listed(results):
    said = (results[1].parent / "said.txt").read_text()
    lines = [line for line in said.splitlines() if "fits failed" in line]
    assert len(lines) == 2 and said.index("finished in") < said.index(lines[0])
    for study, line in zip(STUDIES, lines):
        table = pd.read_csv(results[1] / study / "tables/failures.csv")
        assert re.match(rf"foldshift: {study}: {table['n_failed'].sum():,} of [\d,]+ fits failed, [\d,]+ of them, ", line)
        counts = table.groupby("message")["n_failed"].sum()
        most = counts[counts == counts.max()].index  # several reasons may be as frequent
        assert any(message[:100] in line for message in most) and line.endswith(f"with/{study}/tables/failures.html")


def test_the_command_of_a_failure_plans_its_job_alone_with_the_configuration_of_the_run(results):
    command = pd.read_csv(results[1] / "saez_2022/tables/failures.csv")["command"].iloc[0]
    program, *words = shlex.split(command)
    assert program == "snakemake" and "with/provenance/config.yaml" in words
    words += ["--snakefile", str(ROOT / "Snakefile"), "--workflow-profile", str(ROOT / "profiles/default"), "--dry-run"]
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program)), *words], capture_output=True, text=True, cwd=results[1].parent
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert re.search(r"^evaluate +1$\s+^total +1$", done.stdout + done.stderr, re.MULTILINE)


def read(results, study):
    """Rows of a study as plain columns, in the order of their keys, without what differs from run to run."""
    rows = pd.read_parquet(results / study / "scores", partitioning=None).drop(columns="fit_seconds")
    return rows.astype(dict.fromkeys(rows.select_dtypes("category"), str)).sort_values(KEYS, ignore_index=True)


@pytest.mark.parametrize("study", STUDIES)
def test_rows_of_the_other_learners_are_the_same_as_without_the_bad_ones(results, study):
    without, both = (read(one, study) for one in results)
    pd.testing.assert_frame_equal(both[~both["learner"].isin(DAMAGE)].reset_index(drop=True), without, check_exact=True)
    assert (without["status"] == "ok").all() and without.select_dtypes("float").notna().all(axis=None)


@pytest.mark.parametrize(("study", "metrics"), [("saez_2022", METRICS), ("moreno_torres_2012", CLASSIFICATION_METRICS)])
def test_bad_learners_have_all_their_rows_and_numbers_where_they_behave(results, study, metrics):
    rows = read(results[1], study)
    own = STUDIES[study]["learners"][0]
    for way in DAMAGE:
        ours, theirs = (rows[rows["learner"] == name].reset_index(drop=True) for name in (way, own))
        same = [*KEYS, "n_train", "n_test"]
        pd.testing.assert_frame_equal(ours[same].drop(columns="learner"), theirs[same].drop(columns="learner"))
        spoiled = ours["dataset"].isin(SPOILED)
        assert spoiled.any() and (ours.loc[spoiled, "status"] == ("timeout" if way == "sleep" else "failed")).all()
        assert ours.loc[spoiled, list(metrics)].isna().all(axis=None)
        assert (ours.loc[~spoiled, "status"] == "ok").all() and ours.loc[~spoiled, metrics[0]].notna().all()


@pytest.mark.parametrize("study", STUDIES)
def test_messages_say_what_happened_and_what_to_do(results, study):
    rows = read(results[1], study)
    texts = {way: set(rows[(rows["learner"] == way) & rows["dataset"].isin(SPOILED)]["message"]) for way in DAMAGE}
    assert texts["raise"] == {"RuntimeError: not in the mood"}
    assert texts["sleep"] == {
        "took longer than 0.25 minutes; raise cell_minutes or lower max_rows",
        "not tried: sleep ran out of time on earlier cells of this data set",
    }
    assert all(text.startswith("MemoryError: ") and text.endswith("; needs more than 300 MB") for text in texts["hoard"])
    assert texts["kill"] == {"its process died (killed by SIGKILL), twice; perhaps the memory ran out"}
    assert texts["crash"] == {"its process died (killed by SIGSEGV), twice; perhaps the memory ran out"}


def test_the_log_of_the_job_names_the_lost_cells(results):
    (log,) = (results[1] / "logs/evaluate/saez_2022/friedman3").rglob("*.log")
    text = log.read_text()
    assert "sleep, CV, k=2: timeout: took longer than 0.25 minutes" in text
    assert "kill, TSCV, 2: its process died (killed by SIGKILL); once more in a new process" in text
    assert "NN, CV, k=2: 6 fits, 0 failed" in text


def test_predictions_of_the_other_learners_are_the_same_as_without_the_bad_ones(results):
    without, both = (
        {
            (path.relative_to(one).parts[2], path.stem, cell): codes
            for path in (one / "moreno_torres_2012/predictions").rglob("*.npz")
            for cell, codes in read_predictions(path).items()
        }
        for one in results
    )
    assert without and all((both[cell] == codes).all() for cell, codes in without.items())
