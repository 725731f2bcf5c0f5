"""Type aliases that many functions share; only annotations use them."""

import os
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
UnsignedArray = NDArray[np.unsignedinteger[Any]]
BoolArray = NDArray[np.bool_]
StrArray = NDArray[np.str_]
ObjectArray = NDArray[np.object_]

PathLike = str | os.PathLike[str]
RandomState = int | np.random.RandomState | np.random.Generator | None
Rows = list[dict[str, Any]]
Estimator = Any  # of scikit-learn, which has no types
Splitter = Any  # of scikit-learn: has `split`
TableLike = Any  # array, data frame or sparse matrix, as it comes
Floats = Any  # a float, or an array of them where arrays came in
Inputs = Any  # files of a rule by name, as Snakemake hands them over
Sparse = Any  # matrix or array of scipy.sparse, which has no types

Task = Literal["classification", "regression"]
TaskIfKnown = Literal["", "classification", "regression"]
ColumnKind = Literal["real", "integer", "nominal"]
DecimalMark = Literal[".", ","]
Scaling = Literal["none", "global", "fold"]
Metric = Literal["heom", "euclidean", "keel"]
Formula = Literal["corrected", "paper"]
