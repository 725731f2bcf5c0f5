import datetime
import json
import re
import time

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from scipy.stats import chi2_contingency, kruskal, ks_2samp

from foldshift.shift import fold_ks_attributes
from foldshift.shift.measures import random_splits as cuts
from foldshift.shift.report.drift_report import DriftReport
from foldshift.shift.report.fold_drift import fold_drift

A = np.r_[np.arange(0.02, 0.42, 0.04), np.arange(0.5, 0.99, 0.05)]


def frame(seed, n, shift=0.0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.normal(40 + 10 * shift, 10, n),
            "rooms": rng.integers(1, 6, n),
            "region": rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2] if not shift else [0.1, 0.3, 0.6]),
            "noise": rng.normal(size=n),
        }
    )


def row(report, name):
    return next(row for row in [*report.features, *report.global_tests] if row.name == name)


def quick(train, test, **options):
    return DriftReport(train, test, **{"n_permutations": 99, **options})


def test_statistics_and_p_are_those_of_the_plain_tests():
    train, test = frame(1, 90), frame(2, 60, 0.4)
    report = quick(train, test)
    exact = ks_2samp(train["noise"], test["noise"], method="exact")
    assert row(report, "noise").statistic == pytest.approx(exact.statistic, abs=1e-12)
    assert row(report, "noise").p_value == pytest.approx(exact.pvalue, rel=1e-9)
    table = np.array([[np.sum(part["region"] == label) for label in "abc"] for part in (train, test)])
    plain = chi2_contingency(table, correction=False)
    assert row(report, "region").statistic == pytest.approx(plain.statistic, rel=1e-12)
    assert row(report, "region").p_value == pytest.approx(plain.pvalue, rel=1e-9)
    shares = table / table.sum(axis=1, keepdims=True)
    assert row(report, "region").effect == pytest.approx(np.abs(shares[0] - shares[1]).sum() / 2, rel=1e-12)
    assert [row.kind for row in report.features] == ["numeric", "numeric", "nominal", "numeric"]


def test_the_papers_example_of_a_nominal_feature_has_chi_square_19_and_hellinger_root_2():
    """Table 5: values in one population that the other does not have."""
    train, test = np.repeat([0, 1], [6, 4])[:, None], np.repeat(2, 9)[:, None]
    found = quick(train, test, categorical_features=[0]).features[0]
    assert found.statistic == pytest.approx(19.0, rel=1e-12) and found.hellinger == pytest.approx(np.sqrt(2), rel=1e-12)
    assert found.effect == 1 and found.p_value <= 2 / 10_000 and found.moved
    assert found.note == "only in the training table: '0', '1'; only in the test table: '2'"


def test_p_of_few_counts_is_that_of_all_divisions():
    """Two categories: Fisher's exact test, ordered by chi-square."""
    from scipy.stats import hypergeom

    train, test = np.repeat([0, 1], [7, 2])[:, None], np.repeat([0, 1], [2, 4])[:, None]
    found = quick(train, test, categorical_features=[0]).features[0]
    counts = np.arange(10)
    chi = (counts - 9 * 9 / 15) ** 2
    exact = hypergeom(15, 9, 9).pmf(counts)[chi >= (7 - 9 * 9 / 15) ** 2 - 1e-12].sum()
    assert found.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9999))


def test_predictions_come_first_then_accuracy_classes_and_the_features_together():
    rng = np.random.default_rng(3)
    train, test = frame(3, 80), frame(4, 60)
    before, after = rng.random(50), rng.beta(3, 1, 60)
    report = quick(train, test, scores_train=before, scores_test=after, correct_train=rng.random(50) < 0.9,
                   correct_test=rng.random(60) < 0.6, y_train=np.arange(80) % 2, y_test=np.arange(60) % 2,
                   multivariate=("energy", "c2st", "mmd"), n_permutations=299)  # fmt: skip
    assert [test.about for test in report.global_tests] == ["predictions"] * 2 + ["accuracy", "classes"] + [
        "features together"
    ] * 3
    first = report.global_tests[0]
    plain = kruskal(before, after)
    assert first.name == "Kruskal-Wallis on the scores" and first.moved
    assert (first.statistic, first.p_value) == pytest.approx((plain.statistic, plain.pvalue), rel=1e-9)
    assert first.effect == pytest.approx(np.mean(after[:, None] > before), rel=1e-12)
    assert report.verdict.startswith("Shift: the predicted scores moved (Kruskal-Wallis); accuracy fell by 0.")
    assert report.verdict.endswith("no feature moved by itself, but the features together did.") or report.verdict.endswith(
        "no feature moved."
    )
    text = str(report)
    assert (
        text.index("Predictions")
        < text.index("Accuracy")
        < text.index("Target")
        < text.index("Features, those that")
        < text.index("All features together")
    )
    keys = {tuple(row) for row in report.to_rows()}
    assert len(keys) == 1 and len(report.to_rows()) == 11


def test_a_change_that_kruskal_wallis_does_not_see_is_found_by_ks_on_the_scores():
    train, test = frame(5, 200), frame(6, 200)
    scores = np.linspace(0, 1, 200)
    narrow = 0.5 + (scores - 0.5) / 3
    report = quick(train, test, scores_train=scores, scores_test=narrow)
    wallis, ks = report.global_tests[:2]
    assert wallis.p_value > 0.9 and ks.p_value < 1e-4
    assert report.verdict == "Shift: the predicted scores moved (by KS alone: their mean rank has not); no feature moved."


