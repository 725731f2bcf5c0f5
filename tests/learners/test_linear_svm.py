import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from foldshift.datasets.sources.reviews import generate_reviews
from foldshift.learners.kernels import linear_svm
from foldshift.learners.kernels.linear_svm import LinearSVMClassifier
from foldshift.learners.linear.text import unit_rows


@pytest.fixture(scope="module")
def reviews():
    counts = generate_reviews(4, 80, np.random.default_rng(6))
    return unit_rows(counts.X), counts.y


def _plain(X, y, rows, blocks, new, **params):
    """One fit of scikit-learn for every block of every partition, and one of the whole data set."""
    models = LinearSVC(loss="squared_hinge", dual=True, random_state=0, max_iter=1_000_000, **params)
    held_out = np.empty(blocks.shape, dtype=y.dtype)
    for p, cut in enumerate(blocks):
        for block in np.unique(cut):
            train, test = rows[cut != block], rows[cut == block]
            one = np.unique(y[train])
            held_out[p, cut == block] = one[0] if len(one) == 1 else clone(models).fit(X[train], y[train]).predict(X[test])
    return held_out, models.fit(X[rows], y[rows]).predict(X[new])


@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(3))
def test_all_fits_are_those_of_scikit_learn(C, seed, reviews):
    X, y = reviews
    rng = np.random.default_rng(seed)
    rows, new = rng.integers(240, size=(2, 90)), np.broadcast_to(np.arange(240, 320), (2, 80))
    blocks = rng.permuted(np.broadcast_to(np.arange(90) % 5, (2, 3, 90)), axis=2)
    learner = LinearSVMClassifier(C=C, tol=1e-8)
    held_out, whole = learner.predict_partitions(X, y, rows, blocks, new)
    for r in range(2):
        expected = _plain(X, y, rows[r], blocks[r], new[r], C=C, tol=1e-8)
        np.testing.assert_array_equal(held_out[r], expected[0])
        np.testing.assert_array_equal(whole[r], expected[1])


@pytest.mark.parametrize("C", [0.05, 1.0, 5.0])
@pytest.mark.parametrize("tol, apart", [(1e-9, 1e-7), (1e-3, 1.5e-3)])  # in double and in single precision
def test_decision_values_are_those_of_a_tight_fit_of_scikit_learn(C, tol, apart, reviews):
    X, y = reviews
    rng = np.random.default_rng(4)
    chosen, new = rng.integers(240, size=160), np.arange(240, 320)
    blocks = rng.permuted(np.broadcast_to(np.arange(160) % 10, (2, 160)), axis=1)
    score = LinearSVMClassifier(C=C, tol=tol)._scores(X, y)[1]
    held_out, whole = score(chosen, blocks + np.array([[0], [10]]), 20, new)
    model = LinearSVC(C=C, tol=1e-9, random_state=0, max_iter=100_000)
    for p, cut in enumerate(blocks):
        for block in range(10):
            train, test = chosen[cut != block], chosen[cut == block]
            expected = model.fit(X[train], y[train]).decision_function(X[test])
            np.testing.assert_allclose(held_out[p, cut == block, 1], expected, rtol=0, atol=apart)
    np.testing.assert_allclose(whole[:, 1], model.fit(X[chosen], y[chosen]).decision_function(X[new]), rtol=0, atol=apart)


def test_data_sets_do_not_depend_on_those_beside_them(reviews):
    X, y = reviews
    rows = np.random.default_rng(5).integers(240, size=(3, 60))
    blocks, new = np.broadcast_to(np.arange(60) % 4, (3, 1, 60)), np.broadcast_to(np.arange(240, 320), (3, 80))
    learner = LinearSVMClassifier()
    together = learner.predict_partitions(X, y, rows, blocks, new)
    for r in range(3):
        alone = learner.predict_partitions(X, y, rows[r : r + 1], blocks[r : r + 1], new[r : r + 1])
        for found, other in zip(together, alone):
            np.testing.assert_array_equal(found[r], other[0])


def test_at_the_default_tolerance_decisions_differ_by_about_as_much(reviews):
    X, y = reviews
    rows = np.arange(320)[None]
    blocks = np.arange(320)[None, None] % 8
    loose = LinearSVMClassifier().predict_partitions(X, y, rows, blocks, rows[:, :0])[0]
    tight = LinearSVMClassifier(tol=1e-9).predict_partitions(X, y, rows, blocks, rows[:, :0])[0]
    assert (loose != tight).sum() <= 2


