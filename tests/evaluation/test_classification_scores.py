import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score

from foldshift.evaluation.class_scores import classification_scores


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_scikit_learns_metrics(n_classes):
    rng = np.random.default_rng(n_classes)
    codes = np.arange(90) % n_classes
    scores = np.round(rng.dirichlet(np.ones(n_classes), (2, 90)), 2) + 0.01
    scores /= scores.sum(axis=2, keepdims=True)
    predictions = scores.argmax(axis=2)
    folds = rng.integers(0, 3, (2, 90)).astype(np.uint8)
    ours = classification_scores(codes, predictions, scores, folds, 3)
    for s in range(2):
        for fold in range(3):
            test = folds[s] == fold
            truth, predicted, score = codes[test], predictions[s, test], scores[s, test]
            assert ours["accuracy"][s, fold] == pytest.approx(accuracy_score(truth, predicted))
            assert ours["balanced_accuracy"][s, fold] == pytest.approx(balanced_accuracy_score(truth, predicted))
            assert ours["auc_crisp"][s, fold] == pytest.approx(balanced_accuracy_score(truth, predicted))
            assert ours["auc_corrected"][s, fold] == ours["auc_crisp"][s, fold]  # the same bits: tables of the papers stay
            assert ours["log_loss"][s, fold] == pytest.approx(log_loss(truth, score))
            area = roc_auc_score(truth, score[:, 1]) if n_classes == 2 else roc_auc_score(truth, score, multi_class="ovr")
            assert ours["auc"][s, fold] == pytest.approx(area)


def test_the_crisp_area_is_the_papers_formula():
    codes = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    predictions = np.array([[1, 1, 1, 0, 1, 0, 0, 0, 0, 0]])
    ours = classification_scores(codes, predictions, None, np.zeros((1, 10), np.uint8), 1)
    assert ours["auc_crisp"][0, 0] == pytest.approx((1 + 3 / 4 - 1 / 6) / 2)


def test_a_class_that_a_fold_lacks_takes_no_part_in_its_corrected_area():
    """Classes of 40, 19 and 1 rows in ten folds, all but the last class found: the paper's way counts 0 in nine of them."""
    codes = np.repeat([0, 1, 2], [40, 19, 1])
    folds = (np.arange(60) % 10).astype(np.uint8)[None]
    predictions = np.where(codes == 2, 0, codes)[None]
    scores = np.eye(3)[predictions]
    ours = classification_scores(codes, predictions, scores, folds, 10)
    assert ours["n_classes"].tolist() == [[2] * 9 + [3]]
    np.testing.assert_allclose(ours["auc_corrected"], [[1] * 9 + [2 / 3]])
    assert ours["auc_crisp"].mean() == pytest.approx(2 / 30)
    other = (1 + 1 + 0.5) / 3  # 0 and 1 are told apart in the last fold, the row of class 2 looks like one of class 0
    assert ours["auc"][0, :9].tolist() == [1] * 9 and ours["auc"][0, 9] == pytest.approx(other, abs=0.1)


def test_one_row_to_a_class_has_no_corrected_area():
    codes = np.arange(6)
    ours = classification_scores(codes, codes[None], np.eye(6)[None], np.arange(6, dtype=np.uint8)[None], 6)
    assert np.isnan(ours["auc_corrected"]).all() and np.isnan(ours["auc"]).all() and (ours["auc_crisp"] == 0).all()


def test_a_fold_that_lacks_a_class_has_crisp_area_zero_and_no_ranking_area():
    codes, folds = np.array([0, 0, 1, 1]), np.array([[0, 0, 1, 1]], np.uint8)
    scores = np.full((1, 4, 2), 0.5)
    ours = classification_scores(codes, np.array([[0, 0, 1, 0]]), scores, folds, 2)
    assert ours["auc_crisp"].tolist() == [[0, 0]] and np.isnan(ours["auc"]).all()
    assert ours["balanced_accuracy"].tolist() == [[1, 0.5]] and ours["log_loss"][0] == pytest.approx(np.log(2))


def test_without_scores_only_the_crisp_measures_are_there():
    codes, folds = np.array([0, 1, 0, 1]), np.array([[0, 0, 1, 1]], np.uint8)
    ours = classification_scores(codes, codes[None], None, folds, 2)
    assert (ours["accuracy"] == 1).all() and np.isnan(ours["auc"]).all() and np.isnan(ours["log_loss"]).all()


def test_a_certain_error_has_a_finite_log_loss():
    ours = classification_scores(
        np.array([0, 1]), np.array([[1, 1]]), np.array([[[0.0, 1.0], [0.0, 1.0]]]), np.zeros((1, 2), np.uint8), 1
    )
    assert np.isfinite(ours["log_loss"]).all() and ours["log_loss"][0, 0] > 15