def test_the_verdict_names_what_moved_and_how():
    train, test = frame(7, 300), frame(8, 200, 1.0)
    report = quick(train, test, scores_train=np.linspace(0, 1, 50), scores_test=np.linspace(0, 1, 60))
    assert report.verdict.startswith("Shift: the predicted scores have not moved; 2 of 4 features moved: ")
    change = (test["age"].mean() - train["age"].mean()) / train["age"].std()
    assert (
        f", up by {change:.2f} standard deviations)" in report.verdict
        and "region ('" in report.verdict
        and "rooms" not in report.verdict
    )
    assert {row.name for row in report.features if row.moved} == {"age", "region"}
    assert row(report, "age").hellinger_excess > 0.2 > 0.1 > row(report, "noise").hellinger_excess
    calm = quick(frame(40, 200), frame(41, 200))
    assert calm.verdict.startswith("No shift found: none of 6 tests rejects at 0.05 after correction (smallest corrected p ")
    assert "No scores given" in str(calm)


def test_p_is_corrected_within_the_features_and_within_the_rest_and_doubled():
    report = quick(frame(11, 100), frame(12, 80, 0.5))
    p = np.array([row.p_value for row in report.features])
    order = np.argsort(p)
    holm = np.empty(4)
    holm[order] = np.maximum.accumulate(np.minimum(1, p[order] * [4, 3, 2, 1]))
    assert [row.p_adjusted for row in report.features] == pytest.approx(np.minimum(1, 2 * holm), rel=1e-12)
    assert [test.name for test in report.global_tests] == ["energy distance", "spread of columns"]
    small, large = sorted(report.global_tests, key=lambda test: test.p_value)
    assert small.p_adjusted == pytest.approx(min(1, 4 * small.p_value))
    assert large.p_adjusted == pytest.approx(min(1, max(2 * large.p_value, 4 * small.p_value)))
    alone = quick(frame(11, 100), frame(12, 80, 0.5), multivariate=())
    assert [row.p_adjusted for row in alone.features] == pytest.approx(holm, rel=1e-12)
    rate = quick(frame(11, 100), frame(12, 80, 0.5), multivariate=(), adjust="bh")
    assert all(b.p_adjusted <= a.p_adjusted for a, b in zip(alone.features, rate.features))


def test_nothing_is_said_to_move_in_nineteen_of_twenty_pairs_of_equal_tables():
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        tables = [np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 4, (n, 3))]) for n in (60, 40)]
        tables[0][0, 0] = np.nan
        report = quick(*tables, categorical_features=[5], scores_train=rng.random(30), scores_test=rng.random(40),
                       correct_train=rng.random(30) < 0.8, correct_test=rng.random(40) < 0.8, y_train=rng.integers(0, 3, 60),
                       y_test=rng.integers(0, 3, 40), rng=rng)  # fmt: skip
        moved = any(row.moved for row in [*report.features, *report.global_tests])
        assert moved == report.verdict.startswith("Shift")
        found.append(moved)
    assert np.mean(found) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_the_order_of_rows_and_columns_does_not_matter():
    train, test = frame(13, 80), frame(14, 60, 0.3)
    test.loc[3, "region"] = "unseen"
    ours = quick(train, test)
    shuffled = quick(train.sample(frac=1, random_state=0), test.sample(frac=1, random_state=1))
    assert str(shuffled) == str(ours)
    columns = ["noise", "region", "age", "rooms"]
    turned = quick(train, test[columns])
    assert str(turned) == str(ours)
    other = quick(train[columns], test)
    assert all(row(other, name) == row(ours, name) for name in columns)
    assert other.global_tests[0].statistic == pytest.approx(ours.global_tests[0].statistic, rel=1e-9)


def test_arrays_and_data_frames_say_the_same():
    train, test = frame(15, 80), frame(16, 60, 0.3)
    arrays = [part.assign(region=part["region"].map({"a": 0, "b": 1, "c": 2})).to_numpy(float) for part in (train, test)]
    for nominal in ([2], [False, False, True, False], ["region"]):
        report = quick(*arrays, categorical_features=nominal, feature_names=list(train.columns))
        assert [r[3:9] for r in report.features] == [r[3:9] for r in quick(train, test).features]
    assert [row.name for row in quick(*arrays).features] == [f"feature {j}" for j in range(4)]


def test_a_constant_feature_has_p_1_and_does_not_count():
    train, test = frame(17, 50), frame(18, 50)
    train["same"], test["same"], train["word"], test["word"] = 3.0, 3.0, "x", "x"
    report = quick(train, test)
    for name in ("same", "word"):
        found = row(report, name)
        assert (found.statistic, found.p_value, found.p_adjusted, found.moved, found.note) == (0, 1, 1, False, "constant")
    without = quick(frame(17, 50), frame(18, 50))
    assert [row.p_adjusted for row in report.features[:4]] == [row.p_adjusted for row in without.features]


@pytest.mark.parametrize("was, now", [(5, 6), (300, 310), (0.1, 0.3), (12345, 12346), (1e-300, 3e-300), (1e300, 2e300), (-2, 0)])
def test_values_are_shown_in_the_units_of_the_tables(was, now):
    noise = np.random.default_rng(0).normal(size=40)
    train = pd.DataFrame({"flag": np.full(40, was), "noise": noise})
    found = row(quick(train, train.assign(flag=now)), "flag")
    assert found.change == f"{was:.15g} in training, {now:.15g} in the test table"
    found = row(quick(train, train.assign(flag=np.where(np.arange(40) % 2, was, now))), "flag")
    before, after = re.fullmatch(r"(\S+) in training, mean (\S+) in the test table", found.change).groups()
    assert float(before) == was and float(after) == pytest.approx(was / 2 + now / 2, abs=abs(now - was) / 90)