def test_more_fits_than_share_a_pass(reviews, monkeypatch):
    X, y = reviews
    rng = np.random.default_rng(0)
    rows, new = rng.integers(240, size=(1, 60)), np.arange(240, 320)[None]
    blocks = rng.permuted(np.broadcast_to(np.arange(60) % 11, (1, 2, 60)), axis=2)
    learner = LinearSVMClassifier(tol=1e-8)
    expected = learner.predict_partitions(X, y, rows, blocks, new)
    monkeypatch.setattr(linear_svm, "MOST_LANES", 4)
    for found, other in zip(learner.predict_partitions(X, y, rows, blocks, new), expected):
        np.testing.assert_array_equal(found, other)


def test_three_classes_one_absent_from_a_training_part_and_dense_inputs():
    rng = np.random.default_rng(1)
    y = np.array(["a", "b", "c"])[np.repeat([0, 1, 2], [25, 25, 10])]
    X = rng.standard_normal((60, 4)) + (y[:, None] == np.array(["a", "b", "c", "d"])) * 2
    blocks = np.where(y == "c", 0, 1 + np.arange(60) % 3)[None, None]
    rows, new = np.arange(60)[None], np.arange(60)[None]
    learner = LinearSVMClassifier(tol=1e-8)
    expected = _plain(X, y, rows[0], blocks[0], new[0], tol=1e-8)
    for inputs in (X, csr_array(X)):
        held_out, whole = learner.predict_partitions(inputs, y, rows, blocks, new)
        np.testing.assert_array_equal(held_out[0], expected[0])
        np.testing.assert_array_equal(whole[0], expected[1])
    assert "c" not in held_out[0, 0, blocks[0, 0] == 0]


def test_a_training_part_of_one_class_predicts_it(reviews):
    X, _ = reviews
    y = np.repeat([4, 7], [10, 50])
    found = LinearSVMClassifier().predict_blocks(X[:60], y, np.arange(60)[None], [10, 50])
    np.testing.assert_array_equal(found[0], np.repeat([7, 4], [10, 50]))


def test_first_blocks_are_training_data_only_and_rows_may_repeat(reviews):
    X, y = reviews
    rows = np.random.default_rng(2).integers(200, size=(3, 100))
    learner = LinearSVMClassifier(tol=1e-8)
    every = learner.predict_blocks(X, y, rows, [40, 30, 30])
    np.testing.assert_array_equal(learner.predict_blocks(X, y, rows, [40, 30, 30], first=1), every[:, 40:])
    assert learner.predict_blocks(X, y, rows[:0], [40, 30, 30]).shape == (0, 100)


def test_blocks_that_do_not_fit_are_refused(reviews):
    X, y = reviews
    learner, rows = LinearSVMClassifier(), np.arange(40)[None]
    for wrong, message in (
        ((X, y[:-1], rows, [20, 20]), "X has 320 rows and y 319"),
        ((X, y, rows, [20, 30]), "rows has shape"),
        ((X, y, rows + 300, [20, 20]), "rows holds numbers from 300 to 339"),
        ((X, y, rows, [40, 0]), "only 1 block has rows"),
    ):
        with pytest.raises(ValueError, match=message):
            learner.predict_blocks(*wrong)
    with pytest.raises(ValueError, match=r"blocks has shape \(1, 40\) for rows of shape \(1, 40\)"):
        learner.predict_partitions(X, y, rows, rows % 2, rows[:, :0])


def test_without_convergence_it_says_so_and_the_input_is_left_alone(reviews):
    X, y = reviews
    doubled = csr_array((np.ones(4), np.array([1, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 2))
    before = doubled.indices.copy()
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=1 passes; raise max_iter or tol"):
        LinearSVMClassifier(max_iter=1, tol=1e-9).predict_blocks(X, y, np.arange(60)[None], [30, 30])
    LinearSVMClassifier().predict_blocks(doubled, [0, 1], np.array([[0, 1, 0, 1]]), [2, 2])
    np.testing.assert_array_equal(doubled.indices, before)


def test_the_plain_path_is_scikit_learns(reviews):
    X, y = reviews
    params = {"C": 0.5, "tol": 1e-3, "max_iter": 10_000, "random_state": 0}
    ours = LinearSVMClassifier(C=0.5)
    assert clone(ours).get_params() == params
    np.testing.assert_array_equal(ours.fit(X, y).coef_, LinearSVC(dual=True, **params).fit(X, y).coef_)
    with pytest.raises(TypeError, match="kernel"):
        LinearSVMClassifier(kernel="rbf")
