"""Compile every kernel that some learners, partitioners and measures need, once and before the jobs that would each do it.

Kernels are compiled by small calls of the same functions that the jobs call, so that exactly the types in use are compiled, and
nothing here knows a kernel by name.
"""

from __future__ import annotations

import inspect
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.compiling import compiling_always, kernel_sources
from foldshift.core.imports import import_object
from foldshift.engine.costs.compile_cost import first_call_seconds
from foldshift.engine.jobs.code_digest import module_files
from foldshift.evaluation.classifiers import evaluate_class_cell
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.regressors import evaluate_cell
from foldshift.partition.registry import find_partitioner, import_path, make_folds

if TYPE_CHECKING:
    from foldshift.core.types import Array, Task

N_ROWS = 48
N_FOLDS = 4
N_CLASSES = 3
NOMINAL = np.array([False, False, True, True])


class Sample(NamedTuple):
    """A data set with columns of every kind, as much of `foldshift.datasets.Dataset` as an evaluation asks for."""

    X: Array
    y: Array
    categories: tuple[Any, ...]
    scaling: str = "global"


class Compiled(NamedTuple):
    """Outcome of one part of compiling: its name, processor time in seconds, and the error, if there was one."""

    name: str
    seconds: float
    message: str


def sample(task: Task) -> Sample:
    """A data set small enough that calls take no time."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random((N_ROWS, 2)), np.arange(N_ROWS) % 3, np.arange(N_ROWS) % 2]).astype(np.float64)
    y = rng.permutation(np.arange(N_ROWS) % N_CLASSES) if task == "classification" else rng.random(N_ROWS)
    return Sample(X, y, ((), (), ("a", "b", "c"), ("a", "b")))


def call_learner(spec: dict[str, Any]) -> None:
    """Evaluate a learner on folds, and fit and predict once: on the data sets of each of its tasks."""
    states = np.zeros((2, N_FOLDS), dtype=np.uint32)
    for task in spec["tasks"]:
        data = sample(task)
        estimator = build_learner(spec, categorical_features=NOMINAL)
        X = design_matrix(data, spec.get("nominal", "codes"))  # type: ignore[arg-type]  # a sample has all that it reads
        folds = make_folds("SCV" if task == "classification" else "CV", None, data.y, N_FOLDS, range(2))
        if task == "classification":
            evaluate_class_cell(estimator, X, data.y, folds, random_states=states)
        else:
            evaluate_cell(estimator, X, data.y, folds, random_states=states)
        estimator.fit(X, data.y).predict(X)


def load_kernels(learners: dict[str, dict[str, Any]], task: Task | None) -> None:
    """Load the compiled code of the library's learners into this process: those that are forked from it have it then.

    A job of many data sets has a process for each of them; what loading fails on, they will say.
    """
    own = {name: {"tasks": [task], **spec} for name, spec in learners.items() if spec["import"].startswith("foldshift.")}
    _call_all([(name, call_learner, (spec,)) for name, spec in own.items()])


def call_partitioner(name: str, options: dict[str, Any]) -> None:
    """Cut a data set with one of the library's partitioners."""
    data = sample(find_partitioner(name).tasks[0])
    make_folds(name, data.X, data.y, N_FOLDS, range(2), **options, categorical_features=NOMINAL)


def target_shift() -> None:
    """Measure the target shift of some folds."""
    from foldshift.shift.measures.ks import fold_ks

    data = sample("classification")
    fold_ks(data.X[:, 0], make_folds("SCV", None, data.y, N_FOLDS, range(2)))


def call_measure(path: Any) -> None:
    """Call a function without arguments, by its import path: what a study measures besides scores, on a data set of its own
    making."""
    import_object(path, "first call")()


