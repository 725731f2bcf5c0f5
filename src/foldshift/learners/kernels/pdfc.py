"""Positive definite fuzzy classifier: a support vector machine whose support vectors are readable fuzzy rules."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.compiling import compiled
from foldshift.learners.kernels.svm import KernelClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, FloatArray, IntArray

REFERENCES = ("symmetric_triangle", "gaussian", "cauchy", "laplace", "hyperbolic_secant", "squared_sinc")


class FuzzyRules(NamedTuple):
    """Rule base that parts two classes; its sign decides.

    The output is the sum over rules of the consequent times the membership of the sample in the rule's premise, plus the bias.
    """

    classes: tuple[Any, ...]  # the two class labels: of negative and of positive outputs
    centres: Array  # where the reference functions of a rule's premise are 1, column by column; shape (n_rules, n_features)
    consequents: Array  # what a rule adds to the output where its premise holds fully; shape (n_rules,)
    bias: float  # the consequent of the rule that always holds


class PDFClassifier(KernelClassifier):
    """Positive definite fuzzy classifier of Chen and Wang.

    A rule's premise is a product over columns of one reference function, centred at a training sample, so the rule base is a
    support vector machine with that product as its kernel.

    Parameters
    ----------
    reference : {"symmetric_triangle", "gaussian", "cauchy", "laplace", "hyperbolic_secant", "squared_sinc"}
        Membership at distance u from the centre, of Table I of [1]_: ``symmetric_triangle`` (the default) is
        ``max(1 - d |u|, 0)``, ``gaussian`` exp(-d u^2), ``cauchy`` 1 / (1 + d u^2), ``laplace`` ``exp(-d |u|)``,
        ``hyperbolic_secant`` 1 / cosh(d u), ``squared_sinc`` (sin(d u) / (d u))^2.
    d : float, default=0.25
        Steepness of the reference function.
    C : float, default=100.0
        Cost of margin errors.
    categorical_features : None, array-like of bool or of int, default=None
        Mask or positions of the nominal columns, which hold category codes 0, 1, ...
    max_memory_mb : float, default=4000
        Most memory for kernel matrices, in megabytes, as for `SVMClassifier`.

    Attributes
    ----------
    rules_ : list of FuzzyRules
        One rule base per pair of classes, in the order of the classes.
    vectors_ : ndarray of shape (n_vectors, n_features)
        Training samples, equal ones of one class once, sorted.

    Notes
    -----
    Inputs are taken as they are: scale numeric columns to [0, 1] first, as for `SVMClassifier`. Nominal columns count as one
    indicator column per category (two categories: a single one); so the membership of another category is the reference function
    at 1, squared if there are more than two. This also holds for a category that is not in the training part.

    Scores are the logistic function of the output. With more classes a score is the share of won comparisons, the sum of pair
    scores deciding between equal ones.

    References
    ----------
    .. [1] Chen, Wang (2003). Support vector learning for fuzzy rule-based classification systems. IEEE Transactions on Fuzzy
           Systems 11, 716-728, algorithm 1 and Table I.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldshift.learners import PDFClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = PDFClassifier().fit(X, y)
    >>> [len(base.centres) for base in model.rules_]
    [17, 18, 21]
    """

    _positive = ("d",)

    def __init__(
        self,
        reference: str = "symmetric_triangle",
        d: float = 0.25,
        C: float = 100.0,
        categorical_features: ArrayLike | None = None,
        max_memory_mb: float = 4000,
    ) -> None:
        self.reference = reference
        self.d = d
        self.C = C
        self.categorical_features = categorical_features
        self.max_memory_mb = max_memory_mb

    def _check(self) -> None:
        if self.reference not in REFERENCES:
            raise ValueError(f"reference={self.reference!r} is not known; allowed: {', '.join(REFERENCES)}")

    def _gram(self, A: FloatArray, B: FloatArray, units: IntArray) -> FloatArray:
        return _products(A, B, units, A is B, REFERENCES.index(self.reference), float(self.d))

    @property
    def rules_(self) -> list[FuzzyRules]:
        """The fuzzy rules, one rule base per pair of classes."""
        return [
            FuzzyRules((self.classes_[one.low], self.classes_[one.high]), self.vectors_[one.support], one.coef, float(one.bias))
            for one in self._machines
        ]


@compiled
def _membership(reference: int, d: float, u: float) -> float:
    u = d * u * u if reference == 1 or reference == 2 else d * abs(u)
    if reference == 0:
        return max(1 - u, 0.0)
    if reference == 1 or reference == 3:
        return math.exp(-u)
    if reference == 2:
        return 1 / (1 + u)
    if reference == 4:
        return 1 / math.cosh(u)
    return (math.sin(u) / u) ** 2 if u > 0 else 1.0


@compiled
def _products(A: FloatArray, B: FloatArray, units: IntArray, symmetric: bool, reference: int, d: float) -> FloatArray:
    """Compute the products of memberships of all pairs of samples: shape (len(A), len(B))."""
    out = np.empty((len(A), len(B)))
    other = _membership(reference, d, 1.0)
    for i in range(len(A)):
        for j in range(i if symmetric else 0, len(B)):
            value = 1.0
            for f in range(A.shape[1]):
                if units[f] == 0:
                    value *= _membership(reference, d, A[i, f] - B[j, f])
                elif A[i, f] != B[j, f]:
                    value *= other if units[f] == 1 else other * other
            out[i, j] = value
            if symmetric:
                out[j, i] = value
    return out
