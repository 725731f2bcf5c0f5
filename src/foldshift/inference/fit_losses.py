"""Losses of a learner by fold and on held-out rows."""

import numpy as np


def zero_one_loss(y, predicted):
    """1.0 where a prediction is wrong, 0.0 where it is right."""
    return (predicted != y).astype(np.float64)


def squared_error(y, predicted):
    """Squared difference of prediction and target."""
    return (predicted - y) ** 2


def fold_predictor(estimator, X, y, X_rest):
    """What predicts held-out rows by the models of all folds of a partition, or None for a learner that shares no work there.

    Parameters
    ----------
    estimator, X, y, X_rest
        As in `fold_losses`.

    Returns
    -------
    predict : callable or None
        See `foldshift.learners.NNRegressor.fold_predictor`.
    """
    share = getattr(estimator, "fold_predictor", None)
    return share and share(X, y, X_rest)


def fold_losses(estimator, X, y, X_rest, y_rest, folds, states, loss, predict=None):
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
    predict : callable, optional
        From `fold_predictor`, of the same sample and held-out rows: the same losses, sooner.

    Returns
    -------
    losses : list of ndarray
        Of the rows of every fold.
    truth : float
        Mean loss on the held-out rows, over the models.
    """
    if predict:
        inside = loss(y, estimator.predict_folds(X, y, folds[None])[0])
        truths = [_checked(loss(y_rest, predicted)).mean() for predicted in predict(folds)]
        return [_checked(inside[folds == fold]) for fold in range(len(states))], float(np.mean(truths))
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
    from foldshift.core.estimators import clone_with_state

    predicted = clone_with_state(estimator, state).fit(X, y).predict(np.concatenate([part for part, _ in parts]))
    losses = _checked(loss(np.concatenate([truth for _, truth in parts]), predicted))
    return np.split(losses, np.cumsum([len(truth) for _, truth in parts])[:-1])


def _checked(losses):
    if not np.isfinite(losses).all():
        raise ValueError(f"{int((~np.isfinite(losses)).sum())} of {len(losses)} predictions are NaN or infinite")
    return losses
