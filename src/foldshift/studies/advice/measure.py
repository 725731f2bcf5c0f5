"""Advice for one learner on one data set, as a row and as a page."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler

from foldshift.advice.advise import advise
from foldshift.advice.wording import cut_of
from foldshift.core.seeding import generator
from foldshift.datasets.dataset import read_prepared
from foldshift.engine.jobs.isolation import Lost, run_cells
from foldshift.engine.storage.score_files import TEXT
from foldshift.evaluation.learner import build_learner, design_matrix
from foldshift.evaluation.tasks import FAILED, OK

if TYPE_CHECKING:
    from foldshift.advice.result import Advice
    from foldshift.core.types import Estimator, FloatArray, Inputs, TableLike
    from foldshift.datasets.dataset import Dataset

TEXTS = ("dataset", "learner", "task", "cut", "score", "against_baseline", "faults", "shifted", "status", "message")
COUNTS = ("n_rows", "n_columns", "k", "n_repeats", "n_done", "halves", "halves_held")
NUMBERS = ("estimate", "low", "high", "baseline")
SCHEMAS = {
    "advice": pa.schema(
        [
            *[(name, TEXT) for name in TEXTS],
            *[(name, pa.int32()) for name in COUNTS],
            *[(name, pa.float64()) for name in NUMBERS],
        ]
    )
}
NO_PAGE = "<!DOCTYPE html>\n<meta charset='utf-8'>\n<title>No advice</title>\n<p>No advice: {}</p>\n"


def advise_one(
    inputs: Inputs,
    cell: dict[str, str],
    *,
    most_repetitions: int,
    entry: dict[str, Any],
    master_seed: int,
    limits: dict[str, float | None],
) -> dict[str, Any]:
    """Ask for advice on one data set with one learner; `limits` holds ``minutes`` and ``memory_mb``."""
    data = read_prepared(inputs.data)
    seed = int(generator(master_seed, "advice", cell["dataset"]).integers(2**31))
    common: dict[str, Any] = {"dataset": cell["dataset"], "learner": cell["learner"], "task": data.task}
    common |= {"n_rows": len(data.y), "n_columns": data.X.shape[1]}

    def ask(_: tuple[str, str]) -> tuple[dict[str, Any], str] | Lost:
        try:
            advice = advise(
                pd.DataFrame(data.X, columns=list(data.feature_names)),
                pd.Series(np.array(data.classes)[data.y] if data.task == "classification" else data.y, name=data.target),
                learner_for(data, entry),
                groups=data.groups,
                times=data.times,
                coordinates=data.coordinates,
                subsets=data.subsets,
                categorical_features=data.categorical_features,
                task=data.task,
                budget=None,
                most_repetitions=most_repetitions,
                random_state=seed,
                isolate=False,  # this is a process of its own already
            )
        except ValueError as error:
            return Lost(FAILED, str(error))
        return row_of(advice), advice.to_html()

    ((_, found),) = run_cells(ask, [(cell["learner"], cell["dataset"])], **limits)
    if isinstance(found, Lost):
        row, page = common | {"status": found.status, "message": found.message}, NO_PAGE.format(found.message)
    else:
        row, page = common | found[0], found[1]
    filled = dict.fromkeys(TEXTS, "") | dict.fromkeys(COUNTS, 0) | dict.fromkeys(NUMBERS, np.nan) | row
    return {"advice": [{name: [filled[name]] for name in SCHEMAS["advice"].names}], "pages": page}


def learner_for(data: Dataset, entry: dict[str, Any]) -> Estimator:
    """Build a learner as the engine does: nominal columns as in its entry, numbers scaled on every training part."""
    few = replace(data, X=data.X[:0], y=data.y[:0], rows=data.rows[:0], groups=None, coordinates=None, times=None, subsets=None)
    steps = [FunctionTransformer(partial(_designed, data=few, nominal=entry["nominal"]))]
    if entry["nominal"] == "native":
        return make_pipeline(*steps, build_learner(entry, "none", data.categorical_features))
    if data.task == "classification":
        return make_pipeline(*steps, MinMaxScaler(), build_learner(entry))
    return make_pipeline(*steps, build_learner(entry, "fold"))


def _designed(X: TableLike, data: Dataset, nominal: Literal["codes", "one_hot", "native"]) -> FloatArray:
    """Recode the nominal columns of a table that has the columns of `data`."""
    return design_matrix(replace(data, X=np.asarray(X, dtype=np.float64)), nominal)


def row_of(advice: Advice) -> dict[str, Any]:
    """Collect the numbers of an advice for the table over all data sets and learners."""
    interval, halves = advice.interval, advice.halves or {"n": 0, "held": 0}
    grave = [fault.code for fault in advice.faults if fault.severity != "note"]
    return {
        "cut": advice.both.name if advice.both is not None and advice.both.cv_line else cut_of(advice),
        "score": advice.score.name,
        "against_baseline": advice.differences[-1].verdict,
        "faults": ", ".join(grave),
        "shifted": "" if advice.split is None else ", ".join(advice.split.shifted),
        "k": advice.n_splits,
        "n_repeats": advice.n_repeats,
        "n_done": advice.n_done,
        "halves": halves["n"],
        "halves_held": halves["held"],
        "estimate": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "baseline": advice.baseline,
        "status": OK,
        "message": "",
    }
