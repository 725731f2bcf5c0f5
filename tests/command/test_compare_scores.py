"""The command `foldshift compare`: tables of scores in the forms that people have, and their mistakes."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from foldshift.command.main import MISTAKE, main
from foldshift.inference import compare, nadeau_bengio

RNG = np.random.default_rng(3)
N = 120
RIGHT = RNG.random(N) < 0.8
ITEMS = pd.DataFrame({"item": [f"q{i}" for i in range(N)], "doc": np.arange(N) // 4, "A": RIGHT * 1})
ITEMS["B"] = np.where(RNG.random(N) < 0.2, 1 - ITEMS["A"], ITEMS["A"])
LONG = ITEMS.melt(id_vars=["item", "doc"], var_name="model", value_name="correct")
FOLDS = pd.DataFrame(
    [(r, k, m, round(0.8 + 0.03 * (m == "A") + RNG.normal() * 0.02, 4)) for r in range(3) for k in range(5) for m in "ABC"],
    columns=["seed", "fold", "model", "accuracy"],
)
SETS = pd.DataFrame((RNG.normal(0.8, 0.05, (28, 8)) + np.linspace(0, 0.06, 8)).round(3), columns=[f"L{i}" for i in range(8)])
SETS.insert(0, "dataset", [f"set {i}" for i in range(28)])


def run(path, table, *words):
    """Exit code, standard output and standard error of the command on a table."""
    file = path / "scores.csv"
    if isinstance(table, str):
        file.write_text(table)
    else:
        table.to_csv(file, index=False)
    found = CliRunner().invoke(main, ["compare", str(file), *words])
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.stdout, found.stderr


def test_items_of_two_models_have_mcnemars_test_and_an_interval(tmp_path):
    code, out, err = run(tmp_path, ITEMS.drop(columns="doc"))
    assert (code, err) == (0, "")
    assert "2 learners on 120 items" in out and "mid-p McNemar" in out and "Power: 120 items" in out
    assert len(out.splitlines()) <= 12


def test_long_form_and_wide_form_and_python_have_the_same_answer(tmp_path):
    texts = [json.loads(run(tmp_path, table, "--json", "--clusters", "doc")[1])["pairs"] for table in (LONG, ITEMS, LONG[::-1])]
    turned = texts.pop()[0]
    assert texts[0] == texts[1] and turned["p_value"] == texts[0][0]["p_value"] and turned["estimate"] == -texts[0][0]["estimate"]
    pair = compare(LONG, clusters="doc").pairs[0]
    assert pair.p_value == texts[0][0]["p_value"] and pair.low == texts[0][0]["low"]


def test_folds_have_the_corrected_t_of_each_pair(tmp_path):
    found = json.loads(run(tmp_path, FOLDS, "--json", "--n-train", "80", "--n-test", "20")[1])
    assert found["test"] == "Nadeau-Bengio corrected t" and found["design"]["n_folds"] == 5
    wide = FOLDS.pivot(index=["seed", "fold"], columns="model", values="accuracy")
    expected = nadeau_bengio((wide["A"] - wide["B"]).to_numpy(), 80, 20).p_value
    assert found["pairs"][0]["p_value"] == pytest.approx(expected, rel=1e-9)


def test_many_learners_on_many_data_sets_come_as_a_page_with_pictures(tmp_path):
    code, out, _ = run(tmp_path, SETS, "--better", "higher", "--html", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text()
    assert code == 0 and "Friedman" in out and len(out.splitlines()) <= 12
    assert page.count("<svg") == 5 and "http-equiv" not in page and "Comparison matrix" in page
    assert run(tmp_path, SETS, "--better", "higher", "--html", str(tmp_path / "again.html"))[0] == 0
    assert (tmp_path / "again.html").read_text() == page
    assert len(run(tmp_path, SETS, "--better", "higher", "--verbose")[1].splitlines()) > 28


def test_a_file_from_a_pipe_is_read(tmp_path):
    found = CliRunner().invoke(main, ["compare", "-"], input=LONG.to_csv(index=False))
    assert found.exit_code == 0 and "120 items" in found.stdout


def text_of(table, **columns):
    return table.assign(**columns)


PERCENT = FOLDS.assign(accuracy=[f"{100 * a:.1f}%" if i % 2 else str(a) for i, a in enumerate(FOLDS.accuracy)])
OTHER = LONG.assign(item=np.where(LONG.model == "B", LONG["item"] + "x", LONG["item"]))
GAPS = LONG.assign(item=LONG["item"].where(np.arange(len(LONG)) != 3))
METRICS = pd.concat([FOLDS.rename(columns={"accuracy": "value"}).assign(metric=m) for m in ("accuracy", "f1")])
ROUNDS = pd.concat([LONG.assign(again=1), LONG.assign(again=2)])
MISTAKES = {  # table, options, part of the message, options that mend it
    "no learner column": (LONG.drop(columns="model").drop_duplicates("item"), [], "no column names the learner", None),
    "an unknown name of learners": (
        LONG.rename(columns={"model": "who"}), [], "say which column does: --learner who", ["--learner", "who"],
    ),
    "one learner": (LONG[LONG.model == "A"], [], "names one learner, 'A'", None),
    "copies of rows": (pd.concat([LONG, LONG[:5]]), [], "they are copies: keep one of each", None),
    "repetitions without a name": (ROUNDS, [], "--repeat again", ["--repeat", "again"]),
    "percents and shares": (PERCENT, [], "some scores are shares and others percents", None),
    "a learner without scores": (FOLDS.assign(accuracy=FOLDS.accuracy.where(FOLDS.model != "A")), [], "'A' has no score", None),
    "items with other names": (OTHER, [], "no row has the scores of all learners", None),
    "hold-outs without sizes": (
        FOLDS[FOLDS.fold == 0].drop(columns="fold"), [], "--n-train ROWS --n-test ROWS", ["--n-train", "80", "--n-test", "20"],
    ),
    "one size": (FOLDS, ["--n-train", "80"], "--n-test ROWS", None),
    "a size below 0": (FOLDS, ["--n-train", "-80", "--n-test", "20"], "--n-train=-80 must be a positive number", None),
    "an unknown column": (LONG, ["--item", "itm"], "did you mean --item item?", ["--item", "item"]),
    "an unknown score": (LONG, ["--score", "accuracy"], "did you mean --score correct?", ["--score", "correct"]),
    "scores of text": (FOLDS.assign(accuracy="good"), [], "column 'accuracy' holds 'good', which is not a score", None),
    "a column of text for the score": (
        FOLDS.assign(grade="good"), ["--score", "grade"], "--score accuracy", ["--score", "accuracy"],
    ),
    "no column of folds": (
        FOLDS.pivot(index=["seed", "fold"], columns="model", values="accuracy"), ["--metric", "accuracy"], "--n-splits FOLDS",
        ["--metric", "accuracy", "--n-splits", "5"],
    ),
    "a cut that does not fit": (
        FOLDS, ["--n-splits", "4"], "--n-splits 4 does not fit the 15 scores of every learner", ["--n-splits", "5"],
    ),
    "no direction": (
        FOLDS.rename(columns={"accuracy": "quality"}), [], "say --better higher or --better lower",
        ["--score", "quality", "--better", "higher"],
    ),
    "a wrong direction": (FOLDS, ["--better", "up"], "--better up must be one of higher, lower", ["--better", "higher"]),
    "two scores": (FOLDS.assign(f1=0.3), [], "--score accuracy", ["--score", "accuracy"]),
    "two columns of learners": (FOLDS.assign(method="x"), [], "--learner model", ["--learner", "model"]),
    "several metrics": (METRICS, [], "choose one: --metric accuracy", ["--metric", "accuracy"]),
    "an unknown unit": (FOLDS, ["--unit", "row"], "--unit row must be one of item, fold, dataset", ["--unit", "fold"]),
    "no such unit": (FOLDS, ["--unit", "dataset"], "--unit dataset needs a column", None),
    "clusters of folds": (FOLDS.assign(site=1), ["--clusters", "site"], "--clusters site is for items", []),
    "an item in two clusters": (
        LONG.assign(doc=np.arange(len(LONG)) % 7), ["--clusters", "doc"], "in 2 clusters of 'doc'", None,
    ),
    "one cluster": (LONG.assign(site="x"), ["--clusters", "site"], "has one cluster", []),
    "infinite scores": (FOLDS.assign(accuracy=np.where(FOLDS.fold == 2, np.inf, 0.5)), [], "infinite scores", None),
    "training scores": (
        FOLDS.drop(columns="fold").assign(split=np.where(FOLDS.fold % 2, "train", "test")), [], "only scores of test rows", None,
    ),
    "rows without a name": (
        pd.DataFrame({"A": [0.5, 0.25, 0.75], "B": [0.5, 0.5, 1.0]}), ["--better", "higher"], "--unit item",
        ["--unit", "item", "--better", "higher"],
    ),
    "items without a value": (GAPS, [], "1 row has no value in column 'item'", None),
    "one column twice": (LONG, ["--item", "item", "--learner", "item"], "item and learner are both column 'item'", None),
    "no rows": ("item,model,score\n", [], "no rows", None),
    "one row": (ITEMS[:1], [], "needs two or more items", None),
    "nothing that pairs": (LONG.drop(columns=["item", "doc"]), [], "no column says which rows", None),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_a_remedy_that_works(tmp_path, mistake):
    table, words, message, mended = MISTAKES[mistake]
    code, out, err = run(tmp_path, table, *words)
    said = [line for line in err.splitlines() if line.startswith("foldshift: ")]
    assert code == MISTAKE and out == "" and len(said) == 1 and message in said[0], (code, out, err)
    assert "Traceback" not in err
    if mended is not None:
        assert run(tmp_path, table, *mended)[0] == 0


def test_missing_scores_are_left_out_for_all_and_said(tmp_path):
    table = FOLDS.assign(accuracy=FOLDS.accuracy.where(np.arange(len(FOLDS)) != 4))
    code, out, _ = run(tmp_path, table, "--verbose")
    assert code == 0 and "1 of 15 rows is left out for all learners" in " ".join(out.split()) and "(B lacks 1)" in out
