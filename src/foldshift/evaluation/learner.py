"""Build an estimator from a learner's entry in the configuration, and the matrix it sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from foldshift.core.imports import import_object

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Estimator, FloatArray, Scaling
    from foldshift.datasets.dataset import Dataset


def build_learner(spec: dict[str, Any], scaling: Scaling = "global", categorical_features: ArrayLike | None = None) -> Estimator:
    """Make the estimator of a learner's entry in the configuration.

    Parameters
    ----------
    spec : dict
        ``import`` (dotted path of a scikit-learn estimator class) and ``params`` (its parameters).
    scaling : {"global", "fold", "none"}, default="global"
        With ``fold``, inputs and target are scaled to [0, 1] on each training part and predictions are scaled back.
    categorical_features : array-like of bool of shape (n_features,), optional
        Nominal columns; passed to a learner that handles them as such (``nominal: native``).

    Returns
    -------
    estimator : scikit-learn estimator
        Not fitted.

    Raises
    ------
    ValueError
        If the class cannot be imported or refuses a parameter; the message names it.

    Examples
    --------
    >>> from foldshift.evaluation import build_learner
    >>> build_learner({"import": "sklearn.neighbors.KNeighborsClassifier", "params": {"n_neighbors": 3}})
    KNeighborsClassifier(n_neighbors=3)
    """
    cls = import_object(spec["import"], "learner")
    params = dict(spec.get("params", {}))
    if spec.get("nominal") == "native":
        params["categorical_features"] = categorical_features
    try:
        estimator = cls(**params)
    except TypeError as error:
        raise ValueError(f"learner {spec['import']}: {error}") from error
    if scaling == "fold":
        from sklearn.compose import TransformedTargetRegressor  # here, because most jobs do not need them
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MinMaxScaler

        return TransformedTargetRegressor(make_pipeline(MinMaxScaler(), estimator), transformer=MinMaxScaler())
    return estimator


def design_matrix(data: Dataset, nominal: Literal["codes", "one_hot", "native"] = "codes") -> FloatArray:
    """Make the matrix of inputs that a learner sees.

    Parameters
    ----------
    data : foldshift.datasets.Dataset
        Prepared data set; nominal columns hold category codes.
    nominal : {"codes", "one_hot", "native"}, default="codes"
        ``codes``: the category's number, scaled to [0, 1] by the number of categories where numeric inputs are scaled as a whole;
        ``one_hot``: one column per category; ``native``: the category's number as it is, for learners that know which columns are
        nominal.

    Returns
    -------
    X : ndarray of shape (n_samples, n_columns), dtype float64, C order
        With ``native`` the inputs of the data set themselves, not a copy.

    Examples
    --------
    >>> import pandas as pd
    >>> from foldshift.datasets.readers.parquet import read_frame
    >>> from foldshift.datasets import prepare
    >>> from foldshift.evaluation import design_matrix
    >>> frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"], "price": [1.5, 2.5, 3.5]})
    >>> data = prepare(read_frame(frame, target="price"), "mine", "regression")
    >>> data.X.shape, design_matrix(data, "one_hot").shape
    ((3, 2), (3, 3))
    """
    if nominal == "native":
        return data.X
    columns = []
    for j, categories in enumerate(data.categories):
        column = data.X[:, j]
        if not categories:
            columns.append(column)
        elif nominal == "one_hot":
            columns.extend((column == code).astype(np.float64) for code in range(len(categories)))
        else:
            columns.append(column / max(len(categories) - 1, 1) if data.scaling == "global" else column)
    return np.ascontiguousarray(np.column_stack(columns))
