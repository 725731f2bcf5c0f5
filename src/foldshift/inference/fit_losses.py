"""Losses of a learner by fold and on held-out rows."""

import numpy as np


def zero_one_loss(y, predicted):
    """1.0 where a prediction is wrong, 0.0 where it is right."""
    return (predicted != y).astype(np.float64)


def squared_error(y, predicted):
    """Squared difference of prediction and target."""
    return (predicted - y) ** 2


def fold_losses(estimator, X, y, X_rest, y_rest, folds, states, loss):
    """Cross-validated losses of a sample, and the mean true error of the models of the folds.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Not changed.
    X, y : ndarray of shape (n, n_columns), (n,)
        The sample.
    X_rest, y_rest : ndarray of shape (n_rest, n_columns), (n_rest,)
        Held-out rows.
    folds : ndarray of shape (n,), unsigned integer
        Fold of every row, all folds occupied.
    states : ndarray of shape (n_folds,)
        `random_state` of every fit, where the estimator's own is None.
    loss : callable
        `zero_one_loss` or `squared_error`.

    Returns
    -------
    losses : list of ndarray
        Of the rows of every fold.
    truth : float
        Mean loss on the held-out rows, over the models.
    """
    losses, truths = [], []
    for fold, state in enumerate(states):
        test = folds == fold
        inside, outside = losses_after_fit(estimator, X[~test], y[~test], [(X[test], y[test]), (X_rest, y_rest)], state, loss)
        losses.append(inside)
        truths.append(outside.mean())
    return losses, float(np.mean(truths))


def held_out_loss(estimator, X, y, X_rest, y_rest, state, loss):
    """Mean loss on held-out rows after training on the whole sample; parameters as in `fold_losses`."""
    return float(losses_after_fit(estimator, X, y, [(X_rest, y_rest)], state, loss)[0].mean())


def losses_after_fit(estimator, X, y, parts, state, loss):
    """Losses on each of some parts of one fit.

    Parameters
    ----------
    estimator, X, y, loss
        As in `fold_losses`; the estimator is trained on all of X and y.
    parts : list of (ndarray, ndarray)
        Inputs and targets; predicted at once, as a prediction has a price beside that of its rows.
    state : int
        `random_state` of the fit, where the estimator's own is None.

    Returns
    -------
    losses : list of ndarray
        Of the rows of every part.

    Raises
    ------
    ValueError
        If a prediction is NaN or infinite.
    """
    from foldshift.estimators import clone_with_state

    predicted = clone_with_state(estimator, state).fit(X, y).predict(np.concatenate([part for part, _ in parts]))
    losses = loss(np.concatenate([truth for _, truth in parts]), predicted)
    if not np.isfinite(losses).all():
        raise ValueError(f"{int((~np.isfinite(losses)).sum())} of {len(losses)} predictions are NaN or infinite")
    return np.split(losses, np.cumsum([len(truth) for _, truth in parts])[:-1])
