from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.spatial import cKDTree
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foldshift.core.errors import DataError
from foldshift.datasets.dataset import write_prepared
from foldshift.datasets.synthetic.populations import POPULATIONS, TARGET_POPULATIONS, draw_population
from foldshift.engine.storage.score_files import read_columns, write_rows
from foldshift.inference.comparisons.paired import nadeau_bengio
from foldshift.inference.fit_losses import Sample, fold_losses, held_out_loss, squared_error, zero_one_loss
from foldshift.inference.intervals.accuracy import accuracy_interval
from foldshift.inference.intervals.cross_validation import Interval, cv_intervals
from foldshift.inference.intervals.moments import LossMoments, loss_moments, moment_intervals
from foldshift.inference.simulation.audit import LEAVE_ONE_SOURCE_OUT, RANDOM_FOLDS, CoverageAudit, coverage_audit
from foldshift.inference.simulation.coverage import (
    AVERAGE_NEW_SOURCE,
    MODEL_ON_NEW_SOURCE,
    THESE_MODELS,
    TRAINING_PART,
    WHOLE_SAMPLE,
    AuditRow,
    audit_rows,
    coverage_errors,
    not_refuted,
)
from foldshift.partition import make_folds
from foldshift.studies.wong_2015.measures.measure_audit import SCHEMAS, audit_coverage

MOMENT_COLUMNS = list(LossMoments._fields)
PARTITIONERS = ("SCV", "DOB-SCV", "CV", "SCV5", "TSCV")  # of classes, and of numbers


def _rng(seed=0):
    return np.random.default_rng(seed)


def _by_name(found):
    return {one.name: one for one in found}


def _same(found, expected):
    for field in ("estimate", "low", "high", "standard_error"):
        assert np.asarray(getattr(found, field)) == pytest.approx(getattr(expected, field), rel=1e-12, abs=1e-15, nan_ok=True)
    assert found.df == expected.df


# Intervals from moments: the formulas of the other modules


@pytest.mark.parametrize("binary", [True, False])
def test_intervals_from_moments_are_those_from_losses(binary):
    rng = _rng()
    losses = (rng.random((50, 10, 8)) < 0.3).astype(float) if binary else rng.exponential(size=(50, 10, 8))
    found = _by_name(moment_intervals(loss_moments(losses), confidence=0.9, binary=binary))
    for expected in cv_intervals(losses=losses, confidence=0.9):
        _same(found[expected.name], expected)
    assert np.isnan(found["theta_5"].low).any() and not np.isnan(found["theta_5"].estimate).any()
    test = nadeau_bengio(losses.mean(axis=2)[:, None, :], 72, 8, confidence=0.9)
    for field in ("estimate", "low", "high", "standard_error"):
        assert getattr(found["Nadeau-Bengio"], field) == pytest.approx(getattr(test, field))
    assert ("Wilson" in found) == binary


@pytest.mark.parametrize("sizes", [(20, 20, 20, 20), (21, 21, 20, 19, 18)])
def test_two_of_them_are_wongs_intervals_turned_from_accuracy_to_error(sizes):
    rng, sizes = _rng(1), np.array(sizes)
    losses = [(rng.random(size) < 0.3).astype(float) for size in sizes]
    right = np.array([len(fold) - fold.sum() for fold in losses])
    found = _by_name(moment_intervals(loss_moments(losses), binary=True))
    pairs = (("all pairs", "dataset", "normal"), ("S2/K", "fold", "normal"), ("Wilson", "dataset", "wilson"))
    for name, level, method in pairs:
        wong = accuracy_interval(right, sizes, level, method=method)
        assert (found[name].low, found[name].high) == pytest.approx((1 - wong.high, 1 - wong.low))


def test_folds_of_unequal_sizes_keep_the_formulas_for_sources():
    losses = [_rng(k).exponential(size=size) for k, size in enumerate((9, 12, 10, 11))]
    found = _by_name(moment_intervals(loss_moments(losses)))
    for expected in cv_intervals(losses=losses):
        if expected.name != "theta_5":
            _same(found[expected.name], expected)
    assert np.isfinite(found["theta_5"].estimate)


