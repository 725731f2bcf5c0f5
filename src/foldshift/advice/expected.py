"""Results of the study of honest cuts on data of this kind: bias of an estimate, and distance of a single one from the truth."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np


class Expected(NamedTuple):
    """Results for one way of cutting, on average over the populations of the study."""

    n_sample: int  # rows of the samples
    n_populations: int
    # bias, bias_error: Mean of estimate less true error of the model of all rows, in per cent of it, and its standard error over
    # populations. The error is the error rate for classes, the mean squared error for numbers
    bias: float
    bias_error: float
    off: float  # root mean square distance of one estimate from that true error, in per cent of it


@cache
def _rows() -> tuple[dict[str, str], ...]:
    """Rows of ``expected.csv``, which `validation/write_expected.py` makes from the study's published tables."""
    with files("foldshift.advice").joinpath("expected.csv").open(encoding="utf-8") as lines:
        return tuple(csv.DictReader(lines))


def expected_of(facts: Mapping[str, Any], k: int) -> dict[str, Expected]:
    """Look up the study's results by cut, for this task and number of folds, at the size that is nearest in ratio.

    Empty for groups, scores of whole folds and other numbers of folds, which the study does not cover.

    >>> found = expected_of({"task": "regression", "n": 90, "groups": False, "score": "loss"}, 10)
    >>> found["TSCV"].n_sample, found["TSCV"].bias < found["CV"].bias
    (100, True)
    """
    rows = [row for row in _rows() if row["task"] == facts["task"] and int(row["k"]) == k]
    if facts["groups"] or facts["score"] == "folds" or not rows:
        return {}
    sizes = sorted({int(row["n_sample"]) for row in rows})
    nearest = min(sizes, key=lambda size: abs(np.log(size / facts["n"])))
    return {
        row["cut"]: Expected(nearest, int(row["n_populations"]), *(float(row[name]) for name in ("bias", "bias_error", "off")))
        for row in rows
        if int(row["n_sample"]) == nearest
    }
