"""What is done to any scikit-learn estimator, and to whatever inputs it takes."""

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

# Methods that make up the plain path of an estimator, and the one that shares work between fits.
_PLAIN = {"fit", "predict", "predict_proba", "_fit", "_predict", "_scores"}
_SHARED = {"predict_folds", "scores_folds", "_predict_folds", "_scores_folds"}


def clone_with_state(estimator, random_state=None):
    """A clone whose `random_state`, and that of the estimators inside it, is set where it is None."""
    model = clone(estimator)
    if random_state is not None:
        open_states = [
            name for name, value in model.get_params().items() if name.split("__")[-1] == "random_state" and value is None
        ]
        model.set_params(**dict.fromkeys(open_states, int(random_state)))
    return model


def rows_of(values, rows):
    """Some rows of an array, list, sparse matrix or data frame, which keeps its type.

    Scikit-learn's own way for all that its cross-validation takes; it is in its documentation, but not in its promises.

    Parameters
    ----------
    values : array-like, sparse matrix, data frame or list
    rows : ndarray of int
        Positions.

    Returns
    -------
    part : of the same type
    """
    return _safe_indexing(values, rows)


def shares_work(estimator):
    """Whether the path that shares work between fits stands for an estimator's own ``fit`` and ``predict``.

    It does not where a subclass has written those anew and not the path, or where `random_state` is a generator: every clone
    would begin with the same state of it, and the path draws on.
    """
    order = type(estimator).__mro__

    def first(names):
        return next((place for place, cls in enumerate(order) if names & vars(cls).keys()), len(order))

    return first(_SHARED) <= first(_PLAIN) and not isinstance(
        getattr(estimator, "random_state", None), (np.random.RandomState, np.random.Generator)
    )
