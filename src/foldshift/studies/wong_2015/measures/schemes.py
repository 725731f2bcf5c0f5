"""Pairs of learning schemes that section 3 of Wong (2015) names, and whether it takes them to be right independently."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_classif
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from foldshift.learners.linear.naive_bayes import NaiveBayesClassifier
from foldshift.learners.rules.ripper import RIPPERClassifier
from foldshift.learners.trees.c45 import C45Classifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from foldshift.core.types import Estimator, FloatArray

N_BINS = 10
SMALLEST_BIN = 5  # rows
INDEPENDENT, DEPENDENT, EITHER = "independent", "dependent", "either"


class Pair(NamedTuple):
    """Two schemes; `paper` is what section 3 says of them."""

    name: str
    title: str
    paper: str
    reason: str


PAIRS = (
    Pair("pruning", "unpruned and pruned tree", DEPENDENT, "the trees before pruning are the same"),
    Pair("overlapping_features", "two selections of features that overlap", DEPENDENT, "their models have features in common"),
    Pair("tree_rules", "tree and rules", EITHER, "a tree is a set of rules; independent only if their preferences are"),
    Pair("growing", "trees by gain ratio and by Gini index", INDEPENDENT, "they prefer different trees"),
    Pair("tree_svm", "tree and linear support vector machine", INDEPENDENT, "a tree is not a hyperplane"),
    Pair("discretisation", "intervals of equal width and by entropy", INDEPENDENT, "their intervals differ"),
    Pair("disjoint_features", "two selections of features that are disjoint", INDEPENDENT, "their models have nothing in common"),
)


class EntropyIntervals(TransformerMixin, BaseEstimator):
    """Cut every feature where the entropy of the classes falls most, into at most `N_BINS` intervals."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> EntropyIntervals:
        """Grow a tree of one feature for each."""
        self.cuts_ = []
        for column in np.asarray(X).T:
            grown = DecisionTreeClassifier(
                criterion="entropy", max_leaf_nodes=N_BINS, min_samples_leaf=SMALLEST_BIN, random_state=0
            ).fit(column[:, None], y)
            self.cuts_.append(np.sort(grown.tree_.threshold[grown.tree_.children_left >= 0]))
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Number the interval of every value."""
        return np.column_stack([np.searchsorted(cuts, column) for cuts, column in zip(self.cuts_, np.asarray(X).T)])


def schemes_of(n_features: int) -> Iterator[tuple[Pair, Estimator, Estimator]]:
    """Yield every pair with its two learners; those of features need enough of them.

    Two selections of more than half of the features always have one in common; of two features they would be the same.
    """
    more = n_features // 2 + 1
    tree, unpruned = C45Classifier(), C45Classifier(pruned=False, collapse=False)
    ranked = DecisionTreeClassifier(criterion="entropy", random_state=0)
    made: dict[str, tuple[Estimator, Estimator]] = {
        "pruning": (unpruned, tree),
        "growing": (unpruned, DecisionTreeClassifier(criterion="gini", min_samples_leaf=2, random_state=0)),
        "tree_svm": (tree, SVC(kernel="linear")),
        "tree_rules": (tree, RIPPERClassifier(random_state=0)),
        "discretisation": (
            make_pipeline(KBinsDiscretizer(N_BINS, encode="ordinal", strategy="uniform"), CategoricalNB(min_categories=N_BINS)),
            make_pipeline(EntropyIntervals(), CategoricalNB(min_categories=N_BINS)),
        ),
    }
    if n_features > 2:
        made["overlapping_features"] = (
            make_pipeline(SelectKBest(f_classif, k=more), NaiveBayesClassifier()),
            make_pipeline(SelectFromModel(ranked, max_features=more, threshold=-np.inf), NaiveBayesClassifier()),
        )
    if n_features > 1:
        odd, even = (
            make_pipeline(ColumnTransformer([("kept", "passthrough", list(range(start, n_features, 2)))]), NaiveBayesClassifier())
            for start in (0, 1)
        )
        made["disjoint_features"] = (odd, even)
    for pair in PAIRS:
        if pair.name in made:
            yield pair, *made[pair.name]