def compile_kernels(
    learners: dict[str, dict[str, Any]],
    partitioners: Sequence[str] | dict[str, dict[str, Any]] = (),
    measures: Sequence[str] = (),
    *,
    n_processes: int = 1,
    progress: Callable[..., Any] = lambda line: None,
) -> list[Compiled]:
    """Compile, and keep, what the jobs of a run will call."""
    options = partitioners if isinstance(partitioners, dict) else {name: {} for name in partitioners}
    parts: dict[str, tuple[Callable[..., Any], tuple[Any, ...], frozenset[str]]] = {
        name: (call_learner, (spec,), _sources(import_object(spec["import"], "learner"))) for name, spec in learners.items()
    }
    paths = {name: spec["import"] for name, spec in learners.items()}
    for name, given in options.items():
        if find_partitioner(name).looks_at_inputs:
            paths[name] = import_path(name)
            parts[name] = (call_partitioner, (name, given), _sources(import_object(paths[name], "partitioner")))
    parts |= {path: (call_measure, (path,), frozenset((path,))) for path in measures}
    seconds = {name: first_call_seconds(paths.get(name, name)) for name in parts}
    done = []
    for found in _in_processes(families(parts, seconds, {path: module_files(objects=[path]) for path in measures}), n_processes):
        for part in found:
            progress(f"{part.name}: {part.seconds:.1f} s of processor time" + (f", {part.message}" if part.message else ""))
        done += found
    return done


def families(
    parts: dict[str, tuple[Callable[..., Any], tuple[Any, ...], frozenset[str]]],
    seconds: Mapping[str, float],
    calls: Mapping[str, Collection[str]],
) -> list[list[tuple[str, Callable[..., Any], tuple[Any, ...]]]]:
    """Put parts that share source of kernels together, the longest first; last those that a longer part calls as well.

    `seconds`: expected time of every part; `calls`: for some parts, the files of all that they call.
    """
    groups: list[tuple[list[tuple[str, Callable[..., Any], tuple[Any, ...]]], set[str]]] = []
    for name, (function, arguments, files) in parts.items():
        together, shared = [(name, function, arguments)], set(files)
        for group in [group for group in groups if group[1] & files]:
            together, shared = group[0] + together, shared | group[1]
            groups.remove(group)
        groups.append((together, shared))

    def order(group: tuple[list[tuple[str, Any, Any]], set[str]]) -> tuple[bool, float]:
        longest = max(seconds[name] for name, _, _ in group[0])
        return any(group[1] & set(files) for name, files in calls.items() if seconds[name] > longest), -longest

    return [together for together, _ in sorted(groups, key=order)]


def _sources(function: type[Any]) -> frozenset[str]:
    """Files whose source goes into the kernels of a learner's or partitioner's module; none for other libraries."""
    file = inspect.getsourcefile(function)
    is_ours = function.__module__.partition(".")[0] == "foldshift"
    return frozenset(kernel_sources(file)) if file and is_ours else frozenset((f"{function.__module__}.{function.__qualname__}",))


def _in_processes(
    groups: list[list[tuple[str, Callable[..., Any], tuple[Any, ...]]]], n_processes: int
) -> Iterator[list[Compiled]]:
    """Yield the results of every group, in forked processes where there is fork and more than one is allowed."""
    if n_processes == 1 or not sys.platform.startswith("linux"):
        yield from map(_call_all, groups)
        return
    # Forked: what is imported need not be again. One group after the other, as a process becomes free.
    with multiprocessing.get_context("fork").Pool(min(n_processes, max(len(groups), 1))) as pool:
        yield from pool.imap_unordered(_call_all, groups, chunksize=1)


def _call_all(group: list[tuple[str, Callable[..., Any], tuple[dict[Any, Any]]]]) -> list[Compiled]:
    """Make the calls of a group one after the other."""
    done = []
    for name, function, arguments in group:
        start, message = time.process_time(), ""
        try:
            with warnings.catch_warnings(), compiling_always():
                warnings.simplefilter("ignore")
                function(*arguments)
        except (Exception, SystemExit) as error:  # whatever a learner raises costs no more than its own part
            message = f"{type(error).__name__}: {error}"
        done.append(Compiled(name, time.process_time() - start, message))
    return done
