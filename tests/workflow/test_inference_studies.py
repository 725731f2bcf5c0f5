"""The studies of several sources, of intervals and of monitoring run end to end, and give the same bytes however they are run."""

import copy
import gzip
import hashlib

import pandas as pd
import pytest
import yaml
from test_mistakes import message

from foldshift.datasets.sources.review_files import MIRRORED, review_files
from foldshift.engine.config.runs import configure
from workflow_runner import ROOT, TINY_ADVICE, TINY_HONESTY, TINY_INFERENCE, TINY_MONITORING, TINY_SOURCES, Workflow

pytestmark = pytest.mark.workflow
# Loaded by their packages, whether used or not; what these say decides which files a job rests on, and is no file of it.
BY_PACKAGES = {"src/foldshift/shift/measures/hellinger.py"}
CONFIGS = {
    "geras_2013": TINY_SOURCES,
    "wong_2015": TINY_INFERENCE,
    "cieslak_2009": TINY_MONITORING,
    "foldshift_2026": TINY_HONESTY,
    "advice": TINY_ADVICE,
}


@pytest.fixture(scope="module", params=list(CONFIGS))
def done(request, tmp_path_factory):
    """A tiny study, run once, and what its jobs loaded."""
    workflow = Workflow(tmp_path_factory.mktemp(request.param), CONFIGS[request.param])
    workflow.jobs = workflow.watched()
    return workflow


def promised(study):
    """Files of all tables and figures that a study declares for this configuration, but the captions."""
    run = configure(copy.deepcopy(CONFIGS[study]), ROOT).runs[study]
    return [path for _, some in run.items() for item in some for path in item.files() if not path.endswith(".rst")]


def test_every_table_and_figure_is_there_in_every_form(done):
    made = done.tables()
    assert len(promised(done.study)) >= (7 if done.study == "advice" else 6 * 3)
    assert [path for path in promised(done.study) if not made.get(path)] == []


def test_jobs_load_no_module_that_they_do_not_rest_on(done):
    seen = set()
    for rule, output, loaded, declared in done.jobs:
        if rule == "compile_kernels":  # its stamp stands for an order: code is kept by the content of its source
            continue
        seen.add(rule)
        missing = {file.removeprefix(f"{ROOT}/") for file in loaded - declared} - BY_PACKAGES
        assert not missing, f"{rule}, {output}"
    run = configure(copy.deepcopy(CONFIGS[done.study]), ROOT).runs[done.study]
    assert seen >= {f"{done.study}_{measure.name}" for measure in run.measures()}


def test_a_finished_run_plans_nothing(done):
    assert done.plan() == {}


@pytest.mark.thorough
def test_tables_are_the_same_bytes_however_the_run_is_cut(done, tmp_path):
    config = copy.deepcopy(CONFIGS[done.study])
    if done.study == "geras_2013":
        config["studies"]["geras_2013"]["draws_per_block"] = 1
    if done.study == "cieslak_2009":
        config["studies"]["cieslak_2009"]["repeats_per_block"] = 1
    other = Workflow(tmp_path / "a folder with blanks", config)
    other(env={"PYTHONHASHSEED": "7"}, cores=4, check=True)
    ours, theirs = done.tables(), other.tables()
    assert [name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)] == []


