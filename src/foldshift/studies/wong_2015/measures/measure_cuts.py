"""Cross-validate samples of a population cut in the three ways of section 4.3.2, and measure what the way changes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
from sklearn.tree import DecisionTreeClassifier

from foldshift.core.seeding import generator
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.engine.storage.score_files import TEXT
from foldshift.evaluation.cross_validate import evaluate_folds
from foldshift.inference.intervals.accuracy import large_sample
from foldshift.inference.simulation.wong_claims import uneven_folds
from foldshift.inference.simulation.wong_partitions import wong_partition
from foldshift.learners.linear.lda import LDAClassifier
from foldshift.learners.neighbours.nearest_classifier import NNClassifier

if TYPE_CHECKING:
    from foldshift.core.types import Array, Estimator, FloatArray, Inputs, Rows, UnsignedArray
    from foldshift.datasets.dataset import Dataset

REFERENCE = "3"
WAYS: dict[str, tuple[Literal[1, 2, 3], int]] = {"1": (1, 0), "2": (2, 0), "3": (3, 0), "3 again": (3, 1)}  # scheme, which draw
SCHEMAS = {
    "cuts": pa.schema(
        [
            ("population", TEXT),
            ("learner", TEXT),
            ("way", TEXT),
            ("n_samples", pa.int32()),
            ("quantity", TEXT),
            ("value", pa.float64()),
            ("standard_error", pa.float64()),
        ]
    )
}


def cut_in_three_ways(
    inputs: Inputs, cell: dict[str, str], *, n_sample: int, n_folds: int, n_replicates: int, level: float, master_seed: int
) -> dict[str, Rows]:
    """Measure what every way of `WAYS` changes against the third, over samples of a population; the third is drawn twice."""
    name = cell["population"]
    samples = [draw_population(name, n_sample, generator(master_seed, "three_ways", name, i)) for i in range(n_replicates)]
    cuts = {
        way: [
            _cut(n_sample, n_folds, scheme, generator(master_seed, "three_ways", name, scheme, draw, i))
            for i in range(n_replicates)
        ]
        for way, (scheme, draw) in WAYS.items()
    }
    learners: dict[str, Estimator] = {
        "1NN": NNClassifier(n_neighbors=1),
        "LDA": LDAClassifier(),
        "tree": DecisionTreeClassifier(random_state=0),
    }
    rows: Rows = []
    for learner, estimator in learners.items():
        found = {way: cross_validated(estimator, samples, folds) for way, folds in cuts.items()}
        for way, (accuracies, failing) in found.items():
            measured = uneven_folds(accuracies, found[REFERENCE][0], failing, confidence=level)
            keys = {"population": name, "learner": learner, "way": way, "n_samples": n_replicates}
            rows += [keys | {"quantity": quantity} | one._asdict() for quantity, one in measured.items()]
        logging.info("%s, %s: %d samples", name, learner, n_replicates)
    return {"cuts": [{column: [row[column] for row in rows] for column in SCHEMAS["cuts"].names}]}


def cross_validated(estimator: Estimator, samples: Sequence[Dataset], cuts: Sequence[UnsignedArray]) -> tuple[FloatArray, Array]:
    """Accuracies of the folds of every sample, shape (n_samples, n_folds), and whether one fails the large-sample conditions."""
    accuracies, failing = [], []
    for data, folds in zip(samples, cuts):
        right = (evaluate_folds(estimator, data.X, data.y, folds[None])[0] == data.y).astype(np.float64)
        sizes = np.bincount(folds)
        counts = np.bincount(folds, weights=right)
        accuracies.append(counts / sizes)
        failing.append(not np.all(large_sample(counts, sizes)))
    return np.array(accuracies), np.array(failing)


def _cut(n: int, k: int, scheme: Literal[1, 2, 3], rng: np.random.Generator) -> UnsignedArray:
    """Cut n rows into k folds; the first way is drawn again where it leaves a fold empty."""
    while True:
        sizes, folds = wong_partition(n, k, scheme, rng)
        if sizes.min():
            return folds
