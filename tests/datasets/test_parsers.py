"""Parsers: exact tables, every message, and nothing but the project's errors whatever the bytes."""

import csv
import io
import os
import struct
import time
import tracemalloc
import zipfile
from pathlib import Path

import arff
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldshift.core.errors import DataError, SourceError
from foldshift.datasets.prepare import prepare
from foldshift.datasets.readers.arff import read_arff, read_keel
from foldshift.datasets.readers.delimited import read_space, read_tsv
from foldshift.datasets.readers.formats import read_table
from foldshift.datasets.readers.parquet import read_frame
from foldshift.datasets.readers.raw_table import RawTable, fingerprint
from foldshift.datasets.readers.read_options import ReadOptions, parse_options
from foldshift.engine.storage.raw_table_files import read_raw, write_raw
from fuzz_parsers import old_workbook

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("FOLDSHIFT_SHARED", ROOT.parent / "shared"))

KEEL = """\
% made up
@Relation 'two words'
@attribute len-gth_of_the_thing real[0.0,9.0]\t
@Attribute count integer [0 , 55]
@attribute colour{red, dark blue,green}
@ATTRIBUTE label {1.0,-1.0}
@input len-gth_of_the_thing, count, colour
@output label

@data
1.5, 3, red, 1.0
2.5, 85.0,dark blue , -1.0

% a comment between rows
<null>, 4, green, -1.0
4.5, ?, red, 1.0"""


def values(table):
    """Rows of a table as plain values; labels as text, None for missing."""
    return [[None if pd.isna(v) else v for v in row] for row in table.frame.astype(object).to_numpy().tolist()]


def message(data, name="x.csv", options="", **arguments):
    """The one line with which a file is refused."""
    with pytest.raises(DataError) as caught:
        read_table(data.encode() if isinstance(data, str) else data, name, parse_options(options), **arguments)
    text = str(caught.value)
    assert "\n" not in text and text.startswith(f"{name}: ")
    return text.removeprefix(f"{name}: ")


def table(text, name="x.csv", options="", **arguments):
    return read_table(text.encode() if isinstance(text, str) else text, name, parse_options(options), **arguments)


# ---- KEEL ----


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_a_keel_file_is_read_as_its_header_says(ends, start):
    read = read_keel(start + KEEL.replace("\n", ends).encode("latin-1"), task="classification")
    assert values(read) == [
        [1.5, 3.0, "red", "1.0"],
        [2.5, 85.0, "dark blue", "-1.0"],
        [None, 4.0, "green", "-1.0"],
        [4.5, None, "red", "1.0"],
    ]
    assert read.kinds == {"len-gth_of_the_thing": "real", "count": "integer", "colour": "nominal", "label": "nominal"}
    assert read.target == "label"
    assert read.frame["colour"].cat.categories.tolist() == ["red", "dark blue", "green"]
    assert read.frame["label"].cat.categories.tolist() == ["1.0", "-1.0"]
    assert read.notes == ["count: 1 values outside the declared range [0, 55]"]
    assert read.frame["count"].dtype == np.float64


def test_declared_ranges_are_kept_where_they_are_asked_for():
    assert read_keel(KEEL).ranges == {}
    found = read_keel(KEEL, parse_options("ranges=declared")).ranges
    assert found and found["count"] == (0.0, 55.0) and not {read_keel(KEEL).target} & set(found)
    assert "the file declares no range of a numeric input; leave out ranges=declared" in message(
        b"a,y\n1,2\n3,4\n", options="ranges=declared"
    )
    with pytest.raises(SourceError, match=r"'own'.*declared"):
        parse_options("ranges=own")


def test_declared_ranges_survive_storage_and_change_nothing_of_other_tables(tmp_path):
    table = read_keel(KEEL, parse_options("ranges=declared"))
    write_raw(tmp_path / "a.parquet", table)
    back = read_raw(tmp_path / "a.parquet")
    assert {name: tuple(pair) for name, pair in back.ranges.items()} == table.ranges
    write_raw(tmp_path / "b.parquet", read_keel(KEEL))
    assert b"ranges" in (tmp_path / "a.parquet").read_bytes()
    assert b"ranges" not in (tmp_path / "b.parquet").read_bytes()


def test_keel_text_and_bytes_give_the_same_table():
    assert read_keel(KEEL).frame.equals(read_keel(KEEL.encode()).frame)


def test_keel_bytes_are_latin_1():
    text = "@attribute a {\xe4, b}\n@attribute c {x}\n@data\n\xe4,x\n"
    assert values(read_keel(text.encode("latin-1"))) == [["\xe4", "x"]]


THREE = "@attribute a real\n@attribute b real\n@attribute c real\n{}@data\n1,2,3\n"


@pytest.mark.parametrize(
    ("roles", "target", "features"),
    [
        ("", "c", ["a", "b"]),
        ("@inputs b, c\n", "a", ["b", "c"]),
        ("@outputs b\n", "b", ["a", "c"]),
        ("@inputs a\n@outputs b\n", "b", ["a"]),
        ("#@inputs b, c\n", "c", ["a", "b"]),
    ],
)
def test_missing_inputs_or_outputs_follow_from_the_other(roles, target, features):
    read = read_keel(THREE.format(roles))
    assert (read.target, read.features) == (target, features)
    assert read.notes == ([] if len(features) == 2 else ["left out, neither input nor target: c"])


