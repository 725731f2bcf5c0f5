"""Reading the rows of the study, and what all of its tables and figures need to know of them."""

from itertools import combinations

import numpy as np
import pandas as pd

from foldshift.engine.storage.score_files import read_columns
from foldshift.studies.common.row_order import in_order

LEAVE_ONE_OUT = 0  # the k of leave-one-out
REPETITIONS = 10  # for which the variance ratio is printed
FOLDS = ("dataset", "learner", "k", "repetition", "fold", "n_correct", "n_test", "status", "message")
CORRECT = ("dataset", "learner", "k", "n_rows", "right")
PAIRS = ("dataset", "learner_a", "learner_b", "k", "both", "only_a", "only_b", "neither")


def read_rows(paths, columns):
    """Some columns of all files, one for each cell."""
    return pd.concat([pd.DataFrame(read_columns(path, columns)) for path in paths], ignore_index=True)


def read_folds(paths, settings):
    """Counts of correct predictions by fold, in the order of the configuration, whichever files hold them.

    Parameters
    ----------
    paths : sequence of path-like
        Files of the kind ``folds``.
    settings : dict
        Of the study: ``datasets``, ``learners``, ``n_folds``.

    Returns
    -------
    rows : pandas.DataFrame
        Columns `FOLDS`; leave-one-out, ``k = 0``, comes last.
    """
    return in_order(read_rows(paths, FOLDS), _orders(settings) | {"repetition": None, "fold": None})


def read_pairs(paths, settings):
    """How often both, one or none of two learners are right, in the first repetition; parameters as of `read_folds`.

    Returns
    -------
    pairs : pandas.DataFrame
        Columns `PAIRS`: a row for each data set, k and pair of learners; NaN where one of the two lost a fit.
    """
    rows = []
    correct = in_order(read_rows(paths, CORRECT), _orders(settings))
    for (dataset, k), part in correct.groupby(["dataset", "k"], sort=False):
        for a, b in combinations(part.itertuples(), 2):
            rows.append((dataset, a.learner, b.learner, k, *_counts(a, b)))
    return pd.DataFrame(rows, columns=PAIRS)


def _counts(a, b):
    if a.right is None or b.right is None:
        return (np.nan,) * 4
    bits = (np.unpackbits(np.frombuffer(one.right, np.uint8), count=one.n_rows).astype(bool) for one in (a, b))
    a, b = bits
    return tuple(float((one & two).sum()) for one in (a, ~a) for two in (b, ~b))


def _orders(settings):
    return {"dataset": settings["datasets"], "learner": settings["learners"], "k": [*settings["n_folds"], LEAVE_ONE_OUT]}
