import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize

from foldshift.datasets.sources.reviews import generate_reviews
from foldshift.evaluation.cross_validate import evaluate_folds
from foldshift.learners.kernels.linear_svm import LinearSVMClassifier
from foldshift.learners.linear import text
from foldshift.learners.linear.text import MultinomialNBClassifier, text_learner, unit_rows


def _plain_scores(estimator, X, y, rows, sizes, first=0):
    """scikit-learn's joint log-probabilities, a fit per block; minus infinity for classes that a training part lacks."""
    classes, ends = np.unique(y), np.cumsum(sizes)
    out = np.full((len(rows), ends[-1], len(classes)), -np.inf)
    for r, chosen in enumerate(rows):
        for start, end in zip(ends - sizes, ends):
            if end > start:
                train = np.delete(chosen, np.s_[start:end])
                model = clone(estimator).fit(X[train], y[train])
                columns = np.searchsorted(classes, model.classes_)
                out[r, start:end, columns] = model.predict_joint_log_proba(X[chosen[start:end]]).T
    return out[:, ends[first] - sizes[first] :]


@pytest.fixture(scope="module")
def counts():
    return generate_reviews(4, 60, np.random.default_rng(20130617))


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(1).integers(240, size=(6, 80))


SIZES = np.array([30, 1, 20, 29])


def test_multinomial_scores_are_those_of_scikit_learn_to_the_last_bit(counts, rows):
    expected = _plain_scores(MultinomialNB(), counts.X, counts.y, rows, SIZES)
    np.testing.assert_array_equal(MultinomialNBClassifier().scores_blocks(counts.X, counts.y, rows, SIZES), expected)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 3.0])
def test_multinomial_scores_agree_for_other_alphas(counts, rows, alpha):
    expected = _plain_scores(MultinomialNB(alpha=alpha), counts.X, counts.y, rows, SIZES)
    scores = MultinomialNBClassifier(alpha=alpha).scores_blocks(counts.X, counts.y, rows, SIZES)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_multinomial_scores_of_one_review_by_hand():
    X = csr_array([[2, 0, 1], [0, 3, 0], [1, 1, 0]])  # trained on the first two, word by word: 3/6, 1/6, 2/6 and 1/6, 4/6, 1/6
    scores = MultinomialNBClassifier().scores_blocks(X, [0, 1, 0], [[0, 1, 2]], [2, 1], first=1)
    np.testing.assert_allclose(scores, [[[np.log(1 / 2 * 3 / 6 * 1 / 6), np.log(1 / 2 * 1 / 6 * 4 / 6)]]], rtol=1e-14)


def test_several_partitions_and_new_rows_are_predicted_as_one_by_one(counts, rows):
    rng = np.random.default_rng(9)
    blocks = rng.permuted(np.broadcast_to(np.repeat(np.arange(len(SIZES)), SIZES), (len(rows), 2, rows.shape[1])), axis=2)
    new = rng.integers(240, size=(len(rows), 30))
    predicted, of_new = MultinomialNBClassifier().predict_partitions(counts.X, counts.y, rows, blocks, new)
    for r, chosen in enumerate(rows):
        for p in range(2):
            order = np.argsort(blocks[r, p], kind="stable")
            expected = MultinomialNBClassifier().predict_blocks(counts.X, counts.y, chosen[order][None], SIZES)[0]
            np.testing.assert_array_equal(predicted[r, p, order], expected)
        model = MultinomialNB().fit(counts.X[chosen], counts.y[chosen])
        np.testing.assert_array_equal(of_new[r], model.predict(counts.X[new[r]]))
    with pytest.raises(ValueError, match="new_rows holds numbers from 240 to 240"):
        MultinomialNBClassifier().predict_partitions(counts.X, counts.y, rows, blocks, np.full((len(rows), 1), 240))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(1, 4), n_words=st.integers(1, 5))