def test_several_outputs_need_a_choice():
    text = THREE.format("@outputs b, c\n")
    assert message(text, "x.dat") == "the file declares no single output column; set target to one of its columns"
    chosen = table(text, "x.dat", "target=c")
    assert (chosen.target, chosen.features) == ("c", ["a"])
    assert chosen.notes == ["left out, neither input nor target: b"]
    assert table(text, "x.dat", target="b").target == "b"


def test_a_nominal_attribute_may_come_without_a_list_and_labels_in_square_brackets():
    read = read_keel("@attribute a\n@attribute b nominal\n@attribute c [x, y]\n@data\nq,2,y\np,1,x\n")
    assert values(read) == [["q", "2", "y"], ["p", "1", "x"]]
    assert read.frame["a"].cat.categories.tolist() == ["p", "q"]


def test_a_numeric_class_is_kept_as_labels():
    read = read_keel("@attribute a real\n@attribute c integer [-1, 1]\n@data\n1,1.0\n2,-1.0\n", task="classification")
    assert read.kinds["c"] == "nominal" and read.frame["c"].tolist() == ["1.0", "-1.0"]


def test_a_declared_integer_that_holds_fractions_is_real_and_noted():
    read = read_keel("@attribute a integer\n@attribute c real\n@data\n1.5,1\n")
    assert read.kinds == {"a": "real", "c": "real"}
    assert read.notes == ["a: declared integer, but holds fractions; read as real"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@attribute a real\n@data\n1\n2,3\n", "line 4: 2 fields where the header declares 1 attributes"),
        ("@attribute a real\n@attribute b real\n@data\n1,2\n3", "line 5: 1 fields where the header declares 2"),
        ("@attribute a real\n1\n", "line 2: '1' is not a header line; expected @relation, @attribute,"),
        ("@attribute a real\n", "the header has no @data line"),
        ("@relation x\n@data\n1\n", "the header declares no @attribute"),
        ("@attribute a real\n@data\n", "no rows after @data"),
        ("@attribute a real\n@data\nx\n", "line 3: column 'a' holds 'x', where a number is expected"),
        ("@attribute a {x, y}\n@data\nx\nz\n", "line 4: column 'a' holds 'z', a label that the header does not declare; it"),
        ("@attribute a {x, y\n@data\nx\n", "line 1: the labels of attribute 'a' have no closing '}'"),
        ("@attribute a {}\n@data\nx\n", "line 1: attribute 'a' declares no labels"),
        ("@attribute 'a b real\n@data\n1\n", 'line 1: attribute name "\'a b real" has no closing quote'),
        ("@attribute\n@data\n1\n", "line 1: an @attribute without a name"),
        ("@attribute a float\n@data\n1\n", "line 1: attribute 'a' has the type 'float'; allowed are integer, real"),
        ("@attribute a real [0, x]\n@data\n1\n", "line 1: attribute 'a' has the range '[0, x]'; expected [min, max]"),
        ("@attribute a real\n@attribute a real\n@data\n1,2\n", "column name 'a' occurs more than once"),
        ("@attribute a real\n@inputs b\n@data\n1\n", "line 2: @inputs names 'b', which no @attribute declares"),
        ("", "the file is empty"),
        ("\n <!DOCTYPE HTML><html>", "this is an HTML page, not data"),
        ("@attribute a real\n@data\n1\0", "not a text file (it holds zero bytes)"),
    ],
)
def test_a_damaged_keel_file_is_refused_with_its_line(text, expected):
    assert message(text, "x.dat").startswith(expected)


def test_missing_tokens_are_the_usual_ones_in_any_case_unless_declared():
    read = table("a,b\n?,x\n<NULL>,\nNA,x\nNaN,na\n ,nan\n-9,y\n7,none\n", options="missing=-9,none")
    assert values(read) == [[None, "x"], [None, None], [None, "x"], [None, None], [None, None], [None, "y"], [7.0, None]]
    declared = read_keel("@attribute a {na, ?, b}\n@attribute c {x}\n@data\nna,x\n?,x\n")
    assert values(declared) == [["na", "x"], [None, "x"]]


# ---- csv and blanks ----


def test_kinds_of_a_csv_file_follow_from_its_values():
    read = table("whole,real,label,target\n1,1,a,1\n2.0,1.5,b,2\n-3e0,,a,?\n")
    assert read.kinds == {"whole": "integer", "real": "real", "label": "nominal", "target": "integer"}
    assert values(read) == [[1, 1, "a", 1], [2, 1.5, "b", 2], [-3, None, "a", None]]
    assert read.frame["label"].cat.categories.tolist() == ["a", "b"]
    assert read.target == "target"


def test_texts_that_only_python_takes_for_numbers_are_labels():
    assert table("a,b\n1_0,1\n2_0,2\n").kinds["a"] == "nominal"


