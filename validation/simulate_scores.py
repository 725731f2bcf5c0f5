"""Measure how intervals of scores and of differences cover the truth on populations that they were not made from.

``make validate WHAT=scores``. Samples come from `score_samples`, populations from `held_out_scores`. Writes
``tables/score_intervals.csv`` (by score), ``score_cells.csv`` (by population and learner), ``score_differences.csv`` and
``zero_disagreement.csv``.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student_t
from sklearn.metrics import average_precision_score

from foldshift.inference import score_difference_interval, score_interval
from foldshift.inference.intervals.mean_loss import mean_and_variance, mean_loss_ends, unstable_part
from foldshift.inference.intervals.score_names import SCORES as NAMES
from foldshift.inference.intervals.score_parts import row_losses
from foldshift.inference.proportions import wilson_ends
from foldshift.inference.roc import roc_area
from held_out_scores import SCORES
from provenance_tables import write_table
from score_samples import CLIP, kept_samples, table_scores

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray, IntArray

    Ends = tuple[float, float, float]

PAIRS = (("linear", "5NN"), ("5NN", "tree"))
OF_ROWS = ("error", "accuracy", "brier_score", "log_loss", "root_mean_squared_error", "mean_absolute_error")
SIZES, WORSE, REGION = (20, 40, 60, 100, 200, 400), 0.02, 0.01


def needed(score: str, predictions: Array) -> Array:
    """Labels, scores or probabilities of the predictions (r, n[, C])."""
    if predictions.ndim == 2:
        return predictions
    needs = NAMES[score].needs
    return predictions.argmax(axis=2) if needs == "labels" else predictions[..., 1] if needs == "ranks" else predictions


def before(score: str, y: Array, predictions: Array, folds: IntArray, groups: IntArray | None) -> Ends:
    """Interval that advice gave before: of rows where they have a loss, else of folds; the first repetition's folds."""
    name = NAMES[score]
    if score in OF_ROWS:
        if name.needs == "labels":
            losses = (predictions != y).astype(float)
            estimate, low, high = share_before(losses, groups)
            return (1 - estimate, 1 - high, 1 - low) if score == "accuracy" else (estimate, low, high)
        losses = np.array([row_losses(name, y, one, CLIP) for one in predictions])
        ends = mean_loss_ends(losses, groups=groups)
        return tuple(np.sqrt(ends)) if score == "root_mean_squared_error" else ends  # type: ignore[return-value]
    values = np.array([fold_score(score, y[folds == fold], predictions[0][folds == fold]) for fold in np.unique(folds)])
    k = len(values)
    values = values[~np.isnan(values)]
    mean = float(values.mean()) if len(values) else np.nan
    if len(values) < 2 or np.ptp(values) == 0:
        return mean, np.nan, np.nan
    half = student_t.isf(0.025, len(values) - 1) * np.sqrt(values.var(ddof=1) * (1 / len(values) + 1 / (k - 1)))
    return mean, mean - half, mean + half


def share_before(losses: FloatArray, groups: IntArray | None) -> Ends:
    """Wilson's interval of a share with a factor of the variance that grew with it."""
    mean, variance, df = mean_and_variance(losses, groups)
    factor = 1 + 0.5 * mean - 0.5 * unstable_part(losses)
    n = losses.shape[1] / factor
    if groups is not None and variance > 0:
        n = min(n, mean * (1 - mean) / (factor * variance))
    low, high = wilson_ends(mean, n, float(norm.isf(0.025) if groups is None else student_t.isf(0.025, df)))
    return mean, float(low), float(high)