def test_dates_that_are_kept_are_shown_as_dates():
    days = pd.date_range("2020-01-01", periods=120)
    tables = [pd.DataFrame({"day": part, "x": np.arange(60.0) % 7}) for part in (days[:60], days[60:])]
    found = row(quick(*tables, keep=["day"]), "day")
    assert found.change == "mean 2020-01-30 to 2020-03-30, up by 3.44 standard deviations"


def test_copies_of_training_rows_are_noted():
    train, test = frame(1, 60), frame(2, 50)
    assert not any("training table as well" in note for note in quick(train, test).notes)
    test.iloc[:7] = train.iloc[10:17].to_numpy()
    test = test.astype(train.dtypes)
    assert quick(train, test).notes[-1] == "7 of 50 test rows are in the training table as well."
    assert quick(train, train).notes[-1] == "60 of 60 test rows are in the training table as well; both tables may be the same."
    once = pd.concat([train, train[:1]])  # one row of the training table comes twice
    assert quick(once, test).notes[-1] == "7 of 50 test rows are in the training table as well."
    whole = train[["rooms", "region"]]  # rows repeat anyway
    assert not any("training table as well" in note for note in quick(whole, whole).notes)


def test_a_change_of_spread_that_ks_does_not_see_is_found_and_named():
    rng = np.random.default_rng(4)
    train, test = (pd.DataFrame(rng.normal(50, 10, (n, 5)), columns=list("abcde")) for n in (80, 60))
    test["c"] = 50 + 1.82 * (test["c"] - 50)
    test.loc[3, "c"] = np.nan
    report = quick(train, test, n_permutations=499)
    found = row(report, "spread of columns")
    assert not any(one.moved for one in report.features) and found.moved
    before, after = train["c"].std(), test["c"].std()
    assert found.change == f"most of c: {before:.3g} to {after:.3g} (times {after / before:.2f})"
    assert report.verdict.startswith("Shift: no feature moved by itself, but the spread of one did (most of c: ")
    nominal = pd.DataFrame({"x": list("ab") * 20})
    assert not [test for test in quick(nominal, nominal).global_tests if test.name == "spread of columns"]


def test_missing_values_are_a_shift_of_their_own():
    train, test = frame(19, 200), frame(20, 200)
    test.loc[test["noise"] > 0.8, "noise"] = np.nan
    report = quick(train, test)
    gone = row(report, "noise (missing)")
    assert gone.kind == "missing" and gone.moved and gone.change.startswith("missing: 0 % to ")
    assert "1 of 4 features moved" in report.verdict
    test["noise"] = np.nan
    report = quick(train, test)
    found = row(report, "noise")
    assert np.isnan(found.p_value) and np.isnan(found.p_adjusted) and not found.moved
    assert found.note == "not tested, no values in the test table" and row(report, "noise (missing)").effect == 1
    train["noise"] = np.nan
    report = quick(train, test)
    assert [row.name for row in report.features] == ["age", "rooms", "region", "noise"]
    assert row(report, "noise").note == "not tested, no values in the training table and no values in the test table"
    test.loc[:2, "region"] = None
    found = row(quick(frame(19, 200), test.assign(noise=0.0)), "region")
    assert found.note == "only in the test table: 'missing'" and (found.n_train, found.n_test) == (200, 197)


def test_types_of_a_data_frame_decide_what_is_nominal():
    train = pd.DataFrame(
        {
            "count": pd.array([1, 2, None, 4, 5, 6], dtype="Int64"),
            "flag": [True, False] * 3,
            "kind": pd.Categorical(list("aabbcc")),
            "float": np.arange(6.0),
            "empty": [None] * 6,
        }
    )
    report = quick(train, train)
    assert [column.kind for column in report.columns] == ["numeric", "nominal", "nominal", "numeric", "numeric"]
    assert row(report, "count").n_train == 5 and row(report, "count (missing)").kind == "missing"
    assert report.verdict.startswith("No shift found") and "nan" not in report.verdict


def test_an_unseen_category_and_a_vanished_class_are_noted():
    train, test = frame(21, 100), frame(22, 100)
    test["region"] = test["region"].replace("a", "z")
    y = np.repeat(["no", "yes"], 50)
    report = quick(train, test, y_train=y, y_test=np.full(100, "no"))
    assert row(report, "region").note == "only in the training table: 'a'; only in the test table: 'z'"
    assert "the target moved ('no' from 50 % to 100 %; only in the training table: 'yes')" in report.verdict


def test_a_target_of_quantities_is_compared_by_ks():
    rng = np.random.default_rng(23)
    before, after = rng.normal(size=80), rng.normal(1, size=60)
    found = quick(frame(1, 80), frame(2, 60), y_train=before, y_test=after).global_tests[0]
    assert found.name == "KS on the target" and found.statistic == pytest.approx(ks_2samp(before, after).statistic, abs=1e-12)


