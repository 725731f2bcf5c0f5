"""Take bad learners, partitioners and splitters through every door, and print what comes of each: right, refused or silent.

    python tests/fuzz/bad_code_doors.py [DOOR ...]

Doors: advise, command, evaluate_folds, study, make_folds, workflow, as_folds, advise_cv.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

import bad_code  # noqa: E402
import make_folds as make_folds_script  # noqa: E402
from bad_code import LEARNERS, PARTITIONERS, REFUSED, SPLITTERS  # noqa: E402
from foldshift import advise  # noqa: E402
from foldshift.core.errors import FoldshiftError  # noqa: E402
from foldshift.core.user_code.guarded_process import call_guarded  # noqa: E402
from foldshift.engine.jobs.isolation import Lost, run_cells  # noqa: E402
from foldshift.evaluation import evaluate_folds  # noqa: E402
from foldshift.evaluation.classifiers import evaluate_class_cell  # noqa: E402
from foldshift.evaluation.regressors import evaluate_cell  # noqa: E402
from foldshift.partition import as_folds, make_folds  # noqa: E402

N = 60
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 3))
NUMBERS = X[:, 0] + RNG.normal(size=N)
CLASSES = (NUMBERS > 0).astype(np.int64)
FOLDS = np.array([np.arange(N) % 3, np.roll(np.arange(N) % 3, 7)], dtype=np.uint8)
BUDGET = 5.0
SECONDS = 2.0  # for one cell of a study
# What takes its process along: where fits run in the user's own process, nothing can be done, and the docstring says so.
DEADLY = ("Hangs", "Sleeps", "Ends", "Crashes", "Hoards", "IsKilled")


class Outcome(NamedTuple):
    """Outcome of one piece of code at one door."""

    door: str
    name: str
    expected: str
    found: str  # refused, works, or what is wrong: silent, traceback, hung, late
    seconds: float
    said: str

    @property
    def is_right(self) -> bool:
        """True if it was refused or worked as it should."""
        return self.found in (self.expected, "not stopped, as the docstring says")


def is_regressor(name: str) -> bool:
    """Return True if a learner predicts numbers."""
    return issubclass(LEARNERS[name][0], bad_code.Regressor)


def outcome(door: str, name: str, expected: str, call: Callable[[], Any], wanted: str = "") -> Outcome:
    """Call, and name what came of it; a refusal must be in own words, one line, and hold `wanted`."""
    begun = time.monotonic()
    try:
        call()
        found, said = "works", ""
    except FoldshiftError as error:
        said = str(error)
        found = REFUSED if wanted in said and "\n" not in said else f"refused without {wanted}"
    except ValueError as error:  # refusals of the library that are no mistakes of configuration or data
        said, found = str(error), REFUSED if "\n" not in str(error) else "traceback"
    except BaseException as error:
        found, said = "traceback", f"{type(error).__name__}: {error}"
    if found == "works" and expected == REFUSED:
        found = "silent"
    return Outcome(door, name, expected, found, time.monotonic() - begun, said)


def made(name: str) -> Any:
    """A learner, made here; one that refuses to be made stays a class."""
    return LEARNERS[name][0]()


def by_advise(name: str) -> Outcome:
    """The Python function."""
    y = NUMBERS if is_regressor(name) else CLASSES
    scoring = LEARNERS[name][2]

    def call() -> None:
        learner = made(name)
        environment, folder = dict(os.environ), os.getcwd()
        advise(X, y, learner, scoring=scoring, budget=BUDGET, most_repetitions=2)
        if dict(os.environ) != environment or os.getcwd() != folder:
            raise AssertionError("the process was changed")

    found = outcome("advise", name, LEARNERS[name][1], call, "" if name == "RaisesInInit" else name)
    if name == "RaisesInInit" and found.found == "traceback":  # the user's own call raises, not the library's
        found = found._replace(found=REFUSED)
    return _in_time(found)


def _in_time(found: Outcome) -> Outcome:
    """Name a refusal late that comes after the budget; what works may compile code first."""
    return found._replace(found="late") if found.found == REFUSED and found.seconds > 1.1 * BUDGET + 1 else found


def by_command(name: str) -> Outcome:
    """The command line, in a process."""
    with tempfile.TemporaryDirectory() as folder:
        y = NUMBERS if is_regressor(name) else np.where(CLASSES, 1, 0)
        frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
        frame.to_csv(f"{folder}/t.csv", index=False)
        words = [sys.executable, "-m", "foldshift", "advise", "t.csv", "-t", "y", "-l", f"bad_code.{name}", "--check", "--json"]
        words += ["--budget", f"{BUDGET:g}s", "--quiet"]
        if LEARNERS[name][2]:
            words += ["--scoring", LEARNERS[name][2]]
        paths = [str(ROOT / "src"), str(ROOT / "tests")]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        begun = time.monotonic()
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment, timeout=120)
        seconds = time.monotonic() - begun
    expected, said = LEARNERS[name][1], done.stderr.strip()
    if "Traceback" in done.stderr or "Traceback" in done.stdout:
        found = "traceback"
    elif done.returncode == 1 and said.startswith("foldshift: ") and name in said and not done.stdout:
        found = REFUSED
    elif done.returncode in (0, 3):
        with contextlib.suppress(ValueError):
            json.loads(done.stdout)
            said = ""
        found = "not JSON" if said else "silent" if expected == REFUSED else "works"
    else:
        found = f"exit {done.returncode}"
    return Outcome("command", name, expected, found, seconds, said)


def by_evaluate_folds(name: str) -> Outcome:
    """The function of the library, which runs fits in the process of the user."""
    expected, scoring = LEARNERS[name][1:]
    if name.startswith(DEADLY):
        return Outcome("evaluate_folds", name, expected, "not stopped, as the docstring says", 0.0, "")
    y = NUMBERS if is_regressor(name) else CLASSES

    def call() -> Any:
        method = "predict_proba" if scoring else "predict"
        with contextlib.redirect_stdout(io.StringIO()):
            return call_guarded(lambda: evaluate_folds(made(name), X, y, FOLDS, response_method=method), name, 20.0)

    found = outcome("evaluate_folds", name, expected, call, "" if name == "RaisesInInit" else name)
    return found._replace(found=REFUSED) if name == "RaisesInInit" and found.found == "traceback" else found


def by_study() -> Iterator[Outcome]:
    """Cells of a study, as the script of the workflow runs them: a failed fit is a row with its message."""

    def evaluate(cell: tuple[str]) -> Any:
        (name,) = cell
        if is_regressor(name):
            return evaluate_cell(made(name), X, NUMBERS, FOLDS)
        return evaluate_class_cell(made(name), X, CLASSES, FOLDS)[1]

    begun = time.monotonic()
    names = [name for name in LEARNERS if name != "RaisesInInit"]  # made before any cell: tests/engine/test_own_code.py
    for (name,), found in run_cells(evaluate, [(name,) for name in names], minutes=SECONDS / 60, memory_mb=300):
        expected = LEARNERS[name][1]
        rows = [(found.status, found.message)] if isinstance(found, Lost) else zip(found["status"].flat, found["message"].flat)
        status, said = sorted(rows)[0]  # failed before ok
        ok = status == "ok"
        result = ("silent" if expected == REFUSED else "works") if ok else REFUSED if said else "no message"
        yield Outcome("study", name, expected, result, time.monotonic() - begun, said)
        begun = time.monotonic()


def by_make_folds(name: str) -> Outcome:
    """A partitioner through the function of the library."""
    function, expected = PARTITIONERS[name]
    if name in ("ends", "hangs", "crashes"):
        return Outcome("make_folds", name, expected, "not stopped, as the docstring says", 0.0, "")
    before = X.copy(), NUMBERS.copy()

    def call() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            make_folds(function, X, NUMBERS, 3, range(4))

    found = outcome("make_folds", name, expected, call)
    changed = (before[0] != X).any() or (before[1] != NUMBERS).any()
    return found._replace(found="changed its input") if changed else found


def by_workflow(name: str) -> Outcome:
    """A partitioner through the script of the workflow."""
    expected = PARTITIONERS[name][1]
    path = f"bad_code.cut_{name.replace(' ', '_')}"
    data = SimpleNamespace(name="mine", X=X, y=NUMBERS)

    def call() -> None:
        def cell(of: tuple[str, int]) -> Any:
            return make_folds_script.cut(data, "Mine", 3, range(4), 0, {"import": path, "options": {}})

        folds = make_folds_script.guarded(cell, {"Mine": {"import": path}}, [("Mine", 3)], {"minutes": SECONDS / 60}, "mine")
        assert folds["Mine", 3].shape == (4, N)

    with contextlib.redirect_stdout(io.StringIO()):
        return outcome("workflow", name, expected, call, "partitioner Mine")


def by_as_folds(name: str) -> Outcome:
    """A splitter through the function of the library."""
    splitter, expected = SPLITTERS[name]
    if name in ("ends", "hangs"):
        return Outcome("as_folds", name, expected, "not stopped, as the docstring says", 0.0, "")
    before = X.copy()
    found = outcome("as_folds", name, expected, lambda: as_folds(splitter, X, CLASSES))
    return found._replace(found="changed its input") if (before != X).any() else found


def by_advise_cv(name: str) -> Outcome:
    """A splitter through `advise`."""
    splitter, expected = SPLITTERS[name]
    call = lambda: advise(X, CLASSES, made("PredictsAList"), cv=splitter, budget=BUDGET, most_repetitions=1)  # noqa: E731
    found = outcome("advise_cv", name, expected, call, "cv: " if expected == REFUSED else "")
    return _in_time(found)


DOORS: dict[str, tuple[Callable[..., Any], dict[str, Any] | None]] = {
    "advise": (by_advise, LEARNERS),
    "command": (by_command, LEARNERS),
    "evaluate_folds": (by_evaluate_folds, LEARNERS),
    "study": (by_study, None),
    "make_folds": (by_make_folds, PARTITIONERS),
    "workflow": (by_workflow, PARTITIONERS),
    "as_folds": (by_as_folds, SPLITTERS),
    "advise_cv": (by_advise_cv, SPLITTERS),
}


def outcomes(doors: list[str]) -> Iterator[Outcome]:
    """Outcomes of everything at some doors."""
    for door in doors:
        take, names = DOORS[door]
        yield from take() if names is None else map(take, names)


def main() -> None:
    """Print the table, and how many were right."""
    found = []
    for one in outcomes(sys.argv[1:] or list(DOORS)):
        found.append(one)
        mark = " " if one.is_right else "!"
        print(f"{mark} {one.door:<15} {one.name:<26} {one.found:<36} {one.seconds:6.1f} s  {one.said[:150]}", flush=True)
    for door, counts in ((door, Counter(one.found for one in found if one.door == door)) for door in DOORS):
        if counts:
            print(f"{door}: {sum(counts.values())} tried; " + ", ".join(f"{n} {what}" for what, n in counts.most_common()))
    sys.exit(any(not one.is_right for one in found))


if __name__ == "__main__":
    main()
