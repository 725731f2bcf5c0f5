"""Classification part of `make bench`: folds of DOB-SCV, milliseconds per fit, ratios of both paths, projected core-hours.

Times are processor seconds of one thread, so that other work on the machine changes them little.
"""

from __future__ import annotations

import multiprocessing
import re
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from bench_costs import learner_ids, peak_mb
from foldshift.core.files import write_text
from foldshift.datasets.catalogue import load_dataset
from foldshift.engine.config.learners_file import configured_learners
from foldshift.engine.config.schemes import iterations
from foldshift.engine.study.find import main_study
from foldshift.evaluation import build_learner, design_matrix, evaluate_folds
from foldshift.learners.kernels.svm import forget
from foldshift.partition import make_folds
from foldshift.reporting.table_grid import to_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from foldshift.core.types import Array, Estimator, PathLike

    Entries = dict[str, dict[str, dict[str, Any]]]  # by configuration and learner

K = 5  # it stands for 2, 5 and 10: training parts of half, four fifths and nine tenths of the samples
BLOCK = 50  # experiments per job, the default of `seeds_per_block`
LONGEST = 3.0  # seconds of the longest call of a cell, about
COMPARED = ("sonar", "german", "phoneme")  # small, middle, large
GROWTH = (1_000, 3_162, 10_000, 31_623, 100_000)


class Data(NamedTuple):
    """A data set as fits need it: the real one, or one made up in its size and kinds of columns."""

    name: str
    X: np.ndarray
    y: np.ndarray
    categorical_features: np.ndarray
    categories: tuple
    scaling: str


def configurations(study: dict[str, Any], learners: dict[str, dict[str, Any]]) -> Entries:
    """Map configurations to learners and their entries."""
    both = configured_learners(study | {"configurations": ["paper", "corrected"]}, learners)
    return {name: {learner: learners[key] for learner, key in keys.items()} for name, keys in both.items()}


def load(names: Sequence[str], mirror: PathLike | None) -> Iterator[Data]:
    """Yield the data sets, numeric columns scaled to [0, 1]."""
    kinds = pd.read_csv(main_study("classification").folder / "printed/table1_datasets.csv")
    kinds.index = kinds["dataset"].str.lower()
    for name in names:
        if mirror:
            data = load_dataset(name, scaling="global", mirror=mirror)
            yield Data(name, data.X, data.y, data.categorical_features, data.categories, data.scaling)
        else:
            plain = name.removesuffix("-repaired").removesuffix("-declared")
            yield made_up(name, *kinds.loc[plain, ["real", "integer", "nominal", "examples"]])


def made_up(name: str, n_real: int, n_integer: int, n_nominal: int, n_rows: int) -> Data:
    """Make a data set of two overlapping classes; integer columns have eleven values, nominal ones three."""
    rng = np.random.default_rng(n_rows)
    columns = [np.round(rng.random((n_rows, n_real)), 3), rng.integers(0, 11, (n_rows, n_integer)) / 10]
    nominal = rng.integers(0, 3, (n_rows, n_nominal)).astype(np.float64)
    X = np.ascontiguousarray(np.hstack([*columns, nominal]))
    score = X[:, 0] + np.sin(6 * X[:, -1]) / 2 + rng.normal(0, 0.2, n_rows)
    categories = ((),) * (n_real + n_integer) + (("a", "b", "c"),) * n_nominal
    categorical_features = np.array([len(labels) > 0 for labels in categories])
    return Data(name, X, (score > np.median(score)).astype(np.int64), categorical_features, categories, "global")


