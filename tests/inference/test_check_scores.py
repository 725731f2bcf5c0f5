"""Check of printed scores, against brute force over all counts of small cuts."""

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import f1_score, matthews_corrcoef, precision_score
from sklearn.model_selection import StratifiedKFold

from foldshift.core.errors import DataError
from foldshift.inference import check_scores
from foldshift.inference.score_tables.check_scores import NAMES


def brute_pooled(negative, positive, names):
    """All scores of all counts of right rows."""
    found = []
    for tp, tn in product(range(positive + 1), range(negative + 1)):
        fp = negative - tn
        every = {
            "accuracy": (tp + tn) / (positive + negative),
            "sensitivity": tp / positive,
            "specificity": tn / negative,
            "balanced_accuracy": (tp / positive + tn / negative) / 2,
            "precision": tp / (tp + fp) if tp + fp else 0.0,
            "f1": 2 * tp / (2 * tp + fp + positive - tp),
            "mcc": matthews_corrcoef(*labels(tp, tn, positive, negative)) if "mcc" in names else np.nan,
        }
        found.append([every[name] for name in names])
    return np.array(found)


def labels(tp, tn, positive, negative):
    """True and predicted classes of a confusion matrix."""
    return np.repeat([1, 0], [positive, negative]), np.repeat([1, 0, 1, 0], [tp, positive - tp, negative - tn, tn])


def cut_of(negative, positive, k):
    """Rows and test parts of a stratified cut of scikit-learn."""
    y = np.repeat([0, 1], [negative, positive])
    return y, [test for _, test in StratifiedKFold(k, shuffle=True, random_state=0).split(y[:, None], y)]


def brute_folds(negative, positive, k, names):
    """Means over folds of all scores, for all counts of right rows in every fold."""
    y, tests = cut_of(negative, positive, k)
    each = [brute_pooled(int((y[test] == 0).sum()), int(y[test].sum()), names) for test in tests]
    chosen = np.array(list(product(*(range(len(one)) for one in each))))
    return np.mean([one[place] for one, place in zip(each, chosen.T)], axis=0)


def fits(scores, possible, half):
    """Whether a row of all possible scores rounds to those given."""
    return bool((np.abs(possible - np.array(list(scores.values()))) <= half + 1e-9).all(axis=1).any())


def agrees(found, scores, possible, half):
    """Whether a verdict and the nearest scores are those of a list of all scores."""
    values = np.array(list(scores.values()))
    gaps = np.nanmin(np.abs(possible - values), axis=0)
    near = np.abs(np.array([found.nearest[name] for name in scores]) - values)
    return (found.verdict == "possible") == fits(scores, possible, half) and np.allclose(near, gaps, atol=1e-9)


def tried(possible, names, steps, digits, n):
    """Scores that are possible, or off by a step."""
    rng = np.random.default_rng(0)
    for _ in range(n):
        row = np.nan_to_num(possible[rng.integers(len(possible))]) + rng.choice(steps, len(names))
        yield {name: round(float(min(max(value, 0.0), 1.0)), digits) for name, value in zip(names, row)}


@pytest.mark.parametrize("names", [("accuracy",), ("f1",), ("sensitivity", "precision"), ("accuracy", "f1", "mcc")])
def test_scores_of_all_rows_are_those_of_all_counts(names):
    for negative, positive in ((7, 3), (11, 12), (1, 2)):
        possible = brute_pooled(negative, positive, names)
        for scores in tried(possible, names, [0, 0, 0.004, -0.013], 2, 40):
            found = check_scores(scores, classes=(negative, positive), decimals=2)
            assert agrees(found, scores, possible, 0.005), (negative, positive, scores, found)


@pytest.mark.parametrize(
    "names",
    [
        ("accuracy",),
        ("accuracy", "sensitivity"),
        ("balanced_accuracy", "specificity"),
        ("f1",),
        ("accuracy", "f1"),
        ("mcc", "precision", "sensitivity"),
    ],
)
@pytest.mark.parametrize(("negative", "positive", "k"), [(6, 4, 2), (7, 5, 2), (5, 3, 3)])
def test_means_over_folds_are_those_of_all_counts_in_every_fold(names, negative, positive, k):
    possible = brute_folds(negative, positive, k, names)
    one_way = negative % k == 0 or positive % k == 0  # else classes can be shared out in other ways, too
    for scores in tried(possible, names, [0, 0.0004, -0.0013, 0.01], 4, 25):
        found = check_scores(scores, classes=(negative, positive), k=k, decimals=4)
        assert found.verdict == "possible" or not fits(scores, possible, 0.00005)
        assert not one_way or agrees(found, scores, possible, 0.00005), (scores, found)


def test_true_scores_of_real_folds_are_always_possible():
    rng = np.random.default_rng(2)
    for _ in range(12):
        negative, positive, k = int(rng.integers(20, 60)), int(rng.integers(12, 40)), int(rng.integers(2, 6))
        y, tests = cut_of(negative, positive, k)
        predicted = np.where(rng.random(len(y)) < 0.2, 1 - y, y)
        right = predicted == y
        means = {
            "accuracy": np.mean([right[t].mean() for t in tests]),
            "recall": np.mean([right[t][y[t] == 1].mean() for t in tests]),
        }
        means = {name: round(float(value), 3) for name, value in means.items()}
        assert check_scores(means, classes=(negative, positive), k=k, decimals=3).verdict == "possible", means
        f1 = round(float(np.mean([f1_score(y[t], predicted[t]) for t in tests])), 4)
        assert check_scores({"f1": f1}, classes=(negative, positive), k=k, decimals=4).verdict == "possible"
        own = {"error": round(float(1 - right[tests[0]].mean()), 4)}
        assert check_scores(own, classes=(negative, positive), k=k, decimals=4, of="fold").verdict == "possible"


