import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import energy_distance
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from foldshift.inference.roc import roc_area
from foldshift.shift.detectors.two_sample import classifier_two_sample, energy_distance_test, mmd

TESTS = {"c2st": classifier_two_sample, "mmd": mmd, "energy": energy_distance_test}
every = pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)


def pair(seed, n=40, m=60, p=4, shift=0.0):
    """Two tables; the last column has ties."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, p)), rng.normal(size=(m, p))
    a[:, -1], b[:, -1] = a[:, -1].round(), b[:, -1].round()
    b[:, 0] += shift
    return a, b, rng


def rejections(test, n_tables, shift=0.0, **options):
    return np.mean([test(*pair(seed, shift=shift), **options).p_value <= 0.05 for seed in range(n_tables)])


@pytest.mark.parametrize(
    "test, n_tables, options",
    [(mmd, 400, {"n_permutations": 99}), (energy_distance_test, 400, {"n_permutations": 99}),
     (classifier_two_sample, 80, {"n_permutations": 39}), (classifier_two_sample, 200, {"n_permutations": 0})],
    ids=["mmd", "energy", "c2st, permutations", "c2st, half held out"],
)  # fmt: skip
def test_one_in_twenty_equal_pairs_is_told_apart(test, n_tables, options):
    error = np.sqrt(0.05 * 0.95 / n_tables)
    assert abs(rejections(test, n_tables, **options) - 0.05) <= 3 * error


def test_a_table_of_few_rows_keeps_the_level_since_columns_are_scaled_by_both_tables():
    """Scaled by the smaller table alone, mmd would reject 11 % here."""
    rates = [
        np.mean([test(*pair(seed, 8, 60, 6), n_permutations=99).p_value <= 0.05 for seed in range(400)])
        for test in (mmd, energy_distance_test)
    ]
    assert max(rates) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_fixed_out_of_fold_predictions_would_not_keep_the_level():
    """The reason for training again: the rule by the nearer mean, labels permuted under fixed scores."""
    rejected = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(2, 40, 20))
        points, labels = np.vstack([a, b]), np.repeat([False, True], 40)
        folds = np.tile(np.arange(5), 16)
        scores = np.empty(80)
        for f in range(5):
            train = folds != f
            direction = points[train & labels].mean(axis=0) - points[train & ~labels].mean(axis=0)
            scores[~train] = points[~train] @ direction
        columns = np.repeat(labels[:, None], 200, axis=1)
        for f in range(5):
            columns[folds == f, 1:] = rng.permuted(columns[folds == f, 1:], axis=0)
        areas = np.mean([roc_area(scores[folds == f], columns[folds == f].T) for f in range(5)], axis=0)
        rejected += np.mean(areas >= areas[0]) <= 0.05
    assert rejected / 400 > 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize(
    "test, least", [(mmd, 0.9), (energy_distance_test, 0.9), (classifier_two_sample, 0.7)], ids=["mmd", "energy", "c2st"]
)
def test_a_mean_moved_by_a_standard_deviation_is_found(test, least):
    assert rejections(test, 40, shift=1.0, n_permutations=99) >= least


def test_a_change_of_dependence_alone_is_found():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(150, 2))
    b = rng.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], size=150)
    for test in TESTS.values():
        assert test(a, b, rng).p_value < 0.05


def test_energy_of_one_column_is_the_square_of_scipys():
    a, b, rng = pair(1, p=1)
    spread = np.concatenate([a, b]).std(ddof=1)
    found = energy_distance_test(a, b, rng)
    assert found.statistic == pytest.approx(energy_distance(a[:, 0] / spread, b[:, 0] / spread) ** 2, rel=1e-12)
    between = cdist(a / spread, b / spread).mean()
    assert found.effect == pytest.approx(found.statistic / (2 * between), rel=1e-12)


def test_mmd_is_the_unbiased_estimate_written_out():
    a, b, rng = pair(2, 6, 7, 2)
    both = np.vstack([a, b])
    a, b = ((x - both.mean(axis=0)) / both.std(axis=0, ddof=1) for x in (a, b))
    k = lambda x, y: np.exp(-((x - y) ** 2).sum() / (2 * 1.5**2))  # noqa: E731
    aa = np.mean([k(a[i], a[j]) for i in range(6) for j in range(6) if i != j])
    bb = np.mean([k(b[i], b[j]) for i in range(7) for j in range(7) if i != j])
    ab = np.mean([k(x, y) for x in a for y in b])
    assert mmd(a, b, rng, bandwidth=1.5).statistic == pytest.approx(aa + bb - 2 * ab, rel=1e-10)


@every
def test_the_order_of_the_rows_does_not_matter(test):
    a, b, _ = pair(4)
    shuffle = np.random.default_rng(5)
    ours = test(a, b, np.random.default_rng(0))
    again = test(shuffle.permutation(a), shuffle.permutation(b), np.random.default_rng(0))
    assert again.p_value == ours.p_value and again.statistic == pytest.approx(ours.statistic, rel=1e-12)


@every
def test_the_same_rows_twice_are_not_told_apart_and_p_is_never_zero(test):
    a = np.random.default_rng(6).normal(size=(30, 3))
    assert test(a, a, np.random.default_rng(0)).p_value > 0.2
    assert test(a, a + 50, np.random.default_rng(0), n_permutations=99).p_value == 1 / 100


def test_permutations_have_equal_values_and_order_does_not_break_ties():
    """All rows alike: nothing can be told, whatever stands first."""
    same = np.ones((20, 2))
    for test in TESTS.values():
        found = test(same, same[:8], np.random.default_rng(0))
        assert found.p_value == 1 if test is not classifier_two_sample else found.p_value > 0.01


def test_numbers_of_categories_do_not_matter():
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 4, (30, 1)), rng.integers(0, 3, (30, 1))
    renamed = np.array([9, 3, -2, 5])
    for test in (mmd, energy_distance_test):
        ours = test(a, b, np.random.default_rng(0), categorical_features=[0])
        again = test(renamed[a], renamed[b], np.random.default_rng(0), categorical_features=[0])
        assert again.statistic == pytest.approx(ours.statistic, rel=1e-12)
        assert test(a, b, np.random.default_rng(0)).statistic != pytest.approx(ours.statistic, rel=1e-3)


def test_large_tables_are_cut_to_the_stated_number_of_rows():
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(300, 2)), rng.normal(size=(40, 2))
    assert mmd(a, b, rng, max_rows=100).n_rows == (60, 40)
    assert energy_distance_test(a, b, rng, max_rows=60).n_rows == (30, 30)
    assert energy_distance_test(b, a, rng, max_rows=60).n_rows == (30, 30)
    assert mmd(a, b, rng, n_permutations=9).n_rows == (300, 40)


def test_any_classifier_can_be_given():
    a, b, rng = pair(9, shift=2.0)
    for estimator in (LogisticRegression(), LinearSVC()):
        found = classifier_two_sample(a, b, rng, estimator)
        assert found.p_value < 0.01 and found.effect > 0.8 and found.accuracy > 0.7 and "held out" in found.method
    found = classifier_two_sample(a, b, rng, LogisticRegression(), n_permutations=19)
    assert found.p_value == 1 / 20 and found.method == "permutation"


def test_bad_input_is_named():
    a, b, rng = pair(10)
    with pytest.raises(ValueError, match=r"A has shape \(40, 4\) and B \(60, 3\)"):
        mmd(a, b[:, 1:], rng)
    with pytest.raises(ValueError, match="B has 4 rows; a test needs at least 5"):
        energy_distance_test(a, b[:4], rng)
    with pytest.raises(ValueError, match="A holds NaN or infinite"):
        energy_distance_test(np.where(a > 1, np.nan, a), b, rng)
    with pytest.raises(ValueError, match="bandwidth=0 must be"):
        mmd(a, b, rng, bandwidth=0)
    with pytest.raises(ValueError, match="n_permutations must be an integer of at least 1; got 0"):
        mmd(a, b, rng, n_permutations=0)
    with pytest.raises(ValueError, match="n_folds=41 is above the number of rows of a table; A has 40"):
        classifier_two_sample(a, b, rng, n_folds=41)
    with pytest.raises(ValueError, match="has neither predict_proba nor decision_function"):
        from sklearn.linear_model import LinearRegression

        classifier_two_sample(a, b, rng, LinearRegression())


@every
@pytest.mark.parametrize("scale", [1e-320, 1e-170, 1e160, 1e307])
def test_the_scale_of_a_column_does_not_matter(test, scale):
    a, b, _ = pair(11, shift=0.3)
    a, b = np.round(a, 2), np.round(b, 2)
    ours = test(a, b, np.random.default_rng(0))
    if scale > 1e-300:
        again = test(a * scale, b * scale, np.random.default_rng(0))
        assert again.p_value == ours.p_value and again.statistic == pytest.approx(ours.statistic, rel=1e-9)
    else:  # so small that only whole multiples are left
        whole = test(np.round(100 * a), np.round(100 * b), np.random.default_rng(0))
        again = test(np.round(100 * a) * 5e-324, np.round(100 * b) * 5e-324, np.random.default_rng(0))
        assert again.p_value == whole.p_value
