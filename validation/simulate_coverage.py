"""Measure the coverage of every interval, and the promise of `recommend_repetitions`, with a known truth: `make validate
WHAT=coverage`.

Six populations that no test uses. Every sample is cross-validated and compared with the true errors on rows outside it. The unit
of the errors of a mean is the population (learners of a population share its samples), that of a single coverage is the sample
(Wilson). Prints figures, and writes each section with its provenance to ``validation/tables``.
"""

from __future__ import annotations

import argparse
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import t as student_t
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldshift.inference.intervals.auc import auc_interval
from foldshift.inference.intervals.bootstrap import bootstrap_632plus
from foldshift.inference.intervals.cross_validation import cv_intervals
from foldshift.inference.intervals.difference import loss_difference_interval
from foldshift.inference.intervals.selection import selection_corrected_error
from foldshift.inference.proportions import wilson_interval
from foldshift.inference.repetitions.recommend import recommend_repetitions
from foldshift.inference.simulation.audit import coverage_audit
from foldshift.inference.simulation.repeated_model import by_fold, simulate_repeated
from foldshift.inference.simulation.source_models import MODELS
from foldshift.partition import make_folds
from provenance_tables import write_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldshift.core.types import Array, FloatArray, Rows

    Population = Callable[[int, np.random.Generator], tuple[FloatArray, Array]]

N_SAMPLE, N_REST, N_FOLDS = 150, 2000, 10