def test_scores_of_several_classes_are_tested_each():
    rng = np.random.default_rng(24)
    scores = rng.dirichlet([1, 1, 1], 40)
    report = quick(frame(1, 40), frame(2, 40), scores_train=scores, scores_test=scores)
    assert [row.name for row in report.global_tests[:4]] == [
        f"{test} on the scores of class {c}" for c in (0,) for test in ("Kruskal-Wallis", "KS")
    ] + ["Kruskal-Wallis on the scores of class 1", "KS on the scores of class 1"]
    two = quick(frame(1, 40), frame(2, 40), scores_train=np.c_[1 - A[:20], A[:20]], scores_test=np.c_[A[:20], 1 - A[:20]])
    one = quick(frame(1, 40), frame(2, 40), scores_train=A[:20], scores_test=1 - A[:20])
    assert two.global_tests == one.global_tests


def test_bad_input_is_named():
    train, test = frame(25, 20), frame(26, 20)
    with pytest.raises(ValueError, match="the test table lacks 'age' and has in addition 'years'; give both the same"):
        DriftReport(train, test.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="the training table has 3 columns, the test table 2"):
        DriftReport(np.ones((9, 3)), np.ones((9, 2)))
    with pytest.raises(ValueError, match="the test table has 4 rows; a comparison needs at least 5"):
        DriftReport(train, test[:4])
    with pytest.raises(ValueError, match=r"the training table has shape \(20,\)"):
        DriftReport(np.ones(20), test)
    with pytest.raises(ValueError, match=r"column 'region' of the training table holds '[abc]', which is no number"):
        DriftReport(train, test, categorical_features=["rooms"])
    with pytest.raises(ValueError, match="column 'noise' of the test table holds infinite values"):
        DriftReport(train, test.assign(noise=np.inf))
    with pytest.raises(ValueError, match="column 'noise' of the test table holds dates, that of the other table none; give both"):
        DriftReport(train, test.assign(noise=pd.Timestamp("2020-01-01")))
    with pytest.raises(ValueError, match="categorical_features names 'town'; columns are 'age'"):
        DriftReport(train, test, categorical_features=["town"])
    with pytest.raises(ValueError, match="scores_train and scores_test go together; only scores_test is given"):
        DriftReport(train, test, scores_test=np.ones(20))
    with pytest.raises(ValueError, match=r"y_test has shape \(3,\); the table has 20 rows"):
        DriftReport(train, test, y_train=np.ones(20), y_test=np.ones(3))
    with pytest.raises(ValueError, match="adjust='none' must be 'holm' or 'bh'"):
        DriftReport(train, test, adjust="none")
    with pytest.raises(ValueError, match="multivariate='energy' must be a list of 'energy', 'spread', 'c2st', 'mmd'"):
        DriftReport(train, test, multivariate="energy")
    with pytest.raises(ValueError, match="alpha=5 must be between 0 and 1"):
        DriftReport(train, test, alpha=5)
    with pytest.raises(ValueError, match="more than one column 'age'"):
        DriftReport(train.rename(columns={"rooms": "age"}), test)
    with pytest.raises(ValueError, match=r"correct_train must hold 1 .right. and 0 .wrong. only, got 2"):
        DriftReport(train, test, correct_train=np.full(9, 2), correct_test=np.ones(9))


# Frames of other libraries, dates, identifiers, targets


def customers(n, first, start, shift=0.0):
    rng = np.random.default_rng(first)
    return {
        "customer_id": list(range(first, first + n)),
        "mail": [f"u{i}@example.org" for i in range(first, first + n)],
        "when": [datetime.date.fromisoformat(start) + datetime.timedelta(days=i) for i in range(n)],
        "größe": rng.normal(shift, 1, n).tolist(),
        "stadt": [None if i % 7 == 0 else "Köln" if i % 2 else "Ulm" for i in range(n)],
        "count": rng.integers(0, 9, n).tolist(),
    }


def both(make=pd.DataFrame, shift=1.0):
    return make(customers(120, 0, "2020-01-01")), make(customers(80, 120, "2020-06-01", shift))


def test_polars_frames_keep_their_names_and_give_the_same_report():
    polars = pytest.importorskip("polars")
    ours, theirs = (quick(*both(make)) for make in (pd.DataFrame, polars.DataFrame))
    assert str(theirs) == str(ours) and [column.name for column in theirs.columns] == ["größe", "stadt", "count"]
    frame = both(polars.DataFrame)[0]
    assert [row.name for row in fold_drift(frame, None, np.arange(120) % 5, n_random=99).features] == [
        "when", "größe", "stadt", "count"
    ]  # fmt: skip


class OtherFrame:
    """What polars and pyarrow have in common: names, and columns by name."""

    def __init__(self, columns):
        self.columns = list(columns)
        self._values = columns

    def __getitem__(self, name):
        return np.array(self._values[name], dtype=object if name in ("mail", "stadt", "when") else None)


def test_frames_of_any_library_keep_their_names():
    assert str(quick(*both(OtherFrame))) == str(quick(*both()))


def test_dates_are_named_with_their_ranges_and_left_out_unless_asked_for():
    report = quick(*both())
    assert (
        "'when' was left out: it holds dates (2020-01-01 to 2020-04-29 in the training table, 2020-06-01 to 2020-08-19"
        in " ".join(report.notes)
    )
    assert {row.name for row in report.features if row.moved} == {"größe"}
    kept = row(quick(*both(), keep=["when"]), "when")
    assert kept.moved and kept.effect == 1 and kept.kind == "numeric"
    for zone in (None, "Europe/Berlin"):
        train, test = (part.assign(when=pd.to_datetime(part["when"]).dt.tz_localize(zone)) for part in both())
        train.loc[3, "when"] = pd.NaT
        assert row(quick(train, test, keep=["when"]), "when (missing)").kind == "missing"
        assert row(quick(train, test, keep=["when"]), "when").n_train == 119
    with pytest.raises(
        ValueError, match=r"keep=\['wann'\] must be a list of names of columns; columns are 'customer_id', 'mail'"
    ):
        quick(*both(), keep=["wann"])


