"""Test advice on populations and data sets that no rule was made from (`validation/held_out_sets.py`): `make validate
WHAT=advice`.

Measured are the coverage of the recommended interval by cell, with errors by population, for rows and for groups of rows; alarms
for splits that are and are not shifted; how often the promise on repetitions is kept; the error of the estimate compared with
10-fold once, 5-fold once and 10 x 10-fold, as advised and with as many fits; planted faults that are found, and false reports in
clean sets. Prints figures, and writes them with ``--out``. Samples in that folder that the same code has made are not made again:
a run that was stopped continues.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from scipy.optimize import minimize_scalar  # noqa: E402
from scipy.special import ndtri  # noqa: E402
from scipy.stats import beta, betabinom, chi2, rankdata  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor  # noqa: E402
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor  # noqa: E402

import foldshift  # noqa: E402
from foldshift.advice.data import as_data  # noqa: E402
from foldshift.advice.learner.learner_calls import fit, losses_on  # noqa: E402
from foldshift.advice.planned_cv import EPS  # noqa: E402
from foldshift.advice.power import SHARES  # noqa: E402
from foldshift.advice.rules import decide  # noqa: E402
from foldshift.advice.score import as_score  # noqa: E402
from foldshift.advice.split_shift import cut, split_shift  # noqa: E402
from foldshift.core.files import write_text  # noqa: E402
from foldshift.datasets import load_dataset  # noqa: E402
from foldshift.datasets.synthetic.populations import draw_population  # noqa: E402
from foldshift.engine.jobs.code_digest import digest, module_files  # noqa: E402
from foldshift.inference.intervals.score_ends import row_interval  # noqa: E402
from foldshift.inference.proportions import wilson_interval  # noqa: E402
from foldshift.inference.repetitions.recommend import recommend_repetitions  # noqa: E402
from held_out_sets import CLASSES, DATA_SETS, NUMBERS  # noqa: E402
from planted_faults import PLANTED, clean_sets, found_codes  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldshift.core.types import Array, Estimator, FloatArray, IntArray, PathLike, Rows, UnsignedArray

    Sampled = tuple[Array, Array, Array, Array, str]  # X, y, X_rest, y_rest, task

# Populations of the study of honest cuts, and data sets, on which the figures of `foldshift.advice.report_interval` were chosen.
OF_THE_RULES = (
    "twonorm", "xor_blobs", "sparse_signal", "circles", "unequal_gaussians", "integer_grid", "mixed_attributes", "waveform",
    "friedman_1991", "pareto_costs", "staircase",
)  # fmt: skip
DATA_OF_THE_RULES = (
    "abalone", "anacalt", "dailerons", "delevators", "mortgage", "treasury", "plastic", "quake", "laser", "banana", "spambase",
    "phoneme", "chess", "estate", "mammography", "titanic",
)  # fmt: skip
SIZES = (60, 150, 400)
N_GROUPS, GROUP_SIZE = (10, 25, 60), 6
N_REST, N_PILOT = 3000, 5
LOW, HIGH = 0.93, 0.97
SPREADS = np.arange(0.001, 0.1, 0.001)  # of the true coverage of cells, that are looked at
BLOCK = 60  # samples for each core, after which they are kept
ROOT = Path(__file__).resolve().parents[1]


def learners(task: str) -> dict[str, Estimator]:
    """Make three learners from stable to unstable."""
    if task == "classification":
        return {
            "LDA": LinearDiscriminantAnalysis(),
            "5NN": KNeighborsClassifier(5),
            "forest": RandomForestClassifier(15, random_state=0),
        }
    return {"OLS": LinearRegression(), "5NN": KNeighborsRegressor(5), "forest": RandomForestRegressor(15, random_state=0)}


def rows_of(name: str, n: int, rng: np.random.Generator, mirror: PathLike | None = None) -> Sampled:
    """Draw sample and rest of a population or of a large data set: ``X, y, X_rest, y_rest``, task."""
    if name in (*DATA_SETS, *DATA_OF_THE_RULES):
        data = load_dataset(name, mirror=mirror)
        order = rng.permutation(len(data.y))
        sample, rest = order[:n], order[n : n + N_REST]
        return data.X[sample], data.y[sample], data.X[rest], data.y[rest], data.task
    if name in OF_THE_RULES:
        data = draw_population(name, n + N_REST, rng)
        return data.X[:n], data.y[:n], data.X[n:], data.y[n:], data.task
    draw = {**CLASSES, **NUMBERS}[name]
    X, y = draw(n + N_REST, rng)
    return X[:n], y[:n], X[n:], y[n:], "classification" if name in CLASSES else "regression"


def one_sample(name: str, n: int, seed: int, mirror: PathLike | None) -> Rows:
    """Measure one sample: interval and truth by learner, and the estimates of other ways of cross-validation."""
    rng = np.random.default_rng([seed, n, sum(map(ord, name))])
    X, y, X_rest, y_rest, task = rows_of(name, n, rng, mirror)
    if task == "classification":
        known = np.isin(y_rest, np.unique(y))
        X_rest, y_rest = X_rest[known], y_rest[known]
        if len(np.unique(y)) < 2 or np.unique(y, return_counts=True)[1].min() < 2:
            return []
    every = as_data(np.vstack([X, X_rest]), np.concatenate([y, y_rest]), task=task)
    data = as_data(X, y, task=task)
    score, rest = as_score(None, task), np.arange(n, len(every.y))
    smallest = int(np.bincount(data.target.astype(int)).min()) if task == "classification" else n
    facts = {"task": task, "score": score.kind, "groups": False, "n": n, "repetitions": 10}
    facts |= {"smallest_class": smallest, "n_groups": n}
    advised, k = decide("cut", facts).advice, decide("folds", facts).advice
    plain = "SCV" if task == "classification" else "CV"
    seeds = [int(one) for one in rng.integers(2**31, size=10)]
    cuts = {(way, size): cut(way, X, data, size, seeds, data.nominal) for way in {advised, plain} for size in (5, 10)}
    out = []
    for learner, estimator in learners(task).items():
        few = learner == "forest"  # costly: no ten repetitions
        whole = losses_on(fit(estimator, every, np.arange(n)), every, score, rest).mean()
        made, truths = {}, []

        def cross_validated(
            folds: UnsignedArray,
            estimator: Estimator = estimator,
            made: dict[bytes, FloatArray] = made,
            truths: list[FloatArray] | None = None,
        ) -> FloatArray:
            """Compute the losses of the rows; append those of the models on the rest to `truths`."""
            if truths is None and folds.tobytes() in made:
                return made[folds.tobytes()]
            losses = np.full(n, np.nan)
            for fold in range(int(folds.max()) + 1):
                test = np.flatnonzero(folds == fold)
                model = fit(estimator, every, np.flatnonzero(folds != fold))
                losses[test] = losses_on(model, every, score, test)
                if truths is not None:
                    truths.append(losses_on(model, every, score, rest))
            return made.setdefault(folds.tobytes(), losses)

        pilot = cuts[advised, k][:N_PILOT]
        losses = np.array([cross_validated(folds, truths=truths if r < 2 else None) for r, folds in enumerate(pilot)])
        scores = [[row[folds == fold].mean() for fold in range(int(folds.max()) + 1)] for row, folds in zip(losses, pilot)]
        told = recommend_repetitions(np.array(scores), eps=EPS)
        repeats = min(told.repetitions or N_PILOT, N_PILOT)
        truth = np.mean(truths, axis=0)
        estimate, low, high = row_interval(losses, kind=score.kind)
        own = truth.var() / len(truth)  # of the truth itself, which is of finitely many rows
        room = np.sqrt(1 + own / max(losses.var(axis=1).mean() / n, 1e-300))
        of_ways, between = {"as advised": losses[:repeats].mean()}, np.nan
        for who, way in (("random", plain), ("advised", advised)):
            ten = np.array([cross_validated(folds).mean() for folds in cuts[way, 10][: 1 if few else 10]])
            of_ways |= {f"{who}, 10-fold": ten[0], f"{who}, 5-fold": cross_validated(cuts[way, 5][0]).mean()}
            of_ways[f"{who}, 10 x 10-fold"] = np.nan if few else ten.mean()
            if way == advised and not few:
                between = ten.var(ddof=1)
        out.append(
            {
                "population": name, "task": task, "n": n, "learner": learner, "estimate": estimate, "low": low, "high": high,
                "truth": truth.mean(), "whole": whole,
                "covered": estimate - room * (estimate - low) <= truth.mean() <= estimate + room * (high - estimate),
                "repetitions": told.repetitions, "between": between, "one": losses[0].mean(),
                "fits": repeats * k, **{f"way {way}": value for way, value in of_ways.items()},
            }
        )  # fmt: skip
    return out


def rows_in_groups(name: str, n_groups: int, rng: np.random.Generator) -> tuple[Array, Array, IntArray, str]:
    """Draw rows of a population in groups that are alike in the first input and share an effect on the target.

    Returns X, y, groups and task; groups below `n_groups` are the sample, all others are new.
    """
    n = GROUP_SIZE * (n_groups + N_REST // GROUP_SIZE)
    if name in OF_THE_RULES:
        data = draw_population(name, n, rng)
        X, y, task = data.X, data.y, data.task
    else:
        X, y, task = *{**CLASSES, **NUMBERS}[name](n, rng), "regression" if name in NUMBERS else "classification"
    noisy, n_all = X[:, 0] + X[:, 0].std() * rng.standard_normal(n), n // GROUP_SIZE
    groups = rng.permutation(n_all)[noisy.argsort().argsort() // GROUP_SIZE]
    if task == "regression":
        return X, y + 0.5 * y.std() * rng.standard_normal(n_all)[groups], groups, "regression"
    exchanged = rng.random(n) < 0.3 * rng.random(n_all)[groups]
    return X, np.where(exchanged, rng.permutation(y), y), groups, "classification"


def one_grouped_sample(name: str, n_groups: int, seed: int) -> Rows:
    """Measure one sample of groups: the recommended interval and the truth on rows of new groups, by learner."""
    rng = np.random.default_rng([seed, n_groups, sum(map(ord, name)), GROUP_SIZE])
    X, y, groups, task = rows_in_groups(name, n_groups, rng)
    sample, rest = np.flatnonzero(groups < n_groups), np.flatnonzero(groups >= n_groups)
    if task == "classification":
        known, counts = np.unique(y[sample], return_counts=True)
        rest = rest[np.isin(y[rest], known)]
        if len(known) < 2 or counts.min() < 2:
            return []
    order = np.concatenate([sample, rest])
    n, every = len(sample), as_data(X[order], y[order], task=task)
    data = as_data(X[sample], y[sample], groups=groups[sample], task=task)
    score, rest = as_score(None, task), np.arange(n, len(order))
    smallest = int(np.bincount(data.target.astype(int)).min()) if task == "classification" else n
    facts = {"task": task, "score": score.kind, "groups": True, "n": n, "repetitions": 10, "smallest_class": smallest}
    facts["n_groups"] = n_groups
    k = min(decide("folds", facts).advice, n_groups)
    folds = cut(decide("cut", facts).advice, X[sample], data, k, rng.integers(2**31, size=2).tolist(), data.nominal)
    out = []
    for learner, estimator in learners(task).items():
        losses, truths = np.empty((2, n)), []
        for (r, row), fold in itertools.product(enumerate(folds), range(k)):
            test, train = np.flatnonzero(row == fold), np.flatnonzero(row != fold)
            if task == "classification" and len(np.unique(data.target[train])) < 2:
                return []
            model = fit(estimator, every, train)
            losses[r, test] = losses_on(model, every, score, test)
            truths.append(losses_on(model, every, score, rest).mean())
        estimate, low, high = row_interval(losses, kind=score.kind, groups=data.groups)
        truth = float(np.mean(truths))
        out.append({"population": name, "task": task, "n": n_groups, "learner": learner, "estimate": estimate, "low": low}
                   | {"high": high, "truth": truth, "covered": low <= truth <= high})  # fmt: skip
    return out


def coverage(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Compute coverage by cell with Wilson's interval, marks for cells between .93 and .97, and coverage by population."""
    cells = rows.groupby(["population", "task", "n", "learner"]).covered.agg(["mean", "size"]).reset_index()
    low, high = wilson_interval(cells["mean"].to_numpy(), cells["size"].to_numpy())
    cells = cells.assign(low=low, high=high, inside=(cells["mean"] >= LOW) & (cells["mean"] <= HIGH))
    # A cell counts as outside if its Wilson interval is.
    cells["shown_outside"] = (cells.high < LOW) | (cells.low > HIGH)
    by_population = cells.groupby("population")["mean"].mean()
    return cells, by_population


