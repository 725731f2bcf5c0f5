"""Tables V and VI with folds cut by the distance and the rules of KEEL, the paper's tool, beside the printed ones.

The paper names neither. The partitions that KEEL distributes are cut by them (`foldshift.partition.dob_scv_folds`), so a printed
number that is met with them, and not with the study's own distance, is explained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.reporting.paper_vs_ours import met_within_errors
from foldshift.studies.moreno_torres_2012.ablation.variants import KEEL, variant_id
from foldshift.studies.moreno_torres_2012.against_print.print_verdicts import PRINTED_EXPERIMENTS
from foldshift.studies.moreno_torres_2012.experiment_accuracy import accuracy_table, agreement_table
from foldshift.studies.moreno_torres_2012.experiments import Experiments

if TYPE_CHECKING:
    import pandas as pd

    from foldshift.core.types import BoolArray
    from foldshift.studies.moreno_torres_2012.experiments import Truth, Values

PAPER = "paper"
WITH_KEEL = "paper, cut by KEEL's rules"  # the configuration in tables
TABLES = ("table5", "table6")


def keel_results(values: Values, settings: dict[str, Any]) -> Values:
    """Select the results of KEEL's variants of the partitioners, under their plain names.

    Only values of k with all variants count. The result is empty if there is none, or if the study itself cuts as KEEL does.
    """
    ids = {name: variant_id(name, "@{}-{}".format(*KEEL)) for name in settings["partitioners"]}
    if list(ids) == list(ids.values()):
        return {}
    ks = [k for k in settings["iterations"] if all((k, one) in values for one in ids.values())]
    return {(k, name): values[k, one] for k in ks for name, one in ids.items()}


def keel_tables(values: Values, truth: Truth, settings: dict[str, Any]) -> dict[str, pd.DataFrame]:
    """Make our Tables V and VI from `keel_results`."""
    schemes, results, seed = settings["iterations"], {PAPER: Experiments(values, truth)}, settings["master_seed"]
    partitioners, learners, alpha = settings["partitioners"], settings["learners"], settings["alpha"]
    tables = {
        "table5": agreement_table(results, schemes, partitioners, learners, alpha, master_seed=seed),
        "table6": accuracy_table(results, schemes, partitioners, alpha, master_seed=seed),
    }
    return {name: table.assign(configuration=WITH_KEEL) for name, table in tables.items()}


def met_by_keel(table: pd.DataFrame, rows: pd.DataFrame, n_experiments: int, keys: Sequence[str]) -> BoolArray:
    """Find the printed numbers in `table` that are met when KEEL's rules cut.

    `rows` compare our numbers with KEEL's rules, from `n_experiments` each; `keys` are the columns that name a printed number.
    """
    ratio = [np.sqrt(n_experiments / PRINTED_EXPERIMENTS[name]) for name in rows["table"]]
    found = set(rows.loc[met_within_errors(rows, ratio), list(keys)].itertuples(index=False, name=None))
    return np.array([key in found for key in table[list(keys)].itertuples(index=False, name=None)], dtype=bool)
