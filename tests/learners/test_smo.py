import numpy as np
import pytest
from sklearn.svm import SVC

from foldshift.learners.kernels import svm
from foldshift.learners.kernels._smo import train_machine
from foldshift.learners.kernels.svm import SVMClassifier

RNG = np.random.default_rng(20120505)


def _problem(n, n_features, width, categories=0):
    """Two overlapping classes, the lower one first, and a Gaussian kernel; few categories make many ties."""
    X = RNG.integers(0, categories, (n, n_features)).astype(float) if categories else RNG.random((n, n_features))
    X = np.unique(X, axis=0)
    high = X[:, 0] + RNG.normal(0, 0.3, len(X)) > np.median(X[:, 0])
    order = np.argsort(high, kind="stable")
    X, high = X[order], high[order]
    return np.exp(-width * ((X[:, None] - X) ** 2).sum(axis=2)), high


def _train(gram, high, costs, rows=None, max_steps=10**7):
    rows = np.arange(len(high)) if rows is None else rows
    return train_machine(
        gram.astype(np.float32), rows, np.where(high, -1.0, 1.0), costs, 1e-3, max_steps, np.empty(len(rows) ** 2, np.float32)
    )


PROBLEMS = {
    "smooth": (300, 3, 1.0, 0),
    "narrow": (300, 3, 100.0, 0),
    "ties": (300, 6, 0.3, 3),
    "long enough to set samples aside": (1500, 2, 3.0, 0),
}


@pytest.mark.parametrize("C", [0.5, 100.0])
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_solution_is_libsvms_to_the_last_bit(problem, C):
    gram, high = _problem(*problem)
    theirs = SVC(kernel="precomputed", C=C).fit(gram, high)
    beta, bias, slopes, converged = _train(gram, high, np.full(len(high), C))
    assert converged
    assert np.allclose(slopes, np.where(high, -1.0, 1.0) - gram @ beta, atol=1e-3)
    assert np.flatnonzero(beta).tolist() == theirs.support_.tolist()
    assert (-beta[theirs.support_] == theirs.dual_coef_[0]).all() and -bias == theirs.intercept_[0]


def test_costs_of_samples_are_libsvms_weights():
    gram, high = _problem(400, 2, 5.0)
    weights = RNG.integers(1, 5, len(high)).astype(float)
    theirs = SVC(kernel="precomputed", C=2).fit(gram, high, sample_weight=weights)
    beta, bias, *_ = _train(gram, high, 2 * weights)
    assert (-beta[theirs.support_] == theirs.dual_coef_[0]).all() and -bias == theirs.intercept_[0]


def test_a_part_of_the_kernel_matrix_gives_the_machine_of_that_part():
    gram, high = _problem(300, 3, 1.0)
    rows = np.sort(RNG.permutation(len(high))[:200])
    costs = np.full(200, 10.0)
    of_part = _train(gram[np.ix_(rows, rows)], high[rows], costs)
    of_rows = _train(gram, high[rows], costs, rows)
    assert (of_part[0] == of_rows[0]).all() and of_part[1] == of_rows[1]


@pytest.mark.parametrize("max_steps", [5, 1005, 1500])
def test_it_stops_at_the_most_steps_with_a_feasible_point(max_steps):
    gram, high = _problem(1500, 2, 3.0)
    beta, bias, _, converged = _train(gram, high, np.full(len(high), 100.0), max_steps=max_steps)
    assert not converged and np.isfinite(bias)
    alpha = np.where(high, -beta, beta)
    assert alpha.min() >= 0 and alpha.max() <= 100 and abs(beta.sum()) < 1e-9 and alpha.any()


def test_a_machine_that_does_not_converge_warns(monkeypatch):
    monkeypatch.setattr(svm, "MAX_STEPS", 2)
    with pytest.warns(
        UserWarning, match=r"SVMClassifier stopped after 2 steps; scale numeric columns to \[0, 1\], or lower C=100.0"
    ):
        SVMClassifier().fit(RNG.random((30, 2)), np.arange(30) % 2)


def test_a_kernel_beyond_single_precision_is_refused():
    with pytest.raises(
        ValueError, match=r"SVMClassifier: the kernel overflows for these inputs; scale numeric columns to \[0, 1\]"
    ):
        SVMClassifier("poly", degree=9).fit([[1e5], [2e5], [3e5]], [0, 1, 1])
