"""What code rests on: the modules that it imports, the library's and the user's own, and what is really loaded when it works."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from foldshift import learners as own_learners
from foldshift.core.errors import ConfigError
from foldshift.engine.config.check import check_imports
from foldshift.engine.jobs import code_digest as modules
from foldshift.engine.jobs.code_digest import PACKAGE, module_files
from foldshift.engine.study.find import find_studies
from foldshift.partition.registry import PARTITIONERS, import_path


def own(path, folder):
    """Files of an import path by their place below a folder."""
    return {Path(file).relative_to(folder).as_posix() for file in module_files(objects=[path])}


def put(folder, **files):
    for name, text in files.items():
        file = folder / f"{name.replace('_in_', '/')}.py"
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(text)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import helper", {"helper.py"}),
        ("import helper as h, os, numpy", {"helper.py"}),
        ("from helper import thing", {"helper.py"}),
        ("def later():\n    from helper import thing", {"helper.py"}),
        ("import kit.deep.core as c", {"kit/__init__.py", "kit/deep/__init__.py", "kit/deep/core.py"}),
        ("from kit import side", {"kit/__init__.py", "kit/side.py"}),
        ("from kit.deep import core", {"kit/__init__.py", "kit/deep/__init__.py", "kit/deep/core.py"}),
        ("from kit.deep import *", {"kit/__init__.py", "kit/deep/__init__.py", "kit/deep/core.py", "kit/deep/other.py"}),
        ("import importlib\nimportlib.import_module('kit.side')", {"kit/__init__.py", "kit/side.py"}),
        ("import no_such_module, json, sklearn.svm", set()),
    ],
)
def test_what_a_users_own_module_imports_counts(here, text, expected):
    put(here, mine=text, helper="", kit_in___init__="", kit_in_side="", kit_in_deep_in___init__="")
    put(here, kit_in_deep_in_core="", kit_in_deep_in_other="", unused="")
    assert own("mine.Learner", here) == {"mine.py"} | expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from . import side", {"side.py"}),
        ("from .side import thing", {"side.py"}),
        ("from .deep.core import thing", {"deep/__init__.py", "deep/core.py"}),
        ("from .deep import core as c", {"deep/__init__.py", "deep/core.py"}),
        ("import importlib\nimportlib.import_module('.side', __package__)", {"side.py"}),
    ],
)
def test_relative_imports_within_a_package_of_the_users_own_count(here, text, expected):
    put(here, kit_in___init__="", kit_in_mine=text, kit_in_side="", kit_in_deep_in___init__="", kit_in_deep_in_core="")
    assert own("kit.mine.Learner", here) == {"kit/__init__.py", "kit/mine.py"} | {f"kit/{name}" for name in expected}


def test_a_module_below_reaches_those_above(here):
    put(here, kit_in___init__="", kit_in_side="", kit_in_deep_in___init__="", kit_in_deep_in_mine="from ..side import thing")
    assert own("kit.deep.mine.cut", here) == {"kit/__init__.py", "kit/side.py", "kit/deep/__init__.py", "kit/deep/mine.py"}


def test_what_a_package_imports_when_it_is_loaded_counts(here):
    put(here, kit_in___init__="from kit import side", kit_in_side="import helper", kit_in_mine="", helper="")
    assert own("kit.mine.Learner", here) == {"kit/__init__.py", "kit/side.py", "kit/mine.py", "helper.py"}


def test_modules_that_import_each_other_are_no_trouble(here):
    put(here, one="import two", two="import three", three="import one")
    assert own("one.Learner", here) == {"one.py", "two.py", "three.py"}


def test_packages_without_an_init_file_are_followed(here):
    put(here, kit_in_mine="from kit.side import thing", kit_in_side="")
    assert own("kit.mine.Learner", here) == {"kit/mine.py", "kit/side.py"}


def test_own_modules_elsewhere_on_the_import_path_count_and_installed_ones_do_not(here, monkeypatch):
    lab, installed = here / "lab", here / "lib/site-packages"
    work = here / "work"
    work.mkdir()
    put(lab, tools="import bought")
    put(installed, bought="")
    put(work, mine="import tools")
    for folder in (installed, lab, work):
        monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(work)
    assert own("mine.Learner", here) == {"work/mine.py", "lab/tools.py"}


def test_library_modules_that_own_modules_import_count(here):
    put(
        here,
        mine="import helper",
        helper="from foldshift.learners import NNRegressor\nfrom foldshift.partition import make_folds",
    )
    files = module_files(objects=["mine.Learner"])
    names = {Path(file).relative_to(PACKAGE).as_posix() for file in files if PACKAGE in Path(file).parents}
    assert {
        "learners/neighbours/nearest_regressor.py",
        "learners/base.py",
        "partition/registry.py",
        "partition/neighbours/search.py",
    } <= names
    assert not {"learners/trees/gbm.py", "learners/__init__.py"} & names


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x = 1\ndef broken(:\n    pass\n", r"helper\.py, line 2: not valid Python \(invalid syntax\)"),
        (b"x = 1\n\n  y = 2\n", r"helper\.py, line 3: not valid Python \(unexpected indent\)"),
        (b"x = '\xff'\n", r"helper\.py, line \d: not valid Python"),
        (b"x = 1\0\n", r"helper\.py, line \d: not valid Python"),
    ],
)
def test_a_helper_that_is_not_valid_python_is_named_with_its_line(here, content, message):
    put(here, mine="def learner():\n    import helper\n")
    (here / "helper.py").write_bytes(content)
    config = {"studies": {}, "own_partitioners": {"Mine": {"import": "mine.learner"}}}
    with pytest.raises(ConfigError, match=r"^own_partitioners\.Mine: .*" + message) as caught:
        check_imports(config, {}, {})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "some", "few"),
    [
        ("from foldshift.learners import GBMRegressor", {"learners/trees/gbm.py"}, True),
        ("from foldshift.learners.trees import gbm", {"learners/trees/gbm.py"}, True),
        ("import foldshift.learners.trees.gbm as trees", {"learners/trees/gbm.py"}, True),
        ("import foldshift.learners as known", {"learners/trees/gbm.py", "learners/neighbours/nearest_regressor.py"}, False),
        ("from foldshift import learners", {"learners/trees/gbm.py", "learners/neighbours/nearest_regressor.py"}, False),
        ("from foldshift.learners import *", {"learners/trees/gbm.py", "learners/neighbours/nearest_regressor.py"}, False),
        ("import foldshift", set(), True),
    ],
)
def test_a_package_of_the_library_that_is_taken_as_a_whole_counts_with_all_its_modules(here, text, some, few):
    put(here, mine=text)
    found = library(objects=["mine.Learner"])
    assert some <= found and ("learners/neighbours/nearest_regressor.py" not in found) == few


def library(*scripts, **keywords):
    return {
        Path(file).relative_to(PACKAGE).as_posix() for file in module_files(*scripts, **keywords) if PACKAGE in Path(file).parents
    }


def test_a_module_of_the_library_rests_on_the_data_file_beside_it():
    found = library(objects=["foldshift.advice.advise.advise"])
    assert {"advice/rules.toml", "advice/issues.toml", "advice/expected.csv", "core/page/web_page.css"} <= found


def test_folds_rest_on_the_modules_of_their_partitioners_and_of_no_others(root):
    script = root / "scripts/make_folds.py"
    modules = {
        "partition/methods/stratified.py",
        "partition/methods/scv.py",
        "partition/methods/distance_based.py",
        "partition/neighbours/search.py",
        "core/gate/categorical.py",
    }
    modules.add("partition/methods/leave_group_out.py")
    expected = {
        "CV": {"partition/methods/stratified.py"},
        "SCV7": {"partition/methods/stratified.py"},
        "TSCV": {"partition/methods/stratified.py"},
        "SCV": {"partition/methods/scv.py"},
        "LOSO": {"partition/methods/leave_group_out.py"},
        **{
            name: {"partition/methods/distance_based.py", "partition/neighbours/search.py", "core/gate/categorical.py"}
            for name in ("DB-SCV", "DOB-SCV", "MS-SCV")
        },
    }
    found = {name: library(script, objects=[import_path(name)], tables=False) & modules for name in expected}
    assert found == expected


def test_a_script_that_cuts_by_name_rests_on_every_partitioner_unless_it_says_which(root):
    script = root / "scripts/make_folds.py"
    assert {"partition/methods/stratified.py", "partition/methods/scv.py", "partition/neighbours/search.py"} <= library(script)
    assert not {"partition/methods/stratified.py", "partition/methods/scv.py", "partition/neighbours/search.py"} & library(
        script, tables=False
    )


# Loading a package runs its __init__.py, which only says where public names stand; that of `shift` takes one function from a
# module.
ALWAYS = {"__init__.py", "lazy.py", "shift/measures/hellinger.py"}


def loaded_by(work):
    """Library modules that a piece of work loads, in a process forked from one that holds none of those that are looked for."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for name in [name for name in sys.modules if name.split(".")[0] == "foldshift"]:
                del sys.modules[name]
            work()
            files = [
                getattr(module, "__file__", None) for name, module in sys.modules.items() if name.split(".")[0] == "foldshift"
            ]
            os.write(writer, json.dumps([file for file in files if file]).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    names = {Path(file).resolve().relative_to(PACKAGE).as_posix() for file in json.loads(text)}
    return {name for name in names if name not in ALWAYS and not name.endswith("/__init__.py")}


RNG = np.random.default_rng(0)
X = np.column_stack([RNG.random((40, 3)), RNG.integers(0, 3, 40)])
CLASSES = (X[:, 0] + 0.3 * X[:, 3] > 0.8).astype(np.int64)
FOLDS = np.arange(40)[None] % 4


NEEDED = {
    "LOSO": {"groups": X[:, 3]},
    "BLOCKS": {"coordinates": X[:, :2]},
    "NNDM": {"coordinates": X[:, :2], "prediction_points": X[:, 1:3]},
}


@pytest.mark.parametrize("name", ["SCV4", *PARTITIONERS])
def test_what_a_partitioner_loads_is_what_is_declared(name):
    def work():
        from foldshift.partition.registry import make_folds

        make_folds(name, X, CLASSES, 2, [1, 2], **NEEDED.get(name, {}))

    registry = PACKAGE / "partition/registry.py"
    assert loaded_by(work) == library(registry, objects=[import_path(name)], tables=False)


@pytest.mark.parametrize("name", own_learners.__all__)
def test_what_a_learner_loads_is_what_is_declared(name):
    def work():
        import foldshift.learners
        from foldshift.evaluation.cross_validate import evaluate_folds

        learner = getattr(foldshift.learners, name)()
        y = CLASSES if hasattr(learner, "predict_proba") or name.endswith("Classifier") else X[:, 0]
        learner.fit(X, y).predict(X)
        evaluate_folds(learner, X, y, FOLDS)

    assert loaded_by(work) == library(PACKAGE / "evaluation/cross_validate.py", objects=[f"foldshift.learners.{name}"])


def test_a_module_that_is_loaded_and_not_declared_would_be_seen():
    def work():
        import foldshift.learners.trees.gbm
        import foldshift.partition.neighbours.search  # noqa: F401

    assert {"learners/trees/gbm.py", "partition/neighbours/search.py"} <= loaded_by(work) - library(
        PACKAGE / "partition/methods/stratified.py"
    )


def test_imports_are_looked_up_once_for_a_content_and_again_for_another(here, monkeypatch):
    put(here, mine="import helper", helper="")
    monkeypatch.setattr(modules, "cache_root", lambda: here)

    def found():
        modules._imports.cache_clear()  # as a new process
        modules._memory.clear()
        return own("mine.Learner", here)

    assert found() == {"mine.py", "helper.py"}
    monkeypatch.setattr(modules, "_imports_of", None)  # nothing is parsed
    assert found() == {"mine.py", "helper.py"}
    monkeypatch.undo()
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(here)
    monkeypatch.setattr(modules, "cache_root", lambda: here)
    put(here, mine="import other", other="")
    assert found() == {"mine.py", "other.py"}
    for damaged in ("", "[", "{}", '{"by": 1, "imports": {}}', "[1]"):
        (here / "imports.json").write_text(damaged)
        assert found() == {"mine.py", "other.py"}
    monkeypatch.setattr(modules, "cache_root", lambda: None)
    assert found() == {"mine.py", "other.py"}


def test_a_digest_of_files_follows_names_and_contents_and_not_the_place_of_the_project(tmp_path):
    put(tmp_path / "here", a="x = 1\n", b="y = 1\n")
    put(tmp_path / "there", a="x = 1\n", b="y = 1\n")

    def of(folder, *names):
        return modules.digest([folder / f"{name}.py" for name in names], [folder])

    here, there = tmp_path / "here", tmp_path / "there"
    assert of(here, "a", "b") == of(there, "b", "a") != of(here, "a")
    assert modules.digest([here / "a.py"]) != modules.digest([there / "a.py"])
    before = of(there, "a", "b")
    put(there, a="x = 2\n")
    assert of(there, "a", "b") != before


def test_a_learner_whose_optional_package_is_missing_says_how_to_install_it():
    config = {"studies": {"saez_2022": {"learners": ["Trees"]}}, "learners_file": "mine.yaml", "own_partitioners": {}}
    entry = {"import": "no_such_package.Trees", "module": "no_such_package"}
    with pytest.raises(ConfigError) as caught:
        check_imports(config, {"Trees": entry}, find_studies())
    assert str(caught.value) == (
        "learner Trees in mine.yaml needs no_such_package, which is not installed: pip install no_such_package"
    )
