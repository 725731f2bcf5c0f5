"""Cross-validate pairs of learning schemes on samples of a population, and measure whether they are right independently."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from foldshift.core.seeding import generator, seed_sequence
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.engine.storage.score_files import TEXT
from foldshift.evaluation.cross_validate import evaluate_folds
from foldshift.inference.simulation.wong_claims import scheme_independence
from foldshift.partition.registry import make_folds
from foldshift.studies.wong_2015.measures.schemes import schemes_of

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, Rows

QUANTITIES = ("accuracy_a", "accuracy_b", "phi", "independent_ratio", "matched_ratio", "coverage_independent", "coverage_matched")
SCHEMAS = {
    "schemes": pa.schema(
        [
            ("population", TEXT),
            ("pair", TEXT),
            ("n_samples", pa.int32()),
            ("quantity", TEXT),
            ("value", pa.float64()),
            ("standard_error", pa.float64()),
        ]
    )
}


def first_call() -> None:
    """Fit every scheme once, to compile what jobs call."""
    data = draw_population("waveform", 60, generator(0, "first"))
    folds = make_folds("CV", data.X, data.y, 2, [0])
    for _, *learners in schemes_of(data.X.shape[1]):
        for learner in learners:
            evaluate_folds(learner, data.X, data.y, folds)


def correlate_schemes(
    inputs: Inputs, cell: dict[str, str], *, n_sample: int, n_folds: int, n_replicates: int, level: float, master_seed: int
) -> dict[str, Rows]:
    """Measure the correlation of being right on the same row, for every pair of `schemes_of`, over samples of a population."""
    name = cell["population"]
    samples = [draw_population(name, n_sample, generator(master_seed, "pairs", name, i)) for i in range(n_replicates)]
    folds = [
        make_folds("CV", data.X, data.y, n_folds, [seed_sequence(master_seed, "pairs", name, "folds", n_folds, i)])
        for i, data in enumerate(samples)
    ]
    rows: Rows = []
    for pair, *learners in schemes_of(samples[0].X.shape[1]):
        losses = [
            np.concatenate([evaluate_folds(learner, data.X, data.y, cut) != data.y for data, cut in zip(samples, folds)])
            for learner in learners
        ]
        found = scheme_independence(*losses, confidence=level)
        rows += [
            {"population": name, "pair": pair.name, "n_samples": n_replicates, "quantity": quantity} | found[quantity]._asdict()
            for quantity in QUANTITIES
        ]
        logging.info("%s, %s: phi %.3f", name, pair.title, found["phi"].value)
    return {"schemes": [{column: [row[column] for row in rows] for column in SCHEMAS["schemes"].names}]}
