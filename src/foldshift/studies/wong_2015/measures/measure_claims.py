"""Check the claims of Wong (2015) on models in which everything is known: folds, schemes, repetitions, folds left out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from foldshift.core.seeding import generator
from foldshift.engine.storage.score_files import TEXT
from foldshift.inference.intervals.accuracy import accuracy_interval
from foldshift.inference.simulation.repeated_model import by_fold, simulate_repeated
from foldshift.inference.simulation.wong_claims import (
    Measured,
    dropping_bias,
    fold_differences,
    fold_independence,
    repetition,
    scheme_independence,
)

if TYPE_CHECKING:
    from foldshift.core.types import Array, Inputs, Rows

    Model = Literal["centroid", "stump", "highdim"]

N_REPETITIONS = 10
MAIN = (10, 10)  # folds, rows of a fold
SETTINGS = (MAIN, (5, 20), (20, 10), (10, 50))
DROPPING = (10, 50)  # folds large enough for the large-sample conditions, and small enough to fail them
# Results of an independent simulation of the same models, by model, claim and quantity, at `MAIN`.
EXPECTED = {
    ("centroid", "fold_independence", "sigma_share"): 0.98,
    ("highdim", "fold_independence", "sigma_share"): 0.65,
    ("stump", "fold_independence", "sigma_share"): 0.52,
    ("centroid", "fold_independence", "coverage_within"): 0.94,
    ("highdim", "fold_independence", "coverage_within"): 0.88,
    ("stump", "fold_independence", "coverage_within"): 0.83,
    ("stump", "repetition", "variance_ratio"): 0.830,
    ("stump", "repetition", "rho"): 0.812,
    ("centroid", "repetition", "variance_ratio"): 0.909,
}
SCHEMAS = {
    "claims": pa.schema(
        [
            ("model", TEXT),
            ("claim", TEXT),
            ("n_folds", pa.int32()),
            ("n_points", pa.int32()),
            ("quantity", TEXT),
            ("value", pa.float64()),
            ("standard_error", pa.float64()),
            ("expected", pa.float64()),
        ]
    )
}


def simulate_claims(
    inputs: Inputs, cell: dict[str, Model], *, n_simulations: int, level: float, master_seed: int
) -> dict[str, Rows]:
    """Simulate a model, and measure the quantities of the claims.

    ``expected`` is NaN where no independent simulation is known.
    """
    model = cell["model"]

    def rng_of(*setting: int) -> np.random.Generator:
        return generator(master_seed, "wong_2015", "claims", model, *setting)

    rows = []
    for claim, n_folds, m, measured in claims_of(model, SETTINGS, level, n_simulations, rng_of):
        for quantity, (value, error) in measured.items():
            expected = EXPECTED.get((model, claim, quantity), np.nan) if (n_folds, m) == MAIN else np.nan
            rows.append((model, claim, n_folds, m, quantity, value, error, expected))
        logging.info("%s on %d folds of %d rows: %d numbers", claim, n_folds, m, len(measured))
    return {"claims": [{name: list(values) for name, values in zip(SCHEMAS["claims"].names, zip(*rows))}]}


def dropping(losses: Array, level: float) -> dict[str, Measured]:
    """Bias of the mean accuracy when folds that fail the large-sample conditions are left out, and its binomial value."""
    n_folds, m = losses.shape[1:]
    right = m - losses.sum(axis=2, dtype=np.int64)
    dropped = accuracy_interval(right, m, method="normal", small_folds="drop", confidence=level).estimate
    mean = right.mean() / m
    found = ~np.isnan(dropped)
    gap = dropped[found] - mean
    error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
    exact = dropping_bias(mean, m, n_folds)
    return {
        "accuracy": Measured(mean, (right.mean(axis=1) / m).std(ddof=1) / np.sqrt(len(right))),
        "bias": Measured(gap.mean() if len(gap) else np.nan, error),
        "bias_binomial": Measured(exact.bias, np.nan),
        "fold_kept_binomial": Measured(exact.fold_kept, np.nan),
    }


def claims_of(
    model: Model,
    settings: Sequence[tuple[int, int]],
    level: float,
    n_datasets: int,
    rng_of: Callable[[int, int], np.random.Generator],
) -> Iterator[tuple[str, int, int, dict[str, Measured]]]:
    """Yield (claim, folds, rows of a fold, measured) of one model."""
    for n_folds, m in settings:
        n_repetitions = N_REPETITIONS if (n_folds, m) == MAIN else 1
        drawn = simulate_repeated(model, n_folds, m, n_datasets, n_repetitions, rng_of(n_folds, m))
        blocks = by_fold(drawn.losses[:, 0], drawn.folds[:, 0], n_folds)
        yield "fold_independence", n_folds, m, fold_independence(blocks, confidence=level)
        others = by_fold(drawn.other, drawn.folds[:, 0], n_folds)
        yield "scheme_independence", n_folds, m, fold_differences(blocks, others, confidence=level)
        if (n_folds, m) == MAIN:
            yield "scheme_independence", n_folds, m, scheme_independence(drawn.losses[:, 0], drawn.other, confidence=level)
            pair = scheme_independence(drawn.losses[:, 0], drawn.losses[:, 1], confidence=level)
            yield "partition_independence", n_folds, m, {name: pair[name] for name in ("covariance", "phi")}
            yield "repetition", n_folds, m, repetition(drawn.losses, confidence=level)
        if (n_folds, m) == DROPPING:
            yield "dropping_bias", n_folds, m, dropping(blocks, level)
