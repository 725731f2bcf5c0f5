"""Sixty mistakes and more in configuration, command line, code of the user's own and data files: each ends in one line that names
the thing, the value received, what is allowed or what to do; none passes without a word, none ends with a traceback."""

import json
import re
import sys
from types import SimpleNamespace

import pytest
import yaml

import fetch_dataset
import prepare_dataset
from foldshift.core.errors import FoldshiftError
from foldshift.datasets.sources.fetch import DEFAULT_HOSTS
from foldshift.engine.config.command_line import check_arguments, check_targets
from foldshift.engine.config.runs import configure

LONGEST = 700  # letters; with the list of all names that are allowed
JARGON = ("is a required property", "of type", "Additional properties", "does not match", "schema", "NoneType", "object at 0x")


def saez(**settings):
    """A configuration with one study of numbers."""
    return {"studies": {"saez_2022": settings}}


def classes(**settings):
    """A configuration with one study of classes."""
    return {"studies": {"moreno_torres_2012": settings}}


def mine(**changes):
    """A configuration with one data set of the user's own."""
    entry = {"task": "regression", "target": "y", "sources": "file:mine.csv"} | changes
    return saez(datasets=["mine"]) | {
        "extra_datasets": {"mine": {key: value for key, value in entry.items() if value is not ...}}
    }


def own(name="Mine", **entry):
    """A configuration with one partitioner of the user's own."""
    return saez(partitioners=list(dict.fromkeys(["CV", "TSCV", name]))) | {"own_partitioners": {name: entry}}


