"""Support vector machines on one kernel matrix per data set, with the threshold at 0 or from a logistic model."""

from __future__ import annotations

import hashlib
import math
import numbers
import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from foldshift.core.compiling import compiled
from foldshift.core.gate.categorical import nominal_columns
from foldshift.learners.base import FoldClassifier
from foldshift.learners.kernels._logistic import logistic_one_step, platt
from foldshift.learners.kernels._smo import train_machine

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, UnsignedArray
    from foldshift.learners._states import Cuts

KERNELS = ("puk", "rbf", "poly")
THRESHOLDS = ("zero", "logistic", "logistic_one_step")
TOLERANCE = 1e-3  # libsvm's
MAX_STEPS = 10_000_000
MOST_KEPT_MB = 600  # between calls, of kernels and of machines each
_last: dict[Any, Any] = {}  # what `_kept_of` keeps: of one data set at a time


class Fit(NamedTuple):
    """Machine between two classes, by their codes, before its threshold is set."""

    low: int
    high: int
    support: IntArray  # rows of the kernel matrix
    coef: FloatArray
    bias: float
    outputs: FloatArray  # of the training samples


class Machine(NamedTuple):
    """Machine between two classes; the logistic function of ``intercept + slope * output`` scores the higher one."""

    low: int
    high: int
    support: IntArray
    coef: FloatArray
    bias: float
    intercept: float
    slope: float


def forget() -> None:
    """Free the kernels and machines that are kept from call to call."""
    _last.clear()


