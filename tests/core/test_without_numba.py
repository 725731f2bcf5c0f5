"""Without numba, and before it has compiled: the library works, gives the same bytes, and says what needs numba."""

import os
import subprocess
import sys

import numpy as np
import pytest

from foldshift.core import compiling
from foldshift.core.compiling import form_for
from foldshift.partition import make_folds
from foldshift.partition.registry import PARTITIONERS, find_partitioner, function_of
from foldshift.shift import fold_covariates, fold_drift, fold_ks

BLOCK = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""
PROGRAM = """
import importlib, pkgutil, warnings
import numpy as np
from sklearn.linear_model import Ridge
import foldshift
for package in "advice core datasets evaluation inference learners partition shift reporting command".split():
    root = importlib.import_module(f"foldshift.{package}")
    for module in pkgutil.walk_packages(root.__path__, f"foldshift.{package}."):
        importlib.import_module(module.name)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(90, 3)), rng.normal(size=90)
warnings.simplefilter("ignore")
print(len(list(foldshift.partition.DOBSCV().split(X, y > 0))), foldshift.shift.fold_ks(y, np.arange(90) % 5).shape)
print(len(foldshift.advise(X, y, Ridge(), budget="5s").verdict) > 0)
for learner in (foldshift.learners.RIPPERClassifier(), foldshift.learners.C45Classifier(), foldshift.learners.RPARTRegressor()):
    try:
        learner.fit(X, y > 0 if "Classifier" in type(learner).__name__ else y)
    except ImportError as error:
        print(error)
"""


