"""Compare intervals of F1 and balanced accuracy with the percentile bootstrap of rows: coverage, width, and time in one run.

``make validate WHAT=bootstrap``. Samples and populations are those of `simulate_scores`; writes ``tables/score_bootstrap.csv``.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.inference import score_interval
from held_out_scores import HELD_OUT, LEARNERS
from provenance_tables import write_table
from score_samples import one_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import IntArray

SCORES = ("f1", "balanced_accuracy")
N_RESAMPLES, LEVEL = 1000, 0.95


def bootstrap_ends(score: str, y: IntArray, predicted: IntArray, rng: np.random.Generator) -> tuple[float, float]:
    """Take the percentiles of a score over resampled rows, without resamples in which it is not defined."""
    cells = (2 * y + predicted)[rng.integers(len(y), size=(N_RESAMPLES, len(y)))]
    right_0, wrong_0, wrong_1, right_1 = ((cells == cell).sum(axis=1) for cell in range(4))
    with np.errstate(invalid="ignore"):
        if score == "f1":
            values = 2 * right_1 / (2 * right_1 + wrong_0 + wrong_1)
        else:
            values = (right_0 / (right_0 + wrong_0) + right_1 / (right_1 + wrong_1)) / 2
    tail = 50 * (1 - LEVEL)
    low, high = np.nanpercentile(values, [tail, 100 - tail])
    return float(low), float(high)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both on samples of the held-out populations of two classes, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=40, help="samples of a population")
    options = parser.parse_args(arguments)
    found: list[dict[str, Any]] = []
    for population in (one for one in HELD_OUT if one.task == "binary"):
        for seed in range(options.samples):
            sample = one_sample(population, seed, 1, None)
            if sample is None:
                continue
            y, folds, rng = sample["y"], np.array(sample["folds"]), np.random.default_rng([seed, population.n])
            for learner in LEARNERS:
                labels = np.array(sample["predictions"][learner]).argmax(axis=-1)
                for score in SCORES:
                    truth = sample["truth"][learner][0][score]
                    begun = time.perf_counter()
                    own = score_interval(y, labels, score, folds=folds)
                    between = time.perf_counter()
                    low, high = bootstrap_ends(score, y, labels[0], rng)
                    seconds = (between - begun, time.perf_counter() - between)
                    for method, ends, took in zip(("score_interval", "bootstrap"), ((own.low, own.high), (low, high)), seconds):
                        held = ends[0] <= truth <= ends[1]
                        found.append({"score": score, "method": method, "population": population.name, "learner": learner}
                                     | {"held": held, "width": ends[1] - ends[0], "milliseconds": 1000 * took})  # fmt: skip
    cells = pd.DataFrame(found).groupby(["score", "method", "population", "learner"], sort=False, as_index=False).mean()
    by_method = cells.groupby(["score", "method"], sort=False)
    table = pd.DataFrame({
        "cells": by_method.size(),
        "coverage": by_method["held"].mean(),
        "lowest": by_method["held"].min(),
        "below_90": by_method["held"].agg(lambda held: int((held < 0.9).sum())),
        "width": by_method["width"].mean(),
        "milliseconds": by_method["milliseconds"].median(),
    }).reset_index()  # fmt: skip
    print(table.round(4).to_string(index=False))
    write_table("score_bootstrap", table.round(4))


if __name__ == "__main__":
    main()