def true_shares(cells: pd.DataFrame) -> tuple[float, ...]:
    """Estimate mean and spread of the true coverage of cells, and the share inside, by a beta-binomial model of the counts.

    The share of cells that are measured inside mixes the differences of cells with the error of measuring each. Returns the most
    likely mean, spread and share inside; then the largest spread that is not rejected at .05 (likelihood ratio), and the share
    inside with it.
    """
    sizes = cells["size"].to_numpy()
    hits = (cells["mean"] * sizes).round().astype(int).to_numpy()

    def fitted(spread: float) -> tuple[float, float, float, float]:
        def unlikely(mean: float) -> float:
            size = mean * (1 - mean) / spread**2 - 1
            return -betabinom.logpmf(hits, sizes, mean * size, (1 - mean) * size).sum() if size > 0 else np.inf

        found = minimize_scalar(unlikely, bounds=(0.5, 0.999), method="bounded")
        size = found.x * (1 - found.x) / spread**2 - 1
        distribution = beta(found.x * size, (1 - found.x) * size)
        return found.x, spread, distribution.cdf(HIGH) - distribution.cdf(LOW), -found.fun

    fits = np.array([fitted(spread) for spread in SPREADS])
    best = fits[fits[:, 3].argmax()]
    bound = fits[fits[:, 3] >= best[3] - chi2.isf(0.1, 1) / 2][-1]  # one-sided
    return *best[:3], *bound[1:3]


