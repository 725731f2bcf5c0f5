"""Remedies of all other messages: the option or argument that is named exists where it is named, and helps."""

import ast
import functools
import re
from pathlib import Path

import click
import numpy as np
import pytest

import foldshift
from foldshift.command.main import main
from foldshift.inference import loss_difference_interval
from foldshift.partition import make_folds
from foldshift.shift.inject.impute import impute_masked

ROOT = Path(foldshift.__file__).parent
ARGUMENT = re.compile(r"(?<![\w.<-])([a-z][a-z_]{2,})=(?![=>])")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]+")
# Keys of sources and of the configuration, which messages write in the same form.
KEYS = {"ranges", "mem_mb", "n_sample", "cuts", "n_seeds", "name", "space_on"}
OF_SNAKEMAKE = {
    "--configfile",
    "--config",
    "--set-resources",
    "--unlock",
    "--cores",
    "--profile",
    "--workflow-profile",
    "--rerun-incomplete",
}


@functools.cache
def parsed(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def options_of_commands():
    return {
        name for command in main.commands.values() for one in command.params if isinstance(one, click.Option) for name in one.opts
    }


def messages():
    """Texts of errors with their file, the part from which on they say what to do."""
    for file in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Raise) and node.exc is not None:
                texts = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                yield file, "".join(texts)


@functools.cache
def parameters(room):
    """Names of the arguments of functions and the fields of classes below a folder."""
    found = set()
    for file in room.rglob("*.py"):
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.FunctionDef):
                found |= {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
    return found


def test_an_argument_that_a_message_names_is_one_of_its_room():
    wrong, n_named = [], 0
    for file, text in messages():
        named = set(ARGUMENT.findall(text.partition(";")[2])) - KEYS
        n_named += len(named)
        if named:
            named -= parameters(ROOT / file.relative_to(ROOT).parts[0])
        wrong += [f"{file.relative_to(ROOT)}: {name}= in {text[:80]!r}" for name in sorted(named)]
    assert not wrong, "\n".join(wrong)
    assert n_named > 10


def test_an_option_that_a_message_names_exists():
    known = options_of_commands() | OF_SNAKEMAKE
    wrong = [
        f"{file.relative_to(ROOT)}: {name}" for file, text in messages() for name in OPTION.findall(text) if name not in known
    ]
    assert not wrong, "\n".join(wrong)


def test_a_setting_of_a_remedy_is_an_option_of_a_command():
    known = options_of_commands()
    wrong = []
    for file in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(parsed(file)):
            is_remedy = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Remedy", "Given")
            if is_remedy and isinstance(node.args[0], ast.Constant):
                name = f"--{node.args[0].value.replace('_', '-')}"
                wrong += [] if name in known else [f"{file.relative_to(ROOT)}: {name}"]
    assert not wrong, "\n".join(wrong)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
Y = np.arange(30) % 2
MASK = np.zeros(X.shape, dtype=bool)
MASK[:, 0] = True
CALLS = {
    "gaps": lambda **more: make_folds("DOB-SCV", GAPS, Y, n_folds=3, seeds=[0], **{"metric": "euclidean"} | more),
    "nothing to impute by": lambda **more: impute_masked(X, MASK, np.full((4, 3), np.nan), **more),
    "folds of one row": lambda **more: loss_difference_interval(RNG.random(6), RNG.random(6), np.arange(6), **more),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_that_an_error_proposes_helps(name):
    with pytest.raises(ValueError) as caught:
        CALLS[name]()
    told = str(caught.value).partition(";")[2]
    ways = [eval(f"dict({one})") for one in re.findall(r"[a-z_]+='[^']*'", told)]
    assert ways, str(caught.value)
    for way in ways:
        CALLS[name](**way)
