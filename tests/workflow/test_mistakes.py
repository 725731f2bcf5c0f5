"""A user's mistake ends in one line that names the thing and what is allowed, before planning where it can be known, and leaves
nothing half-made."""

import copy
import re

import pytest
import yaml

from data_server import DataServer, closed_port, html, zip_of
from foldshift.engine.study.find import find_studies
from workflow_runner import TINY, Workflow

pytestmark = pytest.mark.workflow


def message(done):
    """The program's own line, beside those on progress; there must be exactly one distinct one, and no traceback."""
    text = done.stdout + done.stderr
    assert done.returncode != 0, text
    assert "Traceback" not in text, text
    found = {line.split("foldshift: ", 1)[1].strip() for line in text.splitlines() if "foldshift: " in line}
    found = {line for line in found if not re.match(r"(\d+ of )?\d+ jobs, |failed: ", line)}
    assert len(found) == 1, text
    return found.pop()


def own(sources, **more):
    """The tiny study on one data set of the user's own."""
    config = copy.deepcopy(TINY)
    config["studies"]["saez_2022"] |= {"datasets": ["mine"], "learners": ["NN"]}
    return config | {"extra_datasets": {"mine": {"task": "regression", "target": "y", "sources": sources}}} | more


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["datasets=friedman4"], "unknown data set in saez_2022.datasets 'friedman4'; did you mean friedman"),
        (["datasets=wdbc"], "wdbc is a classification data set"),
        (["partitioners=CV,TSVC,TSCV"], "unknown partitioner in saez_2022.partitioners 'TSVC'; did you mean TSCV"),
        (["learners=RPRAT"], "unknown learner in saez_2022.learners 'RPRAT'; did you mean RPART"),
        (["n_seed=5"], "unknown config key 'n_seed'; did you mean n_seeds"),
        (["n_folds=1"], "n_folds.0=1 must be at least 2"),
        (["n_folds=[2,301]"], "k=301 is above the 300 rows of data set friedman3; k must be between 2 and 300"),
        (["studies={saez_2022: {n_seeds: two}}"], "studies.saez_2022.n_seeds='two' must be a whole number"),
        (["n_folds=301"], "k=301 is above the 300 rows of data set friedman3; k must be between 2 and 300"),
        (["partitioners=CV,SCV301,TSCV"], "SCV301 wants 301 strata, but data set friedman3 has 300 rows"),
        (["n_seeds=one"], "n_seeds='one' must be a whole number"),
        (["mirror=nowhere"], "mirror='nowhere' is not a folder"),
        (["results=/proc/foldshift"], "results='/proc/foldshift': cannot write in /proc"),
        (["learners_file=none.yaml"], "learners file: cannot read"),
        (["catalogue=none.tsv"], "catalogue: cannot read"),
        (["n_seeds"], "--config n_seeds: a setting is written name=value"),
        (["k=5"], "--config k=5: a setting is written name=value"),
    ],
)
def test_a_mistake_in_configuration_is_found_before_planning(tmp_path, settings, expected):
    done = Workflow(tmp_path)(config=settings)
    assert expected in message(done)
    assert "Job stats" not in done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != ".snakemake") == ["my.yaml"]


