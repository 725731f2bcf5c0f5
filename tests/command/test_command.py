"""The command `foldshift`: what it prints, and what it says of mistakes."""

import contextlib
import gzip
import io
import json
import lzma
import os
import pty
import re
import signal
import stat
import subprocess
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from foldshift.command.main import FOUND, MISTAKE, STOPPED, USAGE, main

RNG = np.random.default_rng(2)
N = 90


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of a user, good and bad."""
    folder = tmp_path_factory.mktemp("tables")
    X = pd.DataFrame(RNG.normal(size=(N, 3)).round(4), columns=["a", "b", "c"])
    classes = X.assign(ort=RNG.choice(["Köln", "Ulm"], N), kind=np.where(X.a + RNG.normal(size=N) > 0, "ja", "nein"))
    classes.to_csv(folder / "classes.csv", index=False)
    numbers = X.assign(
        price=(3 * X.b + RNG.normal(size=N)).round(3), day=pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d")
    )
    numbers[["day", "a", "b", "c", "price"]].to_csv(folder / "numbers.csv", index=False)
    classes.assign(person=np.arange(N) // 3).to_csv(folder / "grouped.csv", index=False)
    X.assign(b=X.b + 3).to_csv(folder / "moved.csv", index=False)
    X.to_csv(folder / "inputs.csv", index=False)
    classes[:5].to_csv(folder / "short.csv", index=False)
    classes.assign(kind="ja").to_csv(folder / "one_class.csv", index=False)
    numbers.assign(price=np.where(np.arange(N) < 40, np.nan, numbers.price)).to_csv(folder / "gaps.csv", index=False)
    classes[["kind"]].to_csv(folder / "only_target.csv", index=False)
    numbers[["day", "a"]].assign(word=[f"w{i}" for i in range(N)]).to_csv(folder / "words.csv", index=False)
    X.sort_values("b").assign(price=(X.a + RNG.normal(size=N)).round(3)).to_csv(folder / "by_b.csv", index=False)
    (folder / "empty.csv").write_text("")
    (folder / "head.csv").write_text("a,b,kind\n")
    (folder / "ragged.csv").write_text("a,b,kind\n1,2,x\n1,2\n")
    (folder / "page.csv").write_text("<!DOCTYPE html><html><body>404</body></html>")
    (folder / "bytes.csv").write_bytes(bytes(range(256)) * 20)
    (folder / "fake.xlsx").write_text("a,b\n1,2\n")
    (folder / "fake.parquet").write_text("a,b\n1,2\n")
    return folder


def run(folder, *words, stdin=None):
    """Exit code, standard output, standard error."""
    there = os.getcwd()
    os.chdir(folder)
    try:
        found = CliRunner().invoke(main, list(words), input=stdin)
    finally:
        os.chdir(there)
    return found


QUICK = ("--effort", "quick", "--quiet")
LOGISTIC = ("--learner", "LogisticRegression")


def test_advice_for_classes(folder):
    found = run(folder, "advise", "classes.csv", "-t", "kind", *LOGISTIC, *QUICK, "--html", "page.html")
    assert found.exit_code == 0, found.output
    assert re.match("Split  Cut into 10 folds stratified by class", found.stdout), found.stdout
    assert "LogisticRegression has an error rate" in found.stdout
    assert "Page: page.html" in found.stderr and "<svg" in (folder / "page.html").read_text(encoding="utf-8")


def test_results_are_on_standard_output_and_json_can_be_read(folder):
    found = run(folder, "advise", "numbers.csv", "-t", "price", "-l", "sklearn.linear_model.Ridge", *QUICK, "--json")
    figures = json.loads(found.stdout)
    assert figures["learner"] == "Ridge" and figures["data"]["task"] == "regression"
    assert [fault["code"] for fault in figures["faults"]] == ["time"]


def test_check_says_by_the_exit_code_what_was_found(folder):
    words = ("advise", "numbers.csv", "-t", "price", "-l", "Ridge", *QUICK)
    assert run(folder, *words).exit_code == 0
    assert run(folder, *words, "--check").exit_code == FOUND


def test_check_passes_over_a_shift_of_the_default_split_and_not_of_ones_own(folder):
    words = ("advise", "by_b.csv", "-t", "price", "-l", "Ridge", *QUICK, "--check")
    default, own = run(folder, *words), run(folder, *words, "--cv", "5")
    assert default.exit_code == 0 and "Scikit-learn's default (five folds, not shuffled) is shifted: b differs" in default.stdout
    assert own.exit_code == FOUND and "Your split (cv=5) is shifted: b differs" in own.stdout


def test_groups_in_the_names_of_rows_that_are_no_inputs(folder):
    persons, noise = np.repeat(np.arange(30), 4), np.random.default_rng(1).normal(size=(4, 120))
    names = [f"P{person:02d}_{i % 4}" for i, person in enumerate(persons)]
    table = pd.DataFrame({"sample": names, "a": noise[0, persons] + 0.3 * noise[1], "b": noise[2], "price": noise[3, persons]})
    table.loc[7, "price"] = np.nan
    table.sample(frac=1, random_state=0).to_csv(folder / "named.csv", index=False)
    found = run(folder, "advise", "named.csv", "-t", "price", "-l", "DecisionTreeRegressor", *QUICK, "--json")
    figures = json.loads(found.stdout)
    assert "like_groups" in [fault["code"] for fault in figures["faults"]] and "'sample' begin alike" in found.stdout
    assert figures["both"]["kind"] == "groups" and "row_names" in figures["code"]


def test_groups_of_a_column(folder):
    found = run(
        folder, "advise", "grouped.csv", "-t", "kind", "-g", "person", *LOGISTIC, "--compare", "GaussianNB", *QUICK, "--json"
    )
    figures = json.loads(found.stdout)
    assert figures["data"]["n_groups"] == N // 3 and "person" not in [column["name"] for column in figures["data"]["columns"]]
    assert figures["differences"][0]["name"] == "LogisticRegression less GaussianNB"


def test_times_of_a_column_are_cut_forward_and_are_no_input(folder):
    words = ("advise", "numbers.csv", "-t", "price", "-l", "LinearRegression", *QUICK)
    figures = json.loads(run(folder, *words, "--time-on", "day", "--json").stdout)
    assert figures["both"]["kind"] == "time" and "ForwardBlockKFold" in figures["cv"]
    assert "day" not in [column["name"] for column in figures["data"]["columns"]]
    told = run(folder, *words, "--time-on", "dya")
    assert told.exit_code == MISTAKE and "--time-on dya: unknown column 'dya'; did you mean day?" in told.stderr
    assert "is the target" in run(folder, *words, "--subset-on", "price").stderr


def test_a_finding_that_is_known_is_muted_with_a_reason(folder):
    words = ("advise", "numbers.csv", "-t", "price", "-l", "LinearRegression", *QUICK, "--check")
    assert run(folder, *words).exit_code == FOUND
    assert run(folder, *words, "--mute", "T1=days are exchangeable").exit_code == 0
    told = run(folder, *words, "--mute", "T1")
    assert told.exit_code == MISTAKE and "give a code and the reason" in told.stderr


def test_twelve_lines_are_printed_and_everything_with_verbose(folder):
    words = ("advise", "classes.csv", "-t", "kind", *LOGISTIC, *QUICK)
    short, long = run(folder, *words).stdout, run(folder, *words, "--verbose").stdout
    assert len(short.splitlines()) <= 12 and "For the methods section:" not in short
    assert "For the methods section:" in long and len(long) > 2 * len(short)


def test_a_table_from_standard_input(folder):
    text = (folder / "classes.csv").read_text(encoding="utf-8")
    found = run(folder, "folds", "-", "-t", "kind", "-k", "3", stdin=text)
    assert found.exit_code == 0 and found.stdout.startswith("row,seed_0\n1,")


def zipped(**files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{name}.csv", content)
    return made.getvalue()


def test_a_packed_table_is_read_like_the_table(folder):
    text = (folder / "classes.csv").read_bytes()
    book, columns = io.BytesIO(), io.BytesIO()
    pd.read_csv(io.BytesIO(text)).to_excel(book, index=False)
    pd.read_csv(io.BytesIO(text)).to_parquet(columns)
    wanted = run(folder, "folds", "classes.csv", "-t", "kind").stdout
    packed = {"gz": gzip.compress(text), "xz": lzma.compress(text), "zip": zipped(classes=text)}
    for ending, content in packed.items():
        (folder / f"classes.csv.{ending}").write_bytes(content)
        assert run(folder, "folds", f"classes.csv.{ending}", "-t", "kind").stdout == wanted
    # What comes through a pipe has no name: its first bytes tell.
    for content in (*packed.values(), book.getvalue(), columns.getvalue()):
        assert run(folder, "folds", "-", "-t", "kind", stdin=content).stdout == wanted


def test_an_archive_of_several_tables_is_refused_in_words_of_the_command(folder):
    (folder / "two.zip").write_bytes(zipped(a="x,y\n1,2\n", b="x,y\n1,2\n"))
    found = run(folder, "folds", "two.zip")
    assert found.exit_code == MISTAKE
    assert found.stderr == "foldshift: the archive holds 2 files (a.csv, b.csv); name one, such as --member a.csv\n"
    assert run(folder, "folds", "two.zip", "--member", "a.csv").exit_code == MISTAKE


def test_what_was_left_out_is_taken_in_by_the_option_that_is_named(folder):
    found = run(folder, "advise", "numbers.csv", "-t", "price", "--json", "-l", "LinearRegression", *QUICK)
    assert "left out of the inputs: day (dates, year-month-day); --keep day takes them in." in found.stderr
    assert json.loads(found.stdout)["data"]["n_columns"] == 3
    found = run(folder, "advise", "numbers.csv", "-t", "price", "--json", "-l", "LinearRegression", "--keep", "day", *QUICK)
    assert json.loads(found.stdout)["data"]["n_columns"] == 4


def test_folds_are_those_of_the_library(folder):
    from foldshift.partition import make_folds

    found = run(folder, "folds", "numbers.csv", "-t", "price", "-p", "TSCV", "-k", "5", "-s", "4")
    table = pd.read_csv(__import__("io").StringIO(found.stdout))
    price = pd.read_csv(folder / "numbers.csv").price
    assert (table.drop(columns="row").T.to_numpy() == make_folds("TSCV", None, price, 5, range(4))).all()


def test_folds_leave_out_rows_without_a_target_and_say_which_rows_are_which(folder):
    found = run(folder, "folds", "gaps.csv", "-t", "price")
    assert "Note: 40 rows without a value of 'price' were left out." in found.stderr
    assert "Note: left out of the inputs: day (dates, year-month-day); --keep day takes them in." in found.stderr
    table = pd.read_csv(__import__("io").StringIO(found.stdout))
    assert table.row.tolist() == list(range(41, N + 1))


def test_drift(folder):
    found = run(folder, "drift", "inputs.csv", "moved.csv", "--check")
    assert found.exit_code == FOUND and "b" in found.stdout
    same = run(folder, "drift", "inputs.csv", "inputs.csv", "--check")
    assert same.exit_code == 0 and "both tables hold the same rows" in same.stderr and "same rows" not in found.stderr
    assert json.loads(run(folder, "drift", "inputs.csv", "moved.csv", "--json").stdout)


def test_drift_says_what_it_leaves_out_and_takes_it_in_again(folder):
    table = pd.read_csv(folder / "inputs.csv")
    days = pd.date_range("2020-01-01", periods=2 * N).strftime("%Y-%m-%d")
    for name, rows in (("first.csv", slice(0, N)), ("second.csv", slice(N, 2 * N))):
        table.assign(row_id=np.arange(2 * N)[rows], day=days[rows])[["row_id", "day", "a", "b", "c"]].to_csv(
            folder / name, index=False
        )
    found = run(folder, "drift", "first.csv", "second.csv")
    assert found.exit_code == 0 and "3 features" in found.stdout and "row_id" not in found.stdout
    assert re.search(
        r"Note: left out: row_id \(.*\); day \(dates.*\); to compare them: --keep row_id --keep day\.\n", found.stderr
    )
    found = run(folder, "drift", "first.csv", "second.csv", "--keep", "row_id", "--keep", "day", "--check")
    assert found.exit_code == FOUND and "5 features" in found.stdout and "left out" not in found.output
    found = run(folder, "drift", "first.csv", "second.csv", "--drop", "row_id", "--drop", "day")
    assert found.exit_code == 0 and "left out" not in found.output


def test_data_sets_and_studies(folder):
    assert "concrete" in run(folder, "data", "--task", "regression").stdout
    assert "1030" in run(folder, "data", "concrete").stdout
    assert json.loads(run(folder, "data", "iris", "--json").stdout)["n_rows"] == 150
    assert "saez_2022" in run(folder, "studies").stdout and "TSCV" in run(folder, "studies", "saez_2022").stdout
    assert {row["id"] for row in json.loads(run(folder, "studies", "--json").stdout)} >= {"saez_2022", "foldshift_2026"}


@pytest.mark.parametrize("command", ["advise", "drift", "folds", "data", "studies"])
def test_help_has_examples_and_exit_codes(folder, command):
    text = run(folder, command, "--help").stdout
    assert "Examples:" in text and f"foldshift {command}" in text and "Exit codes:" in text


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "foldshift", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("foldshift, version ")


A = ("advise", "classes.csv", "-t", "kind")
MISTAKES = {
    "no file": (("advise", "none.csv"), MISTAKE, "there is no file none.csv"),
    "a folder": (("advise", "."), MISTAKE, "is a folder"),
    "empty": (("advise", "empty.csv"), MISTAKE, "empty"),
    "header only": (("advise", "head.csv", "-t", "kind"), MISTAKE, "head.csv"),
    "ragged": (("advise", "ragged.csv", "-t", "kind"), MISTAKE, "line 3"),
    "a web page": (("advise", "page.csv"), MISTAKE, "HTML"),
    "bytes": (("advise", "bytes.csv"), MISTAKE, "bytes.csv"),
    "no Excel": (("advise", "fake.xlsx"), MISTAKE, "fake.xlsx"),
    "no parquet": (("advise", "fake.parquet"), MISTAKE, "fake.parquet"),
    "no such target": (("advise", "classes.csv", "-t", "kid"), MISTAKE, "kind"),
    "no such group": ((*A, "-g", "person"), MISTAKE, "person"),
    "target as group": ((*A, "-g", "kind"), MISTAKE, "kind"),
    "drop of nothing": ((*A, "--drop", "zzz"), MISTAKE, "zzz"),
    "drop of the target": ((*A, "--drop", "kind"), MISTAKE, "kind"),
    "few rows": (("advise", "short.csv", "-t", "kind"), MISTAKE, "at least 20"),
    "one class": (("advise", "one_class.csv", "-t", "kind"), MISTAKE, "kind"),
    "only the target": (("advise", "only_target.csv", "-t", "kind"), MISTAKE, "kind"),
    "only names of rows": (
        ("advise", "words.csv", "-t", "a"),
        MISTAKE,
        "(dates, year-month-day); word (90 labels in 90 rows); --keep day",
    ),
    "dates as target": (("advise", "words.csv", "-t", "day", "--keep", "word"), MISTAKE, "'day' names rows, not classes"),
    "a quantity as classes": (
        ("advise", "numbers.csv", "-t", "price", "--task", "classification"),
        MISTAKE,
        "take --task regression, or --types price=nominal if they are labels",
    ),
    "texts for numbers": ((*A, "--task", "regression"), MISTAKE, "kind"),
    "no such learner": ((*A, "-l", "LogistcRegression"), MISTAKE, "LogisticRegression"),
    "no such module": ((*A, "-l", "no.such.Thing"), MISTAKE, "no.such.Thing"),
    "no learner": ((*A, "-l", "os.path.join"), MISTAKE, "os.path.join"),
    "no class": ((*A, "-l", "sklearn.metrics.accuracy_score"), MISTAKE, "accuracy_score"),
    "regressor": ((*A, "-l", "sklearn.linear_model.Ridge", *QUICK), MISTAKE, "classifier"),
    "no such compare": ((*A, "--compare", "Forest"), MISTAKE, "Forest"),
    "scoring": ((*A, "--scoring", "acc", *QUICK), MISTAKE, "accuracy"),
    "scoring of numbers": ((*A, "--scoring", "r2", *QUICK), MISTAKE, "for regression"),
    "more folds than rows": ((*A, "--cv", "91", *LOGISTIC, *QUICK), MISTAKE, "between 2 and 90"),
    "one fold": ((*A, "--cv", "1"), USAGE, "cv"),
    "folds in words": ((*A, "--cv", "five"), USAGE, "five"),
    "budget": ((*A, "--budget", "soon"), MISTAKE, "soon"),
    "no budget": ((*A, "--budget", "0"), MISTAKE, "at least 5 s"),
    "rope": ((*A, "--rope", "-1"), USAGE, "rope"),
    "seed": ((*A, "--random-state", "-1"), USAGE, "random-state"),
    "task": ((*A, "--task", "ranking"), USAGE, "ranking"),
    "page in no folder": ((*A, "--html", "no/page.html"), MISTAKE, "no folder"),
    "page is a folder": ((*A, "--html", "."), USAGE, "directory"),
    "no such option": ((*A, "--lerner", "x"), USAGE, "--learner"),
    "no such command": (("advice", "classes.csv"), USAGE, "advi"),
    "no argument": (("advise",), USAGE, "FILE"),
    "too many": (("advise", "classes.csv", "numbers.csv"), USAGE, "numbers.csv"),
    "drift of one": (("drift", "inputs.csv"), USAGE, "TEST"),
    "drift of other columns": (("drift", "inputs.csv", "classes.csv"), MISTAKE, "columns"),
    "drift alpha": (("drift", "inputs.csv", "moved.csv", "--alpha", "5"), USAGE, "alpha"),
    "drift drop": (("drift", "inputs.csv", "moved.csv", "--drop", "x"), MISTAKE, "'x'"),
    "partitioner": (("folds", "numbers.csv", "-t", "price", "-p", "TSVC"), MISTAKE, "TSCV"),
    "classes for numbers": (("folds", "numbers.csv", "-t", "price", "-p", "SCV"), MISTAKE, "SCV"),
    "folds beyond rows": (("folds", "numbers.csv", "-t", "price", "-k", "500"), MISTAKE, "500"),
    "groups it cannot keep": (("folds", "grouped.csv", "-t", "kind", "-g", "person", "-p", "SCV"), MISTAKE, "CB-SCV"),
    "no such data set": (("data", "concret"), MISTAKE, "concrete"),
    "no such study": (("studies", "saez"), MISTAKE, "saez_2022"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_has_its_line_and_its_exit_code(folder, name):
    words, code, says = MISTAKES[name]
    found = run(folder, *words)
    assert found.exit_code == code, found.output
    assert found.exception is None or isinstance(found.exception, SystemExit)
    assert says in found.stderr and "Traceback" not in found.output
    if code == MISTAKE:
        last = found.stderr.strip().splitlines()[-1]
        assert last.startswith("foldshift: ") and found.stdout == ""


# ---- where the answer goes ----

BAD = "\x1b[2J\x9b31m<script>\u202e"


def process(folder, *words, **keywords):
    """The command in a process of its own."""
    environment = os.environ | {"PYTHONUNBUFFERED": ""}  # else what a pipe does not take is lost without an error
    keywords = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": folder, "env": environment} | keywords
    return subprocess.Popen([sys.executable, "-m", "foldshift", *words], **keywords)


ADVISE = ("advise", "numbers.csv", "-t", "price", "-l", "LinearRegression", "--effort", "quick", "-q")


@pytest.mark.parametrize("target", ["/dev/full", "missing/page.html"])
def test_a_page_that_cannot_be_written_loses_no_answer_and_the_line_names_it(folder, target):
    done = run(folder, *ADVISE, "--html", target)
    assert done.exit_code == MISTAKE and target.removesuffix("/page.html") in done.stderr.splitlines()[-1]
    # A folder that is missing is seen before time is spent.
    assert (len(done.stdout) > 500) == (target == "/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_full_disk_behind_standard_output_is_a_line_and_the_page_is_written(folder):
    with open("/dev/full", "w") as full:
        done = process(folder, *ADVISE, "--html", "kept.html", stdout=full)
        err = done.communicate(timeout=120)[1]
    assert done.returncode == MISTAKE and "No space left on device" in err and "Traceback" not in err
    assert (folder / "kept.html").read_text(encoding="utf-8").startswith("<!")


def test_a_reader_that_has_had_enough_gets_no_message(folder):
    done = process(folder, "folds", "classes.csv", "-t", "kind", "--seeds", "900")
    done.stdout.read(10)
    done.stdout.close()
    assert "foldshift:" not in done.stderr.read()
    assert done.wait(60) == 1


def test_names_of_the_user_reach_no_terminal_as_they_are(folder):
    frame = pd.read_csv(folder / "numbers.csv").assign(**{f"t{BAD}": "x"})
    frame = frame.rename(columns={"a": f"a{BAD}", "price": f"price{BAD}"})
    frame.to_csv(folder / f"bad{BAD.replace('<', '').replace('>', '')}.csv", index=False)
    name = next(one.name for one in folder.iterdir() if one.name.startswith("bad"))
    for words in (
        ("data", name),
        ("data", name, "--json"),
        ("folds", name, "-t", "nothing"),
        ("folds", name, "-t", f"price{BAD}"),
        ("drift", name, name),
        ("drift", name, name, "--json"),
        ("data", f"no{BAD}.csv"),
        ("advise", name, "-t", f"price{BAD}", "-l", f"no{BAD}"),
    ):
        done = run(folder, *words)
        assert done.stdout + done.stderr and all(one.isprintable() or one in "\n\t" for one in done.stdout + done.stderr), words


def test_ctrl_c_prints_what_is_known(folder):
    terminal, end = pty.openpty()  # a terminal gets every step at once, a pipe a line now and then
    done = process(folder, *ADVISE[:-3], "--effort", "thorough", stderr=end)
    os.close(end)
    err = ""
    while "First verdict" not in err:
        err += os.read(terminal, 1000).decode()
    done.send_signal(signal.SIGINT)
    out, _ = done.communicate(timeout=120)
    with contextlib.suppress(OSError):  # what Linux raises at the end of a terminal
        while more := os.read(terminal, 1000):
            err += more.decode()
    os.close(terminal)
    assert done.returncode == STOPPED and "Traceback" not in err and "stopped by Ctrl-C; this is what was known" in err
    assert out.startswith("First verdict, 10 folds once: LinearRegression has a root mean squared error of ")


def test_ctrl_c_before_there_is_an_answer_is_a_line(folder):
    done = process(folder, "folds", "-", "-t", "kind", stdin=subprocess.PIPE)
    time.sleep(2)
    done.send_signal(signal.SIGINT)
    out, err = done.communicate(timeout=60)
    assert (
        done.returncode == STOPPED
        and out == ""
        and err.strip().startswith("foldshift: stopped by Ctrl-C")
        and "\n" not in err.strip()
    )


def test_a_missing_package_is_a_line_that_says_how_to_install_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "foldshift.command.study_list", None)
    done = run(folder, "studies")
    assert done.exit_code == MISTAKE and "-m pip install" in done.stderr and "Traceback" not in done.stderr