def errors_of_ways(rows: pd.DataFrame) -> pd.DataFrame:
    """Compute the root mean square error of each way's estimate for the model of all rows, relative to random 10-fold once."""
    out, ways = [], [name for name in rows.columns if name.startswith("way ")]
    fits = {"10-fold": 10, "5-fold": 5, "10 x 10-fold": 100}
    for (population, task, n, learner), part in rows.groupby(["population", "task", "n", "learner"]):
        base = np.sqrt(((part["way random, 10-fold"] - part.whole) ** 2).mean())
        for way in ways:
            gap = np.sqrt(((part[way] - part.whole) ** 2).mean()) / base if base else np.nan
            cost = fits.get(way.split(", ")[-1], part.fits.mean())
            out.append((population, task, n, learner, way.removeprefix("way "), gap, cost))
    frame = pd.DataFrame(out, columns=["population", "task", "n", "learner", "way", "error", "fits"])
    frame = frame[(frame.learner != "forest") | ~frame.way.str.contains("10 x")]
    means = frame.groupby(["task", "way", "population"])[["error", "fits"]].mean().groupby(["task", "way"])
    return means.mean().assign(standard_error=means.error.sem())


def promise(rows: pd.DataFrame) -> FloatArray:
    """Compute the share of studies in which partitions leave at most eps of the standard deviation that none can remove."""
    kept = []
    for _, part in rows[rows.learner != "forest"].groupby(["population", "n", "learner"]):
        if len(part) < 2:
            continue
        fixed = max(part.one.var(ddof=1) - part.between.mean(), 0.0)
        told = part.dropna(subset=["repetitions"])
        kept.append((told.between.to_numpy() / told.repetitions.to_numpy() <= EPS**2 * fixed).mean() if len(told) else np.nan)
    return np.array(kept)


