"""Data sets as the paper names and lists them."""

import pandas as pd

from foldshift.reporting.paper import NOT_IN_RUN
from foldshift.studies.cieslak_2009.conditions import NAMES

# The rows of Table 1, in its order.
PAPER_DATASETS = ("Compustat", "E-State", "Mammography", "Oil", "Page", "Pendigits", "Phoneme", "Satimage", "Segment")
NOT_PUBLIC = {"Compustat": "not measured, as its financial data are not public in full"}


def paper_name(dataset):
    """Name of a data set in the paper's Table 1; its own name if it is not one of them.

    ``estate`` is E-State, ``page-blocks`` is Page: the letters and digits of the printed name begin those of the data set.
    """
    letters = _letters(dataset)
    return next((name for name in PAPER_DATASETS if letters.startswith(_letters(name))), dataset)


def listed_datasets(datasets):
    """Every data set of the paper in the order of Table 1, then those of the run that the paper has not.

    Parameters
    ----------
    datasets : iterable of str
        Data sets of the run.

    Returns
    -------
    listed : list of (str, str or None, str)
        Printed name, name in the run, and reason if there is none. A data set in several forms has a row for each.
    """
    datasets = list(dict.fromkeys(datasets))
    listed = []
    for name in PAPER_DATASETS:
        ours = [one for one in datasets if paper_name(one) == name]
        listed += [(name, one, "") for one in ours] or [(name, None, NOT_PUBLIC.get(name, NOT_IN_RUN))]
    return listed + [(one, one, "") for one in datasets if paper_name(one) not in PAPER_DATASETS]


def in_order(table, rows):
    """Rows by data set as the paper lists them, and by condition."""
    order = {ours: i for i, (_, ours, _) in enumerate(listed_datasets(rows["dataset"]))}
    conditions = {name: i for i, name in enumerate(NAMES)}
    place = pd.DataFrame({"d": table["dataset"].map(order), "c": table["condition"].map(conditions)}, index=table.index)
    keys = ["d", "learner", "test", "c"] if "learner" in table else ["d", "part", "c"] if "part" in table else ["d", "c"]
    for name in keys:
        if name in table:
            place[name] = table[name].map({value: i for i, value in enumerate(dict.fromkeys(table[name]))})
    return table.loc[place.sort_values(keys, kind="stable").index].reset_index(drop=True)


def _letters(name):
    return "".join(letter for letter in name.lower() if letter.isalnum())
