"""A finished run goes into one file; tables and figures come out of it again, byte for byte, without data and without a fit."""

import copy
import json
import re
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import yaml

import reproduce
from foldshift.core.files import content_of
from foldshift.engine.archive.crate import METADATA, unpack, write_archive
from foldshift.engine.study.find import find_studies
from workflow_runner import ROOT, TINY_INFERENCE, TINY_MONITORING, TINY_SOURCES, Workflow

pytestmark = pytest.mark.workflow
# With folders, a data set, a learner and a catalogue of places of one's own: nothing of this is there when the archive is used.
CONFIG = {
    "scale": "test",
    "results": "my results",
    "resources": "data for all",
    "learners_file": "my_learners.yaml",
    "extra_datasets": {"mine": {"task": "regression", "target": "y", "sources": "file:data/mine.csv"}},
    "studies": {
        "saez_2022": {
            "datasets": ["mine", "steps"],
            "partitioners": ["CV", "TSCV"],
            "learners": ["Own"],
            "n_folds": [3],
            "n_seeds": 4,
            "convergence": {"step": 2, "draws": 2},
            "scaling_check": {"n_seeds": 1, "n_folds": 3},
        },
        "moreno_torres_2012": {
            "datasets": ["iris", "wine"],
            "partitioners": ["SCV", "DOB-SCV"],
            "learners": ["1NN", "LDA"],
            "configurations": ["corrected"],
            "schemes": ["2x1"],
            "n_seeds": 2,
            "n_truth": 3,
            "convergence": {"n_orders": 1},
            "covariate_shift": {"n_runs": 2},
            "ablation": {"n_seeds": 0},
            "held_out": {"populations": ["twonorm"], "n_sample": 40, "n_replicates": 2, "n_parts": 1},
        },
        **copy.deepcopy(TINY_SOURCES["studies"] | TINY_INFERENCE["studies"] | TINY_MONITORING["studies"]),
    },
}
# What its own learners do not know is left out.
CONFIG["studies"]["geras_2013"] |= {"learners": ["NB"], "n_points": [6]}
CONFIG["studies"]["wong_2015"] |= {
    "datasets": ["iris"],
    "audit": {"populations": ["twonorm"], "partitioners": ["SCV"], "learners": ["1NN"], "n_sample": 40, "n_replicates": 10},
}
CONFIG["studies"]["cieslak_2009"] |= {"datasets": ["wine"], "n_seeds": 2}
# The others are archived in `make thorough`.
MAIN = ("saez_2022", "moreno_torres_2012")
# All that may run in archived mode.
REPORTING = {
    "all",
    *(
        f"{study}_{items.name}"
        for study, found in find_studies(only=CONFIG["studies"]).items()
        for items in found.declaration().items
    ),
}


@pytest.fixture(
    scope="module",
    params=[MAIN, pytest.param(tuple(CONFIG["studies"]), marks=pytest.mark.thorough)],
    ids=["main studies", "all papers"],
)
def archived(request, tmp_path_factory):
    """A run of several studies, and its archive."""
    folder = tmp_path_factory.mktemp("to archive")
    (folder / "data").mkdir()
    X = np.random.default_rng(0).random((30, 3)).round(3)
    np.savetxt(folder / "data/mine.csv", X, delimiter=",", header="a,b,y", comments="")
    (folder / "my_learners.yaml").write_text(yaml.safe_dump(own_learners()))
    (folder / "my_learner.py").write_text("from sklearn.neighbors import KNeighborsRegressor as Nearest\n")
    workflow = Workflow(folder, CONFIG | {"studies": {name: CONFIG["studies"][name] for name in request.param}})
    workflow(targets=["archive"], check=True)
    return workflow


def own_learners():
    """The project's classifiers beside a regressor of one's own."""
    known = yaml.safe_load((ROOT / "config/learners.yaml").read_text())
    return {"Own": {"import": "my_learner.Nearest", "tasks": ["regression"]}} | {
        name: known[name] for name in ("1NN", "LDA", "NB", "PET")
    }


@pytest.fixture(scope="module")
def made_again(archived, tmp_path_factory):
    """The archive alone, in another place, with code in it that must not run, and what came of it."""
    folder = tmp_path_factory.mktemp("elsewhere")
    with_code(path_of(archived), folder)
    command = [sys.executable, ROOT / "scripts/reproduce.py", "foldshift.zip", "--cores", "2", "--folder", "a folder with spaces"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder, timeout=900)
    return folder / "a folder with spaces", done


def with_code(path, folder):
    """Copy an archive, with code wherever a program might look for it; it writes the file `harm`."""
    archive = unpack(path, folder / "files")
    files = {name: folder / "files" / name for name in archive.files}
    harm = f"open({str(folder / 'harm')!r}, 'w').close()\n"
    places = ("", "results/", "config/", "resources/", "results/provenance/", "results/saez_2022/")
    for place in places:
        for name in ("__init__.py", "sitecustomize.py", "my_learner.py", "foldshift.py", "numpy.py", "conftest.py", "evil.py"):
            files[place + name] = folder / "files" / place / name
            files[place + name].write_text(harm)
    for name in ("Snakefile", "workflow/Snakefile", "scripts/make_items.py"):
        files[name].write_text(harm)
    labels = folder / "files/results/provenance/labels.json"  # the record of an earlier run names code as well
    entry = {"name": "Evil", "import": "results.evil.Evil", "params": {}, "nominal": "codes"}
    labels.write_text(json.dumps({"learners": {"Evil-0000": entry}, "partitioners": {}}))
    files["results/provenance/labels.json"] = labels
    facts = {"started": "", "ended": "", "versions": {"foldshift": "", "packages": {}}, "origins": []}
    write_archive(folder / "foldshift.zip", files, archive.outputs, [], **facts)


