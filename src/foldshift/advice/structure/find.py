"""Find the structure of a table: what was declared, and the rest from its columns and the order of its rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foldshift.advice.data import as_data, check_order, with_row_names
from foldshift.advice.structure.copies import across_groups, find_copies, row_codes
from foldshift.advice.structure.entities import find_groups
from foldshift.advice.structure.honest_cut import rows_together
from foldshift.advice.structure.leaks import find_formula, find_leaks
from foldshift.advice.structure.order import find_times
from foldshift.advice.structure.places import find_places
from foldshift.advice.structure.record import Copies, Declared, Part, Structure
from foldshift.advice.structure.values import find_rare, find_sentinels
from foldshift.core.gate.structure import coordinate_table, time_values
from foldshift.core.gate.targets import group_labels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.advice.data import Data
    from foldshift.core.types import IntArray, TableLike

MOST_EQUAL = 0.5  # share of the near copies in which columns that name groups together must be equal
ROWS_SEED = 0  # seed of the rows that stand for a large table, if the caller brings no generator


def find_structure(data: Data, declared: Declared | None = None, rng: np.random.Generator | None = None) -> Structure:
    """Find the structure of a table, each part with its source; raise ValueError if what was declared does not fit the rows.

    Groups are looked for if none were declared, times and unnamed coordinates if there are neither groups nor copies that explain
    why near rows are alike. `rng` draws the rows that stand for a large table, by default with a fixed seed.
    """
    rng = np.random.default_rng(ROWS_SEED) if rng is None else rng
    parts = _declared(declared or Declared(), data)
    copies = find_copies(data, rng)
    rows = np.arange(data.n) if copies is None else np.sort(np.unique(copies.codes, return_index=True)[1])
    known = any(part is not None for part in parts.values())
    groups = parts["groups"] if known else find_groups(data, rows)
    if groups is not None and copies is not None and not _are_equal_in_copies(data, groups, copies):
        groups = None  # copies with errors made columns look alike in some rows
    if groups is not None and copies is not None:
        copies = across_groups(copies, groups.values)
    times = parts["times"]
    if times is None:
        times = find_times(data, None if groups is None else groups.values)
    coordinates = parts["coordinates"]
    if coordinates is None and groups is None:
        coordinates = find_places(data, rows, by_values=times is None)
    leaks, by_gaps = find_leaks(data, rng)
    formula = find_formula(data, leaks)
    return Structure(
        n=data.n,
        task=data.task,
        has_texts=any(column.categories for column in data.columns),
        groups=groups,
        times=times,
        coordinates=coordinates,
        subsets=parts["subsets"],
        copies=copies,
        leaks=leaks,
        leaks_by_gaps=by_gaps,
        formula=formula,
        rare=find_rare(data),
        sentinels=find_sentinels(data),
    )


def _are_equal_in_copies(data: Data, groups: Part, copies: Copies) -> bool:
    """Return True if columns that were taken for groups together are equal in near copies too, as those of one person are."""
    if len(groups.columns) < 2 or groups.beginning or not copies.n_near:
        return True
    key = row_codes(
        np.column_stack([column.train for column in data.columns if column.name in groups.columns]).astype(np.float64)
    )
    order = np.argsort(copies.codes, kind="stable")
    same_set = np.diff(copies.codes[order]) == 0
    return bool((np.diff(key[order]) == 0)[same_set].mean() >= MOST_EQUAL)


def rows_kept_together(
    X: TableLike, y: ArrayLike, groups: ArrayLike | None = None, row_names: ArrayLike | None = None
) -> IntArray:
    """Number the sets of rows that a cut must not part: groups, declared or found, and copies.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    groups : array-like of shape (n_samples,), optional
        Rows that belong together; by default they are looked for.
    row_names : array-like of shape (n_samples,), optional
        Names of the rows that are no inputs, such as those of files; groups are looked for in how they begin.

    Returns
    -------
    together : ndarray of shape (n_samples,), dtype int64
        Number of every row's set, for ``groups`` of a splitter; each row is a set of its own where nothing was found.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> X[30:] = X[:30]
    >>> together = rows_kept_together(X, np.arange(60) % 30 / 7)
    >>> bool((together[:30] == together[30:]).all())
    True
    """
    data = with_row_names(as_data(X, y, groups=groups), row_names)
    together = rows_together(find_structure(data))
    return np.arange(data.n) if together is None else together


def with_declared(data: Data, declared: Declared) -> Data:
    """Check what was declared, and make whole subsets the groups of a table where there are some.

    Raise ValueError if it does not fit the rows, or if a group has rows in more than one subset.
    """
    for kind, labels in declared._asdict().items():
        check_order(data.X, labels, kind)
    subsets = _declared(declared, data)["subsets"]
    if subsets is None:
        return data
    if data.groups is not None:
        of_group = pd.Series(subsets.values).groupby(data.groups).nunique()
        if of_group.max() > 1:
            raise ValueError(
                f"{int((of_group > 1).sum())} of {len(of_group)} groups have rows in more than one subset, so that no subset can "
                "be new: declare groups or subsets, not both"
            )
    return data._replace(groups=subsets.values)


def _declared(declared: Declared, data: Data) -> dict[str, Part | None]:
    """Check what was declared, and bring it into one form."""
    n = data.n
    groups = data.groups if declared.groups is None else _codes(declared.groups, n, "groups")
    subsets = None if declared.subsets is None else _codes(declared.subsets, n, "subsets")
    times = None if declared.times is None else time_values(declared.times, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of degrees, which are a note of the advice
        coordinates = None if declared.coordinates is None else coordinate_table(declared.coordinates, n)
    given = {"groups": groups, "times": times, "coordinates": coordinates, "subsets": subsets}
    for kind, values in given.items():
        if values is not None and (values == values[0]).all():
            raise ValueError(f"{kind} are {values[0]} in every row; nothing can be held out")
    return {kind: None if values is None else Part(values, "declared") for kind, values in given.items()}


def _codes(labels: Any, n: int, name: str) -> IntArray:
    labels = group_labels(labels, n, name)
    if (labels == labels[0]).all():
        raise ValueError(f"{name} is {labels[:1].tolist()[0]!r} in every row; with one group nothing can be held out")
    return pd.factorize(labels)[0].astype(np.int64)
