"""Mistakes at the command line: own words that name the thing, and options that work where they are printed."""

import importlib
import re
import shlex

import numpy as np
import pytest
from click.testing import CliRunner

from foldshift.command.main import main
from foldshift.core.errors import FoldshiftError

N = 60
RNG = np.random.default_rng(3)
SIZE = [f"{value:.2f}" for value in RNG.uniform(1, 20, N)]
SIDE = RNG.choice(["north", "south"], N).tolist()
CLASS = RNG.choice(["red", "blue"], N).tolist()
PRICE = [f"{3 * float(size) + noise:.2f}" for size, noise in zip(SIZE, RNG.random(N))]


def rows(*columns, separator=","):
    return "".join(separator.join(map(str, row)) + "\n" for row in zip(*columns))


FILES = {
    "good.csv": "size,side,person,y\n" + rows(SIZE, SIDE, [f"p{i % 12}" for i in range(N)], CLASS),
    "other.csv": "size,side,y\n" + rows(SIZE, SIDE, CLASS),
    "price.csv": "size,side,price\n" + rows(SIZE, SIDE, PRICE),
    "counts.csv": "size,side,n\n" + rows(SIZE, SIDE, RNG.poisson(4, N)),
    "ids.csv": "size,y,id\n" + rows(SIZE, CLASS, range(100, 100 + N)),
    "text.csv": "size,y,comment\n" + rows(SIZE, CLASS, [f"some words of number {i}" for i in range(N)]),
    "only_text.csv": "comment,y\n" + rows([f"some words of number {i}" for i in range(N)], CLASS),
    "bare.csv": rows(SIZE, SIDE, CLASS),
    "gaps.csv": "size,side,y\n" + rows(["" if i % 3 else size for i, size in enumerate(SIZE)], SIDE, CLASS),
    "one_class.csv": "size,side,y\n" + rows(SIZE, SIDE, ["red"] * N),
    "few.csv": "size,side,y\n" + rows(SIZE[:4], SIDE, CLASS),
    "dates.csv": "size,y,when\n" + rows(SIZE, CLASS, [f"2020-01-{1 + i % 28:02}" for i in range(N)]),
    "semi.csv": "size;side;y\n" + rows([size.replace(".", ",") for size in SIZE], SIDE, CLASS, separator=";"),
    "empty.csv": "",
}
REFUSED = {
    "data god.csv": "no file .*god.csv; did you mean good.csv",
    "data zzz": "unknown data set 'zzz'",
    "data .": "is a folder; give a file",
    "data empty.csv": "the file is empty",
    "data https://example.org/x.csv": "is an address, not a file; fetch it first",
    "folds s3://bucket/x.csv": "is an address, not a file",
    "data good.csv -t Y": "target: unknown column 'Y'; did you mean y",
    "data good.csv -t yy": "target: unknown column 'yy'; did you mean y",
    "data good.csv -t 9": "no column 9: the file has 4 columns, 1 to 4 or -1 to -4",
    "data good.csv -t 0": "no column 0: the file has 4 columns",
    "data good.csv -t -9": "no column -9: the file has 4 columns",
    "data good.csv -t 1.5": "unknown column '1.5'. Known: size",
    "data good.csv -t ''": "Option '--target' is empty",
    "data good.csv -t y -t size": "Option '--target' is given twice",
    "data good.csv --sep , --sep ';'": "Option '--sep' is given twice",
    "folds good.csv -k 5 -k 6": "Option '--n-folds' is given twice",
    "data good.csv --sep ''": "Option '--sep' is empty",
    "folds good.csv --space-on size,y -k 5": "Option '--space-on' takes 2 values: --space-on size y",
    "folds good.csv --space-on size -k 5": "Option '--space-on' takes 2 values: --space-on COLUMN COLUMN",
    "data good.csv --drop ''": "Option '--drop' is empty",
    "data good.csv -t y -g y": "the column of groups, 'y', is the target; name another",
    "data good.csv -t y -g nothere": "groups: unknown column 'nothere'",
    "data good.csv -t y --drop y": "the target column 'y' is among the dropped columns; drop another",
    "data good.csv -t y --drop nothere": "drop: unknown column 'nothere'",
    "data good.csv -t y --keep nothere": "keep: unknown column 'nothere'",
    "data good.csv -t y --types nothere=number": "types: unknown column 'nothere'",
    "data good.csv -t y --nominal nothere": "nominal: unknown column 'nothere'",
    "folds good.csv -t y --drop size --drop side --drop person": "no column but 'y'",
    "data good.csv -t y --types size": "--types size is not of the form COLUMN=TYPE",
    "data good.csv -t y --types size=float": "--types size=float: the type must be one of number, nominal, date",
    "data good.csv -t y --types side=number": "'side' holds '(north|south)', where a number is expected.*--types side=nominal",
    "data good.csv -t y --types side=date": "'side' does not hold dates",
    "data good.csv -t y --task regression": "'y' holds '(blue|red)', where a number is expected.*--task classification",
    "data price.csv -t price --task classification": "looks like a quantity.*--task regression",
    "data good.csv --task clasification": "'clasification' is not one of 'classification', 'regression'",
    "data good.csv --sep ';'": "one column.*no semicolons between fields.*--sep ','",
    "data other.csv --sep ' '": "one column.*no blanks between fields.*--sep ','",
    "data semi.csv --sep ,": "separated by commas, as asked; semicolons would.*--sep ';'",
    "data good.csv --sep ab": "--sep ab is not a separator; give one character",
    "data good.csv --decimal ';'": "--decimal ';' must be '.' or ','",
    "data good.csv --thousands x": "--thousands x must be a comma, a point",
    "data good.csv --header 0": "--header 0 must be none, or the number of the line",
    "data good.csv --header x": "--header x must be none, or the number of the line",
    "data good.csv --header 99": "--header 99 is below the last line, 61",
    "data good.csv --header 250": "--header 250 is below the last line, 61",
    "data good.csv --skip-rows 99": "no rows",
    "data good.csv --skip-rows -1": "--skip-rows=-1 is not a number of lines",
    "data good.csv --names a,b": "2 names for 4 columns",
    "data good.csv --names a,b,c,c": "every column needs a name of its own",
    "data good.csv --encoding utf9": "--encoding utf9 is not a known encoding; utf-8",
    "data good.csv --encoding utf-16": "cannot be read as utf-16.*leave the encoding out",
    "data good.csv --member x.csv": "is not a zip archive; leave out --member x.csv",
    "data good.csv --tagret y": "No such option '--tagret'. Did you mean '--target'",
    "data good.csv extra": "unexpected extra argument",
    "data only_text.csv": r"no inputs: .*comment \(free text.*--keep comment",
    "data bare.csv -t price": "unknown column 'price'.*no column names: give a position",
    "dat good.csv": "No such command 'dat'. Did you mean 'data'",
    "folds good.csv -k 1": "1 is not in the range x>=2",
    "folds good.csv -k 100": "--n-folds 100 is more than the 60 rows; take --n-folds 60",
    "folds good.csv -k 5.5": "'5.5' is not a valid integer",
    "folds good.csv -s 0": "0 is not in the range x>=1",
    "folds good.csv -p SVC": "unknown partitioner 'SVC'; did you mean SCV",
    "folds good.csv -p TSCV": "--partitioner TSCV is for regression, and the target 'y' holds classes; take --partitioner SCV",
    "folds price.csv -p SCV": "--partitioner SCV is for classification, and the target 'price' holds a quantity",
    "folds good.csv -p SCV -g person": "does not keep groups together; take --partitioner CB-SCV",
    "folds good.csv -p CB-SCV -g person -k 20": "--n-folds 20 is more than the 12 groups.*take --n-folds 12",
    "folds gaps.csv -p DOB-SCV": "needs inputs without missing values; take --partitioner CB-SCV",
    "folds one_class.csv": "the target 'y' is 'red' in every row",
    "folds few.csv": "the table has 4 rows",
    "folds good.csv --missing red --missing blue": "'y' has no value in any row.*--target person",
    "folds": "Missing argument 'FILE'",
    "drift good.csv": "Missing argument 'TEST'",
    "drift good.csv price.csv": "different columns.*--drop person --drop y --drop price",
    "drift good.csv nothere.csv": "no file .*nothere.csv",
    "drift good.csv good.csv --alpha 5": "5.0 is not in the range 0<x<1",
    "drift good.csv good.csv -t y": "No such option '-t'",
    "drift good.csv good.csv --drop nothere": "unknown column 'nothere'. Known: size",
    "advise good.csv -t y -l SVC2": "unknown learner 'SVC2'; did you mean SVC",
    "advise good.csv -t y -l Ridge": "the target holds classes, and Ridge predicts numbers; take --learner RidgeClassifier",
    "advise price.csv -t price -l LogisticRegression": "LogisticRegression predicts classes; take --learner LinearRegression",
    "advise good.csv -t y --scoring rmse": "--scoring rmse is for regression.*e.g. error",
    "advise price.csv -t price --compare SVC": "take --compare SVR",
    "advise good.csv -t y --scoring f2": "unknown scoring 'f2'",
    "advise good.csv -t y --cv 1": "1 is not in the range x>=2",
    "advise good.csv -t y --budget fast": "--budget fast is not a time; give seconds",
    "advise good.csv -t y --budget 1s": "--budget 1s is 1 s; advice on a table needs at least",
    "advise good.csv -t y --html nowhere/x.html": "there is no folder .*nowhere; make it first",
    "advise good.csv -t y --rope -1": "-1.0 is not in the range x>=0",
    "advise good.csv -t y --compare nothere": "unknown learner 'nothere'",
    "advise one_class.csv": "the target 'y' is 'red' in every row",
    "advise few.csv": "the table has 4 rows; advice needs at least 20",
    "studies saez_2002": "unknown study 'saez_2002'; did you mean saez_2022",
}
SAID = {
    "data good.csv": "60 rows, 3 inputs, target 'y'",
    "folds good.csv": "the target is 'y', the last column, as none was named; to say so: --target y",
    "data counts.csv": "target 'n'",
    "folds counts.csv": "'n' holds .* whole numbers and was taken for a quantity; else say --task classification",
    "data ids.csv": r"target 'y'(.|\n)*left out of the inputs: id \(numbers the rows\); --keep id",
    "data text.csv": r"target 'y'(.|\n)*left out of the inputs: comment \(free text",
    "data dates.csv": r"target 'y'(.|\n)*left out of the inputs: when \(dates",
    "data bare.csv": "line 1 is a row of data: the table has no names; if that is wrong: --header 1",
    "data bare.csv -t -1": "60 rows",
    "data good.csv --sheet 1": "--sheet 1 has no meaning for this file",
    "data good.csv -t size --header none": "'size'|unknown",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mistakes")
    for name, content in FILES.items():
        (place / name).write_text(content)
    return place


def run(args):
    found = CliRunner().invoke(main, args)
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found


@pytest.mark.parametrize("line", REFUSED)
def test_a_mistake_is_named_and_its_remedies_work(folder, monkeypatch, line):
    monkeypatch.chdir(folder)
    remedies = []

    def at(error, door):
        remedies.extend(error.message.remedies)
        return error.message.at(door)

    def stop(*args, **options):
        raise SystemExit(0)

    monkeypatch.setattr(FoldshiftError, "at", at)
    if "--learner" in REFUSED[line] or "--compare" in REFUSED[line]:  # what comes then takes its budget of time
        monkeypatch.setattr(importlib.import_module("foldshift.advice.advise"), "advise", stop)
    args = shlex.split(line)
    found = run(args)
    assert found.exit_code in (1, 2) and not found.stdout.strip()
    message = found.stderr.strip().splitlines()[-1]
    assert re.search(REFUSED[line], message), message
    for remedy in list(remedies):
        again = run(with_remedy(args, shlex.split(remedy.at("command"))))
        assert again.exit_code == 0, f"{remedy.at('command')}: {again.stderr}"


def with_remedy(args, words):
    """Give an option a new value in place of the one that was given."""
    short = {"--target": "-t", "--n-folds": "-k", "--partitioner": "-p", "--learner": "-l"}
    several = ("--drop", "--keep", "--missing")
    kept = list(args)
    for name in (words[0], short.get(words[0], words[0])):
        while words[0] not in several and name in kept:
            del kept[kept.index(name) : kept.index(name) + 2]
    return [*kept, *words]


@pytest.mark.parametrize("line", SAID)
def test_what_is_decided_is_said(folder, monkeypatch, line):
    monkeypatch.chdir(folder)
    found = run(shlex.split(line))
    assert re.search(SAID[line], found.stdout + found.stderr), found.stdout + found.stderr