@pytest.fixture(scope="module")
def table():
    """A table with ties, a nominal column, classes, numbers and groups."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(137, 5))
    X[:, 3], X[:, 4] = rng.integers(0, 3, len(X)), np.round(X[:, 4])
    X[20:30] = X[:10]
    number = np.round(X @ np.arange(5.0) + rng.normal(size=len(X)), 1)
    return X, number, np.digitize(number, [-3, 4]), rng.integers(0, 30, len(X))


def both(call, monkeypatch):
    """What a call gives where numba is missing, and where every kernel is compiled."""
    for name in PARTITIONERS:  # loaded with numba
        function_of(name)
    with monkeypatch.context() as patch:
        patch.setattr(compiling, "HAS_NUMBA", False)
        plain = call()
    with compiling.compiling_always():
        return plain, call()


def options_to_try():
    """Every partitioner, and the options that take another way through its kernels."""
    for name in PARTITIONERS:
        yield name, {}
    for metric in ("euclidean", "keel"):
        for name in ("DB-SCV", "DOB-SCV", "MS-SCV"):
            yield name, {"metric": metric}
    for name in ("CB-TSCV", "CB-SCV", "CB-CV"):
        yield name, {"grouped": True}
        yield name, {"categorical_features": [3]}
    for name in ("DOB-SCV", "DB-SCV", "ABA"):
        yield name, {"categorical_features": [3]}
    yield "DOB-SCV", {"metric": "keel", "categorical_features": [3], "duplicates": "neighbours"}
    yield "DOB-SCV", {"missing": True}


@pytest.mark.parametrize(("name", "options"), list(options_to_try()), ids=str)
def test_every_cut_is_the_same_in_numpy_and_compiled(name, options, table, monkeypatch):
    X, number, label, groups = table
    options = dict(options)
    if options.pop("missing", False):
        X = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    if options.pop("grouped", False) or name == "LOSO":
        options["groups"] = groups
    for place in {"coordinates", "prediction_points"} & set(find_partitioner(name).takes):
        options[place] = X[:, :2]
    y = number if name in ("TSCV", "CB-TSCV") else label
    n_folds = len(np.unique(groups)) if name == "LOSO" else 7
    for seeds in ([1, 2], range(12)):  # few, and so many that seeds share lists of neighbours
        plain, compiled = both(lambda seeds=seeds: make_folds(name, X, y, n_folds, seeds, **options), monkeypatch)
        assert plain.tobytes() == compiled.tobytes()


@pytest.mark.parametrize(
    "call",
    [
        lambda X, y, folds: fold_ks(y, folds),
        lambda X, y, folds: fold_ks(X[:, 0], folds),
        lambda X, y, folds: np.array([*fold_covariates(X, folds, categorical_features=[3]).values()]),
        lambda X, y, folds: fold_drift(X, y, folds, categorical_features=[3], n_random=99).to_frame().to_csv(),
    ],
    ids=["fold_ks with ties", "fold_ks", "fold_covariates", "fold_drift"],
)
def test_every_measure_of_shift_is_the_same_in_numpy_and_compiled(call, table, monkeypatch):
    X, number, label, _ = table
    folds = make_folds("SCV", X, label, 4, range(6))
    folds[0, :5] = 3
    plain, compiled = both(lambda: call(X, number, folds), monkeypatch)
    assert plain == compiled if isinstance(plain, str) else plain.tobytes() == compiled.tobytes()


@pytest.mark.parametrize("n_neighbors", [1, 5, 40])
@pytest.mark.parametrize("n_values", [1, 2, 4, 1000])
def test_neighbours_at_equal_distances_and_at_one_point_are_the_same_in_numpy_and_compiled(n_values, n_neighbors, monkeypatch):
    rng = np.random.default_rng(n_values)
    X = rng.integers(0, n_values, size=(60, 2)).astype(float)
    folds = rng.integers(-1, 4, size=(3, len(X)))
    found = both(lambda: fold_covariates(X, folds, n_neighbors=n_neighbors, categorical_features=[1]), monkeypatch)
    for name, values in found[0].items():
        assert values.tobytes() == found[1][name].tobytes(), name
    assert np.isfinite(found[0]["two_sample_auc"]).all()


def test_a_kernel_is_compiled_once_many_small_calls_were_made(monkeypatch):
    class Kernel:
        signatures = ()

        @staticmethod
        def py_func():
            """Stand for the function that is compiled."""

    monkeypatch.setattr(compiling, "is_kept", lambda function: False)
    kernel, other = Kernel(), np.sum
    chosen = [form_for(kernel, other, 0.4 * compiling.MOST_STEPS) for _ in range(3)]
    assert chosen == [other, other, kernel]
    kernel.signatures = ("compiled",)
    assert form_for(kernel, other, 1) is kernel


def run(tmp_path, program, **environment):
    """Output and errors of a program."""
    path = os.pathsep.join([str(tmp_path), *(part for part in sys.path if part)])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path} | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def test_without_numba_all_modules_load_cuts_and_advice_work_and_learners_say_what_they_need(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(BLOCK)
    lines, _ = run(tmp_path, PROGRAM)
    assert lines[:2] == ["5 (1, 5)", "True"]
    kinds = ("rules", "trees", "trees")
    assert lines[2:] == [
        f"the learners of foldshift.learners.{kind} need numba, which is not installed: pip install numba" for kind in kinds
    ]


def test_a_first_cut_compiles_nothing_and_whatever_compiles_says_so(tmp_path):
    first = "from foldshift.partition import *; import numpy as np; X = np.random.default_rng(0).random((300, 5))\n"
    first += "print(len(list(DOBSCV().split(X, X[:, 0] > 0.5))), len(list(CovariateBalancedKFold().split(X, X[:, 0]))))\n"
    large = "from foldshift.shift.measures.random_splits import _weights; _weights(np.zeros((1, 3), np.uint8), 3, 1)\n"
    lines, said = run(tmp_path, first, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert lines == ["5 5"] and said == "" and not list(tmp_path.rglob("*.nbc"))
    _, said = run(tmp_path, first + large, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert said == "foldshift: compiling kernels, once, 5 to 40 s\n" and list(tmp_path.rglob("*.nbc"))
