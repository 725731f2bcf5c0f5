import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.shift.inject.impute import impute_masked
from foldshift.shift.inject.injectors import KINDS, feature_scale, inject_shift, row_counts, versions

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=203), RNG.integers(0, 4, 203), np.ones(203), RNG.normal(size=203).round(1)])
Y = RNG.integers(0, 2, 203)
SCALE = feature_scale(X)


def inject(kind, severity, seed=1, table=X, y=Y, **options):
    options.setdefault("feature", 0)
    options.setdefault("scale", SCALE)
    return inject_shift(table, y, kind, severity=severity, rng=np.random.default_rng(seed), **options)


def rows_of(table):
    """The rows of a table in an order of their own, NaN as a number, so that two tables can be compared."""
    table = np.where(np.isnan(table), 1e9, table)
    return table[np.lexsort(table.T)].tolist()


@pytest.mark.parametrize("kind", ["mcar", "mar", "mnar"])
@pytest.mark.parametrize(
    ("n", "severity", "kept"), [(203, 25, 153), (203, 50, 102), (4, 25, 3), (3, 25, 3), (1, 50, 1), (200, 29, 142)]
)
def test_a_percentage_of_the_rows_is_dropped_rounded_down(kind, n, severity, kept):
    assert row_counts(kind, n, severity).n_rows == kept
    assert len(inject(kind, severity, table=X[:n], y=Y[:n]).rows) == kept


def test_2000_negatives_and_1000_positives_at_one_half_lose_1000_negatives():
    y = np.repeat([0, 1], [2000, 1000])
    table = np.arange(3000.0)[:, None]
    injected = inject_shift(table, y, "prior", severity=0.5, rng=np.random.default_rng(0))
    assert np.bincount(injected.y).tolist() == [1000, 1000] and row_counts("prior", 3000, 0.5, 1000) == (2000, 1000, 1000)
    assert (injected.X[:, 0] == injected.rows).all() and (injected.rows[injected.y == 1] >= 2000).all()


@pytest.mark.parametrize(
    ("share", "positive", "negative"),
    [(0.02, 41, 2000), (0.05, 105, 2000), (0.1, 222, 2000), (0.2, 500, 2000), (0.3, 857, 2000), (0.4, 1000, 1500),
     (0.7, 1000, 429)],
)  # fmt: skip
def test_undersampling_keeps_one_class_whole_and_reaches_the_share(share, positive, negative):
    assert row_counts("prior", 3000, share, 1000) == (positive + negative, positive, negative)
    assert positive / (positive + negative) == pytest.approx(share, abs=3e-4)


def test_halves_are_halves_whatever_the_binary_fraction():
    assert row_counts("prior", 45, 0.7, 35) == (33, 23, 10)  # the share is above .7 already: 10 * .7 / .3 = 23.3 positives stay
    assert row_counts("prior", 5 + 30, 0.2, 5) == (25, 5, 20)
    assert row_counts("prior", 60, 0.7, 35).n_negative == 15 and row_counts("prior", 58, 0.2, 30).n_positive == 7
    assert row_counts("prior", 60, 0.2, 38).n_positive == 6 == round(5.5) and row_counts(
        "prior", 56, 0.2, 30
    ).n_positive == 6 == round(6.5)


def test_mar_drops_the_largest_values():
    injected = inject("mar", 25)
    assert injected.rows.tolist() == sorted(np.argsort(X[:, 0])[:153]) and injected.tied_share == 0 and not injected.mask.any()
    assert (X[injected.rows] == injected.X).all() and (injected.y == Y[injected.rows]).all()


@pytest.mark.parametrize("kind", ["mar", "mnar", "mnar_class"])
def test_the_smallest_values_go_where_they_are_asked_for(kind):
    injected, mirrored = inject(kind, 25, removed="smallest", masked_value=0.0), inject(kind, 25, table=-X, masked_value=0.0)
    assert (X[injected.rows] == -mirrored.X)[~injected.mask].all() and (injected.rows == mirrored.rows).all()
    assert injected.rows.tolist() != inject(kind, 25).rows.tolist()
    table, y = np.array([[np.nan], [3.0], [1.0], [np.nan], [2.0], [0.0]]), np.arange(6) % 2
    assert inject("mar", 50, table=table, y=y, removed="smallest").rows.tolist() == [
        0,
        1,
        3,
    ]  # what is missing goes last here too


