"""Linear support vector machine of texts: the fits of all blocks of a data set at once."""

import warnings

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from foldshift.compiling import compiled
from foldshift.learners.blocks import checked_blocks

LANES = 4  # fits side by side are a multiple of this: what one instruction of the processor takes in double precision
ORDER_STATE = 0  # of the order in which rows are visited: of no consequence but for the last digits
MOST_LANES = 32  # at most so many share a pass over the rows; their weights should stay in the processor's cache


class LinearSVMClassifier(LinearSVC):
    """scikit-learn's ``LinearSVC`` by the dual, with the fits of all blocks of a data set in step.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the squared hinge loss against the squared length of the weights, greater than 0.
    tol : float, default=1e-3
        Largest difference between two projected gradients of the dual at which a fit ends.
    max_iter : int, default=10000
        Most passes over the training rows.
    random_state : int, RandomState instance or None, default=0
        Source of the order in which rows are visited.

    Notes
    -----
    Fits that leave out one block each have most of their rows in common. The shared path visits the rows of the data set in one
    random order for all of them; every row is read once for all fits, whose weights stand beside each other, and each fit makes
    its own step of dual coordinate descent [1]_, or none where the row is in the block that it leaves out. Nothing goes from one
    fit to another. Rows are not set aside between passes. Both paths end at the same tolerance of the same problem, in another
    order of steps, so that their decision values differ by about `tol`.

    Give it rows of length 1 (`foldshift.learners.text.unit_rows`): on the counts of words themselves it takes fifteen times as
    long and need not converge, and the primal problem takes twice as long as the dual one.

    References
    ----------
    .. [1] Hsieh, Chang, Lin, Keerthi, Sundararajan (2008). A dual coordinate descent method for large-scale linear SVM. ICML,
       algorithm 1 and equation 9.
    """

    def __init__(self, *, C=1.0, tol=1e-3, max_iter=10_000, random_state=ORDER_STATE):
        super().__init__(C=C, tol=tol, max_iter=max_iter, random_state=random_state, loss="squared_hinge", dual=True)

    def predict_blocks(self, X, y, rows, sizes, first=0):
        """Predicted class of every row, by the model trained on the other blocks of its data set.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_rows, n_features)
            Inputs of all rows.
        y, rows, sizes
            As for `foldshift.learners.blocks.checked_blocks`, which refuses what does not fit.
        first : int, default=0
            The first block that is predicted; those before it are training data only.

        Returns
        -------
        predictions : ndarray of shape (n_datasets, n_predicted)
            Class labels. A training part of one class predicts that class.
        """
        rows, sizes = checked_blocks(X, y, rows, sizes)
        left_out = np.repeat(np.arange(len(sizes)) - first, sizes)[None]
        n_before = int(sizes[:first].sum())
        fits = self._fits(X, y)
        found = [fits(chosen, left_out, len(sizes) - first)[0][0, n_before:] for chosen in rows]
        return np.array(found).reshape(len(rows), int(sizes[first:].sum()))

    def predict_partitions(self, X, y, rows, blocks, new_rows):
        """Predicted class of every row in several partitions of its data set, and of new rows by the model of all.

        Parameters
        ----------
        X, y : as in `predict_blocks`
        rows : array-like of shape (n_datasets, n), integer
            Every data set as rows of `X`.
        blocks : array-like of shape (n_datasets, n_partitions, n), unsigned integer
            Block of every row, 0 and up.
        new_rows : array-like of shape (n_datasets, m), integer
            Rows of `X` that are in no training part.

        Returns
        -------
        predictions : ndarray of shape (n_datasets, n_partitions, n)
            Class labels, by the model trained on the other blocks of the partition.
        new : ndarray of shape (n_datasets, m)
            Class labels, by the model trained on the whole data set.

        Raises
        ------
        ValueError
            If `blocks` do not fit the rows.
        """
        rows, blocks = np.asarray(rows), np.asarray(blocks, dtype=np.int64)
        if blocks.ndim != 3 or rows.shape != (blocks.shape[0], blocks.shape[2]) or blocks.min(initial=0) < 0:
            raise ValueError(
                f"blocks has shape {blocks.shape} for rows of shape {rows.shape}; expected (n_datasets, n_partitions, n), from 0"
            )
        n_blocks = blocks.max(initial=0) + 1
        fits = self._fits(X, y)
        first = np.arange(blocks.shape[1])[:, None] * n_blocks
        found = [
            fits(chosen, first + cut, n_blocks * len(first), new) for chosen, cut, new in zip(rows, blocks, np.asarray(new_rows))
        ]
        return tuple(np.array(parts) for parts in zip(*found))

    def _fits(self, X, y):
        """The function that fits and predicts one data set, with the rows made ready once."""
        X = csr_array(X, dtype=np.float64)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        # The features that occur most often first: their weights are next to each other in memory.
        often = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
        place = np.empty(X.shape[1], dtype=np.int32)
        place[often] = np.arange(X.shape[1], dtype=np.int32)
        X = csr_array((X.data, place[X.indices], X.indptr), shape=X.shape)
        classes, codes = np.unique(y, return_inverse=True)
        return lambda rows, left_out, n_fits, new=(): self._predicted(
            X, classes, codes, rows, left_out, n_fits, np.asarray(new, int)
        )

    def _predicted(self, X, classes, codes, rows, left_out, n_fits, new):
        """Labels (n_partitions, n) of what each fit leaves out (-1: none does), and of new rows by a fit of all rows."""
        whole = len(new) > 0
        matrix = _arrays(X[rows])
        fresh = _arrays(X[new]) if whole else None
        used = np.ones((len(rows), n_fits + whole), dtype=bool)
        for held in left_out:
            some = np.flatnonzero(held >= 0)
            used[some, held[some]] = False
        own = codes[rows]
        seen = np.stack([used[own == c].any(axis=0) for c in range(len(classes))], axis=1)
        scores = np.full((*left_out.shape, len(classes)), -np.inf)
        new_scores = np.full((len(new), len(classes)), -np.inf)
        two = len(classes) == 2
        for start in range(0, used.shape[1], MOST_LANES):
            stop = min(start + MOST_LANES, used.shape[1])
            lanes = np.where((left_out >= start) & (left_out < stop), left_out - start, -1).T.copy()
            for c in range(1, 2) if two else range(len(classes)):
                weights = self._weights(matrix, np.where(own == c, 1.0, -1.0), lanes, stop - start)
                for p, held in enumerate(lanes.T):
                    at = np.flatnonzero(held >= 0)
                    decided = _decide(*matrix, weights, at, held[at])
                    scores[p, at, c] = decided
                    if two:
                        scores[p, at, 0] = -decided
                if whole and stop == used.shape[1]:
                    last = np.full(len(new), stop - start - 1)
                    new_scores[:, c] = _decide(*fresh, weights, np.arange(len(new)), last)
                    if two:
                        new_scores[:, 0] = -new_scores[:, 1]
        scores[~seen[left_out]] = -np.inf  # a class that the training part lacks; a fit of one class ends with it
        new_scores[:, ~seen[-1]] = -np.inf
        return classes[scores.argmax(axis=-1)], classes[new_scores.argmax(axis=-1)]

    def _weights(self, matrix, signs, left_out, n_fits):
        n_features = int(matrix[1].max(initial=0)) + 1
        weights = np.zeros((n_features + 1, -(-n_fits // LANES) * LANES))
        seed = np.uint64(check_random_state(self.random_state).randint(2**31))
        n_passes = _descend(*matrix, signs, left_out, 0.5 / self.C, self.tol, self.max_iter, seed, weights)
        if n_passes > self.max_iter:
            warnings.warn(
                f"a linear SVM did not converge in max_iter={self.max_iter} passes; raise max_iter or tol, or scale the inputs",
                ConvergenceWarning,
                stacklevel=2,
            )
        return weights


def _arrays(X):
    """Starts, columns and values of a CSR matrix; unsigned, so that no index is tested for being negative."""
    return X.indptr.astype(np.uint64), X.indices.astype(np.uint32), X.data


@compiled
def _descend(starts, columns, values, signs, left_out, ridge, tolerance, most, seed, weights):
    """Dual coordinate descent of many fits; their weights (the constant last) go into `weights`.

    Minimise ``|w|^2 / 2 + C sum max(0, 1 - y w.x)^2``; `ridge` is 1 / (2 C). `left_out` has the fits that a row has no part in,
    shape (n, n_partitions), -1 for none.

    Returns
    -------
    n_passes : int
        ``most + 1`` if the tolerance was not reached.
    """
    n, n_fits = len(signs), weights.shape[1]
    last = np.uint64(len(weights) - 1)
    alpha = np.zeros((n, n_fits))
    norms = np.empty(n)
    for i in range(n):
        norms[i] = 1.0 + ridge
        for q in range(starts[i], starts[i + 1]):
            norms[i] += values[q] * values[q]
    order = np.arange(n).astype(np.uint64)
    gradient, step, highest, lowest = np.empty(n_fits), np.empty(n_fits), np.empty(n_fits), np.empty(n_fits)
    for number in range(most):
        for i in range(n - 1, 0, -1):  # Knuth's generator of MMIX; its high bits
            seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            j = ((seed >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32)
            order[i], order[j] = order[j], order[i]
        highest[:] = 0.0
        lowest[:] = 0.0
        for i in order:
            for f in range(n_fits):
                gradient[f] = weights[last, f]
            for q in range(starts[i], starts[i + np.uint64(1)]):
                value, j = values[q], columns[q]
                for f in range(n_fits):
                    gradient[f] += value * weights[j, f]
            for f in range(n_fits):
                gradient[f] = signs[i] * gradient[f] - 1.0 + ridge * alpha[i, f]
            for f in left_out[i]:
                if f >= 0:
                    gradient[f] = 0.0
            for f in range(n_fits):
                before, g = alpha[i, f], gradient[f]
                projected = g if before > 0.0 else min(g, 0.0)
                highest[f] = max(highest[f], projected)
                lowest[f] = min(lowest[f], projected)
                alpha[i, f] = max(before - g / norms[i], 0.0)
                step[f] = (alpha[i, f] - before) * signs[i]
            for q in range(starts[i], starts[i + np.uint64(1)]):
                value, j = values[q], columns[q]
                for f in range(n_fits):
                    weights[j, f] += value * step[f]
            for f in range(n_fits):
                weights[last, f] += step[f]
        if (highest - lowest).max() <= tolerance:
            return number + 1
    return most + 1


@compiled
def _decide(starts, columns, values, weights, rows, fits):
    """Decision value of some rows, each by one of the fits."""
    found = np.empty(len(rows))
    for t in range(len(rows)):
        i, f = np.uint64(rows[t]), fits[t]
        score = weights[len(weights) - 1, f]
        for q in range(starts[i], starts[i + np.uint64(1)]):
            if columns[q] < len(weights) - 1:
                score += values[q] * weights[columns[q], f]
        found[t] = score
    return found