def test_identifiers_are_named_and_not_tested_unless_asked_for():
    report = quick(*both())
    assert [note.split(" was")[0] for note in report.notes[:3]] == ["'customer_id'", "'mail'", "'when'"]
    assert not {"customer_id", "mail"} & {row.name for row in report.features}
    assert row(quick(*both(), keep=["customer_id"]), "customer_id").moved
    shuffled = both()[0]["customer_id"].sample(frac=1, random_state=0).to_numpy() * 1000
    kinds = {"id": 0, "price": 1, "paid": 1, "userId": 0, "amount": 1}
    for name, n in kinds.items():
        found = quick(*(pd.DataFrame({name: part, "x": np.arange(60.0) % 7}) for part in (shuffled[:60], shuffled[60:])))
        assert sum(row.name == name for row in found.features) == n, name
    only = pd.DataFrame({"mail": [f"{i}@x" for i in range(30)]})
    assert quick(only, only).verdict.startswith("Nothing could be tested: every feature is constant, has too few values or was")
    assert "features" in str(quick(only, only))
    with pytest.raises(ValueError, match="nothing can be compared: 'mail' was left out"):
        fold_drift(only, None, np.arange(30) % 3)


def test_folds_and_parts_of_a_split_are_named_and_not_tested_unless_asked_for():
    x, folds = np.arange(60.0) % 7, np.arange(60) % 5 + 1
    tables = [pd.DataFrame({"x": x, "fold": folds, "part": part, "mark": part[0]}) for part in ("train", "test")]
    report = quick(*tables)
    assert [row.name for row in report.features] == ["x", "mark"]
    assert report.notes[0].startswith("'fold' was left out: it says how the rows were cut; to test it, say ")
    assert row(quick(*tables, keep=["part"]), "part").moved
    for name, values in {"age": folds, "fold": folds**2, "folds": np.minimum(folds, 2)}.items():
        found = quick(*(pd.DataFrame({"x": x, name: values}) for _ in range(2)))
        assert row(found, name).kind == "numeric", name