def test_a_column_of_numbers_with_an_odd_value_is_noted():
    read = table("a,b\n1,1\n2,2\n3,3\noops,4\n")
    assert read.kinds["a"] == "nominal"
    assert read.notes == ["a: read as nominal because of 'oops' in line 5"]


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="latin-1", exclude_categories=["Cc", "Zs"]), min_size=1), min_size=3, max_size=3),
        min_size=1,
        max_size=8,
    )
)
@settings(derandomize=True, max_examples=60, deadline=None)
def test_what_the_csv_module_writes_is_read_back(rows):
    rows = [[f"v{value}" for value in row] for row in rows]
    written = io.StringIO()
    csv.writer(written).writerows([["a", "b", "c"], *rows])
    assert values(table(written.getvalue())) == rows


def test_headerless_columns_are_named_after_their_role():
    read = table("1,2,3\n4,5,6\n", options="header=no&target=1")
    assert list(read.frame) == ["y", "x1", "x2"] and read.target == "y"
    read = table("1,2,3,4\n", options="header=no&drop=2&target=-2")
    assert list(read.frame) == ["x1", "y", "x2"]
    assert values(read) == [[1, 3, 4]]


def test_separator_and_decimal_mark_can_be_chosen():
    read = table("a;b\n1,5;x,y\n-2,25;z\n", options="sep=;&decimal=,&target=1")
    assert values(read) == [[1.5, "x,y"], [-2.25, "z"]]
    assert values(table("a\tb c\n1\t2 3\n", "x.tsv")) == [[1, "2 3"]]
    assert values(read_tsv("a\tb\n1\t2\n")) == [[1, 2]]
    assert values(table("a|b\n1|2\n", options="sep=|")) == [[1, 2]]


def test_lines_at_the_beginning_can_be_left_out_and_are_counted():
    assert values(table("title\n\na,b\n1,2\n", options="skip=2")) == [[1, 2]]
    assert message("title\na,b\n1\n", options="skip=1").startswith("line 3: 1 fields where the header has 2")
    assert values(table("title\n1 2\n", "x.txt", "format=space&skip=1")) == [[1, 2]]


def test_fields_separated_by_blanks_may_be_quoted():
    read = read_space('18.0   8   307.0\t"chevrolet chevelle"\n15.0  4 1.5\t"ford"\n\n', ReadOptions(target="1", drop=("-1",)))
    assert values(read) == [[18, 8, 307], [15, 4, 1.5]]


def test_files_of_other_endings_have_no_header_and_show_their_separator():
    assert values(table("1,2,x\n", "a.data")) == [[1, 2, "x"]]
    assert values(table("1;2;x\n", "a.data")) == [[1, 2, "x"]]
    assert values(table("1  2 x\n", "a.dat")) == [[1, 2, "x"]]
    assert values(table("a,b\n1,2\n", "a.data", "header=yes")) == [[1, 2]]
    assert values(table("1,5 2\n", "a.data", "decimal=,")) == [[1.5, 2]]


def test_utf_8_and_latin_1_are_told_apart():
    assert values(table("a,b\n\xe4,1\n")) == [["\xe4", 1]]
    assert values(table("a,b\n\xe4,1\n".encode("latin-1"))) == [["\xe4", 1]]
    assert list(table(b"\xef\xbb\xbfa,b\n1,2\n").frame) == ["a", "b"]


def test_quotes_around_labels_are_not_part_of_them():
    assert values(table("1,'-1'\n2,\"1\"\n", options="header=no", task="classification")) == [[1, "-1"], [2, "1"]]


def test_empty_rows_and_nameless_empty_columns_do_not_count():
    assert values(table("a,b,,\n1,2,,\n,,,\n3,4,,\n\n")) == [[1, 2], [3, 4]]


def test_a_nameless_column_is_named_by_its_position():
    assert list(table(",a\n1,2\n").frame) == ["x1", "a"]


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("a,b\n1,2\n3\n", "", "line 3: 1 fields where the header has 2; the file is damaged, or its"),
        ("1,2\n1,2,3\n", "header=no", "line 2: 3 fields where the first row has 2"),
        ("a,b\n", "", "a header but no rows; the file is truncated, or header='none'"),
        ("1,2\n3,4\n", "", "line 1: the first row holds only numbers where column names are expected; header='none'"),
        ("a,a\n1,2\n", "", "column name 'a' occurs more than once"),
        (",,\n,,\n", "", "no rows; the file is empty or truncated"),
        ('a,b\n1,"2\n3,4\n', "", "line 3: unexpected end of data; check sep and the quotes"),
        ("a,b\n1," + "2" * 200_000, "", "line 2: field larger than field limit (131072); check sep and the quotes"),
        ("a,b\n1,2\n", "target=c", "unknown column 'c'. Known: a, b."),
        ("a,b\n1,2\n", "drop=3", "drop: there is no column 3: the file has 2 columns"),
        ("a,b\n1,2\n", "target=-3", "there is no column -3: the file has 2 columns"),
        ("a,b\n1,2\n", "target=0", "there is no column 0: the file has 2 columns"),
        ("a,b\n1,2\n", "target=b&drop=2", "the target column 'b' is among the dropped columns"),
        ("a,b\n1,2\n", "drop=a,b", "the file declares no single output column"),
        ("a,b\nx,2\n", "round=a:2", "column 'a' is nominal and cannot be rounded"),
        ("a,b\nx,2\nz,2\n", "map=a:x=1,y=2", "line 3: column 'a' holds 'z', which map does not recode; it knows 'x', 'y'"),
    ],
)
def test_a_damaged_csv_file_or_a_wrong_option_is_refused(text, options, expected):
    assert message(text, options=options).startswith(expected)