# Name of the mistake: the configuration, and what the line must hold.
IN_CONFIGURATION = {
    "key misspelt": ({"n_seed": 5}, ["unknown config key 'n_seed'", "did you mean n_seeds"]),
    "key of a study misspelt": (saez(n_seed=5), ["studies.saez_2022 'n_seed'", "did you mean n_seeds"]),
    "study misspelt": ({"studies": {"saez2022": {}}}, ["'saez2022'", "did you mean saez_2022", "studies_from"]),
    "studies as a list": ({"studies": ["saez_2022"]}, ["studies=['saez_2022']", "must map", "saez_2022: {}"]),
    "no study": ({"studies": {}}, ["studies={}", "must not be empty"]),
    "settings of a study as a list": ({"studies": {"saez_2022": ["iris"]}}, ["studies.saez_2022=['iris']", "settings and their"]),
    "settings of a study as text": ({"studies": {"saez_2022": "iris"}}, ["studies.saez_2022='iris'", "settings and their"]),
    "data set misspelt": (saez(datasets=["diabets"]), ["'diabets'", "did you mean diabetes", "extra_datasets"]),
    "data set of the other task": (saez(datasets=["iris"]), ["iris is a classification data set", "takes regression data sets"]),
    "data set of the other task, for all": (saez() | {"datasets": "iris"}, ["datasets=iris", "takes regression data sets"]),
    "one of two of the other task": (saez() | {"datasets": "diabetes,iris"}, ["datasets=iris", "takes regression data sets"]),
    "data sets for a study without": ({"studies": {"geras_2013": {}}, "datasets": "iris"}, ["datasets=iris", "geras_2013"]),
    "a data set twice": (saez(datasets=["diabetes", "diabetes"]), ["must not repeat a value"]),
    "no data set": (saez() | {"datasets": ""}, ["datasets=[]", "must not be empty"]),
    "learner misspelt": (saez(learners=["RPRAT"]), ["'RPRAT'", "did you mean RPART"]),
    "learner of the other task": (saez(learners=["C4.5"]), ["C4.5", "regression", "classification"]),
    "learner of the other task, for all": (saez() | {"learners": "C4.5"}, ["learners=C4.5", "saez_2022 takes learners of"]),
    "learner unknown to a study with its own": (
        {"studies": {"geras_2013": {}}, "learners": "C4.5"},
        ["learners=C4.5", "geras_2013"],
    ),
    "partitioner misspelt": (saez(partitioners=["CV", "TSCV", "TSVC"]), ["'TSVC'", "did you mean TSCV"]),
    "partitioner of the other task": (saez() | {"partitioners": "DOB-SCV"}, ["DOB-SCV", "saez_2022 takes CV, SCV2"]),
    "references left out": (saez(partitioners=["SCV10"]), ["must contain CV and TSCV", "got SCV10"]),
    "more strata than rows": (saez(partitioners=["CV", "TSCV", "SCV9999"]), ["9999 strata", "t must be between 1 and"]),
    "more folds than rows": (saez(n_folds=[9999]), ["k=9999", "k must be between 2 and"]),
    "one fold": (saez(n_folds=[1]), ["n_folds.0=1", "at least 2"]),
    "folds without a scheme": (classes() | {"n_folds": 7}, ["k=7 has no scheme", "2, 5", "add 7x1"]),
    "scheme written otherwise": (classes(schemes=["5by2"]), ["'5by2'", "folds x iterations", "5x2"]),
    "two schemes of five folds": (classes(schemes=["5x2", "5x1"]), ["must not repeat a number of folds"]),
    "one seed": ({"n_seeds": 1}, ["n_seeds=1", "at least 2"]),
    "half a seed": ({"n_seeds": 2.5}, ["n_seeds=2.5", "a whole number"]),
    "seeds in words": ({"n_seeds": "ten"}, ["n_seeds='ten'", "a whole number"]),
    "scale misspelt": ({"scale": "papr"}, ["unknown scale 'papr'", "did you mean paper"]),
    "scaling misspelt": ({"scaling": "globl"}, ["scaling='globl'", "global, fold, none"]),
    "limit of rows for nobody": (classes(max_rows={"SVN": 10}), ["max_rows 'SVN'", "did you mean"]),
    "limit of rows in words": (classes() | {"max_rows": {"SVM": "many"}}, ["max_rows.SVM='many'", "a whole number"]),
    "negative seed": ({"master_seed": -1}, ["master_seed=-1", "at least 0"]),
    "jobs of no length": ({"minutes_per_job": 0}, ["minutes_per_job=0", "above 0"]),
    "yes for true": ({"archived": "yes"}, ["archived='yes'", "true or false"]),
    "a date as a folder": (yaml.safe_load("results: 2020-01-01"), ["results=", "must be text"]),
    "results in a file": ({"results": "taken"}, ["results='taken'", "is a file", "name another folder"]),
    "mirror that is not there": ({"mirror": "nowhere"}, ["mirror='nowhere'", "give a folder that exists"]),
    "host misspelt": ({"hosts": {"kel": "https://x.org"}}, ["hosts 'kel'", "did you mean keel"]),
    "catalogue that is not there": ({"catalogue": "none.tsv"}, ["catalogue", "none.tsv", "check the path"]),
    "learners file that is not there": ({"learners_file": "none.yaml"}, ["learners file", "none.yaml", "check the path"]),
    "costs file that is not there": ({"costs_file": "none.tsv"}, ["costs file", "none.tsv"]),
    "folder of studies that is not there": ({"studies_from": ["none"]}, ["none holds no study", "study.yaml"]),
    "folder of studies as a number": ({"studies_from": 3}, ["studies_from=3", "a list of folders"]),
    "own data without a target": (mine(target=...), ["extra_datasets.mine", "'target' is missing", "task, target, sources"]),
    "own data with a task misspelt": (mine(task="regresion"), ["task='regresion'", "regression, classification"]),
    "own data, target as a number": (mine(target=3), ["target=3", "must be text"]),
    "own data as text": ({"extra_datasets": {"mine": "mine.csv"}}, ["extra_datasets.mine='mine.csv'", "keys and values"]),
    "own data, key misspelt": (mine(source="file:x.csv"), ["extra_datasets.mine 'source'", "did you mean sources"]),
    "own data, file that is not there": (mine(sources="file:no.csv"), ["mine", "no such file no.csv", "the folder you run in"]),
    "own data, scheme misspelt": (mine(sources="fil:x.csv"), ["unknown scheme 'fil'", "did you mean file"]),
    "own data, no scheme": (mine(sources="x.csv"), ["'x.csv'", "scheme:address"]),
    "own data, option misspelt": (mine(sources="file:mine.csv?seperator=;"), ["'seperator'", "sep"]),
    "own data, name with a blank": ({"extra_datasets": {"my set": mine()["extra_datasets"]["mine"]}}, ["'my set'", "letters"]),
    "own data, name that is taken": ({"extra_datasets": {"iris": mine()["extra_datasets"]["mine"]}}, ["iris", "another name"]),
    "own data, two rows wanted": (mine(n_rows=1), ["n_rows=1", "at least 2"]),
    "own partitioner called CV": (own("CV", **{"import": "my_code.halves"}), ["own_partitioners: CV", "choose another name"]),
    "own partitioner called SCV7": (own("SCV7", **{"import": "my_code.halves"}), ["own_partitioners: SCV7", "another name"]),
    "own partitioner with a slash": (own("a/b", **{"import": "my_code.halves"}), ["'a/b'", "letters, digits"]),
    "own partitioner without import": (own(), ["own_partitioners.Mine", "'import' is missing"]),
    "own partitioner that is not there": (own(**{"import": "my_code.thirds"}), ["own_partitioners.Mine", "my_code.thirds"]),
    "own partitioner in no module": (own(**{"import": "no_code.halves"}), ["'no_code.halves'", "give package.module.name"]),
    "own partitioner of two arguments": (
        own(**{"import": "my_code.two"}),
        ["my_code.two", "signature (X, y)", "f(X, y, n_folds, rngs, **params)"],
    ),
    "own partitioner, parameter misspelt": (
        own(**{"import": "my_code.halves", "params": {"gap": 1}}),
        ["my_code.halves", "'gap'", "f(X, y, n_folds, rngs, **params)"],
    ),
    "own partitioner that is a number": (
        own(**{"import": "my_code.SEVEN"}),
        ["my_code.SEVEN is 7", "nothing that can be called"],
    ),
    "own partitioner in a module that raises": (own(**{"import": "raises.f"}), ["raises", "NameError", "raises.py, line 3"]),
    "own partitioner that is not Python": (own(**{"import": "broken.f"}), ["broken.py, line 2", "not valid Python"]),
    "own learner without fit": (
        {"learners_file": "bare.yaml"} | saez(learners=["Bare"]),
        ["my_code.Bare has no fit", "estimator"],
    ),
    "own learner, parameter misspelt": (
        {"learners_file": "alpha.yaml"} | saez(learners=["Mean"]),
        ["my_code.Mean", "'alfa'", "estimator"],
    ),
    "learner, key misspelt": ({"learners_file": "key.yaml"}, ["learner A", "'parms'", "did you mean params"]),
    "learner, tasks as text": ({"learners_file": "tasks.yaml"}, ["learner A", "tasks='regression'", "a list"]),
    "learner without import": ({"learners_file": "import.yaml"}, ["learner A", "'import' is missing"]),
    "catalogue with a line too short": ({"catalogue": "short.tsv"}, ["short.tsv, line 2", "separate them by tabs"]),
    "costs in words": ({"costs_file": "words.tsv"}, ["words.tsv, line 2", "expected numbers"]),
    "own study without a declaration": (
        {"studies_from": ["empty_study"], "studies": {"empty_study": {}}},
        ["STUDY = Study(...)"],
    ),
    "own study whose module raises": (
        {"studies_from": ["raising_study"], "studies": {"raising_study": {}}},
        ["raising_study", "KeyError: 'a'", "study.py, line 1"],
    ),
    "own study whose cells raise": (
        {"studies_from": ["cells_study"], "studies": {"cells_study": {}}},
        ["cells of measure_it", "KeyError: 'n'", "study.py, line 2"],
    ),
    "own study without a scale": ({"studies_from": ["scaleless_study"]}, ["scaleless_study", "scales={}", "laptop"]),
    "own study with settings that are none": ({"studies_from": ["odd_study"]}, ["odd_study", "settings must hold", "properties"]),
}

