"""Count the correct predictions of classifiers on a data set: k-fold cross-validation with random cuts, and leave-one-out."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from foldshift.core.errors import DataError
from foldshift.core.estimators import clone_with_state
from foldshift.core.seeding import fit_states, seed_sequence
from foldshift.core.user_code.answers import one_line
from foldshift.datasets.dataset import read_prepared
from foldshift.engine.jobs.isolation import Lost, run_cells
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.engine.storage.score_files import TEXT
from foldshift.evaluation.classifiers import predict_classes
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.leave_one_out import leave_one_out
from foldshift.evaluation.tasks import FAILED, OK
from foldshift.partition.registry import make_folds

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, Inputs, Rows, UnsignedArray
    from foldshift.datasets.dataset import Dataset

STUDY = "wong_2015"
LEAVE_ONE_OUT, TOTAL = 0, -1  # k and fold of leave-one-out
SCHEMAS = {
    "folds": pa.schema(
        [
            ("dataset", TEXT),
            ("learner", TEXT),
            ("k", pa.int32()),
            ("repetition", pa.int32()),
            ("fold", pa.int32()),
            ("n_correct", pa.float64()),  # NaN where the fit was lost
            ("n_test", pa.int32()),
            ("status", TEXT),
            ("message", TEXT),
        ]
    ),
    # Of the first repetition: tests on single predictions are of one partition.
    "correct": pa.schema(
        [
            ("dataset", TEXT),
            ("learner", TEXT),
            ("k", pa.int32()),
            ("n_rows", pa.int32()),
            ("right", pa.binary()),  # a bit for every row, `numpy.packbits`; none where a fit was lost
        ]
    ),
}


class Correct(NamedTuple):
    """Correct predictions of a learner, shape (n_repetitions, n_samples), and its failed fits.

    Failures are status and message by repetition and fold.
    """

    right: BoolArray
    failures: dict[tuple[int, int], tuple[str, str]]


def count_correct(
    inputs: Inputs,
    cell: dict[str, str],
    *,
    learners: dict[str, dict[str, Any]],
    max_rows: dict[str, int],
    master_seed: int,
    limits: dict[str, float | None],
) -> dict[str, Rows]:
    """Count the correct predictions of some learners; a fit that fails or is lost has NaN and its message.

    `limits` holds ``minutes`` and ``memory_mb`` of a learner at one number of folds.
    """
    start, n_repetitions = block_range(cell["block"])
    data = read_prepared(inputs.data)
    n = len(data.y)
    fitting = {name: spec for name, spec in learners.items() if n <= max_rows.get(name, n)}
    for name in learners.keys() - fitting.keys():
        logging.info("%s: left out, %d rows are more than max_rows", name, n)
    try:
        estimators = {name: build_learner(spec, data.scaling, data.categorical_features) for name, spec in fitting.items()}
    except ValueError as error:
        raise DataError(str(error)) from error
    matrices = {nominal: design_matrix(data, nominal) for nominal in {spec["nominal"] for spec in fitting.values()}}
    repetitions = range(start, start + n_repetitions)
    schemes = cell["schemes"].split("+")
    folds = {int(k): cut(data, int(k), repetitions, master_seed) for k in schemes if k != "loo"}
    if "loo" in schemes and not start:
        folds[LEAVE_ONE_OUT] = np.zeros((1, n), dtype=np.uint8)  # one row of totals

    def measure(cell: tuple[str, int]) -> Correct:
        learner, k = cell
        X, estimator = matrices[fitting[learner]["nominal"]], estimators[learner]
        states = fit_states(master_seed, (STUDY, data.name, k), repetitions if k else range(1), k or 1)
        if k != LEAVE_ONE_OUT:
            predictions, _, failures = predict_classes(estimator, X, data.y, folds[k], states)
            return Correct(predictions == data.y, {where: (FAILED, text) for where, text in failures.items()})
        try:
            predictions = leave_one_out(clone_with_state(estimator, states[0, 0]), X, data.y, progress=logging.info)
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:  # a learner that fails costs its cell, not the job
            return Correct(np.zeros((1, n), dtype=bool), {(0, 0): (FAILED, one_line(error))})
        return Correct((predictions == data.y)[None], {})

    rows: dict[str, Rows] = {"folds": [], "correct": []}
    for (learner, k), result in run_cells(measure, [(name, k) for name in fitting for k in folds], **limits):
        correct = _all_lost(folds[k], result) if isinstance(result, Lost) else result
        for kind, text in dict.fromkeys(correct.failures.values()):
            logging.warning("%s, k=%d: %s: %s", learner, k, kind, text)
        keys = {"dataset": data.name, "learner": learner, "k": k}
        rows["folds"].append(fold_rows(correct, folds[k], start, **keys))
        if k == LEAVE_ONE_OUT:
            rows["folds"][-1]["fold"] = np.array([TOTAL])
        if not start:
            lost = any(repetition == 0 for repetition, _ in correct.failures)
            bits = None if lost else np.packbits(correct.right[0]).tobytes()
            rows["correct"].append({name: [value] for name, value in (keys | {"n_rows": n, "right": bits}).items()})
        logging.info("%s, k=%d: %d repetitions, %d fits lost", learner, k, len(folds[k]), len(correct.failures))
    return rows


def _all_lost(folds: UnsignedArray, lost: Lost) -> Correct:
    """Result of a learner whose process was stopped: every fit failed."""
    places = np.ndindex(len(folds), int(folds.max()) + 1)
    return Correct(np.zeros(folds.shape, dtype=bool), dict.fromkeys(places, (lost.status, lost.message)))


def cut(data: Dataset, k: int, repetitions: range, master_seed: int) -> UnsignedArray:
    """Draw folds of shape (n_repetitions, n_samples), without regard to class (Wong's third way). Sizes differ by one at most."""
    sequences = [seed_sequence(master_seed, STUDY, data.name, "folds", k, repetition) for repetition in repetitions]
    try:
        return make_folds("CV", data.X, data.y, k, sequences)
    except ValueError as error:
        raise DataError(f"data set {data.name}, k={k}: {error}") from error


def fold_rows(correct: Correct, folds: UnsignedArray, start: int, **keys: Any) -> dict[str, Any]:
    """Make columns of one learner and k: correct predictions of every fold of every repetition, NaN where the fit failed.

    `start` is the number of the first repetition.
    """
    n_repetitions, n_folds = len(folds), int(folds.max()) + 1
    counts = np.array([np.bincount(row, weights=right, minlength=n_folds) for row, right in zip(folds, correct.right)])
    status, message = np.full(counts.shape, OK, dtype=object), np.full(counts.shape, "", dtype=object)
    for where, (kind, text) in correct.failures.items():
        counts[where], status[where], message[where] = np.nan, kind, text
    size = counts.size
    return {name: [value] * size for name, value in keys.items()} | {
        "repetition": start + np.repeat(np.arange(n_repetitions), n_folds),
        "fold": np.tile(np.arange(n_folds), n_repetitions),
        "n_correct": counts.ravel(),
        "n_test": np.array([np.bincount(row, minlength=n_folds) for row in folds]).ravel(),
        "status": status.ravel(),
        "message": message.ravel(),
    }
