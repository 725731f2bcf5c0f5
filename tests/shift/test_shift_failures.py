import numpy as np
import pytest

from foldshift.shift.detectors.co_failure import co_failure, failing, jaccard, phi, translation_limit
from foldshift.shift.inject.injectors import feature_scale, versions
from foldshift.shift.measures.ks import ks_features, ks_p_value

TOGETHER = np.array([[1, 1], [1, 1], [0, 0], [0, 0]])
NEVER = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
INDEPENDENT = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [2, 3, 2, 3], axis=0)  # 5 and 4 of 10 fail, 2 together
TABLE_4 = {  # features, failing in the base, printed
    "Compustat": (20, 5, 0.287), "E-State": (12, 0, 0.083), "Mammography": (6, 0, 0.167), "Oil": (49, 2, 0.060),
    "Page": (10, 3, 0.370), "Pendigits": (16, 0, 0.062), "Phoneme": (5, 0, 0.200), "Satimage": (36, 0, 0.028),
    "Segment": (19, 1, 0.102),
}  # fmt: skip


@pytest.mark.parametrize(
    ("fails", "paper", "corrected", "overlap"),
    [(TOGETHER, 0, 1, 1), (NEVER, 1, -1, 0), (INDEPENDENT, 16 / 42, 0, 2 / 7), (np.zeros((4, 2)), 0, np.nan, np.nan)],
)
def test_truth_table_of_phi(fails, paper, corrected, overlap):
    assert phi(fails, formula="paper")[0, 1] == pytest.approx(paper, abs=1e-15)
    for matrix, value in ((phi(fails), corrected), (jaccard(fails), overlap)):
        assert matrix[0, 1] == pytest.approx(value, abs=1e-15, nan_ok=True) and np.array_equal(matrix, matrix.T, equal_nan=True)
    assert round(16 / 42, 3) == 0.381


def test_phi_is_pearsons_correlation():
    fails = np.random.default_rng(0).random((50, 6)) < 0.4
    assert phi(fails) == pytest.approx(np.corrcoef(fails.T), abs=1e-12)


@pytest.mark.parametrize("n_features", [3, 6, 36])
def test_when_all_unmasked_features_fail_the_papers_phi_is_that_of_the_masking_alone(n_features):
    fails = np.where(np.eye(n_features), np.nan, 1.0)
    pairs = ~np.eye(n_features, dtype=bool)
    assert phi(fails, formula="paper")[pairs] == pytest.approx(1 / (2 * n_features - 3), rel=1e-12)
    assert np.isnan(phi(fails)[pairs]).all()  # in the tests of both, both always fail
    summary = co_failure(fails)
    n_pairs = n_features * (n_features - 1) // 2
    assert summary[:2] == (n_features, 1.0) and np.isnan(summary[2:4]).all() and summary[4:] == (1.0, n_pairs, n_pairs)


def test_pairs_without_a_phi_are_left_out_and_counted():
    fails = np.column_stack([INDEPENDENT, np.ones(10), INDEPENDENT[:, 0]])
    summary = co_failure(fails)
    assert (summary.n_tests, summary.n_pairs, summary.n_undefined) == (10, 6, 3)
    assert summary.mean == pytest.approx(1 / 3) and summary.std == pytest.approx(np.std([0, 1, 0], ddof=1))
    assert summary.failing_share == (5 + 4 + 10 + 5) / 40
    paper = co_failure(fails, formula="paper")
    assert paper.n_undefined == 0 and paper.mean == phi(fails, "paper")[np.triu_indices(4, 1)].mean()


def test_the_nine_values_of_table_4():
    predicted = [0.2875, 1 / 12, 1 / 6, (47 * 3 + 4) / 49**2, 0.37, 0.0625, 0.2, 1 / 36, (18 * 2 + 1) / 19**2]
    for (n, b, printed), value in zip(TABLE_4.values(), predicted):
        assert translation_limit(n, b) == pytest.approx(value, rel=1e-12)
        assert abs(translation_limit(n, b) - printed) <= 0.0005 + 1e-12
    sizes, base, _ = np.transpose(list(TABLE_4.values()))
    assert translation_limit(sizes, base) == pytest.approx(predicted)
    assert translation_limit(3, 3) == 1


@pytest.fixture(params=[(0, 9), (1, 1)], ids=["continuous", "ties"])
def tables(request):
    """Correlated features of a training and a test table, the last two shifted already, with or without ties."""
    seed, digits = request.param
    rng = np.random.default_rng(seed)
    mixing = np.eye(6) + 0.5 * rng.normal(size=(6, 6))
    train, test = (rng.normal(size=(n, 6)) @ mixing for n in (300, 180))
    test[:, 4:] += 0.6
    return train.round(digits), test.round(digits), rng.integers(0, 2, 180)


def fails(train, test, which=None):
    ks = ks_features(train, test, which)
    return failing(ks_p_value(ks.statistic, ks.n_train, ks.n_test, method="asymptotic"))


@pytest.mark.parametrize("severity", [25, 50])
def test_failures_of_mar_less_those_of_mnar_are_the_features_that_fail_on_themselves(tables, severity):
    train, test, y = tables
    mar, mnar = (fails(train, test, versions(test, y, kind, severity, rng=np.random.default_rng(3))) for kind in ("mar", "mnar"))
    assert np.nansum(mar) - np.nansum(mnar) == np.trace(mar)
    assert (~np.isnan(mnar)).sum() == 6 * 5 and np.isnan(np.diag(mnar)).all()


def test_the_formula_of_table_4_is_an_upper_limit_and_is_reached_by_large_shifts(tables):
    train, test, y = tables
    limit = translation_limit(6, int(fails(train, test).sum()))
    shares = [
        fails(train, test, versions(test, y, "cs", q, scale=feature_scale(train))).mean() for q in (1, 5, 10, 25, 50, 100, 200)
    ]
    assert max(shares) <= limit and shares[-1] == limit and shares[0] < limit


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: phi([[0, 2]]), "fails holds 2; expected 0 or False"),
        (lambda: phi([0, 1]), r"fails has shape \(2,\)"),
        (lambda: jaccard(np.ones((0, 2))), r"fails has shape \(0, 2\)"),
        (lambda: phi(TOGETHER, formula="printed"), "formula='printed' must be 'corrected' or 'paper'"),
        (lambda: failing([0.1], alpha=5), "alpha=5 must be between 0 and 1"),
        (lambda: translation_limit(5, 6), "base_failures=6 must be from 0 to n_features=5"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