def timed(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> float:
    """Measure the processor seconds of one call."""
    start = time.process_time()
    function(*arguments, **keywords)
    return time.process_time() - start


def bench_dob(data: Data) -> float:
    """Time the folds of 100 seeds of DOB-SCV, k = 5."""
    options = {"categorical_features": data.categorical_features}
    make_folds("DOB-SCV", data.X[:100], data.y[:100], K, [0], **options)
    return timed(make_folds, "DOB-SCV", data.X, data.y, K, range(100), **options)


def dob_growth(n_rows: int) -> tuple[float, float]:
    """Time the DOB-SCV folds of one seed on made-up data in 5 dimensions, and measure the peak memory of the process.

    The process should do nothing else. The peak, in MB, includes Python and the imports (Linux only, NaN elsewhere).
    """
    rng = np.random.default_rng(0)
    X, y = rng.random((n_rows, 5)), rng.integers(0, 2, n_rows)
    make_folds("DOB-SCV", X[:500], y[:500], K, [0])
    seconds = timed(make_folds, "DOB-SCV", X, y, K, [0])
    status = Path("/proc/self/status")
    return seconds, int(re.search(r"VmHWM:\s+(\d+)", status.read_text()).group(1)) / 1024 if status.exists() else np.nan


def bench_growth() -> pd.DataFrame:
    """Measure the growth of DOB-SCV with the number of rows; the exponent is that of the step from the row above."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
        table = pd.DataFrame(list(pool.map(dob_growth, GROWTH)), columns=["seconds", "peak_mb"])
    table.insert(0, "rows", GROWTH)
    table["exponent"] = np.log(table["seconds"]).diff() / np.log(table["rows"]).diff()
    return table


def evaluate(estimator: Estimator, X: Array, y: Array, n_seeds: int, first: int = 0) -> None:
    """Compute the class scores of every sample for partitions of SCV by the shared path."""
    states = np.arange(n_seeds * K, dtype=np.uint32).reshape(n_seeds, K)
    estimator.scores_folds(X, y, make_folds("SCV", None, y, K, range(first, first + n_seeds)), states)


def per_fit(estimator: Estimator, X: Array, y: Array) -> tuple[float, float]:
    """Measure the seconds per fit of the shared path, and the seconds once per call, from two seeds and from many.

    One seed is not enough: sharing work between partitions may not pay off for one.
    """
    evaluate(estimator, X, y, 2, 1000)  # results kept from call to call, such as a kernel matrix, are made once per job
    first, n_seeds = timed(evaluate, estimator, X, y, 2), 4
    while True:
        more = timed(evaluate, estimator, X, y, n_seeds)
        per_seed = max(more - first, 0) / (n_seeds - 2)
        if more > max(0.1, 3 * first) or 4 * n_seeds * per_seed > LONGEST:
            return per_seed / K, max(first - 2 * per_seed, 0)
        n_seeds *= 4


def peak_of_two_seeds(estimator: Estimator, X: Array, y: Array) -> float:
    """Measure the memory in MB of a call that finds no kept results."""
    forget()
    return peak_mb(evaluate, estimator, X, y, 2)


def bench_fits(data: Iterable[Data], entries: Entries) -> pd.DataFrame:
    """Measure the milliseconds per fit of every classifier in every configuration on every data set."""
    rows, known = [], {}
    for item in data:
        for configuration, learners in entries.items():
            for learner, spec in learners.items():
                key = item.name, id(spec)  # a classifier without switches is the same in both configurations
                if key not in known:
                    X = design_matrix(item, spec["nominal"])
                    estimator = build_learner(spec, categorical_features=item.categorical_features)
                    known[key] = *per_fit(estimator, X, item.y), peak_of_two_seeds(estimator, X, item.y)
                seconds, once, memory = known[key]
                rows.append((configuration, learner, item.name, len(item.y), item.X.shape[1], 1000 * seconds, once, memory))
        print(f"  {item.name}", flush=True)
    columns = ["configuration", "learner", "dataset", "n_rows", "n_features", "ms_per_fit", "seconds_once", "peak_mb"]
    return pd.DataFrame(rows, columns=columns)


def bench_ratios(data: Iterable[Data], fits: pd.DataFrame, entries: Entries, n_block: int) -> pd.DataFrame:
    """Compare the plain path with the shared one, whose work once per data set is spread over the fits of a block."""
    rows = []
    for item in data:
        if item.name not in COMPARED:
            continue
        folds = make_folds("SCV", None, item.y, K, [0])
        for configuration, learners in entries.items():
            for learner, spec in learners.items():
                if configuration == "corrected" and spec is entries["paper"][learner]:
                    continue
                estimator = build_learner(spec, categorical_features=item.categorical_features)
                X = design_matrix(item, spec["nominal"])
                states = np.zeros((1, K), np.uint32)
                plain = 1000 * timed(evaluate_folds, estimator, X, item.y, folds, random_states=states, shared=False) / K
                cell = fits.query("configuration == @configuration and learner == @learner and dataset == @item.name").iloc[0]
                shared = cell["ms_per_fit"] + 1000 * cell["seconds_once"] / n_block
                rows.append((configuration, learner, item.name, shared, plain, plain / shared))
    return pd.DataFrame(rows, columns=["configuration", "learner", "dataset", "ms_shared", "ms_plain", "plain_over_shared"])


def project(fits: pd.DataFrame, study: dict[str, Any]) -> pd.DataFrame:
    """Project the core-hours of every classifier at the paper's scale, and its share of its configuration."""
    per_k = iterations(study["schemes"])
    experiments = len(study["partitioners"]) * study["n_seeds"] + study["n_truth"]
    n_fits = experiments * sum(k * r for k, r in per_k.items())
    n_calls = len(per_k) * (len(study["partitioners"]) * -(-study["n_seeds"] // BLOCK) + -(-study["n_truth"] // BLOCK))
    seconds = fits["ms_per_fit"] / 1000 * n_fits + fits["seconds_once"] * n_calls
    groups = [fits["configuration"], fits["learner"]]
    table = pd.DataFrame({"core_hours": seconds.groupby(groups, sort=False).sum() / 3600}).reset_index()
    table.insert(2, "fits", n_fits * fits["dataset"].nunique())
    table["share"] = table["core_hours"] / table.groupby("configuration")["core_hours"].transform("sum")
    return table


def bench(study: dict[str, Any], learners: dict[str, dict[str, Any]], mirror: PathLike | None) -> pd.DataFrame:
    """Measure, print, write results/bench/classifier_*.csv."""
    entries = configurations(study, learners)
    data = list(load(study["datasets"], mirror))
    by_name = {item.name: item for item in data}
    smallest = min(data, key=lambda item: len(item.y))
    for specs in entries.values():  # compile before the clock runs
        for spec in specs.values():
            estimator = build_learner(spec, categorical_features=smallest.categorical_features)
            evaluate(estimator, design_matrix(smallest, spec["nominal"]), smallest.y, 2)

    phoneme = by_name["phoneme"]
    print(f"\nDOB-SCV, 100 seeds, k = {K}, phoneme ({len(phoneme.y)} x {phoneme.X.shape[1]}): {bench_dob(phoneme):.2f} s")
    print("\nGrowth of DOB-SCV in 5 dimensions, one seed")
    growth = bench_growth()
    print(growth.to_string(index=False, float_format=lambda value: f"{value:.3g}"))

    print(f"\nMilliseconds per fit of the shared path, k = {K}")
    fits = bench_fits(data, entries)
    for configuration, part in fits.groupby("configuration", sort=False):
        wide = part.pivot(index="dataset", columns="learner", values="ms_per_fit")
        print(f"\n{configuration}")
        print(wide[list(entries[configuration])].to_string(float_format=lambda value: f"{value:.3g}"))

    print("\nShared path against plain path")
    ratios = bench_ratios(data, fits, entries, BLOCK * K)
    print(ratios.to_string(index=False, float_format=lambda value: f"{value:.3g}"))

    print("\nProjected core-hours of config/paper.yaml")
    hours = project(fits, study)
    print(hours.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    for configuration, total in hours.groupby("configuration", sort=False)["core_hours"].sum().items():
        print(f"   {configuration}: {total:.1f} core-hours")

    tables = {"growth": growth, "fits": fits, "ratios": ratios, "core_hours": hours}
    for name, table in tables.items():
        write_text(Path("results/bench") / f"classifier_{name}.csv", to_csv(table))
    return fits.assign(learner=learner_ids(fits, learners))