def test_a_target_that_is_not_a_number_is_refused_for_regression():
    expected = "line 3: column 'b' holds 'high', where a number is expected; correct it, or missing=['high']"
    assert message("a,b\n1,2\n2,high\n", task="regression") == expected
    text = "@attribute a real\n@attribute b {1, x}\n@data\n1,1\n2,x\n"
    assert message(text, "x.dat", task="regression").startswith("line 5: column 'b' holds 'x', where a number is expected")


def test_a_nominal_target_of_numbers_is_read_as_numbers_for_regression():
    read = read_keel("@attribute a real\n@attribute b {2, 1}\n@data\n1,1\n2,2\n", task="regression")
    assert read.kinds["b"] == "integer" and read.frame["b"].tolist() == [1.0, 2.0]


def test_labels_can_be_recoded_to_numbers_or_labels():
    text = "month,sex,class\njan,M,+\nfeb,F,-\njan,?,+\n"
    options = "map=month:jan=1,feb=2.5;2:M=man,F=woman;class:%2B=1,-=0"
    read = table(text, options=options, task="classification")
    assert values(read) == [[1, "man", "1"], [2.5, "woman", "0"], [1, None, "1"]]
    assert read.kinds == {"month": "real", "sex": "nominal", "class": "nominal"}
    assert read.frame["sex"].cat.categories.tolist() == ["man", "woman"]
    assert table(text, options=options, task="regression").kinds["class"] == "integer"


def test_recoded_labels_keep_the_order_of_the_header():
    text = "@attribute a {z, y, x}\n@attribute b {1}\n@data\nx,1\nz,1\n"
    read = table(text, "x.dat", "map=a:x=one,y=two,z=three")
    assert read.frame["a"].cat.categories.tolist() == ["three", "two", "one"]


def test_columns_can_be_rounded_and_read_as_nominal():
    read = table("date,code,y\n2012.9166667,10,1\n2013.5,2,2\n2.0005,2,\n", options="round=date:3&nominal=code")
    assert read.frame["date"].tolist() == [2012.917, 2013.5, round(2.0005, 3)]
    assert read.kinds == {"date": "real", "code": "nominal", "y": "integer"}
    assert read.frame["code"].cat.categories.tolist() == ["10", "2"]


def test_the_target_is_the_option_else_the_declaration_else_the_catalogue_else_the_last():
    text = "a,b,c\n1,2,3\n"
    assert table(text, options="target=a", target="b").target == "a"
    assert table(text, target="b").target == "b"
    assert table(text, target="nowhere").target == "c"
    assert table(text, options="drop=-1").target == "b"
    assert read_keel(THREE.format("@outputs a\n"), target="b").target == "a"


# ---- ARFF ----

ARFF = r"""% made up
@RELATION tiny
@ATTRIBUTE 'name with blank' NUMERIC
@attribute "x" real
@attribute n integer
@attribute t string
@attribute kind {'it\'s, this', "b c", d}
@DATA
1, 2, 3, 'a, b', 'it\'s, this'
?, -2.5, ?, "q", "b c"
7, 3, 4, word, d
"""


def test_an_arff_file_is_read_as_its_header_says():
    read = read_arff(ARFF)
    assert values(read) == [
        [1, 2, 3, "a, b", "it's, this"],
        [None, -2.5, None, "q", "b c"],
        [7, 3, 4, "word", "d"],
    ]
    assert list(read.kinds.values()) == ["integer", "real", "integer", "nominal", "nominal"]
    assert read.target == "kind"
    assert read.frame["kind"].cat.categories.tolist() == ["it's, this", "b c", "d"]


def test_an_arff_file_is_read_as_liac_arff_reads_it():
    other = arff.loads(ARFF)
    assert values(read_arff(ARFF)) == other["data"]
    assert list(read_arff(ARFF).frame) == [name for name, _ in other["attributes"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@attribute a real\n@data\n{0 1, 1 2}\n", "line 3: a sparse row has the index 1, the attributes are 0 to 0"),
        ("@attribute a relational\n@data\n1\n", "line 1: attribute 'a' is relational, a table in every cell"),
        ("@attribute a\n@data\n1\n", "line 1: attribute 'a' has the type ''"),
        ("@attribute a string\n@data\n'x\n", 'line 3: cannot read "\'x": a quote is not closed'),
        ("@attribute a string\n@data\nx'y'\n", "line 3: cannot read"),
        ("@attribute a {'x}\n@data\nx\n", "line 1: cannot read"),
        ("@attribute a real\n@inputs a\n@data\n1\n", "line 2: '@inputs a' is not a header line"),
    ],
)
def test_a_damaged_arff_file_is_refused(text, expected):
    assert message(text, "x.arff").startswith(expected)