ABOUT = "title: A\nsummary: asks\norder: 9\ntask: null\nsettings: {type: object, properties: {}}\nscales: {laptop: {}}\n"
MEASURE = "from foldshift.engine.study.declare import Cost, Measure, Study\ncells = lambda run: [{'a': run.settings['n']}]\n"
FILES = {
    "taken": "",
    "mine.csv": "x,y\n1,2\n2,3\n3,5\n",
    "my_code.py": "SEVEN = 7\n\n\ndef halves(X, y, n_folds, rngs): ...\n\n\ndef two(X, y): ...\n\n\nclass Bare: ...\n\n\n"
    "class Mean:\n    def __init__(self, alpha=1): ...\n    def fit(self, X, y): ...\n    def predict(self, X): ...\n",
    "raises.py": "import math\n\nmath.pi + undefined\n",
    "broken.py": "def f():\nreturn\n",
    "bare.yaml": "Bare: {import: my_code.Bare, tasks: [regression]}\n",
    "alpha.yaml": "Mean: {import: my_code.Mean, tasks: [regression], params: {alfa: 2}}\n",
    "key.yaml": "A: {import: a.b, tasks: [regression], parms: {}}\n",
    "tasks.yaml": "A: {import: a.b, tasks: regression}\n",
    "import.yaml": "A: {tasks: [regression]}\n",
    "short.tsv": "name\ttask\ttarget\tsources\nmine\tregression\n",
    "words.tsv": "learner\tdataset\tn_rows\tn_features\tms_per_fit\tseconds_once\tpeak_mb\nNN\ta\tmany\t1\t1\t1\t1\n",
    "empty_study/study.yaml": ABOUT,
    "empty_study/study.py": "",
    "raising_study/study.yaml": ABOUT,
    "raising_study/study.py": "STUDY = {}['a']\n",
    "cells_study/study.yaml": ABOUT,
    "cells_study/study.py": MEASURE
    + "STUDY = Study(measures=(Measure('measure_it', function='measure.f', rows={'r': 'r/{a}.parquet'}, "
    "cells=cells, cost=lambda run, cell: Cost(1), message='it'),))\n",
    "scaleless_study/study.yaml": ABOUT.replace("{laptop: {}}", "{}"),
    "odd_study/study.yaml": ABOUT.replace("{type: object, properties: {}}", "[n_seeds]"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with files of the user's own."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def said(function, *arguments):
    """The line that a mistake ends with."""
    with pytest.raises(FoldshiftError) as caught:
        function(*arguments)
    line = str(caught.value)
    assert line and "\n" not in line and len(line) <= LONGEST, line
    assert not [word for word in JARGON if word in line], line
    return line


@pytest.mark.parametrize("name", IN_CONFIGURATION)
def test_a_mistake_in_configuration_or_own_code_is_told_in_a_line(folder, root, name):
    raw, expected = IN_CONFIGURATION[name]
    line = said(configure, raw, root)
    assert [part for part in expected if part not in line] == [], line


# Words of the command line, files beside it, and what the line must hold.
ON_THE_COMMAND_LINE = {
    "setting without a value": ("--config n_seeds", {}, ["--config n_seeds", "name=value"]),
    "setting with blanks": ("--config n_seeds = 5", {}, ["--config n_seeds", "without blanks"]),
    "setting of one letter": ("--config k=5", {}, ["--config k=5", "name=value"]),
    "configuration that is not there": ("--configfile no.yaml", {}, ["cannot read no.yaml", "check the path"]),
    "target behind the configuration": (
        "--configfile a.yaml all",
        {"a.yaml": "n_seeds: 5\n"},
        ["no file all", "snakemake all --configfile"],
    ),
    "target behind the settings": ("--config n_seeds=5 all", {}, ["--config all", "a target stands before the options"]),
    "configuration that is a folder": ("--configfile empty_study", {}, ["cannot read empty_study"]),
    "configuration with an open bracket": ("--configfile a.yaml", {"a.yaml": "n_seeds: 5\nn_folds: [2\n"}, ["a.yaml, line 3"]),
    "configuration with a tab": ("--configfile a.yaml", {"a.yaml": "studies:\n\tsaez_2022: {}\n"}, ["a.yaml, line 2", "a tab"]),
    "configuration with a key twice": (
        "--configfile a.yaml",
        {"a.yaml": "n_seeds: 5\nscale: test\nn_seeds: 6\n"},
        ["a.yaml, line 3", "'n_seeds' is there twice, first in line 1"],
    ),
    "configuration that is a list": ("--configfile a.yaml", {"a.yaml": "- n_seeds\n"}, ["a.yaml", "keys and values"]),
    "configuration that is empty": ("--configfile=a.yaml", {"a.yaml": ""}, ["a.yaml", "got nothing"]),
    "configuration that is no text": ("--configfile a.yaml", {"a.yaml": b"\xff\xfea\x00"}, ["a.yaml", "UTF-8"]),
    "profile that is not there": (
        "--workflow-profile profiles/slrum",
        {"profiles/slurm/profile.yaml": ""},
        ["profiles/slrum", "no such folder", "did you mean profiles/slurm?"],
    ),
    "second configuration wrong": (
        "--configfile b.yaml a.yaml",
        {"b.yaml": "n_seeds: 5", "a.yaml": "a: b: c"},
        ["a.yaml, line 1"],
    ),
}


@pytest.mark.parametrize("name", ON_THE_COMMAND_LINE)
def test_a_mistake_on_the_command_line_is_told_in_a_line(folder, name):
    words, files, expected = ON_THE_COMMAND_LINE[name]
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    line = said(check_arguments, ["snakemake", "all", *words.split(), "--cores", "1"])
    assert [part for part in expected if part not in line] == [], line


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("saez2022", ["unknown target 'saez2022'", "did you mean saez_2022", "--list"]),
        ("results/saez_2022/tables/table5.csv", ["table5.csv", "did you mean results/saez_2022/tables/table5_error.csv"]),
    ],
)
def test_a_target_that_nothing_makes_is_told_with_the_nearest(folder, target, expected):
    files = ["results/saez_2022/tables/table5_error.csv", "results/geras_2013/figures/figure6.svg"]
    made = (["all", "plan", "saez_2022"], lambda: files, files.__contains__)
    line = said(check_targets, [target], *made)
    assert [part for part in expected if part not in line] == [], line
    check_targets(["all", "mine.csv", files[0]], *made)


