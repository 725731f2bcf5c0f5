"""Tables V and VI with the distance and the rules that the paper's tool cuts by (KEEL), beside the printed ones.

The paper names neither. The partitions that KEEL distributes are made by them (`foldshift.partition.dob_scv_folds`), so a printed
number that is met with them, and not with the study's own distance, is explained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.engine.layout.bundles import NEIGHBOUR_PARTITIONERS
from foldshift.reporting.paper_vs_ours import met_within_errors
from foldshift.studies.moreno_torres_2012.ablation.variants import KEEL
from foldshift.studies.moreno_torres_2012.against_print.print_verdicts import PRINTED_EXPERIMENTS
from foldshift.studies.moreno_torres_2012.experiment_accuracy import accuracy_table, agreement_table

if TYPE_CHECKING:
    import pandas as pd

    from foldshift.core.types import Array, BoolArray

AS_PAPER = "paper"
WITH_TOOL = "paper, cut by KEEL's rules"  # the configuration in tables
TABLES = ("table5", "table6")


def results_of_tool(values: dict[tuple[int, str], Array], settings: dict[str, Any]) -> dict[tuple[int, str], Array]:
    """Results of the partitioners of the study with the tool's distance and rules."""
    ending = "@{}-{}".format(*KEEL)
    ids = {name: name + ending if name in NEIGHBOUR_PARTITIONERS else name for name in settings["partitioners"]}
    if list(ids) == list(ids.values()):
        return {}
    there = [k for k in settings["iterations"] if all((k, one) in values for one in ids.values())]
    return {(k, name): values[k, one] for k in there for name, one in ids.items()}


def tables_of_tool(
    values: dict[tuple[int, str], Array], truth: dict[int, Array], settings: dict[str, Any]
) -> dict[str, pd.DataFrame]:
    """Our Tables V and VI, cut by the tool's rules."""
    schemes, results, seed = settings["iterations"], {AS_PAPER: (values, truth)}, settings["master_seed"]
    partitioners, learners, alpha = settings["partitioners"], settings["learners"], settings["alpha"]
    tables = {
        "table5": agreement_table(results, schemes, partitioners, learners, alpha, master_seed=seed),
        "table6": accuracy_table(results, schemes, partitioners, alpha, master_seed=seed),
    }
    return {name: table.assign(configuration=WITH_TOOL) for name, table in tables.items()}


def met_with_tool(table: pd.DataFrame, rows: pd.DataFrame, n_experiments: int, keys: Sequence[str]) -> BoolArray:
    """Which numbers of a comparison are met when the tool's rules cut."""
    ratio = [np.sqrt(n_experiments / PRINTED_EXPERIMENTS[name]) for name in rows["table"]]
    found = set(rows.loc[met_within_errors(rows, ratio), list(keys)].itertuples(index=False, name=None))
    return np.array([key in found for key in table[list(keys)].itertuples(index=False, name=None)], dtype=bool)
