"""The user's table in the form that advice needs: columns of numbers and of categories, a target of known kind, groups."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_regressor

from foldshift.core.counting import bincount
from foldshift.core.errors import DataError, unknown
from foldshift.core.estimators import title
from foldshift.core.gate.arrays import as_array
from foldshift.core.gate.categorical import nominal_columns
from foldshift.core.gate.targets import check_one_type, group_labels, numbers_if_all
from foldshift.core.remedies import Given, Remedy
from foldshift.datasets.readers.infer import MANY_LABELS
from foldshift.shift.columns import MOST_CLASSES, Column, matched_columns, target_column, target_values
from foldshift.shift.table_versions import as_table, is_frame

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, Estimator, FloatArray, IntArray, TableLike, Task

FEWEST_ROWS = 20  # below, cross-validation shows no more than a look at the rows does
FEWEST_OF_CLASS = 2  # rows: one is not both trained on and tested
MOST_COLUMNS = 2000  # up to which columns are looked at one by one


class Data(NamedTuple):
    """A table, its target, and its groups."""

    X: TableLike  # inputs as given, for the learner; shape (n, n_features)
    y: Array  # target: float64 for a quantity, labels for classes; shape (n,)
    task: Task
    columns: list[Column]  # inputs: ``train`` holds numbers with NaN, or codes; empty if they cannot be looked at
    target: FloatArray  # the quantity, or the code of the class; shape (n,)
    classes: list[Any]  # labels in the order of their codes; empty for a quantity
    groups: IntArray | None  # code of every row's group; shape (n,)
    name: str  # name of the target
    notes: tuple[str, ...] = ()  # parts that were not looked at, and why
    row_names: Column | None = None  # names of the rows that are no inputs

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.target)

    @property
    def n_groups(self) -> int:
        """Number of groups; 0 without groups."""
        return 0 if self.groups is None else int(self.groups.max()) + 1

    @property
    def without_identifiers(self) -> Data:
        """The same without columns that number or name the rows."""
        return self._replace(columns=[column for column in self.columns if column.kind != "identifier"])

    def sample(self, n: int, rng: np.random.Generator) -> Data:
        """Draw rows for a look at columns, target and groups; X and y, which are the learner's, stay whole.

        Whole groups are drawn until `n` rows are reached. Classes that are left with fewer than two rows are dropped with them.
        """
        if self.groups is None:
            rows = np.sort(rng.permutation(self.n)[:n])
        else:
            sizes, order = bincount(self.groups), rng.permutation(self.n_groups)
            taken = order[: max(2, int(np.searchsorted(np.cumsum(sizes[order]), n, side="right")))]
            rows = np.flatnonzero(np.isin(self.groups, taken))
        if self.task == "classification":
            counts = bincount(self.target[rows].astype(int), minlength=len(self.classes))
            rows = rows[counts[self.target[rows].astype(int)] >= 2]
        target = self.target[rows]
        if self.task == "classification":
            target = np.unique(target, return_inverse=True)[1].ravel().astype(np.float64)
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)[1].ravel()
        columns = [column._replace(train=column.train[rows]) for column in self.columns]
        names = None if self.row_names is None else self.row_names._replace(train=self.row_names.train[rows])
        return self._replace(columns=columns, target=target, groups=groups, row_names=names)

    @property
    def codes(self) -> FloatArray:
        """Inputs as numbers, shape (n, n_columns): NaN where a value is missing, codes of categories."""
        return np.column_stack([column.train for column in self.columns]).astype(np.float64)

    @property
    def nominal(self) -> BoolArray:
        """Mask of nominal columns, shape (n_columns,)."""
        return np.array([bool(column.categories) for column in self.columns])


def as_data(
    X: TableLike,
    y: ArrayLike,
    estimator: Estimator = None,
    groups: ArrayLike | None = None,
    task: Task | None = None,
    categorical_features: ArrayLike | None = None,
) -> Data:
    """Check a table, a target and groups as scikit-learn's users hand them over, and bring them into one form.

    Raise ValueError if lengths or the order of rows differ, values of target or groups are missing, there are fewer than 20 rows,
    one class, or less than two rows to a class, or if the learner is one for the other task.
    """
    if X is None or y is None:
        raise ValueError(f"{'X' if X is None else 'y'} is None; advice is for a table and its target: advise(X, y, estimator)")
    for labels, what in ((y, "y"), (groups, "groups")):
        check_order(X, labels, what)
    sparse = issparse(X)
    table = X if sparse else as_table(X, "given")
    if sparse:
        X = X.tocsr()
    elif not hasattr(X, "iloc") and type(X) is not np.ndarray:
        X = table
    shape = np.shape(table)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"X has shape {shape}; expected rows and columns, (n_samples, n_features)")
    n = shape[0]
    given = getattr(y, "name", None)
    name, said = str(given or "the target"), str(given or "y")
    values = target_values(np.ravel(y) if np.shape(y) == (n, 1) else y, n, "y")
    if values[0].dtype.kind == "f" and np.isinf(values[0]).any():
        rows = np.flatnonzero(np.isinf(values[0]))
        raise ValueError(f"{said} is infinite in {len(rows)} of {n} rows, the first in row {rows[0] + 1}; drop them")
    check_rows(n)
    check_one_type(numbers_if_all(values[0]), said)
    column = target_column(values, values, _task(task, estimator, values[0]))
    task = "classification" if column.categories else "regression"
    if task == "classification" and len(column.categories) < 2:
        raise ValueError(f"{said} holds one class, {column.categories[0]!r}; there is nothing to predict")
    if task == "classification" and len(column.categories) > MANY_LABELS * n:
        shown = ", ".join(repr(label) for label in column.categories[:3])
        raise ValueError(
            f"{said} names rows, not classes: {len(column.categories)} different labels in {n} rows ({shown}, ...); take another "
            "target, or one with fewer labels"
        )
    sizes = bincount(column.train.astype(int)) if task == "classification" else np.array([n])
    if task == "classification" and (sizes >= FEWEST_OF_CLASS).sum() < 2:
        single = ", ".join(repr(column.categories[code]) for code in np.flatnonzero(sizes < FEWEST_OF_CLASS)[:3])
        raise ValueError(
            f"{said} holds one class with more than a row; {single}: one row, which cannot be trained on and tested; add rows"
        )
    if task == "regression" and np.ptp(column.train) == 0:
        raise ValueError(f"{said} is {column.train[0]:g} in every row; there is nothing to predict")
    if estimator is not None:
        check_kind(estimator, task, len(np.unique(values[0])))
    columns, notes = _columns(table, sparse, categorical_features)
    # Labels keep the type that they came in: a learner's predictions are compared with them.
    y = column.train.astype(np.float64) if task == "regression" else np.asarray(values[0].tolist())
    return Data(X, y, task, columns, column.train.astype(np.float64), list(column.categories), _groups(groups, n), name, notes)


def with_row_names(data: Data, row_names: ArrayLike | None) -> Data:
    """Take names of the rows that are no inputs; ValueError if there is not one for every row."""
    if row_names is None:
        return data
    check_order(data.X, row_names, "row_names")
    values = as_array(row_names, "row_names")
    if values.shape != (data.n,):
        raise ValueError(f"row_names has shape {values.shape}; expected a name for each of {data.n} rows")
    codes, texts = pd.factorize(np.array([str(value) for value in values.tolist()], dtype=object))
    name = str(getattr(row_names, "name", None) or "row_names")
    return data._replace(row_names=Column(name, "identifier", codes, codes, texts.tolist()))


def check_rows(n: int) -> None:
    """Refuse a table of so few rows that no estimate means anything."""
    if n < FEWEST_ROWS:
        rows = f"{n} row{'s' * (n != 1)}"
        raise ValueError(f"the table has {rows}; advice needs at least {FEWEST_ROWS}: with fewer, every estimate is a guess")


def check_kind(learner: Estimator, task: Task, n_values: int) -> None:
    """Refuse a learner for the other task, whose predictions would be scored all the same."""
    if (is_regressor if task == "classification" else is_classifier)(learner):
        is_a, wanted = ("regressor", "classifier") if task == "classification" else ("classifier", "regressor")
        raise ValueError(
            f"{title(learner)} is a {is_a}, and the target is one of {task}: it holds {n_values} different values; give a "
            f"{wanted}, or say which task it is: task="
        )


def check_order(X: TableLike, other: TableLike, what: str) -> None:
    """Refuse rows with the labels of the table in another order: matched by position, each would meet a wrong one."""
    if not (hasattr(X, "iloc") and hasattr(other, "iloc")) or len(X) != len(other) or X.index.equals(other.index):
        return
    if X.index.is_unique and len(X.index.symmetric_difference(other.index)) == 0:
        raise ValueError(f"X and {what} have the same row labels in another order; bring them into one: {what}.loc[X.index]")


def _task(task: Task | None, estimator: Estimator, values: Array) -> Task | None:
    """Find the task that the user, or the kind of learner, states; None: the values decide."""
    if task == "regression" and values.dtype.kind not in "iufb":
        shown = repr(values[:1].tolist()[0])
        raise DataError(
            Given("task", task), f", and y holds {shown}, which is not a number; take ", Remedy("task", "classification")
        )
    if task is not None:
        return task
    if estimator is None:
        return None
    if is_regressor(estimator):
        if values.dtype.kind not in "iufb":
            raise ValueError(
                f"{type(estimator).__name__} is a regressor, and y holds {values[:1].tolist()[0]!r}, which is not a number; "
                f"{_as_number(values[:1].tolist()[0])}"
            )
        return "regression"
    if is_classifier(estimator):
        if values.dtype.kind == "f" and (values % 1 != 0).any():
            raise ValueError(
                f"{type(estimator).__name__} is a classifier, and y holds {values[values % 1 != 0][0]:g}, which is not a class; "
                "give a regressor, or labels"
            )
        if values.dtype.kind in "iuf" and len(np.unique(values)) > max(MOST_CLASSES, len(values) // 5):
            raise ValueError(
                f"{type(estimator).__name__} is a classifier, and y holds {len(np.unique(values))} different numbers in "
                f"{len(values)} rows; give a regressor, or labels"
            )
        return "classification"
    return None


def _as_number(value: object) -> str:
    """Advice for a target that a regressor does not take."""
    if isinstance(value, (int, Decimal, Fraction)):
        return "give it as floats: y = np.asarray(y, dtype=float)"
    if isinstance(value, (datetime.date, datetime.timedelta, datetime.time)):
        return "give a number in its place, such as days since the first one"
    return "give a classifier"


def _columns(table: TableLike, sparse: bool, categorical_features: ArrayLike | None) -> tuple[list[Column], tuple[str, ...]]:
    """Inputs as columns, and a note if they cannot be looked at."""
    if sparse:
        return [], ("the table is sparse: its columns were not looked at one by one",)
    if table.shape[1] > MOST_COLUMNS:
        return [], (f"the table has {table.shape[1]} columns: more than {MOST_COLUMNS} are not looked at one by one",)
    _check_finite(table)
    if not is_frame(table) and table.dtype.kind not in "biuf":
        table = pd.DataFrame(table).infer_objects().set_axis([f"feature {j}" for j in range(table.shape[1])], axis=1)
    if categorical_features is not None and is_frame(table):
        # By name, the others by type: with a mask alone, texts would be taken for numbers.
        names = [str(name) for name in table.columns]
        given = as_array(categorical_features, "categorical_features")
        strange = [name for name in given.ravel().tolist() if given.dtype.kind in "UO" and str(name) not in names]
        if strange:
            raise DataError(unknown("column", strange[0], names, "The names in categorical_features are those of X."))
        mask = np.isin(names, given.astype(str)) if given.dtype.kind in "UO" else nominal_columns(given, len(names))
        table = table.set_axis(names, axis=1).astype({name: "category" for name, one in zip(names, mask) if one})
        categorical_features = None
    return matched_columns(table, table, categorical_features, None), ()


def _check_finite(table: TableLike) -> None:
    names = table.columns if is_frame(table) else [f"feature {j}" for j in range(table.shape[1])]
    for place, name in enumerate(names):
        values = table.iloc[:, place].to_numpy() if is_frame(table) else table[:, place]
        if values.dtype.kind == "f" and np.isinf(values).any():
            rows = np.flatnonzero(np.isinf(values))
            raise ValueError(
                f"column {str(name)!r} of X holds {len(rows)} infinite value{'s' * (len(rows) > 1)}, the first in row "
                f"{rows[0] + 1}; replace them, or mark them as missing with NaN"
            )


def _groups(groups: ArrayLike | None, n: int) -> IntArray | None:
    """Codes of the groups."""
    if groups is None:
        return None
    groups = group_labels(groups, n)
    codes = pd.factorize(groups)[0].astype(np.int64)
    if codes.max() < 1:
        raise ValueError(f"groups is {groups[:1].tolist()[0]!r} in every row; with one group nothing can be held out")
    return codes