def path_of(workflow):
    return workflow.folder / "my results/archive/foldshift.zip"


def outputs_of(workflow):
    """Every table and figure of a run, by name in the archive."""
    results = workflow.folder / "my results"
    files = [
        path
        for study in CONFIG["studies"]
        for kind in ("tables/*", "figures/*", "paper_vs_ours.*")
        for path in (results / study).glob(kind)
    ]
    return {f"results/{path.relative_to(results).as_posix()}": path for path in files}


def test_tables_and_figures_are_made_again_byte_for_byte_elsewhere(archived, made_again):
    folder, done = made_again
    assert done.returncode == 0, done.stdout + done.stderr
    outputs = outputs_of(archived)
    assert len(outputs) > 100
    assert f"{len(outputs)} of {len(outputs)} files identical" in done.stdout and "Versions that differ" not in done.stdout
    (code,) = (line for line in done.stdout.splitlines() if line.startswith("Code that differ"))
    assert code.endswith(" from there: Snakefile, scripts/make_items.py, workflow/Snakefile")  # see `with_code`
    assert not [name for name, path in outputs.items() if (folder / "run" / name).read_bytes() != path.read_bytes()]


def test_no_code_of_the_archive_runs(made_again):
    folder, _ = made_again
    assert not (folder.parent / "harm").exists() and not list((folder / "run").rglob("*.py"))


def test_nothing_is_fetched_cut_or_evaluated_for_it(made_again):
    log = (made_again[0] / "run/reproduce.log").read_text()
    jobs = re.findall(r"^(\w+)\s+\d+$", log.split("Job stats:")[1].split("total")[0], re.MULTILINE)
    assert {"saez_2022_error", "moreno_torres_2012_agreement", "moreno_torres_2012_convergence", "saez_2022_scaling"} <= set(jobs)
    assert set(jobs) <= REPORTING, jobs


def test_the_archive_holds_what_the_run_rests_on_but_no_data(archived, tmp_path):
    archive = unpack(path_of(archived), tmp_path / "out")
    assert set(archive.outputs) == outputs_of(archived).keys()
    names = archive.files.keys()
    assert {
        "my_learner.py",
        "config/learners.yaml",
        "config/datasets.tsv",
        "resources/fetched/mine.json",
        "results/provenance/run.json",
    } <= names
    assert (tmp_path / "out/config/learners.yaml").read_bytes() == (archived.folder / "my_learners.yaml").read_bytes()
    scores = {
        f"results/{path.relative_to(archived.folder / 'my results').as_posix()}"
        for path in (archived.folder / "my results").glob("*/scores/**/*.parquet")
    }
    assert scores and scores <= names
    assert not [name for name in names if name.endswith(".npz") or (name.startswith("resources/") and not name.endswith(".json"))]
    text = (tmp_path / "out" / METADATA).read_text()
    assert str(archived.folder) not in text and str(ROOT) not in text
    for name, content in archive.files.items():
        assert content_of(tmp_path / "out" / name) == content


def test_an_archive_of_the_same_results_has_the_same_bytes(archived):
    before = path_of(archived).read_bytes()
    archived("--forcerun", "archive", targets=["archive"], check=True)
    assert path_of(archived).read_bytes() == before


def test_a_flipped_byte_in_a_score_file_stops_it_with_one_line(archived, tmp_path):
    with zipfile.ZipFile(path_of(archived)) as opened:
        info = next(info for info in opened.infolist() if "/scores/" in info.filename)
    data = bytearray(path_of(archived).read_bytes())
    data[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 4
    (tmp_path / "flipped.zip").write_bytes(data)
    command = [sys.executable, str(ROOT / "scripts/reproduce.py"), "flipped.zip"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"foldshift: archive flipped.zip: {info.filename} is damaged")


def test_a_table_that_does_not_follow_from_the_scores_is_named_and_so_are_other_versions(
    archived, made_again, tmp_path, capsys, monkeypatch
):
    archive = unpack(path_of(archived), tmp_path / "out")
    table = "results/saez_2022/tables/table5_error.csv"
    (tmp_path / "out" / table).write_text("regressor,k\nOwn,3\n")
    versions = tmp_path / "out/results/provenance/versions.json"
    versions.write_text(re.sub(r'"numpy": "[^"]*"', '"numpy": "1.0"', versions.read_text()))
    facts = {"started": "", "ended": "", "versions": {"foldshift": "", "packages": {}}, "origins": []}
    write_archive(tmp_path / "false.zip", {name: tmp_path / "out" / name for name in archive.files}, archive.outputs, [], **facts)

    def copy(run, cores):
        """Making them again takes a while and has been done above."""
        for name in archive.outputs:
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(made_again[0] / "run" / name, run / name)

    monkeypatch.setattr(reproduce, "make_again", copy)
    assert not reproduce.reproduce(tmp_path / "false.zip", str(tmp_path / "again"), 1)
    said = capsys.readouterr().out
    assert f"{len(archive.outputs) - 1} of {len(archive.outputs)} files identical\n  {table} differs\n" in said
    assert re.search(r"Versions that differ from the archive's; .*: numpy [\d.]+ \(archive: 1\.0\)", said)


def test_a_folder_that_is_not_empty_is_left_alone(archived, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    command = [sys.executable, str(ROOT / "scripts/reproduce.py"), str(path_of(archived)), "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "is not empty; name a folder that does not exist yet" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