def test_whole_numbers_of_many_values_are_a_quantity_and_task_says_otherwise():
    found = {"by values": 0, "as classes": 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = np.arange(100.0) % 7
        before, after = rng.poisson(200, 100), rng.poisson(207, 100)
        for name, task in (("by values", None), ("as classes", "classification")):
            report = quick(x[:, None], x[:, None], y_train=before, y_test=after, task=task, multivariate=(), rng=seed)
            found[name] += report.global_tests[0].p_value < 0.05
    assert found["by values"] >= 0.9 * 40 > 0.75 * 40 > found["as classes"]
    few = np.arange(60) % 20
    about = {"y_train": few, "y_test": few}
    x = few[:, None] % 7
    assert quick(x, x, **about).global_tests[0].name == "chi-square on the classes"
    assert quick(x, x, **about, task="regression").global_tests[0].name == "KS on the target"
    many = np.arange(60) % 21
    assert quick(x, x, y_train=many, y_test=pd.Series(many, dtype="Int64")).global_tests[0].name == "KS on the target"
    assert [row.kind for row in fold_drift(x, many, few % 3, n_random=99).features] == ["numeric", "target"]
    with pytest.raises(ValueError, match="task='rank' must be 'regression', 'classification' or None"):
        quick(x, x, **about, task="rank")
    with pytest.raises(ValueError, match="column 'target' of the training table holds 'a', which is no number"):
        quick(x, x, y_train=np.full(60, "a"), y_test=np.full(60, "a"), task="regression")


def test_a_report_is_a_page_a_table_a_picture_and_plain_values():
    train, test = both()
    test.loc[:3, "größe"] = np.nan
    folds = fold_drift(train, None, np.arange(120) // 24, n_random=99)
    for result in (quick(train, test), folds):
        assert result.verdict in result.sentences() and "<table" in result._repr_html_() and "<p>" in result._repr_html_()
        plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert plain["verdict"] == result.verdict and plain["notes"] == list(result.notes)
        assert len(result.to_frame()) == len(result.to_rows()) == len(plain.get("tests") or plain["features"])
        axis = plt.subplots()[1]
        assert result.plot(ax=axis) is axis and result.plot() is not axis
        names = [label.get_text() for label in axis.get_yticklabels()]
        assert sorted(names) == sorted(row.name for row in result.features)
        plt.close("all")
    assert quick(train, test).to_frame()["moved"].iloc[0]
    assert "when" in str(folds) and "Notes" in str(folds)


def test_a_change_of_dependence_is_found_by_the_test_that_looks_for_it():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(2, 100, 3))
    test[:, 1] = 0.6 * test[:, 0] + 0.8 * test[:, 1]
    blind = quick(train, test)
    assert blind.verdict.startswith("No shift found") and "hardly sees a change of the dependence" in str(blind)
    report = quick(train, test, multivariate=["energy", "dependence"], n_permutations=199, feature_names=["a", "b", "c"])
    assert report.verdict.startswith("Shift: no feature moved by itself, but their dependence did (100 and 100 rows, effect 0.")
    assert "rank correlation of a and b" in report.verdict
    assert [row.name for row in quick(train[:, :1], test[:, :1], multivariate=["dependence"]).global_tests] == []


@pytest.mark.parametrize("scale", [1e-170, 1e160])
def test_the_scale_of_a_feature_does_not_matter(scale):
    train, test = frame(1, 60)[["age", "noise"]], frame(2, 50, 0.5)[["age", "noise"]]
    ours, scaled = (quick(train * s, test * s, multivariate=["energy", "mmd", "dependence"]) for s in (1, scale))
    assert [row[4:6] for row in ours.features] == [row[4:6] for row in scaled.features]
    for one, other in zip(ours.features, scaled.features):
        found = [re.fullmatch(r"mean (\S+) to (\S+), (.+)", row.change).groups() for row in (one, other)]
        means = np.array([numbers[:2] for numbers in found], dtype=float)
        assert means[1] == pytest.approx(means[0] * scale, rel=1e-9, abs=0)  # in the units of the tables
        assert re.findall(r"(?:up|down|times) [0-9.]+", found[0][2]) == re.findall(r"(?:up|down|times) [0-9.]+", found[1][2])
    assert [row.p_value for row in ours.global_tests] == [row.p_value for row in scaled.global_tests]


# Folds


def table(n=300):
    rng = np.random.default_rng(30)
    X = rng.normal(size=(n, 5))
    X[:, 1] += X[:, 0]
    X[:, 4] = rng.integers(0, 3, n)
    return X, (rng.random(n) < 0.3).astype(int), rng


def test_distance_and_failures_of_folds_are_those_of_their_two_samples():
    X, y, rng = table(60)
    folds = rng.integers(0, 3, (2, 60))
    drift = fold_drift(X, y, folds, categorical_features=[4], n_random=99)
    distances = fold_ks_attributes(X, folds, categorical_features=[4]).mean(axis=(0, 1))
    assert [row.distance for row in drift.features[:5]] == pytest.approx(distances, rel=1e-12)
    for s in range(2):
        for f in range(3):
            test = folds[s] == f
            plain = ks_2samp(X[test, 0], X[~test, 0], method="asymp")
            m = test.sum() * (~test).sum() / 60
            from scipy.special import kolmogorov

            assert drift.p_values[s, f, 0] == pytest.approx(kolmogorov(plain.statistic * np.sqrt(m)), rel=1e-9)
            counts = [[np.sum(X[part, 4] == c) for c in range(3)] for part in (test, ~test)]
            assert drift.p_values[s, f, 4] == pytest.approx(chi2_contingency(counts, correction=False).pvalue, rel=1e-9)
    assert [row.failing for row in drift.features] == pytest.approx((drift.p_values < 0.05).mean(axis=(0, 1)), rel=1e-12)
    assert [row.kind for row in drift.features] == ["numeric"] * 4 + ["nominal", "target"]


def test_a_cut_by_one_feature_shifts_it_and_what_depends_on_it():
    X, y, rng = table()
    folds = np.argsort(np.argsort(X[:, 0] + rng.normal(size=300))) * 5 // 300
    drift = fold_drift(X, y, folds, categorical_features=[4])
    assert [row.verdict for row in drift.features] == ["more", "more", "as chance", "as chance", "as chance", "as chance"]
    assert drift.verdict == "2 of 6 shifted by the cut: feature 0, feature 1."
    assert drift.features[0].failing > 0.5 > 0.1 > drift.features[0].failing_chance
    assert drift.phi[0, 0] == 1 or np.isnan(drift.phi[0, 0])
    assert drift.jaccard[0, 0] == 1 and "<< more than chance" in str(drift)


def test_a_stratified_cut_is_closer_than_chance_in_the_target():
    X, y, rng = table()
    folds = np.empty((3, 300), int)
    for cut in folds:
        cut[np.lexsort((rng.random(300), y))] = np.arange(300) % 5
    drift = fold_drift(X, y, folds, categorical_features=[4])
    assert drift.features[-1].verdict == "less" and drift.verdict == "1 of 6 balanced better than by chance: target."


@pytest.mark.parametrize("n_seeds", [1, 4])
def test_random_cuts_are_called_random(n_seeds):
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.normal(size=(40, 2)), rng.integers(0, 3, (40, 2))])
        folds = rng.permuted(np.tile(np.arange(40) % 4, (n_seeds, 1)), axis=1)
        drift = fold_drift(X, None, folds, categorical_features=[3], n_random=399, rng=rng)
        found.append(any(row.verdict != "as chance" for row in drift.features))
    assert np.mean(found) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.parametrize("n_seeds, n_random, n_tables", [(100, 99, 40)])
def test_many_random_cuts_are_called_random_however_few_stand_beside_them(n_seeds, n_random, n_tables):
    """With the random cuts' own error left out, more than a third of these would differ "from chance"."""
    found = 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.normal(size=(30, 2)), rng.integers(0, 3, 30)])
        cut = rng.permuted(np.tile(np.arange(30) % 3, (n_seeds, 1)), axis=1)
        drift = fold_drift(X, None, cut, categorical_features=[2], n_random=n_random, rng=rng)
        found += any(row.verdict != "as chance" for row in drift.features)
    assert found / n_tables <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_tables)