def test_every_row_was_computed(done):
    results = done.folder / "results" / done.study
    if done.study == "geras_2013":
        rows = pd.concat([pd.read_parquet(path) for path in sorted(results.glob("error/*/*/*.parquet"))])
        assert len(rows) == 2 * 3 * 3  # learners, draws, points of the grid
        assert rows.select_dtypes("number").notna().all().all() and rows["out_of_source"].between(0, 1).all()
    elif done.study == "cieslak_2009":
        rows = pd.concat([pd.read_parquet(path) for path in sorted(results.glob("learners/*/*/*.parquet"))])
        assert (rows["status"] == "ok").all() and set(rows["learner"]) == {"PET", "NB"} and set(rows["repeat"]) == {0, 1}
    elif done.study == "advice":
        rows = pd.concat([pd.read_parquet(path) for path in sorted(results.glob("advice/*/*.parquet"))])
        assert rows[["dataset", "learner", "status", "n_done"]].values.tolist() == [
            ["friedman1", "RPART", "ok", 2], ["wine", "LDA", "ok", 2]
        ]  # fmt: skip
        assert ((rows["low"] < rows["estimate"]) & (rows["estimate"] < rows["high"])).all()
        pages = sorted(path.relative_to(results).as_posix() for path in results.glob("pages/*/*.html"))
        assert pages == ["pages/friedman1/RPART.html", "pages/wine/LDA.html"]
        assert all("<svg" in (results / page).read_text(encoding="utf-8") for page in pages)
    elif done.study == "foldshift_2026":
        rows = pd.concat([pd.read_parquet(path) for path in sorted(results.glob("estimates/*/*.parquet"))])
        # Two populations of five samples; two repetitions of four cuts; two classifiers, one regressor.
        assert len(rows) == 5 * 2 * (4 * 2 + 4 * 1) and (rows["status"] == "ok").all()
    else:
        rows = pd.concat([pd.read_parquet(path) for path in sorted(results.glob("folds/*/*/*/*.parquet"))])
        assert (rows["status"] == "ok").all()
        # Two data sets and learners; three repetitions of three and five folds, and leave-one-out.
        assert len(rows) == 2 * 2 * (3 * (3 + 5) + 1)
        audit = pd.concat([pd.read_parquet(path) for path in sorted(results.glob("audit/*.parquet"))])
        assert len(audit) == 2 * 1 * 2 * 10 and (audit["status"] == "ok").all()


@pytest.mark.parametrize(
    ("study", "settings", "expected"),
    [
        ("geras_2013", {"n_sources": [2, 9], "domains": ["books", "dvd", "music"]}, "geras_2013.n_sources=9 must be at most 2"),
        ("geras_2013", {"learners": ["RF"]}, "studies.geras_2013.learners.0='RF' must be one of NB, SVM"),
        ("geras_2013", {"reviews": "yelp"}, "studies.geras_2013.reviews='yelp' must be one of generated, amazon"),
        ("wong_2015", {"learners": ["1NM"]}, "unknown learner in wong_2015.learners '1NM'; did you mean 1NN"),
        ("wong_2015", {"datasets": ["diabetes"]}, "diabetes is a regression data set; wong_2015 takes classification data sets"),
        ("wong_2015", {"audit": {"populations": ["twonrom"]}}, "unknown population in wong_2015.audit.populations 'twonrom'"),
        ("wong_2015", {"audit": {"learners": ["C45"]}}, "unknown learner in wong_2015.audit.learners 'C45'"),
        ("cieslak_2009", {"learners": ["PETE"]}, "unknown learner in cieslak_2009.learners 'PETE'; did you mean PET"),
        ("cieslak_2009", {"datasets": ["compustat"]}, "unknown data set in cieslak_2009.datasets 'compustat'"),
        ("wong_2015", {"n_folds": [200]}, "wong_2015.n_folds: k=200 is above the 150 rows of data set iris"),
    ],
)
def test_a_mistake_in_configuration_is_found_before_planning(tmp_path, study, settings, expected):
    config = copy.deepcopy(CONFIGS[study])
    config["studies"][study] |= settings
    text = message(Workflow(tmp_path, config)())
    assert expected in text


def mirror_with(folder, domains, change=lambda data: data):
    """A mirror of made-up reviews, and the table of files that knows their checksums."""
    for domain in domains:
        for file in review_files()[domain]:
            path = folder / MIRRORED.format(domain=domain, part=file.part)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(change(f"1\tgood {domain} {file.part}\n0\tbad thing\n".encode())))


def test_reviews_that_are_not_the_known_ones_are_refused_in_one_line(tmp_path):
    config = copy.deepcopy(TINY_SOURCES)
    config["studies"]["geras_2013"] |= {"reviews": "amazon", "domains": ["books", "dvd", "music"], "n_sources": [2]}
    mirror_with(tmp_path / "mirror", ["books", "dvd", "music"])
    workflow = Workflow(tmp_path / "run", config)
    (workflow.folder / "my.yaml").write_text(yaml.safe_dump(config | {"mirror": str(tmp_path / "mirror")}))
    text = message(workflow("--retries", "0"))
    found = hashlib.sha256(b"1\tgood books train\n0\tbad thing\n").hexdigest()
    assert "reviews of books (train): none of 2 places could be used" in text and f"SHA-256 {found[:12]}" in text
    assert not list((workflow.folder / "resources/reviews").rglob("*.npz"))