def test_predictions_agree_where_ties_and_missing_classes_abound(seed, n_classes, n_words):
    rng = np.random.default_rng(seed)
    X, y = csr_array(rng.integers(0, 3, (12, n_words))), rng.integers(0, n_classes, 12)
    sizes = rng.multinomial(12, np.ones(4) / 4)
    if (sizes > 0).sum() < 2:
        return
    rows = rng.integers(12, size=(3, 12))
    expected = _plain_scores(MultinomialNB(), X, y, rows, sizes)
    scores = MultinomialNBClassifier().scores_blocks(X, y, rows, sizes)
    np.testing.assert_allclose(np.exp(scores), np.exp(expected), rtol=1e-11)
    predictions = MultinomialNBClassifier().predict_blocks(X, y, rows, sizes)
    np.testing.assert_array_equal(predictions, np.unique(y)[expected.argmax(axis=-1)])


def test_equal_scores_go_to_the_first_class_as_in_scikit_learn():
    X, y = csr_array([[1, 1], [1, 1], [1, 1], [1, 1]]), np.array(["b", "a", "b", "a"])
    predictions = MultinomialNBClassifier().predict_blocks(X, y, [[0, 1, 2, 3]], [2, 2])
    assert predictions.tolist() == [["a"] * 4]


def test_predictions_of_later_blocks_do_not_need_those_of_the_first(counts, rows):
    every = MultinomialNBClassifier().predict_blocks(counts.X, counts.y, rows, SIZES)
    np.testing.assert_array_equal(
        MultinomialNBClassifier().predict_blocks(counts.X, counts.y, rows, SIZES, first=2), every[:, 31:]
    )


def test_data_sets_do_not_depend_on_those_beside_them(counts, rows):
    every = MultinomialNBClassifier().predict_blocks(counts.X, counts.y, rows, SIZES)
    one_by_one = [
        MultinomialNBClassifier().predict_blocks(counts.X, counts.y, rows[r : r + 1], SIZES)[0] for r in range(len(rows))
    ]
    np.testing.assert_array_equal(every, one_by_one)


def test_folds_give_the_predictions_of_the_plain_path(counts):
    folds = np.random.default_rng(3).integers(0, 5, size=(3, 240)).astype(np.uint8)
    X = counts.X.toarray()
    expected = evaluate_folds(MultinomialNB(), X, counts.y, folds)
    np.testing.assert_array_equal(evaluate_folds(MultinomialNBClassifier(), X, counts.y, folds), expected)
    np.testing.assert_array_equal(evaluate_folds(MultinomialNBClassifier(), X, counts.y, folds, shared=False), expected)
    np.testing.assert_array_equal(MultinomialNBClassifier().predict_folds(counts.X, counts.y, folds), expected)


def test_leave_one_out_gives_the_predictions_of_the_plain_path(counts):
    few = np.r_[:20, 100:120]
    X, y, folds = counts.X[few].toarray(), counts.y[few], np.arange(40, dtype=np.uint8)
    np.testing.assert_array_equal(
        evaluate_folds(MultinomialNBClassifier(), X, y, folds), evaluate_folds(MultinomialNB(), X, y, folds)
    )


@pytest.mark.parametrize("form", [csr_matrix, lambda X: X.tocsc(), lambda X: X.toarray(), lambda X: X.astype(np.float64)])
def test_every_form_of_the_counts_gives_the_same_scores_and_is_not_changed(form, counts, rows):
    X = form(counts.X)
    before = X.copy()
    np.testing.assert_array_equal(
        MultinomialNBClassifier().scores_blocks(X, counts.y, rows, SIZES),
        MultinomialNBClassifier().scores_blocks(counts.X, counts.y, rows, SIZES),
    )
    assert (before != X).sum() == 0