def test_lists_of_the_command_line_must_fit_the_study_that_is_named(tmp_path):
    # With `all` the same lists fit one of the two.
    workflow = Workflow(tmp_path, {"scale": "test", "studies": {"saez_2022": {}, "moreno_torres_2012": {}}})
    said = "datasets=iris fits no study of this run: iris is a classification data set; saez_2022 takes regression data sets"
    assert message(workflow(targets=("saez_2022",), config=["datasets=iris"])) == said
    assert "learners=C4.5 fits no study" in message(workflow(targets=("saez_2022_rows",), config=["learners=C4.5"]))
    done = workflow("--dry-run", targets=("saez_2022", "moreno_torres_2012"), config=["datasets=iris"], check=True)
    assert "note: datasets: saez_2022 keeps its own list (iris is a classification data set" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("saez2022", "unknown target 'saez2022'; did you mean saez_2022"),
        ("results/saez_2022/tables/table4.html", "no rule makes; did you mean results/saez_2022/tables/table4_dn.html"),
    ],
)
def test_a_target_that_nothing_makes_suggests_the_nearest(tmp_path, target, expected):
    assert expected in message(Workflow(tmp_path)(targets=(target,)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("studies:\n  saez_2022: {n_seeds: 3\nscale: test\n", "my.yaml, line 3: not valid YAML"),
        ("scale: test\nscale: paper\n", "my.yaml, line 2: not valid YAML ('scale' is there twice, first in line 1)"),
        ("", "my.yaml must hold keys and values"),
        (None, "my.yaml: No such file or directory; check the path"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_told_with_its_line(tmp_path, text, expected):
    workflow, file = Workflow(tmp_path), tmp_path / "my.yaml"
    file.unlink()
    if text is not None:
        file.write_text(text)
    assert expected in message(workflow("--dry-run"))


def test_a_minimal_configuration_works_over_the_defaults(tmp_path):
    entry = {"task": "regression", "target": "y", "sources": "file:mine.csv"}
    workflow = Workflow(tmp_path, {"studies": {}})
    (tmp_path / "my.yaml").write_text(yaml.safe_dump({"extra_datasets": {"mine": entry}}))
    (tmp_path / "mine.csv").write_text(ROWS)
    done = workflow("--dry-run", targets=("saez_2022",), config=["datasets=mine"], check=True)
    assert "Fetching mine" in done.stdout + done.stderr and "Fetching diabetes" not in done.stdout + done.stderr


def test_a_quiet_run_in_a_locked_folder_says_why_it_ended(tmp_path):
    workflow = Workflow(tmp_path)
    (tmp_path / ".snakemake/locks").mkdir(parents=True)
    (tmp_path / ".snakemake/locks/0.output.lock").write_text("results/provenance/config.yaml\n")
    done = workflow("--quiet", "all", targets=("write_provenance",))
    assert done.returncode and "is locked: another run works in it, or one was killed" in message(done)


def test_an_own_partitioner_that_raises_is_named_and_not_called_a_fault_of_the_program(tmp_path):
    own = {"own_partitioners": {"Mine": {"import": "my_cuts.halves"}}}
    config = copy.deepcopy(TINY) | own
    config["studies"]["saez_2022"] = {"datasets": ["steps"], "partitioners": ["CV", "TSCV", "Mine"]}
    workflow = Workflow(tmp_path, config)
    (tmp_path / "my_cuts.py").write_text("def halves(X, y, n_folds, rngs):\n    return {}['gap']\n")
    done = workflow("--until", "make_folds")
    assert "your my_cuts.halves raised KeyError: 'gap' (my_cuts.py, line 2); it is called as f(X, y, n_folds" in message(done)
    assert "fault of the program" not in done.stdout + done.stderr


def test_every_rule_is_listed_with_words(tmp_path):
    workflow = Workflow(tmp_path, {"studies": {study: {} for study in find_studies()}})
    listed = workflow("--list", targets=(), check=True).stdout.splitlines()
    assert len(listed) > 60 and [line for line in listed if not re.fullmatch(r"\w+ \(.*[^.]\.\)", line)] == []


def test_a_file_that_is_not_there_is_found_before_planning(tmp_path):
    assert "data set mine: no such file data/mine.csv" in message(Workflow(tmp_path, own("file:data/mine.csv"))())


def test_an_import_that_does_not_exist_is_found_before_planning(tmp_path):
    config = copy.deepcopy(TINY) | {"own_partitioners": {"Mine": {"import": "my_cuts.halves"}}}
    assert "own_partitioners.Mine: cannot import 'my_cuts.halves'" in message(Workflow(tmp_path, config)())


ROWS = "x,y\n" + "".join(f"{i},{i * i}\n" for i in range(20))
KEEL = "@relation a\n@attribute x real [0,9]\n@attribute y real [0,9]\n@inputs x\n@outputs y\n@data\n"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("mine.csv", "", "empty"),
        ("mine.csv", ROWS + "20", "line 22"),
        ("mine.csv", ROWS.replace("9,81", "9,many").replace(",100", ",many").replace(",121", ",many"), "many"),
        ("mine.csv", "x,y\n1,2\n2,2\n3,2\n", "the target 'y' has one value, 2, in all 3 rows"),
        ("mine.csv", "x,y\n1,?\n?,2\n,3\n", "all 3 rows have missing values"),
        (
            "mine.csv",
            "x,y\n1,2\n2,3\n",
            "data set mine, partitioner .*: n_folds=3 must be between 2 and the number of samples, 2",
        ),
        ("mine.dat", KEEL + "1, 2, 3\n", "line 7"),
        ("mine.zip", "not a zip", "zip"),
    ],
)
def test_a_file_that_cannot_be_used_ends_its_job_with_one_line_and_no_output(tmp_path, name, content, expected):
    workflow = Workflow(tmp_path, own(f"file:{name}"))
    (tmp_path / name).write_text(content)
    text = message(workflow())
    assert "mine" in text
    assert re.search(expected, text), text
    made = [
        path
        for folder in ("results/saez_2022", "resources/prepared")
        for path in (tmp_path / folder).rglob("*")
        if path.is_file()
    ]
    if "partitioner" not in expected:
        assert [path for path in made if "mine" in str(path)] == []
    assert not [path for path in tmp_path.rglob(".*") if path.is_file() and ".snakemake" not in path.parts]


def test_hosts_that_are_down_or_send_wrong_bytes_are_refused_one_by_one(tmp_path):
    with DataServer() as server:
        server.serve("/page.zip", html())
        server.serve("/other.zip", zip_of({"mine.csv": "a,b,y\n1,2,3\n4,5,6\n"}))
        sources = f"url:{closed_port()}/mine.csv url:{server.url}/page.zip url:{server.url}/other.zip"
        config = own(sources)
        config["extra_datasets"]["mine"] |= {"n_features": 1}
        workflow = Workflow(tmp_path, config)
        done = workflow("--retries", "0")
    text = done.stdout + done.stderr
    assert "none of its 3 sources could be used" in text and "Traceback" not in text
    for part in ("the connection failed", "HTML", "input columns 2 instead of 1"):
        assert part in text
    assert not (tmp_path / "resources/fetched/mine.parquet").exists()


def test_content_that_changed_since_its_first_use_is_refused(tmp_path):
    config = own("mirror:mine.csv", mirror=str(tmp_path / "mirror"))
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/mine.csv").write_text(ROWS)
    workflow = Workflow(tmp_path, config)
    workflow("--until", "fetch_dataset", check=True)
    (tmp_path / "mirror/mine.csv").write_text(ROWS.replace("2,4", "2,5"))
    text = message(workflow("--until", "fetch_dataset", "--forcerun", "fetch_dataset", "--retries", "0"))
    assert "its content has changed since it was first used" in text and "delete resources/checksums/mine.txt" in text


def test_a_users_own_file_replans_when_it_is_edited(tmp_path):
    workflow = Workflow(tmp_path, own("file:mine.csv"))
    (tmp_path / "mine.csv").write_text(ROWS)
    workflow("--until", "prepare_dataset", check=True)
    (tmp_path / "mine.csv").write_text(ROWS.replace("2,4", "2,5"))
    assert {"fetch_dataset", "prepare_dataset"} <= set(workflow.plan("--until", "prepare_dataset"))
    workflow("--until", "prepare_dataset", check=True)


def test_a_learner_whose_largest_sample_is_set_must_be_known(tmp_path):
    workflow = Workflow(tmp_path, {"scale": "test", "studies": {"foldshift_2026": {"max_sample": {"LDAA": 100}}}})
    said = "unknown learner in foldshift_2026.max_sample 'LDAA'; did you mean LDA"
    assert said in message(workflow("--dry-run", targets=("foldshift_2026",)))