def test_targets_beside_a_plan_are_not_made_by_the_way():
    line = said(check_targets, ["plan", "saez_2022"], ["all", "plan", "saez_2022"], list, bool)
    assert "saez_2022 beside it would be made, not planned" in line and "plan_STUDY" in line


ROWS = "x,y\n" + "".join(f"{i},{i * i}\n" for i in range(20))
KEEL = "@relation a\n@attribute x real [0,9]\n@attribute y real [0,9]\n@inputs x\n@outputs y\n@data\n1, 2, 3\n"
# A file of the user's own, changes of its entry, and what the line must hold.
IN_DATA = {
    "nothing": ("mine.csv", "", {}, ["empty"]),
    "names only": ("mine.csv", "x,y\n", {}, ["mine"]),
    "a line too short": ("mine.csv", ROWS + "20", {}, ["line 22"]),
    "a line too long": ("mine.csv", ROWS + "20,400,1\n", {}, ["line 22"]),
    "words in the target": ("mine.csv", re.sub(r",(4|9|16)\n", ",many\n", ROWS), {}, ["line 4", "many", "a number is expected"]),
    "one value of the target": ("mine.csv", "x,y\n1,2\n2,2\n3,2\n", {}, ["'y'", "one value, 2"]),
    "no complete row": ("mine.csv", "x,y\n1,?\n?,2\n,3\n", {}, ["all 3 rows"]),
    "a name too many": ("mine.csv?names=a,b,y", ROWS, {}, ["3 names for 2 columns (a, b, y)"]),
    "other rows than said": ("mine.csv", ROWS, {"n_rows": 30}, ["20", "30"]),
    "other columns than said": ("mine.csv", ROWS, {"n_features": 3}, ["1", "3"]),
    "other content than said": ("mine.csv", ROWS, {"fingerprint": "0" * 16}, ["0" * 16]),
    "KEEL with a value too many": ("mine.dat", KEEL, {}, ["line 7"]),
    "no zip": ("mine.zip", "not a zip", {}, ["zip"]),
    "column to drop misspelt": ("mine.csv?drop=z", ROWS, {}, ["'z'"]),
}


