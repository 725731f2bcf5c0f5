"""Verdicts on the printed numbers of Moreno-Torres, Saez and Herrera (2012): met, explained or open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from foldshift.reporting.paper_vs_ours import EXPLAINED, MET, OPEN, met_within_errors

if TYPE_CHECKING:
    import pandas as pd

    from foldshift.core.types import BoolArray, StrArray

PRINTED_EXPERIMENTS = {"table3": 200, "table4": 200, "table5": 100, "table6": 100, "table7": 100}  # of the paper
ABOVE = "printed as >0.2"
TRANSPOSED = {frozenset(pair) for pair in (("3NN", "C4.5"), ("3NN", "RIPPER"), ("C4.5", "RIPPER"))}  # Table IV; findings


def verdicts(
    table: pd.DataFrame, reasons: Sequence[str], n_seeds: int, n_truth: int, explained: BoolArray | None = None
) -> StrArray:
    """Judge every printed number of a comparison with the paper's configuration; a note in place of a verdict: not compared.

    `reasons` say by row why a cell of Table III may be off, `explained` which rows have another explanation; `n_seeds` and
    `n_truth` are the experiments of the run and of its truth.
    """
    ours = {"table3": n_truth, "table4": n_truth}
    ratio = [np.sqrt(ours.get(name, n_seeds) / PRINTED_EXPERIMENTS.get(name, np.inf)) for name in table["table"]]
    met = met_within_errors(table, ratio)
    met |= (table["note"].str.startswith(ABOVE) & (table["ours"] > 0.2)).to_numpy()
    known = (table["table"] == "table3").to_numpy() & (np.asarray(reasons) != "")
    pairs = [frozenset(pair) in TRANSPOSED for pair in zip(table["row"], table["column"])]
    known |= (table["table"] == "table4").to_numpy() & np.array(pairs, dtype=bool)
    known |= table["note"].str.startswith("misprint").to_numpy()
    if explained is not None:
        known |= explained
    missing = (table["ours"].isna() | (table["printed"].isna() & ~table["note"].str.startswith(ABOVE))).to_numpy()
    return np.where(missing, table["note"], np.where(met, MET, np.where(known, EXPLAINED, OPEN)))
