"""The order of rows that several files hold: that of the configuration, in whatever jobs they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def in_order(rows: pd.DataFrame, orders: Mapping[str, Sequence[Any] | None]) -> pd.DataFrame:
    """Sort rows by columns, the first one first, each by its values in their order (None: by size); equal rows keep theirs."""
    keys = rows[list(orders)].copy()
    for name, order in orders.items():
        if order is not None:
            keys[name] = rows[name].map({value: i for i, value in enumerate(order)})
    return rows.loc[keys.sort_values(list(orders), kind="stable").index].reset_index(drop=True)