def test_with_folds_of_one_row_what_needs_pairs_within_folds_does_not_exist():
    found = _by_name(moment_intervals(loss_moments(_rng().random((6, 1)))))
    assert np.isnan([found[name].estimate for name in ("theta_A", "theta_B", "theta_5")]).all()
    assert np.isfinite([found[name].low for name in ("S2/K", "all pairs", "Nadeau-Bengio")]).all()
    assert found["theta_A"].note == "does not exist: a fold has one row"


def test_a_constant_loss_gives_points():
    found = moment_intervals(loss_moments(np.zeros((5, 4))), binary=True)
    assert all(one.low == one.high == 0 for one in found if one.name != "Wilson")
    wilson = _by_name(found)["Wilson"]
    assert wilson.low == 0 < wilson.high


# Rows of an audit


def test_rows_of_an_audit_worked_out_by_hand():
    low, high = np.array([0.0, 0.2, np.nan, 0.3]), np.array([0.2, 0.4, np.nan, 0.5])
    interval = Interval("i", "", np.array([0.1, 0.3, 0.3, 0.4]), low, high, high - low, np.inf, "")
    truth = np.array([0.15, 0.25, 0.4, 0.2])
    average, own = audit_rows([interval], {TRAINING_PART: truth, THESE_MODELS: truth}, "SCV")
    assert (average.target, own.target, own.partitioner, own.interval, own.n) == (TRAINING_PART, THESE_MODELS, "SCV", "i", 4)
    assert own.coverage == 0.5 and own.coverage_error == pytest.approx(0.5 / 5**0.5)  # the first two; no interval covers nothing
    assert average.coverage == 0.25  # .25 is in the second alone
    assert own.negative == 0.25 and own.width == pytest.approx(0.2) and own.truth == pytest.approx(0.25)
    gap = np.array([-0.05, 0.05, -0.1, 0.2])
    assert own.bias == average.bias == pytest.approx(gap.mean()) and own.bias_error == pytest.approx(gap.std(ddof=1) / 2)


def test_samples_without_estimate_or_truth_are_left_out():
    estimate = np.array([np.nan, 0.1, 0.1])
    interval = Interval("i", "", estimate, estimate - 0.05, estimate + 0.05, estimate, np.inf, "")
    row, nothing = audit_rows([interval], {WHOLE_SAMPLE: np.array([0.1, 0.1, np.nan]), THESE_MODELS: np.full(3, np.nan)}, "SCV")
    assert (row.n, row.coverage, row.bias, row.negative) == (1, 1.0, 0.0, 0.0) and np.isnan(row.bias_error)
    assert nothing.n == 0 and np.isnan(nothing[4:]).all()


def test_a_coverage_keeps_the_level_within_two_monte_carlo_errors():
    assert not_refuted(0.92, 200, 0.95) and not not_refuted(0.915, 200, 0.95) and not not_refuted(np.nan, 200, 0.95)


# Losses of a sample


def test_losses_and_truths_are_those_of_scikit_learn_worked_out_by_hand():
    data = draw_population("unequal_gaussians", 160, _rng(2))
    X, y, X_rest, y_rest = data.X[:60], data.y[:60], data.X[60:], data.y[60:]
    folds = make_folds("SCV", X, y, 5, [3])[0]
    losses, truth = fold_losses(GaussianNB(), Sample(X, y, X_rest, y_rest), folds, np.zeros(5), zero_one_loss)
    truths = []
    for k in range(5):
        model = GaussianNB().fit(X[folds != k], y[folds != k])
        assert losses[k].tolist() == (model.predict(X[folds == k]) != y[folds == k]).astype(float).tolist()
        truths.append(np.mean(model.predict(X_rest) != y_rest))
    assert truth == pytest.approx(np.mean(truths))
    whole = held_out_loss(DecisionTreeRegressor(), Sample(X, y, X_rest, y_rest), 7, squared_error)
    tree = DecisionTreeRegressor(random_state=7).fit(X, y)
    assert whole == pytest.approx(np.mean((tree.predict(X_rest) - y_rest) ** 2))


# The audit


def _coin_draw(n=200, n_rest=2000, p=0.3):
    """Labels that nothing in X tells of."""

    def draw(rng):
        y = (rng.random(n + n_rest) < p).astype(int)
        X = rng.random((n + n_rest, 1))
        return X[:n], y[:n], X[n:], y[n:]

    return draw