def moons(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """Two half moons with noise .35."""
    y = rng.integers(2, size=n)
    angle = np.pi * rng.random(n)
    X = np.column_stack([np.where(y, 1 - np.cos(angle), np.cos(angle)), np.where(y, 0.5 - np.sin(angle), np.sin(angle))])
    return X + 0.35 * rng.standard_normal((n, 2)), y


def rare(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """About 15 % of class 1, logistic in five of ten correlated inputs."""
    X = rng.standard_normal((n, 10)) + 0.7 * rng.standard_normal((n, 1))
    return X, (rng.random(n) < expit(X[:, :5].sum(axis=1) - 3.2)).astype(int)


def skewed(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """Lognormal inputs and the sign of an interaction, 10 % of the labels turned."""
    X = rng.lognormal(size=(n, 4))
    return X, ((np.log(X[:, 0]) * np.log(X[:, 1]) > 0) ^ (rng.random(n) < 0.1)).astype(int)


def triangle(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """Three overlapping classes of unequal size and spread in six inputs."""
    y = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    centres = np.array([[0, 0], [2, 0], [1, 1.7]])[y]
    X = rng.standard_normal((n, 6)) * np.array([1.0, 1.4, 0.7])[y][:, None]
    X[:, :2] += centres
    return X, y


def waves(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """A sine of one input, with noise that grows with another."""
    X = rng.random((n, 5))
    return X, np.sin(2 * np.pi * X[:, 0]) + (0.2 + X[:, 1]) * rng.standard_normal(n)


def heavy(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
    """Linear in eight inputs, noise of Student's t with four degrees of freedom."""
    X = rng.standard_normal((n, 8))
    return X, X @ np.linspace(1, 0, 8) + rng.standard_t(4, size=n)


CLASSIFIERS = (LinearDiscriminantAnalysis(), KNeighborsClassifier(3), DecisionTreeClassifier(max_depth=4))
REGRESSORS = (LinearRegression(), DecisionTreeRegressor(max_depth=4))
POPULATIONS = {
    "moons": (moons, CLASSIFIERS),
    "rare": (rare, CLASSIFIERS),
    "skewed": (skewed, CLASSIFIERS),
    "triangle": (triangle, CLASSIFIERS),
    "waves": (waves, REGRESSORS),
    "heavy": (heavy, REGRESSORS),
}


def halved(population: Population) -> Population:
    """Make a population with two classes in place of its target: above 0, or not."""

    def draw(n: int, rng: np.random.Generator) -> tuple[FloatArray, Array]:
        X, y = population(n, rng)
        return X, (y > 0).astype(int)

    return draw


# For what is defined for two classes only: the same inputs; the first class of three against the others, targets above 0.
TWO_CLASSES = {name: halved(population) for name, (population, _) in POPULATIONS.items()}


def drawn(population: Population) -> Callable[[np.random.Generator], tuple[Array, Array, Array, Array]]:
    """Make the function by which `coverage_audit` draws from a population."""

    def draw(rng: np.random.Generator) -> tuple[FloatArray, Array]:
        X, y = population(N_SAMPLE + N_REST, rng)
        return X[:N_SAMPLE], y[:N_SAMPLE], X[N_SAMPLE:], y[N_SAMPLE:]

    return draw


def audits(n_replicates: int, seed: int, *, n_repetitions: int = 2, n_nested: int = 1) -> pd.DataFrame:
    """Run `coverage_audit` for every population and learner, with CV."""
    frames = []
    for number, (name, (population, learners)) in enumerate(POPULATIONS.items()):
        for learner in learners:
            audit = coverage_audit(
                drawn(population),
                learner,
                n_folds=N_FOLDS,
                partitioner="CV",
                n_replicates=n_replicates,
                n_repetitions=n_repetitions,
                n_nested=n_nested if learner is learners[0] else 0,  # five times the fits of the others
                rng=np.random.default_rng([seed, number]),
            )
            frames.append(audit.to_frame().assign(population=name, learner=type(learner).__name__))
            print(f"  {name}, {type(learner).__name__}: done", flush=True)
    return pd.concat(frames, ignore_index=True)


def by_population(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Average coverage over populations, with its error over populations, and find the lowest of a population and learner."""
    out = []
    for key, part in rows.groupby(keys, sort=False):
        means = part.groupby("population", sort=False)["coverage"].mean()
        n, error = len(means), means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
        half = student_t.ppf(0.975, n - 1) * error if n > 1 else np.nan
        worst = part.loc[part["coverage"].idxmin()]
        low, high = wilson_interval(worst["coverage"], worst["n"])
        out.append(
            dict(zip(keys, np.atleast_1d(key)))
            | {
                "populations": n,
                "coverage": means.mean(),
                "error": error,
                "low": max(0, means.mean() - half),
                "high": min(1, means.mean() + half),
            }
            | {"lowest": worst["coverage"], "lowest_low": float(low), "lowest_high": float(high)}
            | {
                "lowest_of": f"{worst['population']}, {worst['learner']}",
            }
        )
    return pd.DataFrame(out)


def new_source(n_replicates: int, seed: int) -> pd.DataFrame:
    """Measure how every interval from leave-one-source-out covers the error on a new source; ten sources of 200 rows."""
    frames = []
    for number, model in enumerate(MODELS):
        rng = np.random.default_rng([seed, 100 + number])
        audit = coverage_audit(shape=(2000, 10), model=model, n_replicates=n_replicates, rng=rng)
        frames.append(audit.to_frame().assign(population=model, learner="centroid"))
    rows = pd.concat(frames, ignore_index=True)
    return rows[rows["partitioner"] == "leave one source out"]


def promise(
    n_studies: int, seed: int, *, n_pilot: int = 10, n_more: int = 400, K: int = 10, M: int = 10, eps: float = 0.1
) -> pd.DataFrame:
    """Compute the shares of simulated studies in which `recommend_repetitions`, the plug-in and its predecessor keep the promise.

    The truth: variance of the estimate between ``n_more`` further partitions of the same data, and covariance of the estimates of
    two partitions over 4,000 data sets.
    """
    out = []
    for number, model in enumerate(MODELS):
        rng = np.random.default_rng([seed, 200 + number])
        many = simulate_repeated(model, K, M, 4000, 4, rng).losses.mean(axis=2)
        fixed = np.cov(many.T)[np.triu_indices(4, 1)].mean()
        studies = simulate_repeated(model, K, M, n_studies, n_pilot + n_more, rng)
        between = studies.losses[:, n_pilot:].mean(axis=2).var(axis=1, ddof=1)
        scores = np.stack([by_fold(studies.losses[:, p], studies.folds[:, p], K).mean(axis=2) for p in range(n_pilot)], axis=1)
        found = [recommend_repetitions(one) for one in scores]
        before = [  # Nadeau and Bengio's variance of one estimate in place of what repeating cannot remove
            max(1, np.ceil(one.mean(axis=1).var(ddof=1) / (eps**2 * one.var(axis=1, ddof=1).mean() * (1 / K + 1 / (K - 1)))))
            for one in scores
        ]
        told = np.array([one.repetitions is not None for one in found])
        row = {"model": model, "pilot": n_pilot, "rows": K * M, "folds": K, "studies": n_studies, "told": told.mean()}
        row["rho"] = fixed / many.var(axis=0, ddof=1).mean()
        for name, numbers in (
            ("promised", [one.repetitions or np.nan for one in found]),
            ("plug_in", [one.plug_in or np.nan for one in found]),
            ("before", before),
        ):
            numbers = np.array(numbers, dtype=float)
            kept = between[told] / numbers[told] <= eps**2 * fixed
            low, high = wilson_interval(kept.mean(), len(kept))
            row |= {name: kept.mean(), f"{name}_low": float(low), f"{name}_high": float(high)}
            row[f"{name}_median"] = np.nanmedian(numbers)
        out.append(row)
    return pd.DataFrame(out)


def other_intervals(n_replicates: int, seed: int, selection: bool = True) -> pd.DataFrame:
    """Measure the coverage of intervals that `coverage_audit` lacks: areas, differences of losses, error of a chosen learner.

    The six populations, each with two classes; LDA and 3NN, folds with and without regard to class, two repetitions; a choice
    among 40 trees of all depths from 1 to 10 and four smallest leaves. The truth is measured on rows outside the sample, for the
    very models of the folds; for the chosen learner, trained on the training parts, it is the mean over folds. Without
    `selection` no learner is chosen, which takes a tenth of the time.
    """
    rows = []
    for number, (name, population) in enumerate(TWO_CLASSES.items()):
        draw = drawn(population)
        for stream in np.random.default_rng([seed, 300 + number]).spawn(n_replicates):
            rows += [{"population": name} | row for row in _one_sample(*draw(stream), stream, selection)]
    rows = pd.DataFrame(rows)
    keys = ["population", "interval", "learner"]
    found = rows.groupby(keys, sort=False).agg(coverage=("covered", "mean"), n=("covered", "size"), bias=("gap", "mean"))
    return found.reset_index()


def _one_sample(X: Array, y: Array, X_rest: Array, y_rest: Array, rng: np.random.Generator, selection: bool) -> Rows:
    """Make the rows ``interval, learner, covered, gap`` of one sample."""
    out = []

    def add(interval: str, learner: str, found: Any, truth: float) -> None:
        out.append(
            {"interval": interval, "learner": learner, "covered": found.low <= truth <= found.high}
            | {"gap": found.estimate - truth}
        )

    for way in ("CV", "SCV"):
        folds = make_folds(way, X, y, N_FOLDS, [rng, rng])
        wrong, truths = {}, {}
        for learner in CLASSIFIERS[:2]:
            scores, areas = np.empty(folds.shape), np.empty((2, N_FOLDS))
            losses, errors = np.empty(folds.shape), np.empty((2, N_FOLDS))
            for r, k in np.ndindex(areas.shape):
                test = folds[r] == k
                model = learner.fit(X[~test], y[~test])
                inside, outside = model.predict_proba(X[test])[:, 1], model.predict_proba(X_rest)[:, 1]
                scores[r, test], areas[r, k] = inside, roc_auc_score(y_rest, outside)
                losses[r, test], errors[r, k] = (inside > 0.5) != y[test], ((outside > 0.5) != y_rest).mean()
            name = type(learner).__name__
            add(f"AUC, {way}", name, auc_interval(y, scores[0], folds[0]), areas[0].mean())
            add(f"AUC, {way}, normal ends", name, auc_interval(y, scores[0], folds[0], ends="normal"), areas[0].mean())
            add(f"AUC, {way}, twice", name, auc_interval(y, scores, folds), areas.mean())
            wrong[name], truths[name] = losses[0], errors[0].mean()
        (a, b), (true_a, true_b) = wrong.values(), truths.values()
        for variance in ("within", "all pairs"):
            found = loss_difference_interval(a, b, folds[0], variance=variance)
            add(f"loss difference, {variance}, {way}", "LDA - 3NN", found, true_a - true_b)
    if not selection:
        return out
    grid = itertools.product(range(1, 11), (1, 3, 8, 15))
    settings = [DecisionTreeClassifier(max_depth=d, min_samples_leaf=m, random_state=0) for d, m in grid]
    folds = make_folds("CV", X, y, 5, [rng])[0]
    losses, errors = np.empty((len(y), len(settings))), np.empty((5, len(settings)))
    for k, (c, tree) in itertools.product(range(5), enumerate(settings)):
        model = tree.fit(X[folds != k], y[folds != k])
        losses[folds == k, c], errors[k, c] = (
            model.predict(X[folds == k]) != y[folds == k],
            (model.predict(X_rest) != y_rest).mean(),
        )
    found = selection_corrected_error(losses, n_bootstraps=300, rng=rng)
    truth = errors[:, found.chosen].mean()
    add("chosen of 40, corrected", "tree", found, truth)
    add(
        "chosen of 40, uncorrected",
        "tree",
        cv_intervals(losses=losses[:, found.chosen], folds=folds)["all pairs"]._replace(estimate=found.apparent),
        truth,
    )
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    truth = (tree.fit(X, y).predict(X_rest) != y_rest).mean()
    error = bootstrap_632plus(tree, X, y, n_bootstraps=50, rng=rng)
    for name, value in ((".632+", error.estimate), (".632", error.plain_632), ("bootstrap, left out", error.left_out)):
        out.append({"interval": f"{name} (no interval)", "learner": "tree", "covered": np.nan, "gap": value - truth})
    return out


def main() -> None:
    """Run the sections that are asked for and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sections = ("repetitions", "intervals", "new_source", "other")
    parser.add_argument("--only", nargs="*", choices=(*sections, "areas"), default=sections, help="areas: a part of other")
    parser.add_argument("--replicates", type=int, default=400, help="samples of every population and learner")
    parser.add_argument("--studies", type=int, default=200, help="simulated studies of every learner, for recommend_repetitions")
    parser.add_argument("--seed", type=int, default=2026)
    args = parser.parse_args()
    pd.set_option("display.width", 250, "display.max_columns", 30, "display.max_rows", 500, "display.precision", 4)

    def tell(name: str, table: pd.DataFrame) -> None:
        print(f"\n{name}\n{table.to_string(index=False)}", flush=True)
        write_table(f"coverage_{name}", table, replicates=args.replicates, studies=args.studies, seed=args.seed)

    # Each as soon as it is there: all of them take hours.
    if "repetitions" in args.only:
        further = ({}, {"n_pilot": 5}, {"K": 5, "M": 20})
        tell("repetitions", pd.concat([promise(args.studies, args.seed, **options) for options in further]))
    if "intervals" in args.only:
        rows = audits(args.replicates, args.seed)
        tell("intervals_single", rows)
        tell("intervals", by_population(rows, ["target", "interval"]))
    if "new_source" in args.only:
        tell("new_source", new_source(args.replicates, args.seed))
    for section in ("areas", "other"):
        if section in args.only:
            rows = other_intervals(args.replicates, args.seed, section == "other")
            tell(f"{section}_single", rows)
            tell(section, by_population(rows.dropna(), ["interval"]))


if __name__ == "__main__":
    main()
