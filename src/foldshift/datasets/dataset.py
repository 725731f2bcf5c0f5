"""Prepared data sets and their files. NumPy only, because every job reads one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.core.files import atomic_path
from foldshift.datasets.array_files import read_arrays

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, PathLike, Scaling, Task


OF_ROWS = ("groups", "coordinates", "times", "subsets")  # written where a data set has them


@dataclass(frozen=True)
class Dataset:
    """A data set ready for partitioners and learners.

    Attributes
    ----------
    name, task : str
        Identifier; ``regression`` or ``classification``.
    X : ndarray of shape (n_samples, n_features), dtype float64
        Inputs; nominal columns hold the category's position in `categories`.
    y : ndarray of shape (n_samples,)
        Target, float64; class codes, int64, for classification.
    feature_names, kinds : tuple of str
        Name and kind (``real``, ``integer``, ``nominal``) of every column.
    categories : tuple of tuple of str
        Labels of every nominal column, in the order of their codes; empty for numeric columns.
    classes : tuple of str
        Class labels in the order of their codes; empty for regression.
    groups : ndarray of shape (n_samples,) or None
        Source of every row, where there are several.
    target : str
        Name of the target.
    target_range : tuple of float
        Smallest and largest target before scaling; ``(0, 0)`` for classification.
    feature_ranges : ndarray of shape (n_features, 2)
        Smallest and largest value of every column, or its declared range: what it is scaled by.
    scaling : {"global", "fold", "none"}
        Whether numeric inputs and a regression target were scaled to [0, 1]; with ``fold`` each training part scales them.
    rows : ndarray of shape (n_samples,), dtype int64
        Row of the source's table, from 0.
    n_dropped : int
        Number of rows with missing values, which were dropped.
    constant_features : tuple of str
        Inputs with a single value; they are kept, and 0 after scaling.
    notes : tuple of str
        Messages to the user, e.g. a number of rows that differs from the catalogue's.
    coordinates : ndarray of shape (n_samples, 2) or (n_samples, 3), or None
        Place of every row, unscaled, where columns of the place are named.
    times : ndarray of shape (n_samples,), dtype float64, or None
        Time of every row where a column of it is named: dates in days since 1970, numbers as they are.
    subsets : ndarray of shape (n_samples,), dtype str, or None
        Label of the subset of every row where a column of it is named.

    Examples
    --------
    >>> from foldshift.datasets import load_dataset
    >>> data = load_dataset("diabetes")
    >>> data.task, data.X.shape, data.feature_names[:2], data.classes
    ('regression', (442, 10), ('age', 'sex'), ())
    """

    name: str
    task: Task
    X: FloatArray
    y: Array
    feature_names: tuple[str, ...]
    kinds: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    groups: Array | None
    target: str
    target_range: tuple[float, float]
    feature_ranges: Array
    scaling: Scaling
    rows: IntArray
    n_dropped: int
    constant_features: tuple[str, ...]
    notes: tuple[str, ...]
    coordinates: FloatArray | None = None
    times: FloatArray | None = None
    subsets: Array | None = None

    @property
    def categorical_features(self) -> BoolArray:
        """Mask of the nominal columns, shape (n_features,), dtype bool."""
        return np.array([kind == "nominal" for kind in self.kinds])

    @property
    def unit(self) -> float:
        """Divisor that turns errors into units of the range of the target: 1 unless each training part scales the target."""
        return self.target_range[1] - self.target_range[0] if self.scaling == "fold" else 1.0


def write_prepared(path: PathLike, data: Dataset) -> None:
    """Write a prepared data set as ``.npz`` without pickles; the same data give the same bytes."""
    arrays: dict[str, Any] = {
        "X": data.X,
        "y": data.y,
        "rows": data.rows,
        "feature_ranges": data.feature_ranges,
        "target_range": np.array(data.target_range),
        "n_dropped": np.array(data.n_dropped),
    }
    for key in ("name", "task", "target", "scaling"):
        arrays[key] = np.array(getattr(data, key))
    for key in ("feature_names", "kinds", "classes", "constant_features", "notes"):
        arrays[key] = np.array(getattr(data, key), dtype=np.str_)
    arrays["categories"] = np.array([label for labels in data.categories for label in labels], dtype=np.str_)
    arrays["n_categories"] = np.array([len(labels) for labels in data.categories], dtype=np.int64)
    arrays |= {key: values for key in OF_ROWS if (values := getattr(data, key)) is not None}
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


def read_prepared(path: PathLike) -> Dataset:
    """Read a data set that `write_prepared` wrote."""
    arrays = read_arrays(path)
    fields: dict[str, Any] = {key: arrays[key] for key in ("X", "y", "rows", "feature_ranges")}
    fields |= {key: arrays.get(key) for key in OF_ROWS}
    fields |= {key: str(arrays[key]) for key in ("name", "task", "target", "scaling")}
    fields |= {key: tuple(arrays[key].tolist()) for key in ("feature_names", "kinds", "classes", "constant_features", "notes")}
    ends = np.cumsum(arrays["n_categories"])
    labels = arrays["categories"].tolist()
    return Dataset(
        **fields,
        categories=tuple(tuple(labels[end - n : end]) for n, end in zip(arrays["n_categories"], ends)),
        target_range=tuple(arrays["target_range"].tolist()),
        n_dropped=int(arrays["n_dropped"]),
    )