def _row(audit, interval, target):
    (row,) = [row for row in audit.rows if (row.interval, row.target) == (interval, target)]
    return row


def test_a_learner_that_ignores_the_data_has_independent_losses_no_bias_and_the_coverage_of_the_binomial():
    constant = DummyClassifier(strategy="constant", constant=0)
    audit = coverage_audit(_coin_draw(), constant, n_replicates=400, partitioner="CV", rng=_rng(4))
    for name in ("all pairs", "theta_A", "Wilson", "S2/K"):
        for target in (TRAINING_PART, WHOLE_SAMPLE):
            row = _row(audit, name, target)
            assert row.n == 400 and abs(row.bias) < 3 * row.bias_error
            # .95 less the error of 2000 held-out rows (a tenth of the variance: .938) for single samples
            assert abs(row.coverage - (0.95 if target == TRAINING_PART else 0.938)) < 0.033
    assert _row(audit, "all pairs", TRAINING_PART).truth == pytest.approx(0.3, abs=0.002)
    assert _row(audit, "theta_B", TRAINING_PART).coverage > 0.98
    wide = _row(audit, "Nadeau-Bengio", TRAINING_PART)
    assert wide.width == pytest.approx(np.sqrt(1 + 10 / 9) * _row(audit, "S2/K", TRAINING_PART).width)
    assert 0.3 < _row(audit, "theta_5", TRAINING_PART).negative < 0.7
    assert audit.trusted("CV", TRAINING_PART).interval in ("all pairs", "theta_A", "Wilson")


def test_squared_errors_of_the_mean_are_those_of_theory():
    def draw(rng):
        y = rng.standard_normal(2100)
        return y[:100, None], y[:100], y[100:, None], y[100:]

    audit = coverage_audit(draw, DummyRegressor(), n_folds=5, n_replicates=200, rng=_rng(5))
    assert {row.partitioner for row in audit.rows} == {"CV"} and "Wilson" not in {row.interval for row in audit.rows}
    part, whole = (_row(audit, "all pairs", target) for target in (TRAINING_PART, WHOLE_SAMPLE))
    assert part.truth == pytest.approx(1 + 1 / 80, abs=0.01) and whole.truth == pytest.approx(1 + 1 / 100, abs=0.01)
    assert abs(part.bias) < 3 * part.bias_error and abs(part.coverage - 0.94) < 0.05


def test_the_same_seed_gives_the_same_audit_and_another_gives_another():
    tree = DecisionTreeClassifier(max_features=1)
    draws = _coin_draw(60, 100)
    first, again, other = (
        coverage_audit(draws, tree, n_folds=3, n_replicates=4, n_repetitions=2, n_nested=1, rng=_rng(seed)) for seed in (1, 1, 2)
    )
    assert first == again and first != other and str(first) == str(again)


def test_repetitions_and_nested_cross_validation_add_an_interval_each():
    draws = _coin_draw(60, 200)
    audit = coverage_audit(draws, GaussianNB(), n_folds=3, n_replicates=5, n_repetitions=3, n_nested=2, rng=_rng())
    plain = coverage_audit(draws, GaussianNB(), n_folds=3, n_replicates=5, rng=_rng())
    more = {row.interval for row in audit.rows} - {row.interval for row in plain.rows}
    assert more == {"Nadeau-Bengio, 3x", "nested"}
    for target in (TRAINING_PART, THESE_MODELS, WHOLE_SAMPLE):
        assert _row(audit, "nested", target).n == 5 and _row(audit, "Nadeau-Bengio, 3x", target).width > 0
    assert [row.target for row in audit.rows] == sorted(
        (row.target for row in audit.rows), key=[TRAINING_PART, THESE_MODELS, WHOLE_SAMPLE].index
    )


def test_a_partitioner_may_be_a_function():
    def in_turn(X, y, n_folds, rngs):
        return np.tile(np.arange(len(y), dtype=np.uint8) % n_folds, (len(rngs), 1))

    audit = coverage_audit(_coin_draw(40, 100), GaussianNB(), n_folds=4, partitioner=in_turn, n_replicates=3, rng=_rng())
    assert {row.partitioner for row in audit.rows} == {"in_turn"}


