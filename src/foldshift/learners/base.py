"""What every regressor of foldshift shares: checked input, and one method for a whole array of folds."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class FoldRegressor(RegressorMixin, BaseEstimator):
    """Base of the regressors that share work between folds.

    A subclass writes ``_fit(X, y)`` and ``_predict(X)`` (the plain path: any scikit-learn tool may call `fit` and
    `predict`), and ``_predict_folds(X, y, folds, n_folds, random_states)`` (the shared path: it receives all the folds of
    all the seeds, and does once what does not depend on the partition). Both paths give the same predictions; the
    contract tests run both for every subclass.
    """

    def fit(self, X, y):
        """Fit to training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; finite numbers.
        y : array-like of shape (n_samples,)
            Target; finite numbers.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        self._fit(X, np.ascontiguousarray(y, dtype=np.float64))
        return self

    def predict(self, X):
        """Predict the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; finite numbers.

        Returns
        -------
        y : ndarray of shape (n_samples,), dtype float64
            Predictions, in the unit of the training target.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return self._predict(X)

    def predict_folds(self, X, y, folds, random_states=None):
        """Predict every sample from the other folds, for many partitions of the same data.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), dtype float64
            Inputs; finite numbers.
        y : ndarray of shape (n_samples,), dtype float64
            Target; finite numbers.
        folds : ndarray of shape (n_seeds, n_samples), dtype uint8 or uint16
            Fold of every sample, in ``0 .. n_folds - 1``, one row per seed.
        random_states : ndarray of shape (n_seeds, n_folds), dtype uint32, optional
            The `random_state` of every fit; needed by randomised learners, ignored by the others. By default every fit
            uses the estimator's own `random_state`.

        Returns
        -------
        predictions : ndarray of shape (n_seeds, n_samples), dtype float64
            Each sample is predicted by the model fitted on the folds it is not in.
        """
        X = np.ascontiguousarray(X, dtype=np.float64)
        y = np.ascontiguousarray(y, dtype=np.float64)
        folds = np.ascontiguousarray(folds)
        return self._predict_folds(X, y, folds, int(folds.max()) + 1, random_states)
