"""Verdicts on the printed numbers of Moreno-Torres, Saez and Herrera (2012): met, explained or open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from foldshift.reporting.paper_vs_ours import judge, met_within_errors

if TYPE_CHECKING:
    import pandas as pd

    from foldshift.core.types import BoolArray

PRINTED_EXPERIMENTS = {"table3": 200, "table4": 200, "table5": 100, "table6": 100, "table7": 100}  # of the paper
TRANSPOSED = {frozenset(pair) for pair in (("3NN", "C4.5"), ("3NN", "RIPPER"), ("C4.5", "RIPPER"))}  # Table IV; findings


def verdicts(
    table: pd.DataFrame, reasons: Sequence[str], n_seeds: int, n_truth: int, with_keel: BoolArray | None = None
) -> pd.DataFrame:
    """Judge every printed number of a comparison with one configuration.

    `reasons` say by row why a number may be off, `with_keel` which rows are met when KEEL cuts; `n_seeds` and
    `n_truth` are the experiments of the run and of its truth.
    """
    ours = {"table3": n_truth, "table4": n_truth}
    ratio = np.sqrt([ours.get(name, n_seeds) / PRINTED_EXPERIMENTS.get(name, np.inf) for name in table["table"]])
    met = met_within_errors(table, ratio)
    transposed = [
        name == "table4" and frozenset(pair) in TRANSPOSED
        for name, pair in zip(table["table"], zip(table["row"], table["column"]))
    ]
    known = np.where(table["reason"].str.startswith("misprint"), "a misprint", "").astype(object)
    known[np.array(transposed, dtype=bool)] = "print has the two sums of ranks exchanged"
    if with_keel is not None:
        known[with_keel] = "met when KEEL's distance and rules cut"
    return judge(table, met, [one or reason for one, reason in zip(known, reasons)], print_error=ratio)
