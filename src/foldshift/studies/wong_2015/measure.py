"""Count the correct predictions of classifiers on a data set: k-fold cross-validation with random cuts, and leave-one-out."""

import logging
from itertools import combinations

import numpy as np
import pyarrow as pa

from foldshift.datasets.dataset import read_prepared
from foldshift.errors import DataError
from foldshift.estimators import clone_with_state
from foldshift.evaluation.classes import predict_classes
from foldshift.evaluation.isolation import Lost, run_cells
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.leave_one_out import leave_one_out
from foldshift.evaluation.scores import one_line
from foldshift.evaluation.status import FAILED, OK
from foldshift.evaluation.storage import TEXT
from foldshift.partition.registry import make_folds
from foldshift.seeding import fit_states, seed_sequence

STUDY = "wong_2015"
LEAVE_ONE_OUT, TOTAL = 0, -1  # k and fold of leave-one-out
COUNTS = ("both", "only_a", "only_b", "neither")
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
    "pairs": pa.schema(
        [
            ("dataset", TEXT),
            ("learner_a", TEXT),
            ("learner_b", TEXT),
            ("k", pa.int32()),
            ("repetition", pa.int32()),
            *[(name, pa.float64()) for name in COUNTS],
        ]
    ),
}


def count_correct(inputs, cell, *, learners, n_folds, n_seeds, max_rows, master_seed, limits):
    """Counts of every learner, and those of every pair on the same rows; what fails or is lost has NaN and its message.

    Parameters
    ----------
    inputs : object
        ``data``: the prepared data set.
    cell : dict
        ``dataset``.
    learners : dict of str to dict
        Entries of the learners file.
    n_folds : sequence of int
        Numbers of folds k; leave-one-out comes by itself, as k = 0.
    n_seeds : int
        Repetitions.
    max_rows : dict of str to int
        Largest data set of a learner; it is left out on larger ones.
    master_seed : int
    limits : dict
        ``minutes`` and ``memory_mb`` of a cell.

    Returns
    -------
    rows : dict of str to list of dict
        Kinds ``folds`` (one row per learner, k, repetition and fold) and ``pairs`` (per pair of learners, k and repetition).
    """
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
    folds = {k: cut(data, k, n_seeds, master_seed) for k in n_folds}
    folds[LEAVE_ONE_OUT] = np.zeros((1, n), dtype=np.uint8)  # one row of totals

    def measure(cell):
        """Correctness of every row in every repetition, and the failures by repetition and fold."""
        learner, k = cell
        X, estimator = matrices[fitting[learner]["nominal"]], estimators[learner]
        states = fit_states(master_seed, (STUDY, data.name, k), range(len(folds[k])), k or 1)
        if k != LEAVE_ONE_OUT:
            predictions, _, failures = predict_classes(estimator, X, data.y, folds[k], states)
            return predictions == data.y, {where: (FAILED, text) for where, text in failures.items()}
        try:
            predictions = leave_one_out(clone_with_state(estimator, states[0, 0]), X, data.y, progress=logging.info)
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:  # a learner that fails costs its cell, not the job
            return np.zeros((1, n), dtype=bool), {(0, 0): (FAILED, one_line(error))}
        return (predictions == data.y)[None], {}

    rows, correct, failed = [], {}, {}
    for (learner, k), result in run_cells(measure, [(name, k) for name in fitting for k in folds], **limits):
        if isinstance(result, Lost):
            right = np.zeros(folds[k].shape, dtype=bool)
            places = np.ndindex(len(folds[k]), int(folds[k].max()) + 1)
            failures = dict.fromkeys(places, (result.status, result.message))
        else:
            right, failures = result
        for kind, text in dict.fromkeys(failures.values()):
            logging.warning("%s, k=%d: %s: %s", learner, k, kind, text)
        rows.append(fold_rows(right, folds[k], failures, dataset=data.name, learner=learner, k=k))
        if k == LEAVE_ONE_OUT:
            rows[-1]["fold"] = np.array([TOTAL])
        correct.setdefault(k, {})[learner] = right
        failed.setdefault(k, {})[learner] = np.isin(np.arange(len(folds[k])), [repetition for repetition, _ in failures])
        logging.info("%s, k=%d: %d repetitions, %d fits lost", learner, k, len(folds[k]), len(failures))
    pairs = [pair_rows(correct[k], failed[k], list(fitting), dataset=data.name, k=k) for k in correct]
    return {"folds": rows, "pairs": pairs}


def cut(data, k, n_repetitions, master_seed):
    """Folds of shape (n_repetitions, n_samples), at random without regard to class (Wong's third way).

    Sizes differ by one at most.
    """
    sequences = [seed_sequence(master_seed, STUDY, data.name, "folds", k, repetition) for repetition in range(n_repetitions)]
    try:
        return make_folds("CV", data.X, data.y, k, sequences)
    except ValueError as error:
        raise DataError(f"data set {data.name}, k={k}: {error}") from error


def fold_rows(correct, folds, failures, **keys):
    """Columns of one learner and k: correct predictions of every fold of every repetition, NaN where the fit failed."""
    n_repetitions, n_folds = len(folds), int(folds.max()) + 1
    counts = np.array([np.bincount(row, weights=right, minlength=n_folds) for row, right in zip(folds, correct)])
    status, message = np.full(counts.shape, OK, dtype=object), np.full(counts.shape, "", dtype=object)
    for where, (kind, text) in failures.items():
        counts[where], status[where], message[where] = np.nan, kind, text
    size = counts.size
    return {name: [value] * size for name, value in keys.items()} | {
        "repetition": np.repeat(np.arange(n_repetitions), n_folds),
        "fold": np.tile(np.arange(n_folds), n_repetitions),
        "n_correct": counts.ravel(),
        "n_test": np.array([np.bincount(row, minlength=n_folds) for row in folds]).ravel(),
        "status": status.ravel(),
        "message": message.ravel(),
    }


def pair_rows(correct, failed, learners, **keys):
    """Columns of all pairs of learners at one k: how often both, only one or neither is right; NaN where one lost a fit."""
    parts = {name: [] for name in ("learner_a", "learner_b", "repetition", *COUNTS)}
    for a, b in combinations(learners, 2):
        right_a, right_b = correct[a], correct[b]
        counts = np.array(
            [(one & two).sum(axis=1) for one in (right_a, ~right_a) for two in (right_b, ~right_b)], dtype=np.float64
        )
        counts[:, failed[a] | failed[b]] = np.nan
        n_repetitions = counts.shape[1]
        parts["learner_a"] += [a] * n_repetitions
        parts["learner_b"] += [b] * n_repetitions
        parts["repetition"] += range(n_repetitions)
        both, only_a, only_b, neither = counts
        for name, values in zip(COUNTS, (both, only_a, only_b, neither)):
            parts[name] += values.tolist()
    return {name: [value] * len(parts["repetition"]) for name, value in keys.items()} | parts