@pytest.mark.parametrize("piece", [" " * 100_000 + "x'", "'" + "\\a" * 100_000, "'a' " * 50_000, "," * 200_000, "'" * 99_999])
def test_hostile_lines_cost_no_more_than_their_length(piece):
    for text in (f"@attribute a string\n@data\n{piece}\n", f"@attribute a {{{piece}}}\n@data\n1\n"):
        for read in (read_arff, read_keel, read_space):
            try:
                read(text)
            except DataError as error:
                assert len(str(error)) < 500


# ---- Excel and parquet ----


def workbook(rows):
    """An `.xlsx` file."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


SHEET = [["No", "date", "kind", None], [1, 2012.5, "a", None], [2, 3.25, "b", None], [None] * 4, [3, None, "a", None]]


@pytest.mark.parametrize(("write", "ending"), [(workbook, "xlsx"), (old_workbook, "xls")])
def test_an_excel_sheet_is_read_without_its_empty_rows_and_columns(write, ending):
    read = table(write(SHEET), f"x.{ending}")
    assert values(read) == [[1, 2012.5, "a"], [2, 3.25, "b"], [3, None, "a"]]
    assert read.kinds == {"No": "integer", "date": "real", "kind": "nominal"}
    read = table(write([[1, 5], [2, 6]]), f"x.{ending}", "header=no", task="classification")
    assert values(read) == [[1, "5"], [2, "6"]]  # as the user sees them, not 5.0
    read = table(write([["title"], *SHEET]), f"x.{ending}", "skip=1&drop=No&target=date")
    assert read.features == ["kind"]


def test_the_two_kinds_of_excel_file_are_told_apart_by_their_first_bytes():
    assert values(table(old_workbook(SHEET), "x.xlsx")) == values(table(workbook(SHEET), "x.xls"))


def test_what_is_not_an_excel_file_is_refused():
    assert message("a,b\n", "x.xls").startswith("not an Excel file")
    assert message(workbook(SHEET)[:500], "x.xlsx").startswith("damaged zip archive")
    assert message(old_workbook(SHEET)[:1600], "x.xls").startswith("damaged Excel file")
    assert message(workbook([[]]), "x.xlsx").startswith("no rows")


def test_a_damaged_row_number_does_not_make_the_reader_count_for_hours():
    good, changed = zipfile.ZipFile(io.BytesIO(workbook(SHEET))), io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name in good.namelist():
            archive.writestr(name, good.read(name).replace(b'<row r="3"', b'<row r="99999999999"'))
    expected = "more than 50000000 cells or 1048576 rows; cut the sheet down"
    assert message(changed.getvalue(), "x.xlsx") == expected


def parquet(frame):
    packed = io.BytesIO()
    frame.to_parquet(packed)
    return packed.getvalue()


FRAME = pd.DataFrame(
    {
        "whole": [1, 2, 3],
        "real": [0.5, None, 2.0],
        "truth": [True, False, True],
        "text": ["b", None, "a"],
        "label": pd.Categorical(["z", "a", "z"], ["z", "a", "m"]),
    }
)


@pytest.mark.parametrize("read", [lambda: table(parquet(FRAME), "x.parquet"), lambda: read_frame(FRAME)])
def test_a_parquet_file_or_frame_keeps_kinds_and_order_of_labels(read):
    read = read()
    assert values(read) == [[1, 0.5, "True", "b", "z"], [2, None, "False", None, "a"], [3, 2.0, "True", "a", "z"]]
    assert list(read.kinds.values()) == ["integer", "real", "nominal", "nominal", "nominal"]
    assert read.frame["label"].cat.categories.tolist() == ["z", "a", "m"]
    assert read.frame["text"].cat.categories.tolist() == ["a", "b"]


def test_what_is_not_a_parquet_file_is_refused():
    whole = parquet(FRAME)
    assert message(whole[:-10], "x.parquet").startswith("not a parquet file")
    assert message(whole[:50] + whole[-8:], "x.parquet").startswith("damaged parquet file")
    assert message(parquet(FRAME[:0]), "x.parquet").startswith("no rows")


# ---- whatever the bytes ----

GOOD = {
    "x.dat": KEEL.encode(),
    "x.arff": ARFF.encode(),
    "x.csv": b'a,b,"c d"\n1,2.5,x\n2,?,"y, z"\n-3,,x\n',
    "x.tsv": b"a\tb\n1\t2\n",
    "x.txt": b'1 2 "a b"\n3 4 c\n',
    "x.xlsx": workbook(SHEET),
    "x.xls": old_workbook(SHEET),
    "x.parquet": parquet(FRAME),
}
OPTIONS = ["", "header=no", "target=1&drop=-1", "map=1:1=2,2=3&round=2:1", "nominal=1&missing=x&skip=1", "decimal=,&sep=;"]
TOKENS = st.sampled_from(
    [b",", b"'", b'"', b"\n", b"{", b"}", b"[", b"@data\n", b"@attribute ", b"?", b"\\", b"%", b"\xff", b"nan", b"1e999"]
)


@st.composite
def damaged(draw, content):
    """A good file in which pieces were cut out, repeated or overwritten."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.integers(0, 12)))
        piece = draw(st.one_of(st.binary(max_size=8), TOKENS, st.just(content[start:stop] * 2)))
        content = content[:start] + piece + content[stop:]
    return content


