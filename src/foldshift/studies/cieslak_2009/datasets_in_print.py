"""Data sets as the paper names and lists them; the declarations of the study rest on this module, so it imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from foldshift.studies.cieslak_2009.shift_conditions import NAMES

if TYPE_CHECKING:
    import pandas as pd

# The rows of Table 1, in its order.
PAPER_DATASETS = ("Compustat", "E-State", "Mammography", "Oil", "Page", "Pendigits", "Phoneme", "Satimage", "Segment")
NOT_PUBLIC = {"Compustat": "not measured, as its financial data are not public in full"}


class ListedDataset(NamedTuple):
    """A data set of a table: its printed name, and its name in the run, or None and a note that says why."""

    name: str
    ours: str | None
    note: str


def paper_name(dataset: str) -> str:
    """Name of a data set in the paper's Table 1; its own name if it is not one of them.

    ``estate`` is E-State: letters and digits must be those of the printed name. A user-defined data set is never taken for one of
    the paper's because its name begins alike.
    """
    return next((name for name in PAPER_DATASETS if _letters(dataset) == _letters(name)), dataset)


def listed_datasets(datasets: Iterable[str]) -> list[ListedDataset]:
    """Every data set of the paper in the order of Table 1, then those of the run that the paper has not.

    A run without any data set of the paper lists its own alone.
    """
    from foldshift.reporting.paper_vs_ours import NOT_IN_RUN  # loads pandas

    datasets = list(dict.fromkeys(datasets))
    others = [ListedDataset(one, one, "") for one in datasets if paper_name(one) not in PAPER_DATASETS]
    if datasets and len(others) == len(datasets):
        return others
    listed: list[ListedDataset] = []
    for name in PAPER_DATASETS:
        ours = [ListedDataset(name, one, "") for one in datasets if paper_name(one) == name]
        listed += ours or [ListedDataset(name, None, NOT_PUBLIC.get(name, NOT_IN_RUN))]
    return listed + others


def in_order(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Sort rows of a table by data set as the paper lists them, and by condition; `rows` has all data sets of the run."""
    order = {one.ours: i for i, one in enumerate(listed_datasets(rows["dataset"]))}
    conditions = {name: i for i, name in enumerate(NAMES)}
    place = table[[]].assign(d=table["dataset"].map(order), c=table["condition"].map(conditions))
    keys = ["d", "learner", "test", "c"] if "learner" in table else ["d", "part", "c"] if "part" in table else ["d", "c"]
    for name in keys:
        if name in table:
            place[name] = table[name].map({value: i for i, value in enumerate(dict.fromkeys(table[name]))})
    return table.loc[place.sort_values(keys, kind="stable").index].reset_index(drop=True)


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
