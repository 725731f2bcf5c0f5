"""Tables of predictions beside the true values are compared by what the predictions are worth, and never as scores."""

import numpy as np
import pandas as pd
import pytest

from foldshift.core.errors import DataError
from foldshift.inference import compare

RNG = np.random.default_rng(5)
N = 80
WORDS = np.array(["cat", "dog"])
TRUE = RNG.integers(0, 2, N)
A, B = (np.where(RNG.random(N) < share, TRUE, 1 - TRUE) for share in (0.8, 0.7))
NUMBER = RNG.normal(size=N)
RIGHT = compare(pd.DataFrame({"item": range(N), "A": (A == TRUE) * 1, "B": (B == TRUE) * 1})).pairs


def wide(truth="y_true", values=TRUE, a=A, b=B, **more):
    return pd.DataFrame({truth: values, "A": a, "B": b} | more)


TEXTS = wide(values=WORDS[TRUE], a=WORDS[A], b=WORDS[B])
LONG = pd.concat(pd.DataFrame({"id": range(N), "model": name, "y_true": TRUE, "y_pred": p}) for name, p in (("A", A), ("B", B)))
TABLES = {
    "numbers": wide(),
    "texts": TEXTS,
    "texts in capitals": TEXTS.assign(A=TEXTS["A"].str.upper(), B=TEXTS["B"].str.title() + " "),
    "texts of a column that is named label": TEXTS.rename(columns={"y_true": "label"}),
    "with items": wide(id=RNG.permutation(N)),
    "with probabilities beside": wide(p_A=RNG.random(N), p_B=RNG.random(N)),
    "floats": wide(values=TRUE.astype(float)),
    "a row for every prediction": LONG,
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_classes_are_scored_right_or_wrong(table):
    found = compare(table)
    assert found.pairs == RIGHT and found.table.metric == "accuracy" and found.table.learners == ("A", "B")
    assert any("where a prediction is right" in note for note in found.table.notes)


def test_a_column_is_the_truth_if_the_caller_says_so():
    assert compare(wide("what it was"), truth="what it was").pairs == RIGHT
    renamed = LONG.rename(columns={"y_true": "what it was", "y_pred": "said"})
    assert compare(renamed, truth="what it was", prediction="said").pairs == RIGHT


@pytest.mark.parametrize("truth", [NUMBER, TRUE], ids=["numbers", "probabilities of a class"])
def test_numbers_are_scored_by_their_squared_error(truth):
    a, b = RNG.random(N), RNG.random(N)
    found = compare(wide(values=truth, a=a, b=b))
    scores = pd.DataFrame({"item": range(N), "A": (a - truth) ** 2, "B": (b - truth) ** 2})
    assert found.pairs == compare(scores, better="lower").pairs and not found.table.higher_is_better


def test_times_and_spreads_beside_predictions_of_numbers_are_no_learners():
    table = wide(values=NUMBER, a=NUMBER + 0.1 * A, b=NUMBER - 0.2 * B)
    found = compare(table.assign(A_std=0.1, fit_time=RNG.random(N)))
    assert found.pairs == compare(table).pairs and any("A_std, fit_time: left out" in note for note in found.table.notes)


def test_a_missing_prediction_leaves_its_item_out():
    a = A.astype(float)
    a[3] = np.nan
    found = compare(wide(a=a))
    assert len(found.table.scores) == N - 1 and any("is missing" in note for note in found.table.notes)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (wide("label"), "may hold the true values of predictions, or the scores of a learner"),
        (wide("target", NUMBER, NUMBER, NUMBER), "truth='target'"),
        (TEXTS[["y_true", "A"]], "no two columns hold predictions of them"),
        (wide(a=WORDS[A], b=WORDS[B]), "no two columns hold predictions of them"),
        (wide(seed=np.arange(N) % 2), "'seed' says that items come again"),
        (wide(actual=TRUE), "may each hold the truth"),
        (LONG.assign(y_pred=WORDS[A].tolist() * 2), "predictions are compared as numbers, or as classes"),
    ],
)
def test_what_is_unclear_is_refused_with_a_remedy(table, said):
    with pytest.raises(DataError, match=said.replace("(", r"\(")):
        compare(table)


def test_probabilities_of_both_classes_are_one_learners():
    up = np.clip(RNG.random((2, N)), 0.01, 0.99).round(2)
    one = pd.DataFrame({"y_true": TRUE, "A_1": up[0], "B_1": up[1]})
    found = compare(one.assign(A_0=(1 - up[0]).round(2), B_0=(1 - up[1]).round(2)))
    assert found.pairs == compare(one).pairs and found.table.learners == ("A_1", "B_1")
    assert found.to_dict()["notes"][0] == "A_0: left out, the probability of class 0, which is 1 less that of class 1"
    with pytest.raises(DataError, match="'A_1' and 'other' add up to 1 in every row"):
        compare(one.assign(other=(1 - up[0]).round(2)))
    with pytest.raises(DataError, match="write 1 for the class that they are of, and 0"):
        compare(one.assign(y_true=WORDS[TRUE]))


def test_a_table_of_scores_with_a_true_value_beside_stays_one_of_scores():
    found = compare(LONG.assign(correct=(LONG["y_true"] == LONG["y_pred"]) * 1))
    assert found.pairs == RIGHT


def test_one_data_set_is_no_sample_of_data_sets():
    with pytest.raises(DataError, match="names one data set, 'd'; a comparison over data sets needs two or more"):
        compare(pd.DataFrame({"dataset": ["d"], "A": [0.8], "B": [0.7]}), better="higher")


def test_the_best_mean_is_not_called_better_where_the_test_says_the_other():
    """One data set on which all is lost decides the mean, and not the ranks."""
    rng = np.random.default_rng(0)
    second = rng.uniform(0.6, 0.8, 30)
    table = pd.DataFrame({"first": second + rng.uniform(0.01, 0.02, 30), "second": second, "third": second - 0.3})
    table.loc[0, "first"] = 0.01
    text = compare(table.assign(dataset=range(30)), better="higher").text()
    assert "second has the best mean: it is better than third; worse, by the test, than first." in text