def only_project_errors(data, name, options, task):
    try:
        read = read_table(data, name, parse_options(options), task=task)
    except DataError as error:
        text = str(error)
        assert text.startswith(f"{name}: ") and len(text.splitlines()) == 1
        return
    assert isinstance(read, RawTable)
    assert read.target in read.frame and set(read.kinds) == set(read.frame) and len(read.frame) > 0
    fingerprint(read)


@pytest.mark.parametrize("name", GOOD)
@given(data=st.data())
@settings(derandomize=True, max_examples=120, deadline=None)
def test_damaged_files_give_a_table_or_a_one_line_error(name, data):
    content = data.draw(st.one_of(damaged(GOOD[name]), st.binary(max_size=60)))
    options, task = data.draw(st.sampled_from(OPTIONS)), data.draw(st.sampled_from(["", "regression", "classification"]))
    only_project_errors(content, name, options, task)


# ---- what the fuzzer found (tests/fuzz/fuzz_parsers.py), and what a look at it added ----


def printable(data, name="x.csv", options="", **arguments):
    """Message of a refusal, without the name of the file: one printable line."""
    with pytest.raises(DataError) as caught:
        read_table(data, name, parse_options(options), **arguments)
    text = str(caught.value)
    assert text.isprintable() and len(text) < 1000
    return text.partition(": ")[2]


def test_control_characters_of_a_file_do_not_reach_the_terminal_in_messages():
    assert printable(b"\x1b[31m,y\n1,2\n", options="target=z") == "unknown column 'z'. Known: \\x1b[31m, y."
    assert printable("a\u202eb,y\n1,2\n".encode(), options="target=z") == "unknown column 'z'. Known: a\\u202eb, y."
    with pytest.raises(DataError, match=r"^a\\x1b\[2Jb: the file is empty"):
        read_table(b"", "a\x1b[2Jb")


def test_control_characters_of_a_file_do_not_reach_the_terminal_in_notes():
    read = table(b"\x1b[31mx,y\n1,2\n2,2\nodd,3\n" + b"4,4\n", "x.csv")
    assert read.notes == ["\\x1b[31mx: read as nominal because of 'odd' in line 4"]
    read = table(b"@attribute \x1b[31ma integer\n@attribute y real [0,1]\n@data\n1.5,2\n", "x.dat")
    assert read.notes == [
        "\\x1b[31ma: declared integer, but holds fractions; read as real",
        "y: 1 values outside the declared range [0, 1]",
    ]


def test_names_of_any_length_make_short_messages():
    long = b"x" * 100_000
    assert len(printable(long + b",y\n1,2\n", options="target=z")) < 200
    assert len(printable(long + b"," + long + b"\n1,2\n")) < 200
    assert len(printable(b"@attribute " + long + b" real\n@outputs z\n@data\n1\n", "x.dat")) < 200
    read = table(b"@attribute " + long + b" integer\n@attribute y real\n@data\n1.5,2\n", "x.dat")
    assert len(read.notes) == 1 and len(read.notes[0]) < 200
    with pytest.raises(DataError) as caught:
        prepare(table(long + b"\n1\n2\n", "x.csv"), "tiny", "regression")
    assert str(caught.value).startswith("data set tiny: no inputs, only the target 'xxx") and len(str(caught.value)) < 200


def test_a_hopeless_column_name_is_looked_up_without_delay_among_many():
    header = ",".join(f"{'x' * 500}{i}" for i in range(5000))
    begin = time.process_time()
    assert printable(f"{header}\n{'1,' * 4999}1\n".encode(), options="target=" + "x" * 400).startswith("unknown column")
    assert time.process_time() - begin < 5


WIDE = {
    "csv header": ("x.csv", ",".join(f"c{i}" for i in range(1_000_000)) + "\n" + "1," * 999_999 + "1\n"),
    "csv separators": ("x.csv", "," * 1_000_000),
    "tsv": ("x.tsv", "a\tb\n" + "\t" * 1_000_000),
    "blanks": ("x.data", "1 " * 100_000 + "\n"),
    "keel attributes": ("x.dat", "".join(f"@attribute a{i} real\n" for i in range(100_000)) + "@data\n"),
    "arff row": ("x.arff", "@attribute a real\n@data\n" + "'1'," * 1_000_000),
}


@pytest.mark.parametrize("case", WIDE)
def test_a_million_columns_are_refused_and_not_made(case):
    name, text = WIDE[case]
    assert "more than 20000 columns" in printable(text.encode(), name)


def test_a_line_of_ten_megabytes_is_read():
    for name in ("x.csv", "x.data"):
        assert "field larger than field limit" in printable(b"a,b\n" + b"1" * 10**7 + b",2\n", name)
    read = table(b"@attribute a string\n@data\n" + b"x" * 10**7 + b"\n", "x.arff")
    assert len(read.frame["a"][0]) == 10**7