def test_duplicate_entries_of_a_sparse_row_are_summed():
    twice = csr_array((np.array([1, 1, 3]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    once = csr_array([[2, 0], [0, 3]])
    y, rows = [0, 1], [[0, 1, 0, 1]]
    learner = MultinomialNBClassifier()
    np.testing.assert_array_equal(learner.scores_blocks(twice, y, rows, [2, 2]), learner.scores_blocks(once, y, rows, [2, 2]))
    assert twice.nnz == 3


def test_words_more_frequent_than_the_first_table_of_logarithms_are_looked_up_rightly():
    X, y = csr_array([[5000, 1], [1, 7000], [300, 200], [10, 9]]), np.array([0, 1, 0, 1])
    expected = _plain_scores(MultinomialNB(), X, y, [np.arange(4)], np.array([2, 2]))
    np.testing.assert_array_equal(MultinomialNBClassifier().scores_blocks(X, y, np.arange(4)[None], [2, 2]), expected)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"X": csr_array([[1, -1], [0, 1]])}, "values from -1 to 1; expected counts"),
        ({"X": np.array([[0.5, 1], [0, 1]])}, "expected counts: whole numbers"),
        ({"X": np.array([[np.nan, 1], [0, 1]])}, "values from nan to nan"),
        ({"X": np.array([["a", "b"], ["c", "d"]])}, "expected counts of shape"),
        ({"X": csr_array([[1, 2**40], [0, 1]])}, "expected counts: whole numbers from 0 to"),
        ({"y": [0, 1, 1]}, "X has 2 rows and y 3"),
        ({"sizes": [2, 0]}, "only 1 block has rows"),
        ({"sizes": [2, 1]}, r"rows has shape \(1, 2\) and dtype int64; expected integers of shape \(n_datasets, 3\)"),
        ({"rows": [[0.0, 1.0]]}, "dtype float64; expected integers"),
        ({"rows": [[0, 2]]}, "rows holds numbers from 0 to 2; expected 0 to 1"),
        ({"rows": [[-1, 1]]}, "rows holds numbers from -1 to 1; expected 0 to 1"),
    ],
)
def test_bad_input_is_refused(changes, message):
    arguments = {"X": csr_array([[1, 0], [0, 1]]), "y": [0, 1], "rows": [[0, 1]], "sizes": [1, 1]} | changes
    with pytest.raises(ValueError, match=message) as error:
        MultinomialNBClassifier().predict_blocks(**arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan, np.ones(2)])
def test_alpha_must_be_positive(alpha):
    with pytest.raises(ValueError, match="must be one number greater than 0"):
        MultinomialNBClassifier(alpha=alpha).predict_blocks(csr_array([[1, 0], [0, 1]]), [0, 1], [[0, 1]], [1, 1])


def test_a_data_set_with_too_many_words_is_refused(monkeypatch):
    monkeypatch.setattr(text, "MAX_TOKENS", 10)
    with pytest.raises(ValueError, match="a data set has 24 words in a class; at most 10 are allowed"):
        MultinomialNBClassifier().predict_blocks(csr_array([[8, 0], [0, 8]]), [0, 1], [[0, 1, 0, 0]], [2, 2])


def test_the_plain_path_is_that_of_scikit_learn(counts):
    fitted = MultinomialNBClassifier(alpha=2.0).fit(counts.X, counts.y)
    np.testing.assert_array_equal(
        fitted.predict_proba(counts.X), MultinomialNB(alpha=2.0).fit(counts.X, counts.y).predict_proba(counts.X)
    )
    assert clone(fitted).get_params() == {"alpha": 2.0}


def test_unit_rows_are_those_of_scikit_learn_and_keep_empty_reviews(counts):
    X = csr_array(np.vstack([counts.X.toarray(), np.zeros((1, 300), dtype=np.int32)]))
    scaled = unit_rows(X)
    np.testing.assert_allclose(scaled.toarray(), normalize(X.astype(np.float64)).toarray(), rtol=1e-15)
    assert scaled[[240]].nnz == 0
    assert TfidfTransformer(use_idf=False).fit_transform(X).shape == scaled.shape


def test_learners_are_found_by_name_with_the_inputs_they_are_for(counts):
    learner, X = text_learner("NB", counts.X)
    assert isinstance(learner, MultinomialNBClassifier) and X is counts.X
    learner, X = text_learner("SVM", counts.X)
    assert isinstance(learner, LinearSVMClassifier)
    assert (unit_rows(counts.X) != X).nnz == 0
    with pytest.raises(ValueError, match="unknown learner of texts 'svm'; did you mean SVM"):
        text_learner("svm", counts.X)
