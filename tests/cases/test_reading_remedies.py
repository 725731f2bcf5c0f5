"""Every remedy that a message of the readers names works at every door: as an option, as an argument, as a key of a source."""

import ast
import io
import shlex
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from click.testing import CliRunner

import foldshift
from foldshift.command.main import main
from foldshift.core.errors import FoldshiftError
from foldshift.core.remedies import Given, Message, Remedy, at
from foldshift.datasets import prepare, read_file
from foldshift.datasets.catalogue import add_entries
from foldshift.datasets.sources.fetch import fetch

N = 40
RNG = np.random.default_rng(0)
A, B = RNG.normal(10, 3, N).round(2).tolist(), RNG.normal(5, 2, N).round(2).tolist()
LABELS = ["red", "blue"] * (N // 2)


def text(separator=",", names=True, **columns):
    rows = [separator.join(map(str, row)) for row in zip(*columns.values())]
    return "\n".join(([separator.join(columns)] if names else []) + rows) + "\n"


def workbook():
    book = openpyxl.Workbook()
    for title, factor in (("First", 1), ("Second", 2)):
        sheet = book.active if title == "First" else book.create_sheet(title)
        sheet.title = title
        for row in [["a", "y"], *([value, factor * other] for value, other in zip(A, B))]:
            sheet.append(row)
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


def archive():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        for name in ("one.csv", "two.csv"):
            files.writestr(name, text(a=A, y=B))
    return packed.getvalue()


DAYS = [f"2020-01-{1 + i % 28:02}" for i in range(N)]
CASES = {
    "names.csv": text(names=False, a=A, b=B, y=LABELS),
    "labels.csv": text(a=["x", "o"] * 20, b=["o", "x", "b", "x"] * 10, y=["pos", "neg"] * 20),
    "only_names.csv": "a,b\n",
    "title.csv": "My results of 2020\n\n" + text(a=A, b=B, y=LABELS),
    "units.csv": "a,b,y\ncm,kg,\n" + text(names=False, a=A, b=B, y=LABELS),
    "comments.csv": "# exported\n" + text(a=A, b=B, y=LABELS),
    "encoding.csv": text(a=A, b=["Köln", "Ulm"] * 20, y=LABELS).encode("cp1252"),
    "other_mark.csv": text("!", a=A, b=B, y=LABELS),
    "thousands.tsv": text("\t", a=["4,528", "950", "12,000", "3,100"] * 10, b=A, y=LABELS),
    "german.csv": text(";", a=["1.234,50", "2.500,00"] * 20, b=["1.234", "950"] * 20, y=LABELS),
    "points.csv": text(a=["1.200", "2.500", "950", "12.000"] * 10, y=LABELS),
    "currency.csv": text(a=[f"${i}" for i in range(N)], y=B),
    "codes.csv": text(a=["001", "002", "010", "011"] * 10, b=A, y=LABELS),
    "nines.csv": text(a=[-999 if i % 2 else i for i in range(N)], b=B, y=LABELS),
    "many_nines.csv": text(a=[999 if i % 2 else i % 20 for i in range(N)], b=B, y=LABELS),
    "word.csv": text(a=[*A[1:], "unknown"], y=B),
    "words.csv": text(a=["about 5", ">90"] * 5 + A[10:], y=B),
    "null.csv": text(a=["null", "gas"] * 20, b=A, y=LABELS),
    "na.csv": text(a=["NA", "gas"] * 20, b=A, y=LABELS),
    "spelling.csv": text(a=["Cat", "cat", "dog", "dog"] * 10, b=A, y=LABELS),
    "dates.csv": text(when=DAYS, a=A, y=B),
    "only_dates.csv": text(when=DAYS, y=B),
    "many_labels.csv": text(a=[f"n{i // 1.5:.0f}" for i in range(N)], b=A, y=B),
    "same_names.csv": "a,a,y\n" + text(names=False, a=A, b=B, y=LABELS),
    "same_odd_names.csv": "'a, b','a, b',y\n".replace("'", '"') + text(names=False, a=A, b=B, y=LABELS),
    "sheets.xlsx": workbook(),
    "several.zip": archive(),
    "quantity.csv": (text(a=A, y=B), "classification"),
    "names_rows.csv": (text(a=A, y=[f"n{i}" for i in range(N)]), "classification"),
    "word_target.csv": (text(a=A, y=["high"] * 10 + B[10:]), "regression"),
    "gaps.csv": (text(a=["?", 1] * 20, b=[1, "?"] * 20, y=B), "regression"),
    "infinite.csv": (text(a=["inf", *A[1:]], y=B), "regression"),
    "two_values.csv": (text(a=A, y=[0, 1] * 20), "regression"),
    "labels_as_numbers.csv": (text(a=A, y=LABELS), "regression"),
}
# Messages of the command alone, which the tests of the command follow.
ELSEWHERE = {"n_folds", "partitioner", "time_on", "space_on", "subset_on", "format", "metric", "decimals", "k"}


def written(folder, name):
    content, task = CASES[name] if isinstance(CASES[name], tuple) else (CASES[name], "")
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file, task


def said(file, task, **options):
    """Messages about a file: notes, or the one with which it is refused; and whether it is refused."""
    try:
        table = read_file(file, task=task, **({"target": "y"} if task else {}) | options)
        notes = prepare(table, "mine", task, scaling="none").notes if task else table.notes
    except FoldshiftError as error:
        return [error.message], True
    return [note for note in notes if isinstance(note, Message)], False


def proposed(messages):
    return [remedy for message in messages for remedy in message.remedies]


@pytest.mark.parametrize("name", CASES)
def test_a_remedy_works_in_python(tmp_path, name):
    file, task = written(tmp_path, name)
    messages = said(file, task)[0]
    assert proposed(messages), f"{name} makes the readers name no remedy: {messages}"
    for message in messages:
        for remedy in message.remedies:
            options = eval(f"dict({remedy.at('python')})")
            again, still = said(file, options.pop("task", task), **options)
            assert not still, f"{name}: {remedy.at('python')} of {message!r} leads to {again}"
            assert remedy.setting == "target" or message not in again, f"{name}: {remedy} changes nothing"


@pytest.mark.parametrize("name", CASES)
def test_a_remedy_works_as_an_option_of_the_command(tmp_path, name):
    file, task = written(tmp_path, name)
    given = ["--task", task] if task else []
    target = ["--target", "y"] if task else []
    for remedy in proposed(said(file, task)[0]):
        words = shlex.split(remedy.at("command"))
        found = CliRunner().invoke(main, ["data", str(file), *target, *([] if "--task" in words else given), *words])
        assert found.exit_code == 0, f"{name}: {words}: {found.output}"


@pytest.mark.parametrize("name", CASES)
def test_a_remedy_works_as_a_key_of_the_source(tmp_path, name):
    file, task = written(tmp_path, name)
    for remedy in proposed(said(file, task)[0]):
        entry = {"task": task or "classification", "target": "y", "sources": f"file:{file}"}
        key = remedy.at("workflow")
        if key.endswith(" in the entry of the data set"):
            entry["task"] = key.removesuffix(" in the entry of the data set").removeprefix("task: ")
        elif remedy.setting == "target":
            entry["target"] = remedy.value
        elif remedy.setting == "header":
            entry |= {"target": "-1", "sources": f"{entry['sources']}?{key.removesuffix(' in the source')}"}
        else:
            entry["sources"] += f"?{key.removesuffix(' in the source')}"
        if not task and name not in ("labels.csv",):
            entry["task"] = (
                "regression" if f",{B[0]}\n" in str(CASES[name]) or name.endswith((".xlsx", ".zip")) else entry["task"]
            )
        fetch(add_entries({}, {"mine": entry})["mine"], progress=lambda line: None)


def test_the_receipt_names_options_that_can_be_given(tmp_path):
    for name in CASES:
        file, task = written(tmp_path, name)
        try:
            table = read_file(file, task=task)
        except FoldshiftError:
            continue
        for decision in table.receipt.decisions:
            for remedy in decision.overrule:
                found = CliRunner().invoke(main, ["data", str(file), *shlex.split(remedy.at("command"))])
                assert found.exit_code in (0, 1), f"{name}: {remedy}: {found.output}"


def test_every_setting_that_a_reader_proposes_is_followed_here(tmp_path):
    root = Path(foldshift.__file__).parent
    in_code = set()
    for file in [*root.glob("datasets/**/*.py"), *root.glob("command/*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Remedy":
                in_code.add(node.args[0].value)
    followed = {remedy.setting for name in CASES for remedy in proposed(said(*written(tmp_path, name))[0])}
    assert in_code - followed == ELSEWHERE


def test_a_remedy_is_written_for_its_door():
    remedy = Remedy("types", (("built in", "nominal"), ("b", "number")))
    assert remedy.at("command") == "--types 'built in=nominal' --types b=number"
    assert remedy.at("python") == "types={'built in': 'nominal', 'b': 'number'}"
    assert remedy.at("workflow") == "types=built%20in:nominal,b:number in the source"
    assert Remedy("missing", ("-999",)).at("command") == "--missing=-999"
    assert Remedy("sep", ";").at("workflow") == "sep=; in the source"
    assert Remedy("decimal", ",").at("command") == "--decimal ','"
    assert Given("header", "x").at("workflow") == "header=x"
    many = Remedy("keep", tuple(f"c{i}" for i in range(12)))
    assert many.at("command") == "--keep c0 --keep c1 --keep c2 and 9 more"
    assert Remedy("names", ("a,b", "c")).at("command") == """--names '"a,b",c'"""
    long = Remedy("missing", ("x" * 500, "y" * 500)).at("command")
    assert len(long) < 300 and "and 1 more" in long and "\x1b" not in Remedy("keep", ("\x1b[31m",)).at("command")
    note = Message("left out; ", remedy)
    assert at(Message("a: ", note), "command") == "a: left out; --types 'built in=nominal' --types b=number"
    assert at("plain", "command") == "plain"