class Moody(ClassifierMixin, BaseEstimator):
    """Fails when the first value says so; else predicts 0."""

    def __init__(self, limit=0.5):
        self.limit = limit

    def fit(self, X, y):
        if X[0, 0] > self.limit:
            raise RuntimeError("not in\nthe mood")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


class Nowhere(RegressorMixin, BaseEstimator):
    """Predicts NaN."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), np.nan)


def test_samples_on_which_the_learner_fails_are_counted_and_left_out():
    audit = coverage_audit(_coin_draw(60, 100), Moody(), n_folds=3, n_replicates=20, rng=_rng())
    (n,) = {row.n for row in audit.rows}
    assert 0 < n < 20
    assert audit.notes == (f"the estimator failed on {20 - n} of 20 samples; the first time: RuntimeError: not in the mood",)
    assert f"Note: {audit.notes[0]}." in str(audit)
    with pytest.raises(ValueError, match="Moody failed on all 3 samples; the first time: RuntimeError: not in the mood"):
        coverage_audit(_coin_draw(60, 100), Moody(-1), n_folds=3, n_replicates=3, rng=_rng())
    with pytest.raises(ValueError, match="predictions are NaN or infinite"):
        coverage_audit(_coin_draw(60, 100), Nowhere(), n_folds=3, n_replicates=3, rng=_rng())


def _audit_row(interval="a", coverage=0.95, n=200, width=1.0):
    error, low, high = coverage_errors(coverage, n)
    return AuditRow("SCV", interval, WHOLE_SAMPLE, n, 0.2, 0.0, 0.01, coverage, error, low, high, 0.0, width)


def test_an_interval_is_trusted_only_where_it_was_shown_to_cover():
    """Before, a true coverage of .90 was trusted with probability .68 at 20 samples."""
    share = np.random.default_rng(0).binomial(20, 0.9, size=2000) / 20
    assert np.mean(not_refuted(share, 20, 0.95)) > 0.6  # what "trusted" was: not refuted
    audits = [CoverageAudit((_audit_row(coverage=one, n=20),), 0.95, "t", ()) for one in share[:200]]
    assert all(audit.trusted("SCV", WHOLE_SAMPLE) is None for audit in audits)
    share = np.random.default_rng(1).binomial(300, 0.9, size=2000) / 300
    passed = [CoverageAudit((_audit_row(coverage=one, n=300),), 0.95, "t", ()).trusted("SCV", WHOLE_SAMPLE) for one in share]
    assert 0.005 < np.mean([one is not None for one in passed]) < 0.045
    narrow, wide = _audit_row("narrow", 0.93, width=0.5), _audit_row("wide", 0.97)
    audit = CoverageAudit((narrow, wide, _audit_row("low", 0.8, width=0.1)), 0.95, "t", ())
    assert audit.trusted("SCV", WHOLE_SAMPLE) == wide and audit.not_refuted("SCV", WHOLE_SAMPLE) == [narrow, wide]
    assert audit.trusted("SCV", WHOLE_SAMPLE, tolerance=0.1) == narrow
    with pytest.raises(ValueError, match=r"tolerance=0\.95 must be from 0 to below confidence=0\.95"):
        audit.trusted("SCV", WHOLE_SAMPLE, tolerance=0.95)


def test_a_coverage_of_one_has_an_error_too():
    error, low, high = coverage_errors(1.0, 20)
    assert error == pytest.approx(0.5 / 21) and (low, high) == (pytest.approx(0.8389, abs=1e-4), 1)
    row = _row(coverage_audit(_coin_draw(60, 200), GaussianNB(), n_folds=3, n_replicates=5, rng=_rng()), "theta_B", WHOLE_SAMPLE)
    assert row.coverage == 1 and row.coverage_error > 0 and row.coverage_low < 0.6


def test_the_printed_audit_says_which_interval_was_shown_to_hold():
    audit = coverage_audit(shape=(100, 10), n_replicates=200, sources="iid", rng=_rng(6))
    text = str(audit)
    assert text.startswith("Coverage at 95 %: 200 samples of 100 rows in 10 blocks, model centroid, one source.")
    trusted = audit.trusted(RANDOM_FOLDS, WHOLE_SAMPLE)
    assert f"trust {trusted.interval} (" in text and "the narrowest shown to cover 90 %" in text
    assert audit.trusted(RANDOM_FOLDS, "no such target") is None and "<p>" in audit._repr_html_()
    frame = audit.to_frame()
    assert frame["trusted"].sum() == 2 and frame["not_refuted"].sum() > 2 and len(frame) == len(audit.rows)
    few = coverage_audit(shape=(100, 10), n_replicates=20, sources="iid", rng=_rng(6))
    assert "20 samples are too few to show that any interval covers 90 %" in str(few)
    ax = audit.plot()
    assert ax.get_xlabel() == "coverage" and len(ax.get_yticklabels()) == len(audit.rows)
    plt.close(ax.figure)


def test_the_shape_alone_gives_the_published_coverage_of_the_out_of_source_error():
    """K = 10, M = 200, sources random: S2/K .905 with z and .941 with t, theta_A .722, theta_B .871; random folds .62
    (specification of the study)."""
    audit = coverage_audit(shape=(2000, 10), model="centroid", n_replicates=300, rng=_rng(7))
    found = {(row.partitioner, row.interval): row for row in audit.rows if row.target == AVERAGE_NEW_SOURCE}
    assert len(audit.rows) == 2 * 2 * 7
    for key, coverage in (("S2/K", 0.941), ("theta_A", 0.722), ("theta_B", 0.871)):
        row = found[LEAVE_ONE_SOURCE_OUT, key]
        assert abs(row.coverage - coverage) < 3 * np.sqrt(coverage * (1 - coverage) / 300)
    assert abs(found[RANDOM_FOLDS, "theta_A"].coverage - 0.62) < 0.09
    assert found[RANDOM_FOLDS, "theta_A"].bias < 0 < found[LEAVE_ONE_SOURCE_OUT, "theta_A"].bias
    assert {row.target for row in audit.rows} == {AVERAGE_NEW_SOURCE, MODEL_ON_NEW_SOURCE}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either draw and estimator, or shape"),
        ({"draw": _coin_draw()}, "either draw and estimator, or shape"),
        ({"draw": _coin_draw(), "estimator": GaussianNB(), "shape": (100, 10)}, "either draw and estimator, or shape"),
        ({"shape": (105, 10)}, r"shape=\(105, 10\) must be \(n, K\)"),
        ({"shape": (100, 1)}, "two or more sources"),
        ({"shape": (100, 10), "sources": "fixed"}, "sources='fixed' must be 'random' or 'iid'"),
        ({"shape": (100, 10), "model": "tree"}, "model='tree' must be one of"),
        ({"shape": (100, 10), "confidence": 95}, "confidence=95 must be between 0 and 1"),
        ({"shape": (100, 10), "n_replicates": 1}, "n_replicates=1 must be at least 2"),
        (
            {"draw": _coin_draw(), "estimator": GaussianNB(), "n_nested": 1, "n_folds": 2},
            "n_folds=2 must be at least 3 for nested",
        ),
        ({"draw": _coin_draw(20), "estimator": GaussianNB(), "n_folds": 30}, "n_folds=30"),
        ({"draw": _coin_draw(), "estimator": GaussianNB(), "partitioner": "SVC"}, "unknown partitioner 'SVC'"),
        ({"draw": lambda rng: (1, 2), "estimator": GaussianNB()}, "draw returned tuple; expected a tuple"),
        ({"draw": lambda rng: ([[1]], [1, 2], [[1]], [1]), "estimator": GaussianNB()}, "with 1, 2, 1, 1 rows"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        coverage_audit(**arguments, rng=_rng())


def test_samples_of_different_sizes_are_refused():
    def draw(rng):
        return _coin_draw(40 + int(10 * rng.random()), 100)(rng)

    with pytest.raises(ValueError, match="draw returned samples of"):
        coverage_audit(draw, GaussianNB(), n_folds=3, n_replicates=20, rng=_rng())


# Populations with a number as target


@pytest.mark.parametrize("name", TARGET_POPULATIONS)
def test_a_population_with_a_target_draws_the_same_rows_from_the_same_seed(name):
    data, again, other = (draw_population(name, 400, _rng(seed)) for seed in (1, 1, 2))
    assert (data.X == again.X).all() and (data.y == again.y).all() and not (data.y == other.y).all()
    assert data.task == "regression" and data.classes == () and data.y.dtype == np.float64 and data.y.shape == (400,)
    assert np.isfinite(data.X).all() and np.isfinite(data.y).all() and data.target_range == (data.y.min(), data.y.max())
    assert name not in POPULATIONS


def test_targets_follow_their_laws():
    X, y = TARGET_POPULATIONS["friedman_1991"](100_000, _rng())
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    assert (y - signal).mean() == pytest.approx(0, abs=0.012) and (y - signal).std() == pytest.approx(1, abs=0.01)
    assert X.shape[1] == 10 and y.mean() == pytest.approx(14.4, abs=0.1)  # the mean in the literature
    X, y = TARGET_POPULATIONS["pareto_costs"](100_000, _rng())
    ratio = y / (1 + X[:, 0] + 2 * X[:, 1] * X[:, 2])
    assert ratio.min() >= 1 and ratio.mean() == pytest.approx(5 / 4, abs=0.005)
    assert np.mean(ratio > 2) == pytest.approx(2**-5.0, abs=0.002)
    X, y = TARGET_POPULATIONS["staircase"](100_000, _rng())
    step = y - np.floor(4 * X[:, 0]) - np.floor(3 * X[:, 1]) * (X[:, 2] > 0.5)
    assert [np.mean(step == value) for value in (-1, 0, 1)] == pytest.approx([0.25, 0.5, 0.25], abs=0.006)


def test_populations_of_the_study_on_cuts_follow_their_laws():
    X, y = TARGET_POPULATIONS["linear_outliers"](100_000, _rng())
    error = y - X @ [3, 2, 1, 0, 0]
    assert np.mean(abs(error) > 4) == pytest.approx(0.05 * 0.689, abs=0.003) and error.var() == pytest.approx(5.95, abs=0.2)
    X, y = TARGET_POPULATIONS["correlated_inputs"](50_000, _rng())
    assert np.corrcoef(X[:, 20], X[:, 21])[0, 1] == pytest.approx(0.8, abs=0.01) and X.std() == pytest.approx(1, abs=0.01)
    assert (y - X[:, ::8] @ [2, -1, 1, -2, 1]).std() == pytest.approx(2, abs=0.03)
    X, y = TARGET_POPULATIONS["phase_angle"](50_000, _rng())
    angle = np.arctan2(X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3]), X[:, 0])
    assert (y - angle).std() == pytest.approx(0.1, abs=0.002)
    X, y = TARGET_POPULATIONS["mixed_premiums"](50_000, _rng())
    mean = 100 + 4 * abs(X[:, 0] - 45) + 6 * X[:, 1] + np.take([0, 60, 250], X[:, 5].astype(int)) + 25 * (X[:, 3] % 4)
    assert np.log(y / mean).std() == pytest.approx(0.2, abs=0.003) and X[:, 3:].max(axis=0).tolist() == [7, 14, 2]
    X, y = TARGET_POPULATIONS["pure_interaction"](50_000, _rng())
    assert (y - X[:, 0] * X[:, 1]).std() == pytest.approx(0.5, abs=0.01) and abs(np.corrcoef(X[:, 0], y)[0, 1]) < 0.03
    X, y = TARGET_POPULATIONS["one_wave"](50_000, _rng())
    assert X.shape == (50_000, 1) and (y - np.sin(4 * np.pi * X[:, 0])).std() == pytest.approx(0.4, abs=0.005)
    X, y = POPULATIONS["rare_class"](50_000, _rng())
    assert y.mean() == pytest.approx(0.1, abs=0.005) and X[y == 1].mean(axis=0) == pytest.approx([1.5] * 3 + [0] * 3, abs=0.06)
    for name, populations in (("near_twins", POPULATIONS), ("twin_measurements", TARGET_POPULATIONS)):
        X, y = populations[name](2_000, _rng())
        again, _ = populations[name](2_000, _rng(5))
        gaps, _ = cKDTree(again).query(X)  # rows of another draw are twins as well: places stay
        assert np.median(gaps) < 0.05 and len(np.unique(X.round(1), axis=0)) < 1_000
    X, y = POPULATIONS["near_twins"](4_000, _rng())
    twin = cKDTree(X).query(X, k=2)[1][:, 1]
    assert np.mean(y == y[twin]) == pytest.approx(1 - 2 * 0.05 * 0.95, abs=0.03)


# The job


LEARNERS = {
    "NB": {"import": "sklearn.naive_bayes.GaussianNB", "params": {}, "tasks": ["classification"], "nominal": "one_hot"},
    "mean": {"import": "sklearn.dummy.DummyRegressor", "params": {}, "tasks": ["regression"], "nominal": "codes"},
    "ill": {
        "import": "misbehaving.Misbehaving",
        "params": {"way": "raise"},
        "tasks": ["classification", "regression"],
        "nominal": "codes",
    },
}


def _rows(
    tmp_path, population, data=(), name="rows", n_sample=40, learners=("NB", "mean"), minutes=None, partitioners=PARTITIONERS
):
    """Columns as they are read from the file."""
    rows = audit_coverage(
        SimpleNamespace(data=data),
        {"population": population},
        n_sample=n_sample,
        n_folds=4,
        n_replicates=3,
        partitioners=partitioners,
        learners={learner: LEARNERS[learner] for learner in learners},
        master_seed=7,
        limits={"minutes": minutes, "memory_mb": None},
    )
    path = tmp_path / f"{name}.parquet"
    write_rows(path, rows["audit"], SCHEMAS["audit"])
    return read_columns(path, SCHEMAS["audit"].names)


def test_the_job_writes_one_row_per_learner_partitioner_and_sample_the_same_every_time(tmp_path):
    first, again = (_rows(tmp_path, "mixed_attributes", name=name) for name in "ab")
    assert set(first["partitioner"]) == {"SCV", "DOB-SCV"} and set(first["learner"]) == {"NB"} and len(first["learner"]) == 6
    assert set(first["task"]) == {"classification"} and set(first["status"]) == {"ok"} and set(first["message"]) == {""}
    for name in (*MOMENT_COLUMNS, "truth_parts", "truth_whole"):
        assert np.isfinite(first[name]).all() and (first[name] == again[name]).all()
    assert set(first["K"]) == {4.0} and set(first["M"]) == {10.0}
    for replicate in range(3):  # all partitioners cut the same sample
        assert len(set(first["truth_whole"][first["replicate"] == replicate])) == 1


def test_a_target_is_measured_in_units_of_its_spread_and_cut_by_partitioners_of_targets(tmp_path):
    rows = _rows(tmp_path, "friedman_1991", n_sample=200)
    assert set(rows["partitioner"]) == {"CV", "SCV5", "TSCV"} and set(rows["learner"]) == {"mean"}
    assert set(rows["task"]) == {"regression"} and rows["truth_whole"] == pytest.approx(1, abs=0.1)


def test_the_job_samples_a_data_set_and_refuses_one_that_is_too_small(tmp_path):
    write_prepared(tmp_path / "stairs.npz", replace(draw_population("staircase", 100, _rng()), name="stairs"))
    rows = _rows(tmp_path, "stairs", tmp_path / "stairs.npz")
    assert set(rows["population"]) == {"stairs"} and len(rows["K"]) == 9
    with pytest.raises(DataError, match="population stairs: 100 rows are too few for samples of 51"):
        _rows(tmp_path, "stairs", tmp_path / "stairs.npz", n_sample=51)


def test_a_learner_that_fails_leaves_rows_with_status_and_message(tmp_path):
    rows = _rows(tmp_path, "circles", learners=("ill", "NB"))
    ill = rows["learner"] == "ill"
    assert set(rows["status"][ill]) == {"failed"} and set(rows["message"][ill]) == {"RuntimeError: not in the mood"}
    assert np.isnan([rows[name][ill] for name in (*MOMENT_COLUMNS, "truth_parts", "truth_whole")]).all()
    assert set(rows["status"][~ill]) == {"ok"}


def test_a_population_that_no_learner_fits_gives_a_file_without_rows(tmp_path):
    assert len(_rows(tmp_path, "circles", learners=("mean",))["learner"]) == 0


def test_an_unknown_partitioner_is_named(tmp_path):
    with pytest.raises(DataError, match=r"audit\.partitioners: unknown partitioner 'DBSCV'; did you mean DB-SCV"):
        _rows(tmp_path, "circles", partitioners=["SCV", "DBSCV"])
