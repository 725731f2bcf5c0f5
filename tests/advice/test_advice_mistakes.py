"""Mistakes at `foldshift.advise` and at the commands end in one line that names the thing, the value and a remedy that works."""

import os

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold

import foldshift
from foldshift.command.main import MISTAKE, main

N = 40
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(N, 2)).round(3), columns=["a", "b"])
Y = (X.a + RNG.normal(size=N)).round(3)
NAMES = np.where(Y > 0, "yes", "no")
TABLE = X.assign(
    site=RNG.choice(list("pqrs"), N), one="x", day=pd.date_range("2024-01-01", periods=N).astype(str), east=X.b, north=X.a**2,
    c=NAMES, y=Y,
)  # fmt: skip


@pytest.mark.parametrize(("options", "said"), [
    ({"groups": "site"}, r"groups='site' is a text, .* groups=X\['site'\]"),
    ({"groups": {"a": 1}}, "groups is a dict; give a value for each sample"),
    ({"times": "day"}, r"times=X\['day'\]"),
    ({"subsets": "site"}, r"subsets=X\['site'\]"),
    ({"coordinates": ["a", "b"]}, r"coordinates=X\[\['a', 'b'\]\]"),
    ({"coordinates": "a"}, r"coordinates='a' is a text"),
    ({"cv": 0}, "^cv=0 must be between 2 and 40 folds"),
    ({"cv": KFold}, r"cv is the class KFold; give an instance, KFold\(\)"),
    ({"cv": GroupKFold(3)}, "cv: GroupKFold needs groups; declare them: groups="),
    ({"budget": -3}, "^budget=-3 is -3 s"),
    ({"budget": float("nan")}, "^budget=nan is not a time"),
    ({"rope": "a"}, "^rope='a' must be a difference"),
    ({"rope": True}, "^rope=True must be a difference"),
    ({"left_out": ["a"]}, "^left_out=.'a'. must map columns to reasons"),
    ({"left_out": {"a": None}}, "must map columns to reasons"),
    ({"tell": "x"}, "^tell='x' must be a function"),
    ({"isolate": "no"}, "^isolate='no' must be True or False"),
    ({"categorical_features": ["z"]}, "unknown column 'z'"),
    ({"scoring": lambda y, p: 0}, "make_scorer"),
])  # fmt: skip
def test_an_argument_that_cannot_be_used_is_refused_by_name(options, said):
    with pytest.raises(ValueError, match=said) as raised:
        foldshift.advise(X, Y, Ridge(), effort="quick", **options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("y", "learner", "options", "said"), [
    (pd.date_range("2024", periods=N), Ridge(), {}, "days since the first one"),
    ([10**25 + i for i in range(N)], Ridge(), {}, "give it as floats"),
    (np.array([1, "a"] * (N // 2), dtype=object), LogisticRegression(), {}, "mixes labels of type int and str"),
    (NAMES, None, {"task": "regression"}, "task='regression', and y holds 'yes', .* take task='classification'"),
    (["u"] * (N - 1) + ["v"], LogisticRegression(), {}, "one class with more than a row; 'v': one row"),
    (NAMES, LogisticRegression(), {"cv": N}, "cv=40 is more than the .* rows of the largest class"),
    (NAMES, LogisticRegression(), {"scoring": "f1"}, "take scoring='f1_macro'"),
    (NAMES, LogisticRegression(), {"scoring": "average_precision"}, "take scoring='roc_auc'"),
    (NAMES, LogisticRegression(), {"groups": NAMES}, "rows trained on are all '(yes|no)': groups, times or places"),
    (NAMES, LogisticRegression(C=-1), {}, "give another learner, or other settings of this one"),
])  # fmt: skip
def test_a_target_that_cannot_be_used_is_refused_with_what_helps(y, learner, options, said):
    with pytest.raises(ValueError, match=said):
        foldshift.advise(X, y, learner, effort="quick", **options)


def test_groups_of_one_row_are_said_to_be_none():
    advice = foldshift.advise(X, Y, Ridge(), groups=np.arange(N), effort="quick", most_repetitions=1)
    assert advice.not_respected == ("all groups have one row: a cut by groups is one by rows",)
    assert "All groups have one row" in advice.to_html()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    TABLE.to_csv(folder / "t.csv", index=False)
    TABLE.assign(b=TABLE.b.astype(str).where(TABLE.index != 3, "inf")).to_csv(folder / "inf.csv", index=False)
    TABLE.assign(y=[10**25 + i * 10**22 for i in range(N)]).to_csv(folder / "huge.csv", index=False)
    (folder / "row.csv").write_text("a,b,y\n1,2,3\n")
    return folder


@pytest.mark.parametrize(("words", "said"), [
    ("advise t.csv -t y --space-on east east", "--space-on east east names one column twice"),
    ("advise t.csv -t y --space-on east y", "--space-on east y: 'y' is the target; name another column"),
    ("advise t.csv -t y --time-on one", "--time-on one: 'one' holds 'x', which is no date and no number"),
    ("advise t.csv -t y --time-on day --drop day", "--time-on day: 'day' is among the dropped columns"),
    ("advise t.csv -t day -l Ridge", "the target 'day' names rows, not classes: 40 labels in 40 rows"),
    ("advise t.csv -t one -l Ridge", "the target 'one' is 'x' in every row; there is nothing to predict; name another: --target"),
    ("advise huge.csv -t y -l Ridge", "--types y=number"),
    ("advise row.csv -t y -l Ridge", "the table has 1 row; advice needs at least 20"),
    ("advise t.csv -t y -l Ridge --cv 100", "--cv 100 must be between 2 and 40 folds"),
    ("advise t.csv -t y -l ./model.py", "--learner ./model.py is a file; name a learner in it by its import path: model.Class"),
    ("drift t.csv inf.csv", "inf.csv: column 'b' holds 1 infinite value, the first in row 4"),
    ("drift - -", "both tables are standard input, which is read once"),
])  # fmt: skip
def test_a_mistake_at_the_command_ends_in_one_line(folder, words, said):
    there = os.getcwd()
    os.chdir(folder)
    try:
        done = CliRunner().invoke(main, words.split())
    finally:
        os.chdir(there)
    assert done.exit_code == MISTAKE and said in done.output
    assert done.output.count("foldshift: ") == 1


def test_a_declaration_that_the_cut_does_not_respect_is_said_at_once(folder):
    words = [
        "advise",
        str(folder / "t.csv"),
        "-t",
        "y",
        "-l",
        "Ridge",
        "--group-on",
        "site",
        "--time-on",
        "day",
        "--effort",
        "quick",
    ]
    done = CliRunner().invoke(main, words)
    assert "Note: times were declared, too; the cut is by groups, and does not respect them." in done.output
