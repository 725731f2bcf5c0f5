"""Fill values that a shift has masked, for classifiers that need complete inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from foldshift.core.arguments import check_one_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray


def impute_masked(X: ArrayLike, mask: ArrayLike, train: ArrayLike, rule: Literal["median", "missing"] = "median") -> FloatArray:
    """Return a copy of `X` with masked values filled: by the training median of their feature, or by NaN (``missing``)."""
    X, mask, train = np.array(X, dtype=np.float64), np.asarray(mask), np.asarray(train, dtype=np.float64)
    if X.ndim != 2 or mask.shape != X.shape or train.ndim != 2 or train.shape[1] != X.shape[1] or mask.dtype != bool:
        raise ValueError(
            f"X has shape {X.shape}, mask {mask.shape} of type {mask.dtype} and train {train.shape}; "
            "expected (n, n_features), the same of type bool, and (n_train, n_features)"
        )
    check_one_of("rule", rule, ("median", "missing"))
    for j in np.flatnonzero(mask.any(axis=0)):
        value = np.nan
        if rule == "median":
            present = train[~np.isnan(train[:, j]), j]
            if len(present) == 0:
                raise ValueError(
                    f"feature {j} is masked and has no value in train to take a median of; leave it out or use rule='missing'"
                )
            value = np.median(present)
        X[mask[:, j], j] = value
    return X