@settings(deadline=None, max_examples=20, derandomize=True)
@given(st.integers(0, 3), st.sampled_from([0, 10, 25, 50, 99]), st.integers(0, 99))
def test_mnar_has_the_rows_of_mar_and_masks_the_feature(feature, severity, seed):
    mar, mnar = (inject(kind, severity, seed, feature=feature) for kind in ("mar", "mnar"))
    assert (mar.rows == mnar.rows).all() and mar.tied_share == mnar.tied_share
    others = np.arange(4) != feature
    assert (mar.X[:, others] == mnar.X[:, others]).all() and np.isnan(mnar.X[:, feature]).all()
    assert (mnar.mask == ~others).all()
    assert (inject("mnar", severity, seed, feature=feature, masked_value=-7.0).X[:, feature] == -7).all()


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.sampled_from([kind for kind in KINDS if kind != "translation"]), st.integers(0, 3), st.integers(0, 999))
def test_the_order_of_the_rows_has_no_part_in_what_is_dropped(kind, feature, seed):
    table = np.column_stack([X[:, 1], X[:, 3], X[:, 2], X[:, 1] % 2])  # ties, and identical rows
    table[::17, 1] = np.nan
    order = np.random.default_rng(seed).permutation(len(table))
    severity = 0.4 if kind == "prior" else 33
    once = inject(kind, severity, seed, table, Y, feature=feature)
    again = inject(kind, severity, seed, table[order], Y[order], feature=feature)
    assert rows_of(np.column_stack([once.X, once.y])) == rows_of(np.column_stack([again.X, again.y]))
    distinct = np.column_stack([table, np.arange(len(table))])
    once, again = (
        inject(kind, severity, seed, distinct, feature=feature),
        inject(kind, severity, seed, distinct[order], Y[order], feature=feature),
    )
    assert set(once.X[:, 4]) == set(again.X[:, 4]) and (np.diff(again.rows) > 0).all()


def test_rows_that_tie_are_dropped_at_random_also_where_they_are_sorted_by_class_or_identical():
    table, y = np.ones((400, 1)), np.repeat([0, 1], 200)
    dropped = np.array([200 - inject("mar", 25, seed, table, y).y.sum() for seed in range(300)])
    assert dropped.mean() == pytest.approx(50, abs=1)
    assert dropped.std() == pytest.approx(
        np.sqrt(100 * 0.25 * 300 / 399), rel=0.15
    )  # hypergeometric: identical rows do not go together
    assert inject("mar", 25, 0, table, y).tied_share == 1


def test_mcar_drops_every_row_equally_often_and_another_seed_drops_others():
    kept = np.zeros(203)
    for seed in range(400):
        kept[inject("mcar", 50, seed).rows] += 1
    assert abs(kept / 400 - 102 / 203).max() < 4 * 0.5 / 20
    assert inject("mcar", 50, 1).tied_share == 0


def test_the_tied_share_is_that_of_the_value_at_the_cut():
    table = np.array([[1.0], [2], [2], [2], [3], [3], [4], [5]])
    y = np.arange(8) % 2
    assert inject("mar", 50, table=table, y=y).tied_share == 0  # 1 2 2 2 | 3 3 4 5
    assert inject("mar", 40, table=table, y=y).tied_share == 2 / 8  # five stay: one of the two 3
    assert inject("mar", 75, table=table, y=y).tied_share == 3 / 8
    assert inject("mar", 0, table=table, y=y).tied_share == 0


def test_missing_values_are_dropped_last_and_a_missing_feature_is_one_tie():
    table = np.array([[np.nan], [3], [1], [np.nan], [2], [0]])
    y = np.arange(6) % 2
    assert inject("mar", 50, table=table, y=y).rows.tolist() == [0, 3, 5]
    assert inject("mar", 50, table=np.full((6, 1), np.nan), y=y).tied_share == 1


def test_selection_on_the_class_drops_the_positive_rows_with_the_largest_values():
    injected = inject("mnar_class", 50)
    positive = np.flatnonzero(Y == 1)
    kept = positive[np.argsort(X[positive, 0])][: len(positive) - len(positive) // 2]
    assert injected.rows.tolist() == sorted([*np.flatnonzero(Y == 0), *kept])
    assert row_counts("mnar_class", 203, 50, len(positive)) == (len(injected.rows), len(kept), 203 - len(positive))
    names = np.where(Y == 1, "yes", "no")
    assert (inject("mnar_class", 50, y=names, positive="yes").rows == injected.rows).all()


@pytest.mark.parametrize("severity", [25, 50, 100, 200])
def test_translation_moves_one_feature_of_every_row_by_training_standard_deviations(severity):
    injected = inject_shift(X, Y, "cs", severity=severity, feature=3, scale=SCALE)
    assert (injected.X[:, 3] == X[:, 3] + severity / 100 * SCALE[3]).all() and (injected.X[:, :3] == X[:, :3]).all()
    assert len(injected.rows) == row_counts("translation", 203, severity).n_rows == 203
    assert (inject("translation", severity, feature=2).X == X).all()  # constant in training: nothing to move by


def test_the_scale_is_that_of_n_minus_1_and_exactly_0_for_a_constant():
    assert feature_scale([[1.0, 0.1, np.nan, 5], [3, 0.1, np.nan, np.nan], [np.nan, 0.1, np.nan, np.nan]]).tolist() == [
        np.sqrt(2),
        0,
        0,
        0,
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_versions_are_what_injecting_one_feature_at_a_time_gives(kind):
    severity = 0.4 if kind == "prior" else 25
    n_versions = 3 if kind == "prior" else None
    all_versions = versions(X, Y, kind, severity, rng=np.random.default_rng(5), scale=SCALE, n_versions=n_versions)
    assert len(all_versions.rows) == (3 if kind == "prior" else 4)
    for v in range(len(all_versions.rows)):
        one, alone = all_versions.injected(X, Y, v), inject(kind, severity, 5, feature=v)
        assert (
            all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one[:1] + one[2:], alone[:1] + alone[2:]))
            and (one.y == alone.y).all()
        )
    assert len({tuple(rows) for rows in all_versions.rows.tolist()}) == (1 if kind == "translation" else len(all_versions.rows))
    assert len(versions(X, Y, "prior", 0.4, rng=RNG).rows) == 1


