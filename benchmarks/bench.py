"""Measure speed in one run: folds and D_n, the shared path against the plain one and scikit-learn, projected core-hours.

Further parts: learners that no paper has, many data sets of texts, leave-one-out, shift. Without a mirror the data are made up in
the sizes of the paper's data sets; `make bench MIRROR=folder` takes the real ones.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import bench_classifiers
import bench_leave_one_out
import bench_shift
import bench_sources
from bench_costs import peak_mb, write_costs
from foldshift.core.files import write_text
from foldshift.datasets.catalogue import load_dataset, read_catalogue
from foldshift.engine.config.learners_file import PAPER
from foldshift.engine.config.runs import configure
from foldshift.engine.costs.fit_costs import COLUMNS
from foldshift.engine.study.find import main_study
from foldshift.evaluation import build_learner, evaluate_folds
from foldshift.partition import make_folds
from foldshift.reporting.table_grid import to_csv
from foldshift.shift import fold_ks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from foldshift.core.types import Array, Estimator, FloatArray, PathLike

    NamedTable = tuple[str, FloatArray, Array]  # name, inputs, target

ROOT = Path(__file__).resolve().parents[1]
COMPARED = ("traffic", "concrete", "abalone", "delevators")  # small, middle, large, largest
STARTS = 1.3  # seconds that a job takes besides its work: starting Python, imports, loading compiled code


class PrunedTree(DecisionTreeRegressor):
    """scikit-learn's tree with rpart's complexity: alpha is a share of the variance of the training target."""

    def fit(self, X: Array, y: Array) -> PrunedTree:
        self.ccp_alpha = 0.01 * np.var(y)
        return super().fit(X, y)


PEERS = {
    "RPART": PrunedTree(min_samples_split=20, min_samples_leaf=6, max_depth=30),
    "NN": KNeighborsRegressor(3),
    "GBM": GradientBoostingRegressor(
        n_estimators=100, learning_rate=0.1, subsample=0.8, max_depth=1, min_samples_leaf=10, random_state=0
    ),
}


def load(names: Sequence[str], mirror: PathLike | None) -> Iterator[NamedTable]:
    """Yield inputs and target, scaled to [0, 1], of every data set: the real one, or a made-up one of the same size."""
    catalogue = read_catalogue()
    for name in names:
        if mirror:
            data = load_dataset(name, scaling="global", mirror=mirror)
            yield name, data.X, data.y
        else:
            rng = np.random.default_rng(len(name))
            X = np.round(rng.random((catalogue[name].n_rows, catalogue[name].n_features)), 3)
            y = X[:, 0] + np.sin(6 * X[:, -1]) / 2 + 0.1 * rng.normal(size=len(X))
            yield name, X, (y - y.min()) / (y.max() - y.min())


def timed(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> float:
    """Measure the seconds of wall time of one call."""
    start = time.perf_counter()
    function(*arguments, **keywords)
    return time.perf_counter() - start


def bench_folds(data: list[NamedTable], study: dict[str, Any]) -> pd.DataFrame:
    """Time the folds and D_n of the whole study at 1000 seeds."""
    rows = []
    for name, _, y in data:
        for k in study["n_folds"]:
            for partitioner in study["partitioners"]:
                start = time.perf_counter()
                folds = make_folds(partitioner, None, y, k, range(1000))
                cut = time.perf_counter() - start
                rows.append((name, k, partitioner, cut, timed(fold_ks, y, folds, k)))
    return pd.DataFrame(rows, columns=["dataset", "k", "partitioner", "seconds_folds", "seconds_dn"])


def per_seed(estimator: Estimator, X: Array, y: Array, k: int) -> tuple[float, float]:
    """Measure the seconds per seed of the shared path, and the seconds once per data set, from one seed and from many.

    Work done once per data set is paid once per block of seeds, so it is timed apart.
    """
    first = timed(evaluate_folds, estimator, X, y, make_folds("TSCV", X, y, k, [0]))
    n_seeds = 2
    while True:
        more = timed(evaluate_folds, estimator, X, y, make_folds("TSCV", X, y, k, range(1 + n_seeds))) - first
        if more > max(0.1, first / 2) or n_seeds >= 1024:
            seconds = max(more, 0) / n_seeds
            return seconds, max(first - seconds, 0)
        n_seeds *= 4


def bench_learners(data: list[NamedTable], study: dict[str, Any], learners: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Measure the milliseconds per fit of the shared path on every data set and k."""
    rows = []
    for name, X, y in data:
        for k in study["n_folds"]:
            for learner in study["learners"]:
                estimator = build_learner(learners[learner])
                seconds, once = per_seed(estimator, X, y, k)
                memory = peak_mb(evaluate_folds, estimator, X, y, make_folds("TSCV", X, y, k, range(4)))
                rows.append((learner, name, len(y), X.shape[1], k, 1000 * seconds / k, once, memory))
        print(f"  {name}", flush=True)
    return pd.DataFrame(
        rows, columns=["learner", "dataset", "n_rows", "n_features", "k", "ms_per_fit", "seconds_once", "peak_mb"]
    )


