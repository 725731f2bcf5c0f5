"""Packages import their public names on demand."""

import importlib
import subprocess
import sys

import pytest

PACKAGES = ("datasets", "evaluation", "inference", "learners", "partition", "shift")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_listed_and_there(package):
    module = importlib.import_module(f"foldshift.{package}")
    assert dir(module) == module.__all__ == sorted(module.EXPORTS)
    for name, place in module.EXPORTS.items():
        assert getattr(module, name) is getattr(importlib.import_module(f"foldshift.{package}.{place}"), name)


def test_an_unknown_name_is_refused_by_name():
    import foldshift.partition

    with pytest.raises(AttributeError, match=r"foldshift\.partition.*KFolds"):
        foldshift.partition.KFolds  # noqa: B018
    with pytest.raises(ImportError, match=r"cannot import name 'KFolds' from 'foldshift\.partition'"):
        from foldshift.partition import KFolds  # noqa: F401


@pytest.mark.parametrize("first", ["foldshift.shift.hellinger", "foldshift.shift.covariates", "foldshift.shift"])
def test_a_module_does_not_hide_the_function_of_its_name(first):
    code = f"import {first}; from foldshift.shift import hellinger; print(hellinger.__name__)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "hellinger"


def test_a_package_alone_imports_nothing_heavy():
    code = "import sys, foldshift.shift, foldshift.learners; print({'numpy', 'pandas', 'numba', 'scipy'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
