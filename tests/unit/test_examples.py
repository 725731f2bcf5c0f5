"""Every public name has an example, and every example is right."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import foldshift

PACKAGES = ("datasets", "evaluation", "inference", "learners", "partition", "shift")
# Names that still lack an example. This list only gets shorter.
MISSING = {
    "inference": set(),
    "learners": set(),
    "shift": set(),
}


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


@pytest.mark.parametrize("name", modules_with_examples())
def test_the_examples_of_a_module_are_right(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0 and found.failed == 0, f"python -m doctest {name}: {found}"


@pytest.mark.parametrize(("package", "name"), public_names())
def test_every_public_name_has_an_example(package, name):
    text = inspect.getdoc(getattr(importlib.import_module(f"foldshift.{package}"), name)) or ""
    if name in MISSING.get(package, ()):
        assert ">>> " not in text, f"{name} has its example: take it off the list"
    else:
        assert "Examples\n--------" in text and ">>> " in text, f"foldshift.{package}.{name} lacks an example in its docstring"
