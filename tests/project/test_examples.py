"""Every public name has an example, and every example is right."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import foldshift

PACKAGES = ("datasets", "evaluation", "inference", "learners", "partition", "shift")


def public_names():
    for package in PACKAGES:
        module = importlib.import_module(f"foldshift.{package}")
        yield from ((package, name) for name in module.__all__)


def modules_with_examples():
    for module in pkgutil.walk_packages(foldshift.__path__, "foldshift."):
        spec = importlib.util.find_spec(module.name)
        if spec.origin and spec.origin.endswith(".py"):
            with open(spec.origin, encoding="utf-8") as file:
                if ">>> " in file.read():
                    yield module.name


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_the_examples_of_a_module_are_right(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0 and found.failed == 0, f"python -m doctest {name}: {found}"


def has_example(package, name):
    text = inspect.getdoc(getattr(importlib.import_module(f"foldshift.{package}"), name)) or ""
    return "Examples\n--------" in text and ">>> " in text


@pytest.mark.parametrize(("package", "name"), list(public_names()))
def test_every_public_name_has_an_example(package, name):
    assert has_example(package, name), f"foldshift.{package}.{name} lacks an Examples section in its docstring"
