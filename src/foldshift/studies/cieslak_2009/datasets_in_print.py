"""Data sets as the paper names and lists them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from foldshift.reporting.paper_vs_ours import NOT_IN_RUN
from foldshift.studies.cieslak_2009.conditions import NAMES
from foldshift.studies.cieslak_2009.paper_names import PAPER_DATASETS
from foldshift.studies.cieslak_2009.paper_names import paper_name as paper_name

NOT_PUBLIC = {"Compustat": "not measured, as its financial data are not public in full"}


def listed_datasets(datasets: Iterable[str]) -> list[Any]:
    """Every data set of the paper in the order of Table 1, then those of the run that the paper has not.

    A run without any data set of the paper lists its own alone.
    """
    datasets = list(dict.fromkeys(datasets))
    if datasets and not any(paper_name(one) in PAPER_DATASETS for one in datasets):
        return [(one, one, "") for one in datasets]
    listed: list[Any] = []
    for name in PAPER_DATASETS:
        ours = [one for one in datasets if paper_name(one) == name]
        listed += [(name, one, "") for one in ours] or [(name, None, NOT_PUBLIC.get(name, NOT_IN_RUN))]
    return listed + [(one, one, "") for one in datasets if paper_name(one) not in PAPER_DATASETS]


def in_order(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Rows by data set as the paper lists them, and by condition."""
    order = {ours: i for i, (_, ours, _) in enumerate(listed_datasets(rows["dataset"]))}
    conditions = {name: i for i, name in enumerate(NAMES)}
    place = pd.DataFrame({"d": table["dataset"].map(order), "c": table["condition"].map(conditions)}, index=table.index)
    keys = ["d", "learner", "test", "c"] if "learner" in table else ["d", "part", "c"] if "part" in table else ["d", "c"]
    for name in keys:
        if name in table:
            place[name] = table[name].map({value: i for i, value in enumerate(dict.fromkeys(table[name]))})
    return table.loc[place.sort_values(keys, kind="stable").index].reset_index(drop=True)
