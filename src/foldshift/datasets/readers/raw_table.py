"""Parsed tables: every parser returns one, and every source is checked as one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.datasets.readers.receipt import Receipt

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, ObjectArray
    from foldshift.datasets.readers.column_kinds import Source

KINDS = ("real", "integer", "nominal")


@dataclass
class RawTable:
    """A parsed table, before rows with missing values are dropped and before scaling."""

    # all columns, the target among them. Numeric columns are float64 with NaN for missing values; nominal columns are
    # `pandas.Categorical` with text categories, in the order of the file's header if it gives one, else in order of text, and NaN
    # for missing values
    frame: pd.DataFrame
    target: str  # name of the target column; empty if the table has none
    kinds: dict[str, str]  # ``real``, ``integer`` or ``nominal`` for every column
    notes: list[str] = field(default_factory=list)  # messages to the user, e.g. values outside a declared range
    left_out: dict[str, str] = field(default_factory=dict)  # columns of a user-defined file that are not inputs, and why
    row_names: dict[str, pd.Categorical] = field(default_factory=dict)  # those of them that name rows; not kept in files
    own: bool = False  # whether it was read as a user-defined file, see `foldshift.datasets.readers.infer`
    groups: str = ""  # name of the column that says which rows belong together (not an input); empty if there is none
    time_on: str = ""  # name of the column of the time of every row (not an input); empty if there is none
    subset_on: str = ""  # name of the column of the subset of every row (not an input); empty if there is none
    space_on: tuple[str, ...] = ()  # inputs that give the place of every row; empty if none are named
    # smallest and largest value of numeric inputs as the file declares them, if inputs are scaled by them
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    receipt: Receipt = field(default_factory=Receipt)  # every decision of the reader, for user-defined files
    source: Source | None = None  # columns before their values were read, for a table that is compared with another

    @property
    def of_rows(self) -> list[str]:
        """Names of the columns that say how rows belong together, and are no inputs: groups, times, subsets."""
        return [name for name in (self.groups, self.time_on, self.subset_on) if name]

    @property
    def features(self) -> list[str]:
        """Names of the input columns, in their order."""
        others = {self.target, *self.of_rows}
        return [name for name in self.frame.columns if name not in others]

    def complete(self) -> BoolArray:
        """Boolean array of shape (n_rows,): rows without a missing value."""
        return ~self.frame.isna().to_numpy().any(axis=1)


def _texts(column: pd.Series) -> ObjectArray:
    """Convert a column to texts: numbers by ``repr(float(x) + 0.0)``, labels without blanks and quotes around them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        texts = []
        for label in column.cat.categories:
            label = str(label).strip().strip("\"'").strip()
            try:
                texts.append(repr(float(label) + 0.0))
            except ValueError:
                texts.append(label)
        return np.array([*texts, ""], dtype=object)[column.cat.codes.to_numpy()]
    values = column.to_numpy(dtype=np.float64) + 0.0
    distinct, where = np.unique(values, return_inverse=True)
    return np.array([repr(float(v)) for v in distinct], dtype=object)[where]


def row_texts(table: RawTable) -> list[str]:
    """Convert every complete row to one line of text, in the order of the table; the target is the last field."""
    frame = table.frame.loc[table.complete(), [*table.features, *table.of_rows, table.target]]
    columns = [_texts(frame[name]) for name in frame.columns]
    return [",".join(row) for row in zip(*columns)]


def fingerprint(table: RawTable) -> str:
    """Checksum of the values of a table, independent of line ends, blanks, number format, header and row order.

    The first 16 hexadecimal digits of SHA-256 over the sorted lines of `row_texts`; rows with missing values do not count.
    """
    return hashlib.sha256("\n".join(sorted(row_texts(table))).encode()).hexdigest()[:16]


def missing_counts(table: RawTable) -> dict[str, int]:
    """Count the missing values of every column that has any, most first."""
    counts = table.frame.isna().sum()
    return {str(name): int(count) for name, count in counts.sort_values(ascending=False, kind="stable").items() if count}
