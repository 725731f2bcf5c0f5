"""The order of rows that several files hold: that of the configuration, however the work was cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def in_order(rows: pd.DataFrame, orders: Mapping[str, list[Any] | None]) -> pd.DataFrame:
    """Sort rows.

    Parameters
    ----------
    rows : pandas.DataFrame
    orders : dict of str to list or None
        Columns to sort by, the first one first, each with its values in their order; None: by size.

    Returns
    -------
    rows : pandas.DataFrame
        Equal ones keep their order.
    """
    keys = rows[list(orders)].copy()
    for name, order in orders.items():
        if order is not None:
            keys[name] = rows[name].map({value: i for i, value in enumerate(order)})
    return rows.loc[keys.sort_values(list(orders), kind="stable").index].reset_index(drop=True)
