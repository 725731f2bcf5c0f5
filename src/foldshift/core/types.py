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
Estimator = Any  # scikit-learn has no types
Splitter = Any  # object with `split`, as in scikit-learn
TableLike = Any  # array, data frame or sparse matrix
Floats = Any  # a float; an array if the arguments are arrays
Inputs = Any  # input files of a rule by name, from Snakemake
Sparse = Any  # matrix or array of scipy.sparse, which has no types

Task = Literal["classification", "regression"]
TaskIfKnown = Literal["", "classification", "regression"]
ColumnKind = Literal["real", "integer", "nominal"]
DecimalMark = Literal[".", ","]
Scaling = Literal["none", "global", "fold"]
Metric = Literal["heom", "euclidean", "keel"]
Formula = Literal["corrected", "paper"]