def test_true_scores_of_any_kind_are_never_impossible_and_planted_ones_are_found():
    rng, found = np.random.default_rng(5), {"folds": 0, "fold": 0}
    for _ in range(12):
        negative, positive, k = int(rng.integers(12, 50)), int(rng.integers(6, 20)), int(rng.integers(2, 6))
        y, tests = cut_of(negative, positive, k)
        predicted = np.where(rng.random(len(y)) < 0.25, 1 - y, y)
        each = [(np.mean(predicted[t] == y[t]), f1_score(y[t], predicted[t]), matthews_corrcoef(y[t], predicted[t]),
                 precision_score(y[t], predicted[t], zero_division=0)) for t in tests]  # fmt: skip
        for of, values in (("folds", np.mean(each, axis=0)), ("fold", each[0])):
            scores = dict(zip(("accuracy", "f1", "mcc", "precision"), np.round(values, 4).tolist()))
            options = {"classes": (negative, positive), "k": k, "decimals": 4, "of": of}
            assert check_scores(scores, **options).verdict != "impossible", (scores, options)
            scores["f1"] = round(abs(scores["f1"] - 0.3), 4)
            found[of] += check_scores(scores, **options).verdict == "impossible"
    assert found["fold"] == 12 and found["folds"] >= 10, found


def test_accuracy_without_classes_and_over_repetitions():
    assert check_scores({"accuracy": 0.9133}, n=150, k=10, decimals=4).verdict == "possible"
    found = check_scores({"accuracy": 0.915}, n=150, k=10, decimals=4)
    assert found.verdict == "impossible" and found.nearest["accuracy"] == pytest.approx(137 / 150)
    assert "nearest possible is 0.9133333" in found.sentences()[0]
    assert check_scores({"accuracy": 0.915}, n=150, k=10, decimals=4, repeats=100).verdict == "possible"
    assert check_scores({"error": 0.085}, n=150, k=10, decimals=4).verdict == "impossible"


def test_scores_that_are_possible_alone_but_not_together():
    found = check_scores({"accuracy": 0.9, "sensitivity": 0.5, "specificity": 0.5}, classes=(10, 10), decimals=2)
    assert set(found.alone.values()) == {"possible"} and found.verdict == "impossible" and "together" in found.sentences()[0]


def test_too_many_counts_are_said():
    scores = {"accuracy": 0.8511, "sensitivity": 0.8123, "specificity": 0.9}
    found = check_scores(scores, classes=(1501, 1203), k=10, decimals=4)
    assert found.verdict == "not decided" and "too many counts" in found.reason


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({"accuracy": 91.3}, {"n": 150}, "in percent"),
        ({"accuracy": -0.1}, {"n": 150}, "from 0 to 1"),
        ({"accuracy": np.nan}, {"n": 150}, "finite"),
        ({"accuracy": "0.9"}, {"n": 150}, "expected one finite number"),
        ({"auc": 0.9}, {"n": 150}, "unknown score 'auc'"),
        ({}, {"n": 150}, "dictionary"),
        ([0.9], {"n": 150}, "dictionary"),
        ({"accuracy": 0.9}, {}, "n='ROWS'"),
        ({"accuracy": 0.9}, {"n": 150, "k": 151}, "k=151 must be a whole number from 2 to 150"),
        ({"accuracy": 0.9}, {"n": 150.5}, "whole number"),
        ({"accuracy": 0.9}, {"n": True}, "whole number"),
        ({"f1": 0.9}, {"n": 150}, "classes=(negative, positive)"),
        ({"f1": 0.9}, {"classes": (30, 70, 20)}, "3 values"),
        ({"f1": 0.9}, {"classes": (30, 70), "n": 90}, "does not fit the classes"),
        ({"f1": 0.9}, {"classes": (30, 7), "k": 10}, "of='rows'"),
        ({"accuracy": 0.9, "error": 0.1}, {"n": 10}, "one score"),
        ({"recall": 0.9, "sensitivity": 0.1}, {"n": 10}, "twice"),
        ({"accuracy": 0.9}, {"n": 10, "of": "row"}, "must be one of folds, rows, fold"),
        ({"accuracy": 0.9}, {"n": 10, "of": "folds"}, "k='NUMBER'"),
        ({"accuracy": 0.9}, {"n": 10, "decimals": -1}, "decimals"),
    ],
)
def test_mistakes_are_refused_with_a_remedy(scores, options, message):
    with pytest.raises(DataError) as error:
        check_scores(scores, **options)
    assert message in str(error.value)


def test_names_are_known():
    assert set(NAMES.values()) == {
        "accuracy",
        "error",
        "sensitivity",
        "specificity",
        "balanced_accuracy",
        "precision",
        "f1",
        "mcc",
    }


def test_a_fold_that_is_not_stratified_is_said():
    scores = {"accuracy": 0.9, "recall": 1.0, "precision": 0.75}  # 3 of 10 rows are positive, and not 5
    found = check_scores(scores, classes=(50, 50), k=10, decimals=2, of="fold")
    assert found.verdict == "impossible" and found.reason == "possible in a fold that is not stratified"
    never = check_scores(scores | {"recall": 0.5}, classes=(50, 50), k=10, decimals=2, of="fold")
    assert never.verdict == "impossible" and never.reason == "for stratified folds"
