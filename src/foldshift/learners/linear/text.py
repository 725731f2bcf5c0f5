"""Learners of texts as word counts: naive Bayes from counts that leave the test block out, and the inputs of a linear SVM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.naive_bayes import MultinomialNB

from foldshift.core.compiling import compiled
from foldshift.core.errors import unknown
from foldshift.learners._row_blocks import checked_blocks, checked_partitions
from foldshift.learners.kernels.linear_svm import LinearSVMClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from foldshift.core.types import Array, Estimator, FloatArray, IntArray, Sparse, TableLike

MAX_TOKENS = 2**25  # words of one class; sums of them fit 32 bits, and the table of logarithms takes 1 GB at most


class _Texts(NamedTuple):
    """Counts of words by text, as a sparse matrix, and class codes.

    Unsigned, so that numba does not test every index for a negative one; that doubles the speed.
    """

    indptr: NDArray[np.uint64]
    indices: NDArray[np.uint32]
    data: NDArray[np.uint32]
    codes: NDArray[np.int32]


class _Blocks(NamedTuple):
    """Rows to score, block after block, from block `first` on; `inside` says whether they are in the counts."""

    rows: IntArray
    starts: IntArray
    first: int
    inside: bool


class _Training(NamedTuple):
    """Counts of a data set, and of what is left of it without every block."""

    totals: NDArray[np.uint32]  # (n_words, n_classes), of the whole data set
    logs: FloatArray  # logarithm of every count there can be
    log_totals: FloatArray  # (n_blocks, n_classes), of the smoothed numbers of words
    log_priors: FloatArray  # (n_blocks, n_classes)


class MultinomialNBClassifier(MultinomialNB):
    """scikit-learn's ``MultinomialNB`` with the counts of the test block subtracted instead of taken again.

    The counts of every class over the whole data set are taken once; the training counts of a block are these minus the block's
    own. Data sets are lists of rows of one matrix, which is never copied, and a row may occur in a data set any number of times.

    The shared path looks logarithms up by count and sums in the order of scikit-learn, so that equal scores are equal in both:
    where `alpha`, added to every count, is a power of two the log-probabilities are the same to the last bit.
    Source: Manning, Raghavan, Schuetze (2008). Introduction to Information Retrieval, section 13.2, equations 13.4 and 13.7.
    """

    def __init__(self, *, alpha: float = 1.0) -> None:
        super().__init__(alpha=alpha)

    def scores_blocks(self, X: TableLike, y: ArrayLike, rows: TableLike, sizes: TableLike, first: int = 0) -> FloatArray:
        """Compute the log-probabilities of every row under the classes, by the model trained on the other blocks of its data set.

        `X` holds counts. `rows` (n_datasets, n) are the rows of `X` in every data set, block after block, `sizes` (n_blocks,)
        those of the blocks; blocks before `first` are training data only. Scores are scikit-learn's ``predict_joint_log_proba``,
        of shape (n_datasets, n_predicted, n_classes), classes sorted; minus infinity for a class that the training blocks lack.
        """
        classes, blocks = self._blocks(X, y, rows, sizes, first)
        return np.stack(list(blocks)) if len(rows) else np.empty((0, int(np.sum(sizes[first:])), len(classes)))

    def predict_blocks(self, X: csr_array, y: Array, rows: IntArray, sizes: IntArray, first: int = 0) -> Array:
        """Predict the class of every row by the model trained on the other blocks of its data set, as `scores_blocks` does.

        Among equal scores the first class in sorted order wins, as in scikit-learn.
        """
        classes, blocks = self._blocks(X, y, rows, sizes, first)
        codes = np.empty((len(rows), int(np.sum(sizes[first:]))), dtype=np.intp)
        for out, scores in zip(codes, blocks):
            np.argmax(scores, axis=1, out=out)
        return classes[codes]

    def predict_folds(self, X: FloatArray | csr_array, y: NDArray[np.int8], folds: ArrayLike, random_states: Any = None) -> Array:
        """Predict every sample from the other folds, for many partitions (n_seeds, n_samples); nothing is random."""
        X, y, folds = _counts(X), np.asarray(y), np.asarray(folds)
        predictions = np.empty(folds.shape, dtype=y.dtype)
        for s, fold in enumerate(folds):
            order = np.argsort(fold, kind="stable")
            predictions[s, order] = self.predict_blocks(X, y, order[None], np.bincount(fold))[0]
        return predictions

    def predict_partitions(
        self, X: csr_array, y: NDArray[np.int8], rows: IntArray, blocks: IntArray, new_rows: IntArray
    ) -> tuple[Array, Array]:
        """Predict the class of every row in several partitions of its data set, and of new rows by the model of all.

        The words of a data set are counted once for all of them. `blocks` (n_datasets, n_partitions, n) are the blocks of `rows`
        (n_datasets, n), from 0; `new_rows` (n_datasets, m) are in no training part. Predictions have the shapes of both.
        """
        X = _counts(X)
        rows, blocks, new_rows = checked_partitions(X, y, rows, blocks, new_rows)
        classes, counted = self._counted(X, y)
        codes, new_codes = np.empty(blocks.shape, dtype=np.intp), np.empty(new_rows.shape, dtype=np.intp)
        for r, chosen in enumerate(rows):
            scores = counted(chosen)
            for p, cut in enumerate(blocks[r]):
                order = np.argsort(cut, kind="stable")
                starts = np.append(0, np.cumsum(np.bincount(cut))).astype(np.int64)
                codes[r, p, order] = scores(chosen[order], starts).argmax(axis=1)
            if new_rows.shape[1]:
                new_codes[r] = scores(new_rows[r]).argmax(axis=1)
        return classes[codes], classes[new_codes]

    def _blocks(self, X: csr_array, y: TableLike, rows: TableLike, sizes: TableLike, first: int) -> tuple[Array, Iterator[Any]]:
        """Return the classes, and an iterator over the data sets that gives their scores."""
        X = _counts(X)
        rows, sizes = checked_blocks(X, y, rows, sizes)
        starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
        classes, counted = self._counted(X, y)
        return classes, (counted(chosen)(chosen, starts, first) for chosen in rows.astype(np.int64, copy=False))

    def _counted(self, X: csr_array, y: ArrayLike) -> tuple[Array, Callable[..., Any]]:
        """Return the classes, and a function that counts a data set and returns the function that scores rows.

        Rows of the data set are given block after block with the `starts` of the blocks, from block `first` on, and scored by the
        other blocks; rows that are not in it are given without starts.
        """
        is_scalar = bool(np.isscalar(self.alpha))
        if not (is_scalar and self.alpha > 0):
            raise ValueError(f"alpha={self.alpha!r} must be one number greater than 0")
        classes, code_of = np.unique(y, return_inverse=True)
        codes, n_classes = code_of.astype(np.int32), len(classes)
        tokens = np.asarray(X.sum(axis=1, dtype=np.int64)).ravel()
        texts = _Texts(X.indptr.astype(np.uint64), X.indices.astype(np.uint32), X.data.astype(np.uint32), codes)
        totals = np.empty((X.shape[1], n_classes), dtype=np.uint32)
        logs = np.log(np.arange(1024) + self.alpha)  # of every count there can be: taken once, and by NumPy as scikit-learn does

        def counted(chosen: IntArray) -> Callable[..., Any]:
            nonlocal logs
            n_rows = np.bincount(codes[chosen], minlength=n_classes).astype(np.float64)
            n_words = np.bincount(codes[chosen], weights=tokens[chosen], minlength=n_classes)
            if n_words.max() > MAX_TOKENS:
                raise ValueError(f"a data set has {n_words.max():.0f} words in a class; at most {MAX_TOKENS} are allowed")
            _count(texts, chosen, totals)
            largest = max(int(totals.max()), len(chosen))
            if largest >= len(logs):
                logs = np.log(np.arange(2 * largest) + self.alpha)

            def scores(rows: IntArray, starts: IntArray | None = None, first: int = 0) -> FloatArray:
                if starts is not None:
                    n_train, n_tokens = _training_sums(codes, tokens, rows, starts, n_classes)
                    blocks = _Blocks(rows, starts, first, True)
                else:
                    n_train, n_tokens = n_rows[None], n_words[None]
                    blocks = _Blocks(rows, np.array([0, len(rows)]), first, False)
                with np.errstate(divide="ignore"):
                    log_priors = np.log(n_train) - np.log(n_train.sum(axis=1, keepdims=True))
                found = np.empty((blocks.starts[-1] - blocks.starts[first], n_classes))
                log_totals = np.log(n_tokens + self.alpha * len(totals))
                _score(texts, blocks, _Training(totals, logs, log_totals, log_priors), found)
                return found

            return scores

        return classes, counted


def unit_rows(X: Sparse) -> csr_array:
    """Scale every row to Euclidean length 1; rows without a word stay 0. A row depends on no other."""
    X = csr_array(X, dtype=np.float64)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    per_entry = np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(X.indptr))
    return csr_array((X.data / per_entry, X.indices, X.indptr), shape=X.shape)


def text_learner(name: Literal["NB", "SVM"], X: Sparse) -> tuple[Estimator, Sparse]:
    """Make a learner by its name in the configuration, and its inputs: counts, or `unit_rows` of them for ``SVM``."""
    if name == "NB":
        return MultinomialNBClassifier(), X
    if name == "SVM":
        return LinearSVMClassifier(), unit_rows(X)
    raise ValueError(unknown("learner of texts", name, ("NB", "SVM")))


def _counts(X: csr_array) -> csr_array:
    """Convert `X` to CSR of int32 with sorted columns; raise ValueError if it is not a matrix of counts."""
    X = X if issparse(X) else np.asarray(X)
    if X.dtype.kind not in "buif" or X.ndim != 2:
        raise ValueError(f"X has dtype {X.dtype} and {X.ndim} axes; expected counts of shape (n_rows, n_words)")
    X = X.tocsr() if issparse(X) else csr_array(X)
    values = X.data
    if values.size and not (
        values.min() >= 0 and values.max() <= MAX_TOKENS and (values.dtype.kind != "f" or (values == np.floor(values)).all())
    ):
        raise ValueError(
            f"X holds values from {values.min()} to {values.max()}; expected counts: whole numbers from 0 to {MAX_TOKENS}"
        )
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return csr_array((X.data.astype(np.int32, copy=False), X.indices, X.indptr), shape=X.shape)


@compiled
def _training_sums(
    codes: NDArray[np.int32], tokens: IntArray, chosen: IntArray, starts: IntArray, n_classes: int
) -> tuple[FloatArray, FloatArray]:
    """Rows and words of every class outside every block, each of shape (n_blocks, n_classes), float64."""
    n_blocks = len(starts) - 1
    n_rows, n_words = np.zeros((n_blocks, n_classes)), np.zeros((n_blocks, n_classes))
    for k in range(n_blocks):
        for i in chosen[starts[k] : starts[k + 1]]:
            n_rows[k, codes[i]] -= 1
            n_words[k, codes[i]] -= tokens[i]
    n_rows -= n_rows.sum(axis=0)
    n_words -= n_words.sum(axis=0)
    return n_rows, n_words


@compiled
def _count(texts: _Texts, chosen: IntArray, totals: NDArray[np.uint32]) -> None:
    """Count every word in every class, into `totals`."""
    indptr, indices, data, codes = texts
    totals[:] = 0
    for i in chosen:
        for p in range(indptr[i], indptr[i + 1]):
            totals[indices[p], codes[i]] += data[p]


@compiled
def _score(texts: _Texts, blocks: _Blocks, training: _Training, scores: FloatArray) -> None:
    """Write the log-probabilities of counts of words."""
    indptr, indices, data, codes = texts
    chosen, starts, first, inside = blocks
    totals, logs, log_totals, log_priors = training
    n_classes = totals.shape[1]
    for k in range(first, len(starts) - 1):
        block = chosen[starts[k] : starts[k + 1]]
        inner = block if inside else block[:0]
        for i in inner:
            for p in range(indptr[i], indptr[i + 1]):
                totals[indices[p], codes[i]] -= data[p]
        for t in range(len(block)):
            for c in range(n_classes):
                score = 0.0
                for p in range(indptr[block[t]], indptr[block[t] + 1]):
                    score += data[p] * (logs[totals[indices[p], c]] - log_totals[k, c])
                scores[starts[k] - starts[first] + t, c] = score + log_priors[k, c]
        for i in inner:
            for p in range(indptr[i], indptr[i + 1]):
                totals[indices[p], codes[i]] += data[p]