@pytest.mark.parametrize("name", IN_DATA)
def test_a_mistake_in_a_file_of_data_is_told_in_a_line(folder, name):
    file, text, changes, expected = IN_DATA[name]
    (folder / file.partition("?")[0]).write_text(text)
    raw = {"extra_datasets": {"mine": {"task": "regression", "target": "y", "sources": f"file:{file}"} | changes}}
    root = fetch_dataset.__file__.rpartition("/scripts/")[0]
    entry = dict(vars(configure(raw | saez(datasets=["mine"]), root).catalogue["mine"]))
    line = said(fetched_and_prepared, entry, folder)
    assert [part for part in ("mine", *expected) if part not in line] == [], line


def fetched_and_prepared(entry, folder):
    """The two jobs that read a file of the user's own, one after the other."""
    params = {"entry": entry, "optin": False, "hosts": DEFAULT_HOSTS, "mirror": None}
    params |= {"cache": str(folder / "cache"), "lock": str(folder / "lock.txt"), "scalings": ["global"]}
    output = {name: str(folder / f"{name}.out") for name in ("table", "origin")}
    prepared = {"data": [str(folder / "data.npz")], "descriptions": [str(folder / "data.json")]}
    fetch_dataset.main(SimpleNamespace(params=SimpleNamespace(**params), output=SimpleNamespace(**output)))
    job = SimpleNamespace(input=SimpleNamespace(table=output["table"]), params=SimpleNamespace(**params))
    job.output = SimpleNamespace(**prepared)
    prepare_dataset.main(job)
    json.loads((folder / "data.json").read_text())


def test_there_are_sixty_of_them_and_no_two_are_the_same():
    lines = [*IN_CONFIGURATION, *ON_THE_COMMAND_LINE, *IN_DATA]
    assert len(set(lines)) == len(lines) >= 60
