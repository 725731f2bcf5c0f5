"""The command `foldshift check`: printed scores against the cut and the sizes that are stated."""

import json

import pytest
from click.testing import CliRunner

from foldshift.command.main import MISTAKE, main


def run(path, text, *words):
    """Exit code, standard output and standard error of the command on a table."""
    (path / "scores.csv").write_text(text)
    found = CliRunner().invoke(main, ["check", str(path / "scores.csv"), *words])
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.stdout, found.stderr


def test_every_row_is_checked_with_its_own_sizes(tmp_path):
    text = "dataset,n,k,accuracy\niris,150,10,0.9133\nother,150,10,0.9150\nmore,1500,10,0.9147\n"
    code, out, err = run(tmp_path, text)
    assert code == 0 and "3 rows of scores: 2 possible, 1 impossible" in out and "other: " in out and "0.9133333" in out
    assert "--decimals 5" in err
    rows = json.loads(run(tmp_path, text, "--json")[1])["rows"]
    assert [row["verdict"] for row in rows] == ["possible", "impossible", "possible"]


def test_means_over_data_sets_are_not_checked(tmp_path):
    text = "dataset,accuracy\niris,0.9133\nwine,0.9267\nAverage,0.9200\nstd,0.0095\n"
    code, out, err = run(tmp_path, text, "--n", "150", "--k", "10", "--decimals", "4")
    assert code == 0 and "2 rows of scores: 2 possible." in out and "left out" in err, (out, err)


def test_columns_of_learners_and_percents(tmp_path):
    code, out, err = run(tmp_path, "dataset,A,B\niris,91.33,91.5\n", "--metric", "accuracy", "--n", "150", "--k", "10")
    assert code == 0 and "1 possible, 1 impossible" in out and "iris, B" in out and "percents" in err


def test_scores_of_folds_are_checked_fold_by_fold(tmp_path):
    out = run(tmp_path, "fold,accuracy\n0,0.9333\n1,0.93\n", "--n", "150", "--k", "10", "--decimals", "4")[1]
    assert "1 possible, 1 impossible" in out and "As scores of one fold" in out


def test_all_scores_of_a_fold_come_from_one_confusion_matrix(tmp_path):
    """The second fold has 9 of 12 right, and no such matrix has an F1 of .9; the third has no positive prediction."""
    text = "fold,n_positive,n_negative,accuracy,precision,f1\n0,4,8,0.833,0.75,0.75\n1,4,8,0.750,0.75,0.9\n2,4,8,0.667,0,0\n"
    code, out, err = run(tmp_path, text + "std,4,8,0.01,0.02,0.5\n", "--decimals", "3")
    assert code == 0 and "2 possible, 1 impossible" in out and "  1: " in out, (out, err)
    assert "rows std of column 'fold' are left out" in err and "sizes for the rows of that fold" in err
    sizes = run(tmp_path, "fold,n_test,accuracy\n0,12,0.833\n1,13,0.833\n", "--decimals", "3")[1]
    assert "1 possible, 1 impossible" in sizes


def test_the_row_of_means_is_checked_as_a_mean_over_folds(tmp_path):
    text = "fold,accuracy,f1,mcc\n0,0.8333,0.75,0.625\n1,0.75,0.5714,0.4082\nmean,0.7917,0.6607,0.5166\n"
    out = run(tmp_path, text, "--k", "2", "--classes", "16", "8", "--decimals", "4")[1]
    assert "3 rows of scores: 3 possible" in out, out
    wrong = run(tmp_path, text.replace("0.7917,0.6607", "0.7917,0.8333"), "--k", "2", "--classes", "16", "8", "--decimals", "4")[
        1
    ]
    assert "2 possible, 1 impossible" in wrong and "no counts give them together" in wrong, wrong


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model,Mean accuracy (%),std accuracy\nA,91.33,1.2\nB,91.5,1.3\n", []),
        ("model,test_acc,train_acc\nA,0.9133,0.99\nB,0.915,0.98\n", []),
        ("model,accuracy\nA,91.33 ± 1.2\nB,91.50 ± 0.8\n", []),
        ("model,accuracy\nA,91.33 ± 1.2 %\nB,91.50 ± 0.8 %\n", []),
        ("dataset,#instances,first,std\nA,150,91.33,1.5\nB,150,91.5,1.2\n", ["--metric", "accuracy"]),
    ],
)
def test_only_scores_are_checked_in_tables_as_people_have_them(tmp_path, text, words):
    code, out, err = run(tmp_path, text, "--n", "150", "--k", "10", "--decimals", "2" if "0.9133" not in text else "4", *words)
    assert code == 0 and "2 rows of scores: 1 possible, 1 impossible" in out and "\n  B" in out, (out, err)


def test_both_classes_are_two_words(tmp_path):
    code, out, _ = run(tmp_path, "learner,f1,recall\na,0.8,0.5\n", "--classes", "30", "70", "--decimals", "3")
    assert code == 0 and "1 row of scores" in out


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("a,b\n0.9,0.8\n", ["--n", "10"], "--metric accuracy"),
        ("learner,accuracy\na,0.9\n", [], "--n ROWS or --classes NEGATIVE POSITIVE"),
        ("learner,f1\na,0.9\n", ["--n", "10"], "--classes NEGATIVE POSITIVE"),
        ("learner,accuracy\na,high\nb,low\n", ["--n", "10"], "holds 'high', which is not a score"),
        ("learner,accuracy\na,0.9\n", ["--n", "10", "--k", "20"], "--k 20 must be a whole number from 2 to 10"),
        ("learner,accuracy\na,0.9\n", ["--n", "10", "--metric", "auc"], "unknown metric 'auc'"),
        ("learner,accuracy\na,0.9\n", ["--n", "10", "--of", "row"], "--of row must be one of"),
        (
            "learner,accuracy (%),F1-score\na,91.33,0.9\n",
            ["--n", "10"],
            "'accuracy (%)' holds percents and column 'F1-score' shares",
        ),
        ("learner,accuracy,acc\na,0.9,0.9\n", ["--n", "10"], "both hold the accuracy; leave one out: --drop acc"),
        ("learner,accuracy\na,190\n", ["--n", "10"], "from 0 to 1"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, text, words, message):
    code, out, err = run(tmp_path, text, *words)
    said = [line for line in err.splitlines() if line.startswith("foldshift: ")]
    assert code == MISTAKE and out == "" and len(said) == 1 and message in said[0], (out, err)