def alarms(n_cuts: int, seed: int) -> pd.DataFrame:
    """Compute the shares of random cuts, and of cuts with a planted shift, that are reported as shifted, by size.

    Shifts are planted twice: a large one, and two with a predicted power of one half and of nine tenths.
    """
    out = []
    for name, draw in {**CLASSES, **NUMBERS}.items():
        for n in (100, 400):
            false, true, as_said = 0, 0, dict.fromkeys(SHARES, 0)
            for i in range(n_cuts):
                rng = np.random.default_rng([seed, i, n, sum(map(ord, name))])
                X, y = draw(n, rng)
                data = as_data(X, y, task="classification" if name in CLASSES else "regression")
                random = rng.permutation(n) % 5
                judged = split_shift(data, random[None], rng)
                false += bool(judged.shifted)
                # The rows with the largest first input, give or take a standard deviation, go to one fold.
                noisy = X[:, 0] + X[:, 0].std() * rng.standard_normal(n)
                true += bool(split_shift(data, (noisy.argsort().argsort() * 5 // n)[None], rng).shifted)
                for one in judged.power:
                    odds = np.exp(one.tilt * ndtri((rankdata(X[:, 0]) - 0.5) / n))
                    planted = np.full(n, -1)
                    planted[rng.choice(n, n // 5, replace=False, p=odds / odds.sum())] = 0
                    planted[planted < 0] = rng.permutation(n - n // 5) % 4 + 1
                    as_said[one.share] += data.columns[0].name in split_shift(data, planted[None], rng).shifted
            out.append((name, n, n_cuts, false / n_cuts, true / n_cuts, *(as_said[share] / n_cuts for share in SHARES)))
    return pd.DataFrame(out, columns=["population", "n", "cuts", "false", "true", *(f"said {share}" for share in SHARES)])


def faults(mirror: PathLike | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """List planted faults with a mark for those found, and clean sets with the faults reported for them."""
    planted = [(code, code in found_codes(*make(np.random.default_rng(7)))) for code, make in PLANTED.items()]
    cried = [(name, ", ".join(sorted(found_codes(X, y, grave=True))) or "-") for name, X, y in clean_sets(mirror)]
    return pd.DataFrame(planted, columns=["planted", "found"]), pd.DataFrame(cried, columns=["set", "cried"])


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=200, help="per population and size")
    parser.add_argument("--cuts", type=int, default=200, help="random cuts per population and size")
    parser.add_argument("--mirror", help="folder or address with the data sets; without it generated populations only")
    parser.add_argument("--of-the-rules", action="store_true", help="coverage on what the rules were made from")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parts = ["faults", "alarms", "coverage", "groups"]
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    options = parser.parse_args()

    def tell(name: str, table: pd.DataFrame) -> None:
        print(f"\n{name}\n{table.to_string(float_format='{:.3f}'.format)}", flush=True)
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            table.to_csv(options.out / f"{name.split(':')[0].replace(' ', '_')}.csv")

    def tell_coverage(name: str, rows: pd.DataFrame) -> None:
        cells, by_population = coverage(rows)
        tell(f"{name} by cell", cells)
        tell(f"{name} by population", by_population.to_frame())
        print(
            f"\n{name} {by_population.mean():.4f} ± {by_population.sem():.4f} (populations); {100 * cells.inside.mean():.0f} % "
            f"of {len(cells)} cells measured between {LOW} and {HIGH}, {int(cells.shown_outside.sum())} shown to lie outside"
        )
        for task, part in [("all", cells), *cells.groupby("task")]:
            mean, spread, inside, most, least = true_shares(part)
            print(
                f"{task}: true coverage {mean:.3f}, spread of cells {spread:.3f} (at most {most:.3f}), {100 * inside:.0f} % of "
                f"them between the two (at least {100 * least:.0f} %)"
            )

    def over_samples(function: Callable[..., Any], jobs: list[tuple[Any, ...]], name: str) -> pd.DataFrame:
        """Make the rows of all jobs, whose first three entries are population, size and seed; finished rows are kept."""
        code = digest(module_files(__file__), (ROOT, Path(foldshift.__file__).parents[1]))[:12]
        file, made, size = options.out and options.out / f"{name}_{code}.csv", [], BLOCK * options.cores
        if file and file.exists():
            made = [pd.read_csv(file)]
        done = {tuple(row) for frame in made for row in frame[["population", "n", "seed"]].drop_duplicates().to_numpy()}
        jobs = [job for job in jobs if tuple(job[:3]) not in done]
        with ProcessPoolExecutor(options.cores) as pool:
            for begin in range(0, len(jobs), size):
                block = jobs[begin : begin + size]
                parts = list(pool.map(function, *zip(*block), chunksize=4))
                rows = [row | {"seed": job[2]} for job, part in zip(block, parts) for row in part]
                made.append(pd.DataFrame(rows))
                if file:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    write_text(file, pd.concat(made).to_csv(index=False))
                print(f"{name}: {begin + len(block):,} of {len(jobs):,} samples", file=sys.stderr, flush=True)
        return pd.concat(made, ignore_index=True)

    if "faults" in options.parts:
        for name, table in zip(("planted faults", "clean sets"), faults(options.mirror)):
            tell(name, table)
    if "alarms" in options.parts:
        found = alarms(options.cuts, options.seed)
        tell("alarms of a shifted split, at .05", found)
        total = int(found.cuts.sum())
        print(f"false alarms {found.false.mean():.4f} of {total} random cuts; true alarms {found.true.mean():.3f}")
        for share in SHARES:
            found_of = found[f"said {share}"]
            print(f"said to be found in {share}: found in {found_of.mean():.3f} ({found_of.min():.3f} to {found_of.max():.3f})")
    if "coverage" in options.parts:
        held_out = [*CLASSES, *NUMBERS, *(DATA_SETS if options.mirror else ())]
        of_the_rules = [*OF_THE_RULES, *(DATA_OF_THE_RULES if options.mirror else ())]
        names = of_the_rules if options.of_the_rules else held_out
        jobs = [(name, n, seed, options.mirror) for seed in range(options.samples) for name in names for n in SIZES]
        rows = over_samples(one_sample, jobs, "samples")
        tell_coverage("coverage", rows)
        tell("error of the estimate over that of 10-fold once", errors_of_ways(rows))
        kept = promise(rows)
        print(f"\npromise on repetitions kept in {100 * np.nanmean(kept):.1f} % ({np.isfinite(kept).sum()} cells)")
    if "groups" in options.parts:
        names = OF_THE_RULES if options.of_the_rules else (*CLASSES, *NUMBERS)
        jobs = [(name, n, seed) for seed in range(options.samples) for name in names for n in N_GROUPS]
        tell_coverage(f"coverage of groups of {GROUP_SIZE} rows", over_samples(one_grouped_sample, jobs, "groups"))


if __name__ == "__main__":
    main()