def fold_score(score: str, y: Array, predicted: Array) -> float:
    """Score of one fold, as scikit-learn's scorers give it."""
    if NAMES[score].needs == "labels":
        n_classes = int(max(y.max(), predicted.max(), 1)) + 1
        table = np.bincount(y * n_classes + predicted, minlength=n_classes**2).reshape(n_classes, n_classes)
        table = table[np.ix_(*[(table.sum(axis=0) + table.sum(axis=1)) > 0] * 2)] if n_classes > 2 else table
        if score == "balanced_accuracy":
            rows = table.sum(axis=1)
            return float((np.diag(table)[rows > 0] / rows[rows > 0]).mean())
        if score.startswith("f1_"):  # a fold may lack a class
            right, sizes = np.diag(table), table.sum(axis=0) + table.sum(axis=1)
            return float(np.average(2 * right / sizes, weights=table.sum(axis=1) if score == "f1_weighted" else None))
        return float(np.nan_to_num(table_scores(table / table.sum())[score]))
    if score == "r2":
        return float(1 - ((y - predicted) ** 2).mean() / y.var()) if len(y) > 1 else np.nan
    if len(np.unique(y)) < 2:
        return np.nan
    return float(roc_area(predicted, y == 1)) if score == "roc_auc" else float(average_precision_score(y, predicted))


def intervals(folder: Path, which: str, kind: str, n_samples: int, first: int | None = None) -> pd.DataFrame:
    """Measure every sample, learner and score: the interval, the one before, and the truth."""
    out: list[tuple[Any, ...]] = []
    for population, n_groups, samples in kept_samples(folder, which, kind, n_samples):
        for sample, score in itertools.product(samples[:first], SCORES[population.task]):
            y, folds, groups = sample["y"], np.array(sample["folds"]), sample["groups"]
            for learner, given in sample["predictions"].items():
                truth = np.mean([one[score] for one in sample["truth"][learner]])
                predictions = needed(score, np.array(given))
                found = score_interval(y, predictions, score, folds=folds, groups=groups, clip=CLIP)
                old = before(score, y, predictions, folds[0], groups)
                rarest = np.bincount(y).min() if population.task != "numbers" else len(y)
                out.append((population.name, population.n, n_groups, score, learner, truth, *found[2:5], *old, rarest,
                            "holds" in found.note))  # fmt: skip
    columns = ["population", "n", "groups", "score", "learner", "truth", "estimate", "low", "high"]
    return pd.DataFrame(out, columns=[*columns, "estimate_before", "low_before", "high_before", "rarest", "tail"])


