"""The fuzzer of `tests/fuzz/fuzz_parsers.py`: that it finds what it looks for, and that the parsers stand 100,000 of its
inputs."""

import contextlib
import os
import re
import signal
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fuzz_parsers
from foldshift.core.errors import DataError
from foldshift.datasets.readers.formats import read_table
from fuzz_parsers import NAMES, Case, fault_of, make_case, minimise, read_case


@pytest.mark.parametrize("n_inputs", [25_000, pytest.param(100_000, marks=pytest.mark.thorough)])
def test_damaged_files_give_tables_or_the_projects_errors(root, n_inputs):
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONHASHSEED": "0"}
    command = [sys.executable, root / "tests/fuzz/fuzz_parsers.py", "--inputs", str(n_inputs), "--seed", "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert f"{n_inputs} inputs, 0 faults" in done.stdout
    for name in NAMES:  # each was reached, accepted something and refused something
        inputs, accepted, refused = map(int, re.search(rf"^{name} +(\d+) +(\d+) +(\d+)", done.stdout, re.M).groups())
        assert accepted > 0 and refused > 0 and accepted + refused == inputs


def test_a_case_depends_on_seed_and_number_only(monkeypatch):
    cases = [make_case(3, i) for i in range(300)]
    monkeypatch.setattr("time.time", lambda: 1e9)  # at another time of day, too: archives hold one
    assert [make_case(3, i) for i in reversed(range(300))] == cases[::-1]
    assert {case.parser for case in cases} == set(NAMES)
    assert len({case.data for case in cases}) > 250
    assert [make_case(4, i).data for i in range(300)] != [case.data for case in cases]


@pytest.fixture
def planted(monkeypatch):
    """Put a fault into the place of the parsers."""
    old = signal.signal(signal.SIGPROF, fuzz_parsers.too_slow)
    monkeypatch.setattr(fuzz_parsers, "SECONDS", 0.2)

    def plant(function):
        monkeypatch.setattr(fuzz_parsers, "read_case", function)

    yield plant
    signal.signal(signal.SIGPROF, old)


def refusing(text):
    def read(case):
        raise DataError(text)

    return read


def failing(case):
    if b"x" in case.data:
        raise KeyError("x")


def endless(case):
    while True:
        with contextlib.suppress(Exception):  # as parsers do with the errors of their libraries
            sum(range(1000))


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (failing, "KeyError"),
        (endless, "TooSlowError"),
        (refusing("long" * 1000), "the message is not one printable line"),
        (refusing("damaged file (MemoryError)"), "memory ran out"),
    ],
)
def test_a_planted_fault_is_found(planted, fault, expected):
    planted(fault)
    found, accepted = fault_of(Case("csv", "x.csv", b"abx"))
    assert found.startswith(expected) and not accepted


def test_a_faulty_input_is_cut_down_to_what_is_wrong_with_it(planted):
    planted(failing)
    assert minimise(Case("csv", "x.csv", b"a" * 100 + b"x" + b"b" * 50)).data == b"x"
    assert fault_of(Case("csv", "x.csv", b"ab")) == ("", True)


def test_a_broken_promise_of_a_table_is_found(monkeypatch):
    good = Case("csv", "x.csv", b"a,y\n1,2\n3,5\n", task="regression")
    assert list(read_case(good).frame) == ["a", "y"]

    def wrong(*arguments, **options):
        table = read_table(*arguments, **options)
        table.notes.append("\x1b[31m")
        return table

    monkeypatch.setattr(fuzz_parsers, "read_table", wrong)
    with pytest.raises(AssertionError, match="a note is not one printable line"):
        read_case(good)


# ---- well-formed files of any content ----

TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1, max_size=6)
NUMBERS = st.one_of(st.integers(-(10**9), 10**9), st.floats(allow_nan=False, allow_infinity=False))
MISSING = {"?", "<null>", "", "na", "nan"}


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@given(
    labels=st.lists(TEXTS.filter(lambda text: text.lower() not in MISSING), min_size=1, max_size=4, unique=True),
    names=st.lists(TEXTS.filter(lambda text: "'" not in text), min_size=2, max_size=2, unique=True),
    values=st.lists(NUMBERS, min_size=1, max_size=5),
    data=st.data(),
)
@settings(derandomize=True, max_examples=150, deadline=None)
def test_a_well_formed_arff_file_of_any_names_and_labels_is_read_back(labels, names, values, data):
    chosen = [data.draw(st.sampled_from(labels)) for _ in values]
    text = f"@relation r\n@attribute '{names[0]}' numeric\n@attribute '{names[1]}' {{{','.join(map(quoted, labels))}}}\n@data\n"
    text += "".join(f"{value!r},{quoted(label)}\n" for value, label in zip(values, chosen))
    read = read_table(text.encode(), "x.arff")
    assert list(read.frame) == names
    assert read.frame[names[0]].tolist() == [float(value) for value in values]
    assert read.frame[names[1]].tolist() == chosen and read.frame[names[1]].cat.categories.tolist() == labels


@given(
    labels=st.lists(st.text("abc ÄÖ()/&@;:.-", min_size=1, max_size=6).map(str.strip), min_size=1, max_size=4, unique=True),
    values=st.lists(NUMBERS, min_size=1, max_size=5),
    data=st.data(),
)
@settings(derandomize=True, max_examples=150, deadline=None)
def test_a_well_formed_keel_file_of_any_labels_is_read_back(labels, values, data):
    labels = [label for label in labels if label] or ["a"]
    chosen = [data.draw(st.sampled_from(labels)) for _ in values]
    text = f"@relation r\n@attribute x real\n@attribute class {{{', '.join(labels)}}}\n@inputs x\n@outputs class\n@data\n"
    text += "".join(f"{value!r}, {label}\n" for value, label in zip(values, chosen))
    read = read_table(text.encode("latin-1"), "x.dat", task="classification")
    assert read.frame["x"].tolist() == [float(value) for value in values]
    assert read.frame["class"].tolist() == chosen and read.frame["class"].cat.categories.tolist() == labels