def test_a_table_given_is_left_alone():
    table = X.copy()
    injected = inject("mnar", 0, table=table)
    injected.X[:] = -1
    injected.rows[:] = 0
    assert (table == X).all()


def test_masked_values_take_the_training_median_or_are_missing():
    mnar = inject("mnar", 25, feature=0, masked_value=-99.0)
    filled = impute_masked(mnar.X, mnar.mask, X)
    assert (filled[:, 0] == np.median(X[:, 0])).all() and (filled[:, 1:] == mnar.X[:, 1:]).all() and (mnar.X[:, 0] == -99).all()
    assert np.isnan(impute_masked(mnar.X, mnar.mask, X, rule="missing")[:, 0]).all()
    nothing = np.full_like(X, np.nan)
    assert (impute_masked(X, np.zeros(X.shape, bool), nothing) == X).all()
    with pytest.raises(ValueError, match="feature 0 is masked and has no value in train"):
        impute_masked(mnar.X, mnar.mask, nothing)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: inject("mcra", 25), "kind='mcra' must be one of mcar, mar"),
        (lambda: inject("mar", 100), "severity=100 must be a percentage from 0 to below 100 for mar"),
        (lambda: inject("mar", np.nan), "severity=nan must be a finite number"),
        (lambda: inject("prior", 50), "severity=50 must be a share of the positive class"),
        (lambda: inject("mar", 25, feature=None), "feature is None; mar needs the number of a feature, from 0 to 3"),
        (lambda: inject("mar", 25, feature=4), "feature=4 must be the number of a feature, from 0 to 3"),
        (lambda: inject("translation", 25, scale=None), "scale is None; translation needs the training standard deviation"),
        (lambda: inject("translation", 25, scale=[1, np.nan, 1, 1]), "must be one finite number"),
        (lambda: inject_shift(X, Y, "mcar", severity=25), "rng is None; mcar needs"),
        (lambda: inject("mar", 25, removed="top"), "removed='top' must be 'largest' or 'smallest'"),
        (lambda: inject_shift(X, Y, "mcar", severity=25, rng=0.5), "rng=0.5 must be a numpy.random.Generator"),
        (lambda: inject("mcar", 25, y=Y[1:]), r"X has shape \(203, 4\) and y \(202,\)"),
        (lambda: inject("prior", 0.5, y=np.zeros(203)), "prior needs rows of class positive=1 and of another; y holds only: 0.0"),
        (lambda: inject("prior", 0.02), "would leave 2 of .* positive and .* expected 5 or more of both"),
        (lambda: inject("mnar_class", 96), "mnar_class with severity=96 would leave 4 of "),
        (lambda: row_counts("prior", 4, 0.5, 2), "would leave 2 of 2 positive and 2 of 2 negative rows"),
        (lambda: row_counts("prior", 100, 0.5), "n_positive is None"),
        (lambda: row_counts("prior", 100, 0.5, 101), "n_positive=101 must be at most n=100"),
        (lambda: versions(X, Y, "mar", 25, rng=RNG, n_versions=2), "n_versions=2 is for mcar and prior"),
        (lambda: versions(X, Y, "mcar", 25, rng=RNG, n_versions=0), "n_versions=0 must be an integer of at least 1"),
        (lambda: impute_masked(X, np.zeros((1, 1), bool), X), r"mask \(1, 1\)"),
        (lambda: impute_masked(X, np.zeros(X.shape, bool), X, rule="mean"), "rule='mean' must be 'median' or 'missing'"),
        (lambda: feature_scale([1.0]), r"train has shape \(1,\)"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