def measured(rows: pd.DataFrame, kind: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Coverage by cell (population, learner, score), and by score over cells; a truth that is not defined counts nowhere."""
    rows = rows[np.isfinite(rows.truth)].assign(groups=rows.groups.fillna(0).astype(int))
    domain = rows.score.map(lambda name: (NAMES[name].low, NAMES[name].high))
    low, high = np.array(domain.tolist()).T
    truth, room = rows.truth, 1e-9
    rows = rows.assign(
        covered=(rows.low <= truth + room) & (truth <= rows.high + room),
        covered_before=(rows.low_before <= truth + room) & (truth <= rows.high_before + room),
        truth_below=truth < rows.low - room,
        truth_above=truth > rows.high + room,
        outside=(rows.low < low) | (rows.high > high),
        outside_before=(rows.low_before < low - room) | (rows.high_before > high + room),
        none_before=rows.low_before.isna(),
        width=rows.high - rows.low,
        width_before=rows.high_before - rows.low_before,
    )
    shares = ["covered", "covered_before", "truth_below", "truth_above", "outside", "outside_before", "none_before", "tail"]
    keys = ["score", "population", "n", "groups", "learner"]
    found = rows.groupby(keys, sort=False)
    cells = found[[*shares, "rarest"]].mean().join(found[["width", "width_before", "truth"]].median())
    cells = cells.assign(samples=found.size()).reset_index()
    out = []
    for score, part in cells.groupby("score", sort=False):
        by_population = part.groupby("population").covered.mean()
        worst = part.loc[part.covered.idxmin()]
        out.append(
            {"kind": kind, "score": score, "cells": len(part), "coverage": part.covered.mean()}
            | {"error": by_population.std(ddof=1) / np.sqrt(len(by_population)), "lowest": worst.covered}
            | {"lowest_of": f"{worst.population}, n = {worst.n}, {worst.learner}", "below_90": int((part.covered < 0.9).sum())}
            | {name: part[name].mean() for name in shares[1:]}
            | {"width_ratio": (part.width / part.width_before).median()}
        )
    return pd.DataFrame(out), cells.assign(kind=kind)


def differences(folder: Path, which: str, n_samples: int, first: int | None = None) -> pd.DataFrame:
    """Coverage of the differences of two learners by score, and how often the interval is a single number."""
    out: list[tuple[Any, ...]] = []
    for population, _, samples in kept_samples(folder, which, "rows", n_samples):
        for sample, score, (a, b) in itertools.product(samples[:first], SCORES[population.task], PAIRS):
            of_a, of_b = (needed(score, np.array(sample["predictions"][one])) for one in (a, b))
            truth = sample["truth"][a][0][score] - sample["truth"][b][0][score]
            found = score_difference_interval(sample["y"], of_a, of_b, score, folds=np.array(sample["folds"]), clip=CLIP)
            if np.isfinite(truth):
                out.append((score, population.name, f"{a} - {b}", found.low <= truth <= found.high, found.high - found.low))
    rows = pd.DataFrame(out, columns=["score", "population", "pair", "covered", "width"])
    cells = rows.groupby(["score", "population", "pair"], sort=False)[["covered", "width"]].mean().reset_index()
    found = cells.groupby("score", sort=False).covered
    table = found.agg(cells="size", coverage="mean", lowest="min").reset_index()
    shortest = rows.groupby("score", sort=False).width.min().to_numpy()
    return table.assign(below_90=found.agg(lambda part: int((part < 0.9).sum())).to_numpy(), shortest=shortest)


def zero_disagreement(n_samples: int, seed: int) -> pd.DataFrame:
    """Share of samples in which two learners, one truly two points worse, are called equivalent within one point."""
    rng, out = np.random.default_rng(seed), []
    for n in SIZES:
        worse = rng.random((n_samples, n)) < WORSE
        old = new = wrong = 0
        y = np.zeros(n, dtype=int)
        for row in worse.astype(int):
            gap = -row.astype(float)  # the first is right in all rows
            half = student_t.isf(0.025, n - 1) * np.sqrt(1.15 * gap.var(ddof=1) / n)
            old += gap.mean() - half >= -REGION and gap.mean() + half <= REGION
            found = score_difference_interval(y, y, row, "error")
            new += found.low >= -REGION and found.high <= REGION
            wrong += not found.low <= -WORSE <= found.high
        out.append((n, n_samples, old / n_samples, new / n_samples, 1 - wrong / n_samples))
    return pd.DataFrame(out, columns=["n", "samples", "equivalent_before", "equivalent", "coverage"])


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=200, help="per population; a third of them repeated and in groups")
    parser.add_argument("--first", type=int, help="intervals of the first samples only, of those drawn")
    parser.add_argument("--populations", choices=["held out", "development"], default="held out")
    parser.add_argument("--kept", type=Path, default=Path("results/validation_scores"), help="folder with drawn samples")
    parser.add_argument("--kinds", nargs="+", default=["rows", "repeated", "groups"])
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    facts = {"samples": options.samples, "first": options.first, "seed": options.seed, "populations": options.populations}

    def tell(name: str, table: pd.DataFrame) -> None:
        """Print a table, and keep it if it is of the populations that are held out."""
        if name != "score_cells":
            print(table.to_string(float_format="{:.3f}".format), flush=True)
        if options.populations == "held out":
            write_table(name, table.round(4), **facts)

    tables, cells = [], []
    tell("zero_disagreement", zero_disagreement(2000, options.seed))
    for kind in options.kinds:
        n_samples = options.samples if kind == "rows" else options.samples * 3 // 10
        first = options.first if kind == "rows" or options.first is None else options.first * 3 // 10
        table, of_kind = measured(intervals(options.kept, options.populations, kind, n_samples, first), kind)
        tables.append(table)
        cells.append(of_kind)
        tell("score_intervals", pd.concat(tables))
        tell("score_cells", pd.concat(cells))
        mean, lowest = of_kind.covered.mean(), of_kind[of_kind.rarest >= 5].covered.min()
        print(f"{kind}: mean coverage {mean:.4f} over {len(of_kind)} cells, lowest with five rows of every class {lowest:.3f}")
        if kind == "rows":
            tell("score_differences", differences(options.kept, options.populations, options.samples, options.first))


if __name__ == "__main__":
    main()
