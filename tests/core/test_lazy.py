"""Packages import their public names on demand."""

import importlib
import re
import subprocess
import sys
import tomllib

import pytest

from factories import public_names

PACKAGES = ("datasets", "evaluation", "inference", "learners", "partition", "shift")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_listed_and_there(package):
    module = importlib.import_module(f"foldshift.{package}")
    places = public_names(package)
    assert dir(module) == module.__all__ == sorted(places)
    for name, place in places.items():
        assert getattr(module, name) is getattr(importlib.import_module(f"foldshift.{package}.{place}"), name)


def test_an_unknown_name_is_refused_by_name():
    import foldshift.partition

    with pytest.raises(AttributeError, match=r"foldshift\.partition.*KFolds"):
        foldshift.partition.KFolds  # noqa: B018
    with pytest.raises(ImportError, match=r"cannot import name 'KFolds' from 'foldshift\.partition'"):
        from foldshift.partition import KFolds  # noqa: F401


@pytest.mark.parametrize(
    "first", ["foldshift.shift.measures.hellinger", "foldshift.shift.measures.covariates", "foldshift.shift"]
)
def test_a_module_does_not_hide_the_function_of_its_name(first):
    code = f"import {first}; from foldshift.shift import hellinger; print(hellinger.__name__)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "hellinger"


def test_a_package_alone_imports_nothing_heavy():
    code = "import sys, foldshift.shift, foldshift.learners; print({'numpy', 'pandas', 'numba', 'scipy'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_the_library_and_its_stub_name_the_same():
    import foldshift

    assert set(foldshift.__all__) == set(public_names(""))


def test_packages_are_there_after_importing_the_library_alone():
    code = (
        "import foldshift, sys; assert not {'numpy', 'sklearn'} & set(sys.modules), 'something heavy is loaded'; "
        "print(dir(foldshift) == foldshift.__all__, foldshift.partition.make_folds.__name__)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True", "make_folds"]
    with pytest.raises(AttributeError, match=r"foldshift has no 'partitions'$"):
        importlib.import_module("foldshift").partitions  # noqa: B018
    with pytest.raises(AttributeError, match=r"foldshift has no 'compare'; it is foldshift.inference.compare$"):
        importlib.import_module("foldshift").compare  # noqa: B018


WITHOUT_EXTRAS = """
import importlib, sys
blocked = set(sys.argv[1].split(","))
class Absent:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])
sys.meta_path.insert(0, Absent)
for package in sys.argv[2].split(","):
    module = importlib.import_module(f"foldshift.{package}")
    for name in module.__all__:
        getattr(module, name)
from foldshift.datasets.sources.download import download
from foldshift.datasets.sources.openml_client import _describe
from foldshift.datasets.readers.formats import read_excel, read_parquet
from foldshift.core.imports import optional
for call in (
    lambda: read_excel(b"PK\\x03\\x04"),
    lambda: read_parquet(b"PAR1"),
    lambda: optional("matplotlib.pyplot", "plot()"),
):
    try:
        call()
    except (ImportError, ValueError) as error:
        print(error)
print(_describe(1, "", 1, "")["error"])
"""


def test_without_the_extras_the_library_works_and_names_them(root):
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]["workflow"]
    names = {re.split(r"[>=\[]", extra)[0].replace("-", "_") for extra in extras} - {"setuptools"} | {"yaml"}
    found = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS, ",".join(sorted(names)), ",".join(PACKAGES)], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    lines = found.stdout.splitlines()
    for package, line in zip(("openpyxl", "pyarrow", "matplotlib", "openml"), lines, strict=True):
        assert f"{package}" in line and "is not installed" in line and f"pip install {package}" in line


def test_the_wheel_says_that_it_is_typed(root):
    data = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["foldshift"]
    assert "py.typed" in data and (root / "src/foldshift/py.typed").is_file()