class KernelClassifier(FoldClassifier):
    """Base of the classifiers that are a support vector machine with a kernel of their own.

    A subclass writes ``_check()``, which refuses bad parameters, and ``_gram(A, B, units)``, the kernel between two sets of
    samples, pair by pair (an entry must depend on its pair only, to the last bit). `units` has shape (n_features,), int64: 0 for
    a numeric column, for a nominal one the number of indicator columns in which two categories differ: 1 if it has two
    categories, 2 if it has more.

    Equal training samples of one class are merged into one with their number as weight, which leaves the optimum unchanged.
    Samples are sorted, so that the machine does not depend on their order. More than two classes: one machine per pair of
    classes. The solution is libsvm's, step by step.

    Memory: 12 bytes for every pair of distinct samples, and up to 4 for every pair of those that a machine is trained on: 6,400
    MB for 20,000. More than `max_memory_mb` is a ValueError before anything is allocated. After a call of the shared path,
    kernels and machines are kept for the next one, up to `MOST_KEPT_MB` each; see `forget`.
    """

    threshold = "zero"

    def _fit(self, X: FloatArray, codes: IntArray, n_classes: int) -> None:
        self._check_all()
        units = self._units(X)
        self.vectors_, classes, counts, _ = _merge(X, codes)
        self._refuse_large(len(counts))
        work = np.empty(len(counts) ** 2, np.float32)
        _, single = self._kernel(self.vectors_, units)
        self._machines = self._decided(self._train(single, work, np.arange(len(counts)), classes, counts), classes, counts)
        self._units_seen = units

    def _scores(self, X: FloatArray) -> FloatArray:
        classes, rows = np.arange(len(self.classes_)), max(1, int(self.max_memory_mb * 1e6 / (8 * len(self.vectors_))))
        parts = [
            _vote(self._machines, self._gram(part, self.vectors_, self._units_seen), np.arange(len(part)), classes, len(classes))
            for part in np.split(X, range(rows, len(X), rows))  # one kernel matrix within the limit after the other
        ]
        return np.concatenate(parts)

    def _scores_folds(self, X: FloatArray, codes: IntArray, n_classes: int, cuts: Cuts) -> FloatArray:
        folds, n_folds, _ = cuts
        self._check_all()
        vectors, classes, _, merged_into = _merge(X, codes)
        self._refuse_large(len(vectors))
        kernels, trained = self._kept_of(vectors, classes, merged_into, folds)
        work = np.empty(len(vectors) ** 2, np.float32)
        scores = np.empty((*folds.shape, n_classes))
        keep = 24 * len(folds) * n_folds * len(vectors) <= 1e6 * MOST_KEPT_MB
        for s, row in enumerate(folds):
            for fold in range(n_folds):
                test = np.flatnonzero(row == fold)
                if not len(test):
                    continue
                training = merged_into[row != fold]
                # A part of the data may have two categories where the whole has three: another kernel, rarely needed.
                units = self._units(vectors[training])
                if units.tobytes() not in kernels:
                    if _megabytes(len(vectors), len(kernels) + 1) > self.max_memory_mb:
                        gram = single = None
                        kernels.clear()
                    kernels[units.tobytes()] = self._kernel(vectors, units)
                gram, single = kernels[units.tobytes()]
                counts = np.bincount(training, minlength=len(vectors))
                present = np.flatnonzero(counts)
                fits = trained.get((s, fold))
                if fits is None:
                    fits = self._train(single, work, present, classes[present], counts[present])
                    if keep:
                        trained[s, fold] = fits
                machines = self._decided(fits, classes[present], counts[present])
                queries, position = np.unique(merged_into[test], return_inverse=True)
                scores[s, test] = _vote(machines, gram, queries, np.unique(classes[present]), n_classes)[position]
        return scores

    def _kept_of(
        self, vectors: FloatArray, classes: IntArray, merged_into: IntArray, folds: UnsignedArray
    ) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Look up the kernels of the samples, and the machines of the folds, that the last call left for the same data.

        Jobs call once for every cut, and once more for another threshold.
        """
        shape = {name: value for name, value in self.get_params().items() if name not in ("C", "threshold", "max_memory_mb")}
        key = type(self), repr(shape), _digest(vectors)
        kept = _last.get(key)
        if kept is None:
            kept = {}
            _last.clear()
            if _megabytes(len(vectors)) <= MOST_KEPT_MB:
                _last[key] = kept
        kernels, of_folds = kept.get("kernels", {}), (self.C, *map(_digest, (classes, merged_into, folds)))
        trained = kept.get(of_folds, {})
        kept.clear()
        kept.update({"kernels": kernels, of_folds: trained})
        return kernels, trained

    def _check_all(self) -> None:
        for name in ("C", "max_memory_mb", *self._positive):
            value: float = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value < np.inf:
                raise ValueError(f"{name}={value!r} must be a number above 0")
        self._check()

    def _refuse_large(self, n: int) -> None:
        """Raise ValueError for more distinct samples than `max_memory_mb` allows."""
        needed = _megabytes(n)
        if needed > self.max_memory_mb:
            most = int((self.max_memory_mb / _megabytes(1)) ** 0.5)
            raise ValueError(
                f"{type(self).__name__}: the kernel matrix of {n:,} distinct samples needs {needed:,.0f} MB, more than "
                f"max_memory_mb={self.max_memory_mb!r}; raise it, or give at most {most:,} samples"
            )

    def _units(self, X: FloatArray) -> IntArray:
        nominal = nominal_columns(self.categorical_features, X.shape[1])
        values = X[:, nominal]
        if (values < 0).any() or (values != np.floor(values)).any():
            raise ValueError("nominal columns must hold category codes 0, 1, ...; got a negative number or a fraction")
        units = np.zeros(len(nominal), np.int64)
        units[nominal] = np.where(values.max(axis=0) > 1, 2, 1)
        return units

    def _kernel(self, vectors: FloatArray, units: IntArray) -> tuple[FloatArray, NDArray[np.float32]]:
        """Compute the kernel matrix, and convert it to single precision for training."""
        gram = self._gram(vectors, vectors, units)
        with np.errstate(over="ignore"):
            single = gram.astype(np.float32)
        if not np.isfinite(single).all():
            raise ValueError(f"{type(self).__name__}: the kernel overflows for these inputs; scale numeric columns to [0, 1]")
        return gram, single

    def _train(
        self, single: NDArray[np.float32], work: NDArray[np.float32], rows: IntArray, classes: IntArray, counts: IntArray
    ) -> list[Fit]:
        """Train machines of all pairs of classes among the samples `rows` of the kernel matrix.

        `work` has room for another matrix.
        """
        fits = []
        for low, high, part in _pairs(classes):
            is_high = classes[part] == high
            order = np.argsort(is_high, kind="stable")  # libsvm's: the lower class first, as the positive one
            signs, of_pair = np.where(is_high[order], -1.0, 1.0), rows[part]
            costs = self.C * counts[part][order].astype(np.float64)
            beta, bias, slopes, converged = train_machine(single, of_pair[order], signs, costs, TOLERANCE, MAX_STEPS, work)
            if not converged:
                advice = f"scale numeric columns to [0, 1], or lower C={self.C!r}"
                warnings.warn(
                    f"{type(self).__name__} stopped after {MAX_STEPS} steps; {advice}", ConvergenceWarning, stacklevel=2
                )
            outputs = np.empty(len(of_pair))
            outputs[order] = slopes - signs - bias
            fits.append(Fit(low, high, of_pair[order[beta != 0]], -beta[beta != 0], -bias, outputs))
        return fits

    def _decided(self, fits: list[Fit], classes: IntArray, counts: IntArray) -> list[Machine]:
        """Set the threshold of every machine."""
        if self.threshold == "zero":
            return [Machine(*fit[:-1], 0.0, 1.0) for fit in fits]
        place = platt if self.threshold == "logistic" else logistic_one_step
        return [
            Machine(*fit[:-1], *place(fit.outputs, classes[part] == high, counts[part].astype(np.float64)))
            for fit, (_, high, part) in zip(fits, _pairs(classes))
        ]


def _pairs(classes: IntArray) -> list[tuple[int, int, BoolArray]]:
    """List every pair of classes, and which samples are of either."""
    present = np.unique(classes)
    return [(low, high, (classes == low) | (classes == high)) for i, low in enumerate(present) for high in present[i + 1 :]]


def _digest(array: Array) -> tuple[tuple[int, ...], str]:
    return array.shape, hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()


class SVMClassifier(KernelClassifier):
    """Support vector machine with the Pearson VII, Gaussian or polynomial kernel.

    Parameters
    ----------
    kernel : {"puk", "rbf", "poly"}, default="puk"
        With x and z one-hot coded: ``puk`` is ``1 / (1 + 4 |x - z|^2 (2^(1 / omega) - 1) / sigma^2)^omega`` [1]_, ``rbf`` is
        ``exp(-gamma |x - z|^2)``, ``poly`` is ``(gamma x'z + coef0)^degree``.
    C : float, default=100.0
        Cost of margin errors.
    sigma, omega : float, default=1.0
        Width and tail of ``puk``.
    gamma : float, default=1.0
        Scale of ``rbf`` and ``poly``.
    degree : int, default=3
        Degree of ``poly``.
    coef0 : float, default=1.0
        Constant of ``poly``, at least 0.
    threshold : {"zero", "logistic", "logistic_one_step"}, default="zero"
        Where the classes part on the machine's output. ``zero``: at 0. ``logistic``: where a logistic model of the training
        outputs says one half; see `platt`. ``logistic_one_step``: where such a model says one half after KEEL's optimiser, which
        with a narrow kernel stops at its first step; see `logistic_one_step` (the `paper` setting).
    categorical_features : None, array-like of bool or of int, default=None
        Mask or positions of the nominal columns, which hold category codes 0, 1, ...
    max_memory_mb : float, default=4000
        Most memory for kernel matrices, in megabytes (10^6 bytes). They take 16 bytes for every pair of distinct samples: the
        default allows 15,811 of them. More is a ValueError that says how much is needed.

    Attributes
    ----------
    vectors_ : ndarray of shape (n_vectors, n_features)
        Training samples, equal ones of one class once, sorted.

    Notes
    -----
    Inputs are taken as they are: scale numeric columns to [0, 1] first, over the whole data set as data preparation does with
    ``scaling: global``, so that one kernel matrix serves all training parts, or per training part with a scaler before this
    estimator in a pipeline.

    Nominal columns count as one indicator column per category, or a single one if there are two (if no code above 1 is in the
    training part). A category that is not in the training part differs from every other as they differ among themselves.

    Scores are the logistic function of the output minus the threshold, for ``logistic`` the model's probability. With more
    classes a score is the share of won comparisons, the sum of pair scores deciding between equal ones.

    References
    ----------
    .. [1] Uestuen, Melssen, Buydens (2006). Facilitating the application of support vector regression by using a universal
           Pearson VII function based kernel. Chemometrics and Intelligent Laboratory Systems 81, 29-40, equation 4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldshift.learners import SVMClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SVMClassifier(kernel="rbf").fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    _positive = ("sigma", "omega", "gamma")

    def __init__(
        self,
        kernel: Literal["puk", "rbf", "poly"] = "puk",
        C: float = 100.0,
        sigma: float = 1.0,
        omega: float = 1.0,
        gamma: float = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
        threshold: Literal["zero", "logistic", "logistic_one_step"] = "zero",
        categorical_features: ArrayLike | None = None,
        max_memory_mb: float = 4000,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.sigma = sigma
        self.omega = omega
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.threshold = threshold
        self.categorical_features = categorical_features
        self.max_memory_mb = max_memory_mb

    def _check(self) -> None:
        for name, allowed in (("kernel", KERNELS), ("threshold", THRESHOLDS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r} is not known; allowed: {', '.join(allowed)}")
        if isinstance(self.degree, bool) or not isinstance(self.degree, numbers.Integral) or self.degree < 1:
            raise ValueError(f"degree={self.degree!r} must be an integer of at least 1")
        if isinstance(self.coef0, bool) or not isinstance(self.coef0, numbers.Real) or not 0 <= self.coef0 < np.inf:
            raise ValueError(f"coef0={self.coef0!r} must be a number of at least 0")

    def _gram(self, A: FloatArray, B: FloatArray, units: IntArray) -> FloatArray:
        if self.kernel == "puk":
            shape = 4 * (2 ** (1 / self.omega) - 1) / self.sigma**2, float(self.omega)
        elif self.kernel == "rbf":
            shape = float(self.gamma), 0.0
        else:
            shape = float(self.gamma), float(self.coef0)
        return _gram(A, B, units, A is B, KERNELS.index(self.kernel), *shape, int(self.degree))


def _megabytes(n: int, n_kernels: int = 1) -> float:
    """Memory (10^6 bytes) of the kernel matrices of n distinct samples, in double and single precision, and room to train in."""
    return (12 * n_kernels + 4) * n * n / 1e6


def _merge(X: FloatArray, codes: IntArray) -> tuple[FloatArray, IntArray, IntArray, IntArray]:
    """Merge equal pairs of sample and class; return sorted samples, classes, how many of each, and the pair of every sample."""
    pairs, merged_into, counts = np.unique(np.column_stack([X, codes]), axis=0, return_inverse=True, return_counts=True)
    return np.ascontiguousarray(pairs[:, :-1]), pairs[:, -1].astype(np.int64), counts, merged_into.reshape(-1)


def _vote(machines: list[Machine], gram: FloatArray, rows: IntArray, present: IntArray, n_classes: int) -> FloatArray:
    """Score samples (rows of the kernel matrix): shape (n_rows, n_classes); classes without training samples get 0."""
    scores = np.zeros((len(rows), n_classes))
    if len(present) == 1:
        scores[:, present] = 1.0
    for machine in machines:
        low, high = machine.low, machine.high
        outputs = _outputs(gram, rows, machine.support, machine.coef, machine.bias)
        share = _logistic(machine.intercept + machine.slope * outputs)
        if len(present) == 2:
            scores[:, low], scores[:, high] = 1 - share, share
            continue
        scores[:, low] += (share <= 0.5) + (1 - share) / len(present)
        scores[:, high] += (share > 0.5) + share / len(present)
    return scores / scores.sum(axis=1, keepdims=True)


def _logistic(values: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-values))


@compiled
def _gram(
    A: FloatArray, B: FloatArray, units: IntArray, symmetric: bool, kernel: int, a: float, b: float, degree: int
) -> FloatArray:
    out = np.empty((len(A), len(B)))
    for i in range(len(A)):
        for j in range(i if symmetric else 0, len(B)):
            if kernel == 2:
                product = 0.0
                for f in range(A.shape[1]):
                    if units[f] == 0:
                        product += A[i, f] * B[j, f]
                    elif A[i, f] == B[j, f] and (units[f] == 2 or A[i, f] == 1):
                        product += 1.0
                value = (a * product + b) ** degree
            else:
                distance = 0.0
                for f in range(A.shape[1]):
                    if units[f] == 0:
                        distance += (A[i, f] - B[j, f]) ** 2
                    elif A[i, f] != B[j, f]:
                        distance += units[f]
                value = math.exp(-a * distance) if kernel == 1 else 1 / (1 + a * distance) ** b
            out[i, j] = value
            if symmetric:
                out[j, i] = value
    return out


@compiled
def _outputs(gram: FloatArray, rows: IntArray, support: IntArray, coef: FloatArray, bias: float) -> FloatArray:
    """Compute the outputs of a machine, each summed in the order of the support vectors, whatever the other samples."""
    out = np.empty(len(rows))
    last = len(rows) - 1
    for i in range(0, len(rows), 4):  # four sums side by side: one addition need not wait for another
        j, k, m = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        gram_i, gram_j, gram_k, gram_m = gram[rows[i]], gram[rows[j]], gram[rows[k]], gram[rows[m]]
        total_i = total_j = total_k = total_m = 0.0
        for t in range(len(support)):
            v = support[t]
            total_i += coef[t] * gram_i[v]
            total_j += coef[t] * gram_j[v]
            total_k += coef[t] * gram_k[v]
            total_m += coef[t] * gram_m[v]
        out[i], out[j], out[k], out[m] = total_i + bias, total_j + bias, total_k + bias, total_m + bias
    return out