@pytest.mark.parametrize("n_seeds, n_random", [(1, 19), (20, 100), (200, 100), (400, 100)])
def test_chances_keep_their_level_at_any_number_of_seeds(n_seeds, n_random):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(2000, n_seeds + n_random, 1))
    kinds = np.zeros(n_seeds + n_random, int)
    p = [cuts.chances(v[:n_seeds], v[n_seeds:], kinds, 39, rng)[0][0] for v in values]
    assert abs(np.mean(np.array(p) <= 0.05) - 0.05) <= 3 * np.sqrt(0.05 * 0.95 / 2000)


def test_chances_of_one_seed_are_ranks_and_of_more_those_of_all_choices():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(99, 1))
    one = cuts.chances(values[:1], values[1:], np.zeros(99, int), 10, rng)
    assert [float(p[0]) for p in one] == [np.mean(values >= values[0]), np.mean(values <= values[0])]
    from itertools import combinations

    values = rng.normal(size=(9, 1))
    sums = np.array([values[list(choice), 0].sum() for choice in combinations(range(9), 3)])
    more, less = cuts.chances(values[:3], values[3:], np.zeros(9, int), 40_000, rng)
    for p, exact in ((more[0], np.mean(sums >= sums[0] - 1e-9)), (less[0], np.mean(sums <= sums[0] + 1e-9))):
        assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000) + 1e-4)
    kinds = np.array([0, 0, 1, 0, 1, 1, 1, 1, 1])  # two of three, and one of six
    sums = [values[[i, j, m], 0].sum() for i, j in ((0, 1), (0, 3), (1, 3)) for m in (2, 4, 5, 6, 7, 8)]
    more = cuts.chances(values[:3], values[3:], kinds, 40_000, rng)[0]
    exact = np.mean(np.array(sums) >= sums[0] - 1e-9)
    assert more[0] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000) + 1e-4)


def test_random_cuts_have_the_sizes_given_and_every_order_alike(monkeypatch):
    folds = np.array([[0, 0, 1, 2], [0, 1, 1, 1]], dtype=np.uint8)
    blocks = list(cuts.random_cuts(folds, 24_000, np.random.default_rng(0)))
    monkeypatch.setattr(cuts, "CELLS_AT_ONCE", 4000)
    small = list(cuts.random_cuts(folds, 24_000, np.random.default_rng(0)))
    assert len(small) == 24 and (np.concatenate(small) == np.concatenate(blocks)).all()
    drawn = np.concatenate(blocks)
    for first, n_orders in ((0, 12), (1, 4)):
        orders, counts = np.unique(drawn[first::2], axis=0, return_counts=True)
        assert len(orders) == n_orders and np.bincount(orders[0]).tolist() == np.bincount(folds[first]).tolist()
        expected = 12_000 / n_orders
        assert ((counts - expected) ** 2 / expected).sum() < n_orders - 1 + 5 * np.sqrt(2 * (n_orders - 1))


def test_missing_values_of_folds_are_a_row_of_their_own_and_a_category():
    X, y, rng = table(120)
    X = pd.DataFrame(X, columns=list("abcde")).assign(town=rng.choice(["Ulm", None], 120))
    X.loc[X["a"] > 0.5, "b"] = np.nan
    X["gone"], X["few"] = np.nan, [1.0, 2.0, 3.0] + [np.nan] * 117
    folds = np.argsort(np.argsort(X["a"].to_numpy())) * 3 // 120
    drift = fold_drift(X, y, folds, n_random=499)
    assert [row.name for row in drift.features] == [*"ab", "b (missing)", *"cde", "town", "few (missing)", "target"]
    assert {row.name for row in drift.features if row.verdict == "more"} >= {"a", "b (missing)"}
    assert drift.notes == ("'gone' was not tested: it has 0 values.", "'few' was not tested: it has 3 values.")
    known = X["b"].notna().to_numpy()
    for f in range(2):
        plain = ks_2samp(X["b"][known & (folds == f)], X["b"][known & (folds != f)], method="asymp")
        distance = fold_drift(X.loc[known, ["b"]], None, folds[known], 3, n_random=99).features[0].distance
        assert drift.features[1].distance == pytest.approx(distance, rel=1e-12) and plain.statistic <= 1
    found = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = np.where(rng.random((30, 3)) < 0.3, np.nan, rng.normal(size=(30, 3)))
        cut = rng.permuted(np.tile(np.arange(30) % 3, (5, 1)), axis=1)
        found += any(row.verdict != "as chance" for row in fold_drift(X, None, cut, n_random=199, rng=rng).features)
    assert found <= 5 + 3 * np.sqrt(5)