def test_names_and_labels_that_would_fill_the_disk_are_refused():  # arrays of text are as wide as their longest
    labels = "\n".join(f"l{i},{i}" for i in range(700)) + "\n" + "x" * 100_000 + ",1\n"
    read = table(("x,y\n" + labels).encode(), "x.csv")
    with pytest.raises(DataError, match=r"^data set tiny: the labels of input 'x' are too long \(701, up to 100000 characters\)"):
        prepare(read, "tiny", "regression")
    names = ",".join([*(f"c{i}" for i in range(700)), "x" * 100_000, "y"])
    read = table(f"{names}\n{'1,' * 701}2\n{'1,' * 701}3\n".encode(), "x.csv")
    with pytest.raises(
        DataError, match=r"^data set tiny: the names of its columns are too long \(701, up to 100000 characters\)"
    ):
        prepare(read, "tiny", "regression")


def arrow(**columns):
    packed = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(columns), packed)
    return packed.getvalue()


def test_a_parquet_file_with_texts_that_are_not_utf_8_is_refused():
    offsets = pa.py_buffer(struct.pack("<3i", 0, 1, 2))
    wrong = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"\xffa"))
    for column in (wrong, pa.DictionaryArray.from_arrays(pa.array([0, 1]), wrong)):
        assert printable(arrow(x=column, y=pa.array([1, 2])), "x.parquet").startswith("damaged parquet file (")


def test_a_parquet_file_with_lists_or_records_is_refused():
    for column in (
        pa.array([[1], [2, 3]]),
        pa.array([{"a": 1}, None]),
        pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
    ):
        assert printable(arrow(x=column, y=pa.array([1, 2])), "x.parquet").startswith("column 'x' holds lists or records")


def test_a_small_parquet_file_of_a_long_text_in_many_rows_is_read_in_little_memory():
    text = "x" * 20_000
    stored = arrow(x=pa.array([text] * 2000), y=pa.array(range(2000)))
    assert len(stored) < 20_000
    tracemalloc.start()
    try:
        read = table(stored, "x.parquet")
        assert tracemalloc.get_traced_memory()[1] < 4_000_000  # and not the 40 million of all rows
    finally:
        tracemalloc.stop()
    assert read.frame["x"].cat.categories.tolist() == [text] and len(read.frame) == 2000


def test_texts_of_a_parquet_file_are_labels_or_numbers_as_they_are_stored():
    plain = pa.array(["2", "10", None])
    read = table(arrow(a=plain, b=plain.dictionary_encode(), c=pa.array([b"u", b"v", b"u"]), y=pa.array([1, 2, 3])), "x.parquet")
    assert read.kinds == {"a": "integer", "b": "nominal", "c": "nominal", "y": "integer"}
    assert values(read) == [[2, "2", "u", 1], [10, "10", "v", 2], [None, None, "u", 3]]


def test_a_sheet_of_wide_empty_rows_is_read_without_delay():
    good, changed = zipfile.ZipFile(io.BytesIO(workbook(SHEET))), io.BytesIO()
    rows = "".join(f'<row r="{r}"><c r="A{r}"><v>{r}</v></c><c r="XFD{r}"/></row>' for r in range(1, 400))
    with zipfile.ZipFile(changed, "w") as opened:
        for name in good.namelist():
            content = good.read(name)
            if name.endswith("sheet1.xml"):
                start, end = content.index(b"<sheetData>") + 11, content.index(b"</sheetData>")
                content = content[:start] + rows.encode() + content[end:]
            opened.writestr(name, content)
    begin = time.process_time()
    assert values(table(changed.getvalue(), "x.xlsx", "header=no")) == [[r] for r in range(1, 400)]
    assert time.process_time() - begin < 10


def test_a_forged_cell_address_in_an_old_workbook_does_not_make_millions_of_texts():
    good = old_workbook([["a", "y"], [1.0, 2.0], [3.0, 7.0]])
    cell = struct.pack("<HHHHHd", 0x0203, 14, 2, 1, 0, 7.0)
    assert good.count(cell) == 1
    begin = time.process_time()
    read = table(good.replace(cell, struct.pack("<HHHHHd", 0x0203, 14, 65_535, 255, 0, 7.0)), "x.xls", "drop=y")
    assert read.frame.shape == (3, 255) and read.target == "x256"
    assert time.process_time() - begin < 5


# ---- the real files ----


def shared_file(path):
    if not SHARED.is_dir():
        pytest.skip("the shared data are not there; set FOLDSHIFT_SHARED to their folder")
    return (SHARED / path).read_bytes()


