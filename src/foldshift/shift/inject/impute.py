"""Values that a shift has masked, for classifiers that cannot do without them."""

import numpy as np


def impute_masked(X, mask, train, rule="median"):
    """Fill masked values before a classifier that cannot do without them.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Table with masked values.
    mask : array-like of shape (n, n_features), bool
        Where; other values are left alone, also NaN.
    train : array-like of shape (n_train, n_features)
        Training table; its missing values do not count.
    rule : {"median", "missing"}, default="median"
        ``median``: the median of the feature in the training table, for trees, nearest neighbours and support vector machines.
        ``missing``: NaN, for classifiers that skip the feature, as naive Bayes does.

    Returns
    -------
    X : ndarray of shape (n, n_features), dtype float64
        A copy.

    Raises
    ------
    ValueError
        If the shapes do not fit, `rule` is not known, or a masked feature has no value in the training table.
    """
    X, mask, train = np.array(X, dtype=np.float64), np.asarray(mask), np.asarray(train, dtype=np.float64)
    if X.ndim != 2 or mask.shape != X.shape or train.ndim != 2 or train.shape[1] != X.shape[1] or mask.dtype != bool:
        raise ValueError(
            f"X has shape {X.shape}, mask {mask.shape} of type {mask.dtype} and train {train.shape}; "
            "expected (n, n_features), the same of type bool, and (n_train, n_features)"
        )
    if rule not in ("median", "missing"):
        raise ValueError(f"rule={rule!r} must be 'median' or 'missing'")
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