def test_a_cut_in_time_shifts_the_date():
    train = both()[0]
    drift = fold_drift(train, None, np.arange(120) // 24, n_random=499)
    assert {row.name for row in drift.features if row.verdict == "more"} == {"when"}
    assert [note.split(" was")[0] for note in drift.notes] == ["'customer_id'", "'mail'"]


@pytest.mark.slow
def test_a_hundred_thousand_rows_of_ten_columns_take_seconds():
    """41 seconds before; processor time, so that other jobs do not count."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 10))
    X[:, 5:8], X[:, 8:] = X[:, 5:8].round(1), rng.integers(0, 4, (100_000, 2))
    folds = rng.permuted(np.arange(100_000) % 10)
    fold_drift(X[:500], None, folds[:500], n_random=99)
    start = time.process_time()
    fold_drift(X, rng.integers(0, 2, 100_000), folds, categorical_features=[8, 9])
    assert time.process_time() - start < 15


def test_drift_of_folds_does_not_depend_on_the_order_of_the_rows():
    X, y, rng = table(60)
    folds, order = rng.integers(0, 3, (2, 60)), rng.permutation(60)
    ours = fold_drift(X, y, folds, n_random=99)
    again = fold_drift(X[order], y[order], folds[:, order], n_random=99)
    assert str(again) == str(ours) and (again.p_values == ours.p_values).all()


def test_constant_features_and_empty_folds_are_no_shift():
    X, _, rng = table(60)
    X[:, 2] = 1.0
    drift = fold_drift(X, None, rng.integers(0, 3, 60), n_folds=4, n_random=99)
    assert np.isnan(drift.p_values[0, 3]).all() and drift.p_values.shape == (1, 4, 5)
    assert drift.features[2][2:] == (0, 0, 0, 0, 1, 1, 1, "as chance") and np.isnan(drift.phi[2]).all()


def test_bad_folds_are_named():
    X, y, _ = table(30)
    with pytest.raises(ValueError, match=r"folds have shape \(29,\); expected \(n_seeds, n_samples\) = \(n_seeds, 30\)"):
        fold_drift(X, y, np.zeros(29, int))
    with pytest.raises(ValueError, match="n_folds=1 must be an integer of at least 2"):
        fold_drift(X, y, np.zeros(30, int))
    with pytest.raises(ValueError, match="folds hold numbers from -2 to 0; expected 0 to 29, or -1"):
        fold_drift(X, y, np.arange(30) % 3 - 2)
    with pytest.raises(ValueError, match="y holds 1 missing values; drop those rows"):
        fold_drift(X, np.where(np.arange(30) == 3, np.nan, y), np.arange(30) % 3)
    with pytest.raises(ValueError, match=r"y has shape \(4,\); the table has 30 rows"):
        fold_drift(X, y[:4], np.arange(30) % 3)
    with pytest.raises(ValueError, match="n_random=5 must be an integer of at least 99"):
        fold_drift(X, y, np.arange(30) % 3, n_random=5)


@pytest.mark.parametrize("power", [3, -2])
def test_values_in_another_unit_are_noted(power):
    rng = np.random.default_rng(2)
    train, test = (pd.DataFrame({"income": rng.gamma(2, 20, 80), "x": rng.normal(size=80)}) for _ in range(2))
    test["income"] *= 10.0**power
    what = "1,000 times as large" if power == 3 else "100 times as small"
    assert f"income: test values are some {what} as training values; are they in another unit?" in quick(train, test).notes
    moved = test.assign(income=train["income"] + 900)
    assert not any("unit" in note for note in quick(train, moved).notes)


# Both tables read as one


def values_of(before, after, **options):
    noise = np.random.default_rng(0).normal(size=60)
    tables = [pd.DataFrame({"x": noise[: len(part)], "c": part}) for part in (before, after)]
    report = quick(*tables, **options)
    return report, next((found for found in report.features if found.name == "c"), None)


def test_columns_written_in_two_ways_are_one_column():
    texts = ["0.0", "1.0", "low"] * 15
    same = {
        "labels": (texts, ["0", "1", "low"] * 12, "labels written in two ways"),
        "blanks": (["a ", "b"] * 20, ["a", " b"] * 15, "labels written in two ways"),
        "capitals": (["Rome", "Oslo"] * 20, ["ROME", "oslo"] * 15, "labels written in two ways"),
        "numbers as texts": (np.arange(45) % 7, [str(float(i % 7)) for i in range(35)], "numbers as texts in the test table"),
        "labels and numbers": (["0", "1", "low"] * 15, pd.Series([0, 1, "low"] * 12, dtype=object), ""),
    }
    for what, (before, after, note) in same.items():
        report, found = values_of(before, after)
        if note:
            assert not found.moved and any(note in one for one in report.notes), (what, report.notes)
    report, found = values_of(np.arange(40.0) % 7, ["low", "high"] * 15)
    assert found.moved and found.kind == "nominal"
    assert "'c' holds numbers in the training table, text in the test table, such as 'low'; compared as labels." in report.notes
    report, found = values_of(["0", "1"] * 20, ["1", "0"] * 15)
    assert found.kind == "nominal" and not any(one.startswith("'c' holds") for one in report.notes)
    report, found = values_of(["007", "012"] * 20, ["7", "12"] * 15)
    assert found.moved  # codes are not numbers
    assert values_of(["Aa", "AA"] * 20, ["aa", "AA"] * 15)[1].moved  # nor are they words
    assert values_of(["Rome", "ROME"] * 20, ["rome", "Rome"] * 15)[1].moved  # one of two labels that differ in capitals


def test_dates_as_texts_are_dates():
    days = pd.date_range("2020-01-01", periods=100)
    texts = [day.strftime("%Y-%m-%d") for day in days]
    for before, after in ((texts[:60], texts[60:]), (days[:60], texts[60:]), (texts[:60], days[60:].tz_localize("UTC"))):
        report, found = values_of(before, after)
        assert found is None and any("holds dates (2020-01-01 to 2020-02-29 in the training" in note for note in report.notes)
        kept = values_of(before, after, keep=["c"])[1]
        assert kept.moved and kept.change.startswith("mean 2020-01-30 to 2020-03-20, up by")
    report, found = values_of([*texts[:39], None], ["old", "new"] * 15)
    assert found is None or found.kind == "nominal"