CLASSIFICATION = {
    "appendicitis": "555f4aaf858aa029",
    "australian": "9f29c8e490863fb0",
    "banana": "3e3f0affeb958703",
    "bands": "19b74eac5195be5f",
    "breast": "58729a1828229e30",
    "bupa": "da37866a0032001f",
    "chess": "f7c0d42ea178b598",
    "crx": "1afde3c9f7ca2e39",
    "german": "44822a658ccf2151",
    "haberman": "939f91b53419e4fd",
    "heart": "1f7bee7037cd2f79",
    "hepatitis": "225198c122645c2b",
    "housevotes": "6a99157b430a0c9a",
    "ionosphere": "63c619c4e048d1b0",
    "mammographic": "be714383db285bbb",
    "monk-2": "84a7a8496552fabf",
    "mushroom": "f62fbe70343b1754",
    "phoneme": "55547098fbe64575",
    "pima": "8ecc8ba0d306b421",
    "saheart": "50aea807bec5cb9e",
    "sonar": "95322969379dd1c7",
    "spambase": "a7fbe35d93f80b96",
    "spectfheart": "c648811939a70a8e",
    "tic-tac-toe": "e0095fbcd6454e15",
    "titanic": "3a7ec8e7bac9ecee",
    "wdbc": "9e39a5e81c5aab28",
    "wisconsin": "2d5788881b3b4782",
}
REGRESSION = {
    "abalone": "6a6277622bdd0dc5",
    "anacalt": "67497c4f79ffa175",
    "autompg8": "961d531f0a059bde",
    "baseball": "89fcf8aab227b7db",
    "concrete": "f76e94b4b427c9f0",
    "dailerons": "63e591f10e9a2574",
    "dee": "3917566998d47d8a",
    "delevators": "96c08347a49df748",
    "elength": "9964f87680491abb",
    "emaintenance": "08e5335ff19032aa",
    "forest": "ff2d0a0d153e6fe0",
    "friedman": "453195584edef705",
    "laser": "a0e8c98e8e1d19c2",
    "machinecpu": "73cc68eabbc40c60",
    "mortgage": "0f3cab38cf2369d5",
    "plastic": "93e927fc8a63381a",
    "quake": "a606dbac75d89ef6",
    "stock": "d38b4224c5aa502e",
    "treasury": "a85e8d55c1c8191a",
    "wankara": "a20bb39291e820b7",
    "wizmir": "535d494b3b1eb540",
}
UCI = {  # recipe for the copy of the UCI file, and the regression set whose rows it must give
    "airfoil": ("airfoil/airfoil_self_noise.dat", ""),
    "yacht": ("yacht/yacht_hydrodynamics.data", ""),
    "fish": ("fish/qsar_fish_toxicity.csv", "sep=;&header=no"),
    "watertoxicity": ("watertoxicity/qsar_aquatic_toxicity.csv", "sep=;&header=no"),
    "coolingeff": ("coolingeff/ENB2012_data.csv", "header=no&drop=9"),
    "realestate": ("realestate/real_estate_valuation.xlsx", "drop=No&round=2:3"),
    "machinecpu": ("machinecpu/machine.data", "drop=1,2,10"),
    "abalone": ("abalone/abalone.data", "map=1:M=1,F=2,I=3"),
    "forest": (
        "forest/forestfires.csv",
        "map=month:jan=1,feb=2,mar=3,apr=4,may=5,jun=6,jul=7,aug=8,sep=9,oct=10,nov=11,dec=12"
        ";day:mon=1,tue=2,wed=3,thu=4,fri=5,sat=6,sun=7",
    ),
}


def study_table(name):
    return table(shared_file(f"data/scvreg/{name}.dat"), f"{name}.dat", "format=csv&header=no", task="regression")


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_the_classification_files_give_their_fingerprints(name):
    read = table(shared_file(f"data/keel/classification/{name}.dat"), f"{name}.dat", task="classification")
    assert fingerprint(read) == CLASSIFICATION[name]
    assert read.kinds[read.target] == "nominal" and read.notes == []


@pytest.mark.parametrize("name", REGRESSION)
def test_the_regression_files_give_their_fingerprints(name):
    assert fingerprint(study_table(name)) == REGRESSION[name]


@pytest.mark.parametrize("name", UCI)
def test_the_uci_files_give_the_rows_of_the_study(name):
    path, options = UCI[name]
    read = table(shared_file(f"data/uci/{path}"), path, options, task="regression")
    assert fingerprint(read) == fingerprint(study_table(name))


def test_the_keel_forms_of_regression_sets_give_the_rows_of_the_study():
    names = {"ele-1": "elength", "machineCPU": "machinecpu"}
    shared_file("data/MANIFEST.tsv")
    files = sorted((SHARED / "data/keel/regression").glob("*.dat"))
    assert len(files) == 12
    for file in files:
        read = table(file.read_bytes(), file.name, task="regression")
        assert fingerprint(read) == REGRESSION[names.get(file.stem, file.stem)]
        assert read.notes == []


def test_every_primary_file_is_read_with_the_counts_of_the_manifest():
    lines = shared_file("data/MANIFEST.tsv").decode().splitlines()
    primary = [line.split("\t") for line in lines if line[:2] in ("A\t", "B\t") and "\tprimary" in line]
    assert [sum(row[0] == group for row in primary) for group in "AB"] == [27, 28]
    for group, _, path, _, _, _, _, complete, attributes, *_ in primary:
        if group == "A":
            read = table(shared_file(path), path, task="classification")
        else:
            read = study_table(Path(path).stem)
        assert (int(read.complete().sum()), len(read.features)) == (int(complete), int(attributes))


def test_the_weka_files_are_read_as_liac_arff_reads_them():
    shared_file("data/MANIFEST.tsv")
    for file in sorted((SHARED / "data/weka").glob("*.arff")):
        text = file.read_text()
        assert values(read_arff(text)) == arff.loads(text)["data"]