def bench_ratios(data: list[NamedTable], study: dict[str, Any], learners: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Compare the shared path, in a block of 1000 seeds, with the plain one and scikit-learn: five folds, the same run."""
    rows = []
    for name, X, y in data:
        if name not in COMPARED:
            continue
        folds = make_folds("TSCV", X, y, 5, [0])
        for learner in study["learners"]:
            estimator = build_learner(learners[learner])
            seconds, once = per_seed(estimator, X, y, 5)
            shared = (seconds + once / 1000) / 5
            plain = timed(evaluate_folds, estimator, X, y, folds, shared=False) / 5
            peer = timed(evaluate_folds, PEERS[learner], X, y, folds) / 5 if learner in PEERS else np.nan
            rows.append((learner, name, 1000 * shared, 1000 * plain, 1000 * peer, plain / shared, peer / shared))
    columns = ["learner", "dataset", "ms_shared", "ms_plain", "ms_scikit_learn", "plain_over_shared", "scikit_learn_over_shared"]
    return pd.DataFrame(rows, columns=columns)


def project(fits: pd.DataFrame, study: dict[str, Any]) -> pd.DataFrame:
    """Project the core-hours of every learner at the paper's scale, without starting the jobs."""
    cells, n_seeds = len(study["partitioners"]), study["n_seeds"]
    seconds = fits["ms_per_fit"] / 1000 * fits["k"] * cells * n_seeds + fits["seconds_once"] * cells
    n_fits = (fits["k"] * cells * n_seeds).groupby(fits["learner"], sort=False).sum()
    hours = seconds.groupby(fits["learner"], sort=False).sum() / 3600
    return pd.DataFrame({"fits": n_fits, "core_hours": hours, "ms_per_fit": hours * 3.6e6 / n_fits}).reset_index()


def bench_regression(study: dict[str, Any], learners: dict[str, dict[str, Any]], mirror: PathLike | None) -> pd.DataFrame:
    """Measure, print, write results/bench/*.csv."""
    data = list(load(study["datasets"], mirror))

    _, X, y = next(item for item in data if item[0] == "concrete")
    for learner in study["learners"]:  # compile before the clock runs
        evaluate_folds(build_learner(learners[learner]), X, y, make_folds("CV", X, y, 2, [0]))
    fold_ks(y, make_folds("CV", X, y, 2, [0]))

    print("\n1. Folds and D_n of the whole study, 1000 seeds, one core")
    folds = bench_folds(data, study)
    print(f"   folds {folds['seconds_folds'].sum():.0f} s, D_n {folds['seconds_dn'].sum():.0f} s")
    largest = folds.query("dataset == 'delevators' and k == 10 and partitioner == 'TSCV'")["seconds_folds"].iloc[0]
    print(f"   delevators, k = 10, TSCV, 1000 seeds: {largest:.2f} s")

    print("\n2. Shared path against plain path and scikit-learn, one core, five folds")
    ratios = bench_ratios(data, study, learners)
    print(ratios.to_string(index=False, float_format=lambda value: f"{value:.3g}"))

    print("\n3. Milliseconds per fit of the shared path over the paper's grid")
    fits = bench_learners(data, study, learners)
    hours = project(fits, study)
    print(hours.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    # Per data set: fetch, prepare twice, cut, measure, collect twice, compare scaling, and one job per learner.
    starts = STARTS * len(study["datasets"]) * (8 + len(study["learners"])) / 3600
    total = hours["core_hours"].sum() + starts + (folds["seconds_folds"].sum() + folds["seconds_dn"].sum()) / 3600
    print(f"   starting jobs (about {STARTS} s each): {starts:.2f} core-hours")
    print(f"   projected core-hours of config/paper.yaml: {total:.1f}")

    for name, table in (("folds", folds), ("ratios", ratios), ("fits", fits), ("core_hours", hours)):
        write_text(Path("results/bench") / f"{name}.csv", to_csv(table))
    return fits


def bench_others(learners: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Time the learners that no main study has on made-up tables; most are of a library, whose fits do not share work."""
    papers = {
        name for task in TASKS for name in configure({"scale": "paper"}, ROOT).config["studies"][main_study(task).id]["learners"]
    }
    rows = []
    for learner, entry in learners.items():
        if learner in papers or PAPER in learner:
            continue
        try:
            build_learner(entry)
        except ValueError as error:  # of a library that is not installed
            print(f"  {learner} left out: {error}", flush=True)
            continue
        for n_rows, n_features in itertools.product((50, 200, 1000, 4000), (3, 30)):
            rng = np.random.default_rng(n_rows)
            X = np.round(rng.random((n_rows, n_features)), 3)
            y = X[:, 0] + np.sin(6 * X[:, -1]) / 2 + 0.2 * rng.normal(size=n_rows)
            y = y if "regression" in entry["tasks"] else (y > np.median(y)).astype(np.int64)
            estimator, folds = build_learner(entry), make_folds("CV", X, y, 5, range(2))
            seconds = min(timed(evaluate_folds, estimator, X, y, folds) for _ in range(2)) / 10
            memory = peak_mb(evaluate_folds, estimator, X, y, folds[:1])
            rows.append((learner, f"made_up_{n_rows}_{n_features}", n_rows, n_features, 5, 1000 * seconds, 0.001, memory))
        print(f"  {learner}", flush=True)
    return pd.DataFrame(rows, columns=[*COLUMNS[:4], "k", *COLUMNS[4:]])


TASKS = {"regression": bench_regression, "classification": bench_classifiers.bench}  # of the main study of a task
OTHERS = "others"
PARTS: dict[str, Callable[..., Any]] = (
    TASKS
    | {OTHERS: bench_others}
    | {"sources": bench_sources.main, "leave_one_out": bench_leave_one_out.main, "shift": bench_shift.main}
)
MADE_UP = {"shift"}  # parts whose tables are made up, with a mirror too


def main() -> None:
    """Measure one part or all."""
    paper = configure({"scale": "paper"}, ROOT)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", default="", help="folder or URL of the real data")
    parser.add_argument("--part", choices=PARTS, help="by default all")
    options = parser.parse_args()
    studies, learners = paper.config["studies"], paper.learners
    print(f"Data: {'real, from ' + options.mirror if options.mirror else 'made up in the sizes of the real ones'}")
    costs = []
    for part, bench in PARTS.items():
        if options.part not in (None, part):
            continue
        print(f"\n{part}")
        if part in TASKS:
            costs.append(bench(studies[main_study(part).id], learners, options.mirror))
        elif part == OTHERS:
            costs.append(bench(learners))
        else:
            bench(["--mirror", options.mirror] if options.mirror and part not in MADE_UP else [])
    if not costs:
        return
    write_costs("results/bench/costs.tsv", costs)
    print("\nWritten to results/bench/*.csv, and what fits cost to results/bench/costs.tsv.")
    print(
        "To plan with the times of this machine: --config costs_file=results/bench/costs.tsv (jobs are then cut otherwise, and "
        "run again)."
    )


if __name__ == "__main__":
    main()
