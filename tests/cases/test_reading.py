"""Kinds of files that people reported, each with its siblings: read right, or said."""

import datetime
import io
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner

from foldshift.command.main import main
from foldshift.core.errors import DataError
from foldshift.core.remedies import at
from foldshift.datasets import load_dataset, read_file
from foldshift.datasets.own_files import read_bytes

N = 40
RNG = np.random.default_rng(0)
A, B = RNG.normal(10, 3, N).round(2).tolist(), RNG.normal(5, 2, N).round(2).tolist()
LABELS = ["red", "blue"] * (N // 2)


def text(separator=",", names=True, **columns):
    rows = [separator.join(map(str, row)) for row in zip(*columns.values())]
    return "\n".join(([separator.join(columns)] if names else []) + rows) + "\n"


def table(content, name="mine.csv", **options):
    return read_bytes(content if isinstance(content, bytes) else content.encode(), name, options)


def notes(found):
    return " | ".join(at(note, "command") for note in found.notes)


PLAIN = text(a=A, b=B, y=LABELS)
BARE = text(names=False, a=A, b=B, y=LABELS)


# ---- the header is what the cells are ----


@pytest.mark.parametrize("name", ["m.csv", "m.data", "m.txt", "m.tsv", "m"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
def test_names_and_data_are_told_apart_whatever_the_ending(name, separator):
    with_names, without = (content.replace(",", separator) for content in (PLAIN, BARE))
    assert list(table(with_names, name).frame) == ["a", "b", "y"] and len(table(with_names, name).frame) == N
    assert list(table(without, name).frame) == ["x1", "x2", "y"] and len(table(without, name).frame) == N


@pytest.mark.parametrize("target", ["-1", "3", "y"])
def test_a_target_by_position_takes_no_row_for_names(target):
    assert len(table(BARE, target=target).frame) == N


@pytest.mark.parametrize("first", [",,red", "10.5,,red", "?,NA,red", "10.5,unknown,red"])
def test_gaps_in_the_first_row_do_not_make_names_of_it(first):
    assert len(table(f"{first}\n{BARE}").frame) == N + 1


def test_labels_alone_tell_names_from_data():
    board = {"a": ["x", "o"] * 20, "b": ["o", "x", "b", "x"] * 10, "y": ["win", "loss"] * 20}
    assert len(table(text(**board)).frame) == len(table(text(names=False, **board)).frame) == N


def test_years_above_columns_are_names():
    found = table("country,2010,2011,2012\n" + "".join(f"c{i % 5},{i}.5,{2 * i}.5,{i / 4}\n" for i in range(1, 30)))
    assert list(found.frame) == ["country", "2010", "2011", "2012"]


@pytest.mark.parametrize(
    "above", ["My results of 2020\n", "My results of 2020\n\n", "My results,,\n,,\n", "# exported\n# twice\n", "sep=,\n"]
)
def test_lines_above_the_table_are_left_out(above):
    found = table(above + PLAIN)
    assert list(found.frame) == ["a", "b", "y"] and len(found.frame) == N
    assert above.startswith("sep") or "left out" in notes(found)


def test_names_in_a_comment_are_names():
    assert list(table("# a b y\n" + BARE.replace(",", " "), "m.txt").frame) == ["a", "b", "y"]


def test_units_and_titles_of_groups_are_no_rows():
    units = table("a,b,y\ncm,kg,\n" + BARE)
    assert len(units.frame) == N and units.kinds["a"] == "real" and "cm, kg" in notes(units)
    groups = table("size,,class\na,b,y\n" + BARE)
    assert list(groups.frame) == ["a", "b", "y"] and len(groups.frame) == N


@pytest.mark.parametrize("separator", [",", " ", "\t"])
def test_names_of_rows_without_a_name_are_not_counted_as_a_column(separator):
    rows = "".join(separator.join([str(i), *row.split(",")]) + "\n" for i, row in enumerate(BARE.split()))
    found = table(separator.join(["a", "b", "y"]) + "\n" + rows)
    assert list(found.frame) == ["a", "b", "y"] and list(found.left_out) == ["x1"]


def test_a_footer_and_a_total_are_no_rows():
    assert len(table(PLAIN + "Source: an archive\n").frame) == N
    total = text(kind=["p", "q"] * 20, a=A, b=[1] * N) + f"Total,{sum(A):.2f},{N}\n"
    assert len(table(total).frame) == N and "Total" in notes(table(total))
    assert len(table(total, skip_rows=0).frame) == N + 1
    assert len(table(text(kind=["p", "q"] * 20, a=A, b=[1] * N) + "Total,1,2\n").frame) == N + 1


def test_statistics_below_a_table_are_no_rows():
    plain = text(site=[f"s{i}" for i in range(N)], a=A, b=B)
    both = {"mean": np.mean, "std": lambda x: np.std(x, ddof=1), "min": np.min, "Max": np.max, "Median:": np.median, "count": len}
    rows = "".join(f"{word},{of(A):.4f},{of(B):.4f}\n" for word, of in both.items())
    found = table(plain + rows)
    assert len(found.frame) == N and "'mean', 'std', 'min', 'Max', 'Median:', 'count' of the rows above" in notes(found)
    assert len(table(plain + f"Max,{max(A)},4.44\n").frame) == N + 1  # a person
    assert len(table(plain + rows, skip_rows=0).frame) == N + len(both)


@pytest.mark.parametrize("word", ["Subtotal", "{} Total", "sub-total:"])
@pytest.mark.parametrize("of", [sum, np.mean])
def test_subtotals_between_the_rows_are_no_rows(word, of):
    regions = ["north", "east", "south", "west"]
    blocks = [slice(10 * i, 10 * i + 10) for i in range(4)]
    rows = [
        "".join(f"{name},{a},{b}\n" for a, b in zip(A[block], B[block]))
        + f"{word.format(name)},{of(A[block]):.3f},{of(B[block]):.3f}\n"
        for name, block in zip(regions, blocks)
    ]
    found = table("region,a,b\n" + "".join(rows) + f"Grand Total,{of(A):.3f},{of(B):.3f}\n")
    assert found.frame["a"].tolist() == A and set(found.frame["region"]) == set(regions)
    assert "lines 12, 23, 34, 45 left out" in notes(found) and "'Grand Total'" in notes(found)
    wrong = [row.replace(f",{of(A[block]):.3f},{of(B[block]):.3f}", ",1,2") for row, block in zip(rows, blocks)]
    assert len(table("region,a,b\n" + "".join(wrong)).frame) == N + 4


def test_decimal_marks_that_differ_within_a_column_are_said():
    mixed = [str(a).replace(".", ",") if i % 2 else str(a) for i, a in enumerate(A)]
    found = table(text(";", a=mixed, b=B, y=LABELS))
    assert "different decimal marks" in notes(found) and "missing" not in notes(found)
    with pytest.raises(DataError) as error:
        table(text(";", a=mixed, y=LABELS))
    assert "no inputs" in str(error.value) and "different decimal marks" in str(error.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1 1:10.5 3:1.25\n-1 2:0.5\n1 1:2 # note\n", "LIBSVM"),
        ("\\begin{tabular}{ll}\na & b \\\\\n\\end{tabular}\n", "LaTeX"),
        ("-- dump\nCREATE TABLE t (a REAL);\nINSERT INTO t VALUES (1);\n", "SQL"),
    ],
)
def test_texts_that_are_no_tables_are_refused_by_name(content, words):
    with pytest.raises(DataError, match=words):
        table(content)


def test_times_of_day_and_ratios_are_not_taken_for_libsvm():
    assert len(table("".join(f"p{i % 3} 10:{i:02d} 11:{i + 10}\n" for i in range(30)), "m.txt", keep=["x2"]).frame) == 30
    rows = "".join(f"10:{i:02d} 1:{i} {i % 7}.5 {i % 3}\n" for i in range(30))
    assert list(table("t r a y\n" + rows, "m.txt").frame) == ["a", "y"]


def test_an_input_without_a_name_is_said():
    found = table("".join([",a,y\n", *(f"{'pq'[i % 2]},{a},{b}\n" for i, (a, b) in enumerate(zip(A, B)))]))
    assert list(found.frame) == ["x1", "a", "y"] and "x1: an input without a name in the file" in notes(found)


def test_the_header_that_is_asked_for_is_taken():
    assert len(table(PLAIN, header="none").frame) == N + 1
    assert list(table(BARE, header=1).frame) == BARE.split("\n")[0].split(",")
    assert list(table("one\ntwo\n" + PLAIN, header=3).frame) == ["a", "b", "y"]
    assert list(table(BARE, names="p,q,r").frame) == list(table(PLAIN, names=["p", "q", "r"]).frame) == ["p", "q", "r"]
    with pytest.raises(DataError, match="2 names for 3 columns"):
        table(PLAIN, names="p,q")


def test_names_that_occur_twice_are_numbered_and_said():
    found = table("a,a,y\n" + BARE)
    assert list(found.frame) == ["a", "a.2", "y"] and "--names a,a.2,y" in notes(found)


# ---- numbers in dress ----

DRESSED = {
    "commas": (",", ["1,200", "950", "12,000", "3,100"], [1200, 950, 12000, 3100]),
    "commas, tabs": ("\t", ["4,528", "950", "12,000", "3,100"], [4528, 950, 12000, 3100]),
    "decimals of three digits": ("\t", ["0,528", "1,250", "2,375", "3,100"], [0.528, 1.25, 2.375, 3.1]),
    "semicolons": (";", ["4,528", "1,250", "2,375", "3,100"], [4.528, 1.25, 2.375, 3.1]),
    "german": (";", ["1.234,50", "2.500,00", "3,5", "7"], [1234.5, 2500, 3.5, 7]),
    "millions": (";", ["1.234.567", "2.500.000", "3", "7"], [1234567, 2500000, 3, 7]),
    "apostrophes": (",", ["1'200", "950", "12'000", "3'100"], [1200, 950, 12000, 3100]),
    "blanks": (";", ["1 200", "950", "12 000", "3\u00a0100"], [1200, 950, 12000, 3100]),
    "dollars": (",", ["$15", "$1.50", "-$3", "$7"], [15, 1.5, -3, 7]),
    "euros": (";", ["15 €", "1.500,50 €", "3 €", "7 €"], [15, 1500.5, 3, 7]),
    "per cent": (",", ["5.1 %", "6 %", "7.25%", "8 %"], [5.1, 6, 7.25, 8]),
    "units": (",", ["12.3 cm", "4 cm", "5cm", "6 cm"], [12.3, 4, 5, 6]),
    "brackets": (",", ["(1200)", "345", "-12", "5"], [-1200, 345, -12, 5]),
    "minus": (",", ["\u22121.5", "3", "\u221212", "5"], [-1.5, 3, -12, 5]),
}


@pytest.mark.parametrize("name", DRESSED)
@pytest.mark.parametrize("role", ["input", "target"])
def test_dressed_numbers_are_read_and_said(name, role):
    separator, written, expected = DRESSED[name]
    written = [f'"{one}"' if separator == "," and "," in one else one for one in written] * 10
    columns = {"k": LABELS, "a": written} if role == "target" else {"a": written, "y": LABELS}
    found = table(text(separator, **columns))
    assert found.frame["a"].tolist() == expected * 10
    assert "is read as" in notes(found)


def test_a_mark_that_can_be_read_two_ways_can_be_chosen():
    content = text("\t", a=["4,528", "950", "12,000", "3,100"] * 10, y=LABELS)
    assert "--decimal ','" in notes(table(content))
    assert table(content, decimal=",").frame["a"].tolist()[:2] == [4.528, 950]
    points = text(";", a=["4.528", "9.500"] * 20, b=["1,5", "2,25"] * 20, y=LABELS)
    assert table(points).frame["a"].tolist()[:2] == [4528, 9500]
    assert table(points, decimal=".").frame["a"].tolist()[:2] == [4.528, 9.5]
    assert table(points, types={"b": "nominal"}).kinds["b"] == "nominal"


def test_points_that_may_separate_thousands_are_said():
    content = text(a=["1.200", "2.500", "950", "12.000"] * 10, y=LABELS)
    assert table(content).frame["a"].tolist()[:2] == [1.2, 2.5] and "--thousands '.'" in notes(table(content))
    assert table(content, thousands=".").frame["a"].tolist()[:3] == [1200, 2500, 950]
    sure = text(a=["1.200", "2.500"] * 20, b=A, y=LABELS)
    assert "thousands" not in notes(table(sure)) and "thousands" not in notes(table(content, decimal="."))


def test_prices_are_no_classes():
    with pytest.raises(DataError, match="looks like a quantity"):
        read_bytes(text(a=A, y=[f"${i}" for i in range(N)]).encode(), "m.csv", {"target": "y"}, task="classification")


def test_numbers_of_two_units_are_labels_and_said():
    found = table(text(a=["5 cm", "6 m"] * 20, b=B, y=LABELS))
    assert found.kinds["a"] == "nominal" and "different units" in notes(found)
    assert table(text(a=["2D", "3D"] * 20, b=B, y=LABELS)).kinds["a"] == "nominal"


def test_codes_are_labels():
    found = table(text(a=["001", "002", "010", "011"] * 10, b=B, y=LABELS))
    assert found.frame["a"].cat.categories.tolist() == ["001", "002", "010", "011"] and "leading zeros" in notes(found)
    assert table(text(a=["001", "002"] * 20, b=B, y=LABELS), types={"a": "number"}).frame["a"].tolist()[:2] == [1, 2]
    long = table(text(a=[12345678901234567890 + i // 4 for i in range(N)], b=B, y=LABELS))
    assert long.frame["a"].nunique() == 10


def test_nines_far_from_all_other_values_are_said():
    found = table(text(a=[-999 if i % 2 else i for i in range(N)], b=B, y=LABELS))
    assert found.frame["a"].isna().sum() == N // 2 and "--types a=number" in notes(found)
    assert table(text(a=[-999 if i % 2 else i for i in range(N)], y=LABELS), types={"a": "number"}).frame["a"].min() == -999
    plus = text(a=[999 if i % 2 else i % 20 for i in range(N)], b=B, y=LABELS)
    assert table(plus).frame["a"].max() == 999 and "--missing 999" in notes(table(plus))
    assert table(plus, missing=["999"]).frame["a"].isna().sum() == N // 2


@pytest.mark.parametrize("word", ["unknown", "n.a.", "about 5", "#DIV/0!", "*"])
@pytest.mark.parametrize("role", ["input", "target"])
def test_a_word_among_numbers_is_missing(word, role):
    values = [*A[1:], word]
    found = table(text(**({"k": LABELS, "a": values} if role == "target" else {"a": values, "y": LABELS})))
    assert found.kinds["a"] == "real" and found.frame["a"].isna().sum() == 1 and repr(word) in notes(found)


def test_spellings_of_one_label_are_one():
    found = table(text(a=A, y=["Cat", "cat", "cat ", "dog"] * 10))
    assert found.frame["y"].cat.categories.tolist() == ["cat", "dog"] and "--types y=nominal" in notes(found)
    assert len(table(text(a=A, y=["Cat", "cat", "dog", "dog"] * 10), types={"y": "nominal"}).frame["y"].cat.categories) == 3
    groups = table(text(a=A, k=["anna", "Anna"] * 20, y=LABELS), groups="k", target="y")
    assert groups.frame["k"].nunique() == 2
    assert len(table(text(a=["Aa", "AA", "aa", "aA"] * 10, y=LABELS)).frame["a"].cat.categories) == 4
    for answers in (["no", "No", "yes", "Yes"], ["m", "M", "F", "F"], ["Y", "n", "y", "N"]):
        assert len(table(text(a=answers * 10, y=LABELS)).frame["a"].cat.categories) == 2
    assert len(table(text(a=["m", "M", "F", "x"] * 10, y=LABELS)).frame["a"].cat.categories) == 4


# ---- marks for missing ----


def test_na_among_labels_is_a_label_unless_numbers_of_the_file_have_it():
    label = table(text(a=A, k=["NA", "DE"] * 20, y=LABELS))
    assert label.frame["k"].notna().all() and "--missing NA" in notes(label)
    mark = table(text(a=[*A[1:], "NA"], k=["NA", "DE"] * 20, y=LABELS))
    assert mark.frame["k"].isna().sum() == 20 and "'NA' (20)" in notes(mark)
    assert table(text(a=A, k=["NA", "DE"] * 20, y=LABELS), missing=["NA"]).frame["k"].isna().sum() == 20
    assert table(text(a=[*A[1:], "NA"], k=["NA", "DE"] * 20, y=LABELS), types={"k": "nominal"}).frame["k"].notna().all()


def test_a_declared_label_is_a_label():
    rows = "".join(f"{i},{['?', chr(39) + '?' + chr(39), 'NA'][i % 3]}\n" for i in range(N))
    found = table("@relation r\n@attribute a numeric\n@attribute y {'?', NA}\n@data\n" + rows, "m.arff")
    assert found.frame["y"].isna().sum() == 14 and found.frame["y"].value_counts().to_dict() == {"?": 13, "NA": 13}


# ---- formats that their usual reader takes ----

ARFF = "@relation r\n@attribute\ta\tnumeric % the first\n@attribute y {x,y} % a label {with} braces\n@data\n"


@pytest.mark.parametrize("row", ["{},{}", "{},{},", "{}\t{}", "{} , {} ", "{},{} % note"])
@pytest.mark.parametrize("name", ["m.arff", "m.txt", "m.csv"])
def test_arff_is_read_as_weka_reads_it(row, name):
    found = table(ARFF + "".join(row.format(i, "xy"[i % 2]) + "\n" for i in range(N)), name)
    assert len(found.frame) == N and found.kinds == {"a": "integer", "y": "nominal"}


@pytest.mark.parametrize("end", [",", ", ", "  "])
def test_separators_at_the_ends_of_rows_count_for_nothing(end):
    for content in (PLAIN, BARE):
        assert table("\n".join(row + end for row in content.split("\n") if row)).frame.shape == (N, 3)
    assert table(PLAIN.replace("y\n", "y" + end + "\n", 1).replace("red\n", f"red{end}\n")).frame.shape == (N, 3)


def test_comments_between_rows_are_left_out_and_said():
    found = table(PLAIN + "# second day\n" + BARE)
    assert len(found.frame) == 2 * N and "# second day" in notes(found)
    assert len(table(text(a=["#ff0000", "#00ff00"] * 20, b=B, y=LABELS)).frame) == N


@pytest.mark.parametrize("name", ["__MACOSX/._mine.csv", ".DS_Store", "folder/Thumbs.db", "._mine.csv"])
def test_what_a_system_adds_to_an_archive_does_not_count(name):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("mine.csv", PLAIN)
        archive.writestr(name, "\0\1")
    assert len(table(packed.getvalue(), "mine.zip").frame) == N


# ---- workbooks ----


def workbook(*sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows, state in sheets:
        sheet = book.create_sheet(title)
        sheet.sheet_state = state
        for row in rows:
            sheet.append(row)
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


ROWS = [["a", "y"], *([value, label] for value, label in zip(A, LABELS))]


def test_the_sheet_with_the_table_is_read_and_the_sheets_are_named():
    book = workbook(("Cover", [["About"]], "visible"), ("Old", ROWS[:20], "hidden"), ("Data", ROWS, "visible"))
    found = table(book, "m.xlsx")
    assert len(found.frame) == N and "sheet 'Data' of 'Cover', 'Old' (hidden), 'Data'; another: --sheet Old" in notes(found)
    assert len(table(book, "m.xlsx", sheet="Old").frame) == len(table(book, "m.xlsx", sheet=2).frame) == 19
    with pytest.raises(DataError, match="there is no sheet 'Dta'; sheets are 'Cover', 'Old', 'Data'"):
        table(book, "m.xlsx", sheet="Dta")


def test_cells_keep_their_types():
    days = [datetime.datetime(2020, 1, 1 + i % 28) for i in range(N)]
    rows = [["a", "e", "f", "b", "when", "y"], *([v, "#N/A" if i < 3 else v, f"=A{i}", i % 2 == 0, day, label]
            for i, (v, day, label) in enumerate(zip(A, days, LABELS)))]  # fmt: skip
    found = table(workbook(("S", rows, "visible")), "m.xlsx")
    assert found.frame["e"].isna().sum() == 3 and "#N/A" in notes(found)
    assert found.left_out["when"].startswith("dates") and found.frame["b"].cat.categories.tolist() == ["False", "True"]
    assert "f: 40 of 40 cells hold formulas without stored values" in notes(found)


# ---- the target, and what is said ----


def test_the_target_by_default_is_said_first_and_is_no_date_and_no_number_of_the_row():
    days = [f"2020-01-{1 + i % 28:02}" for i in range(N)]
    for last in ({"id": range(N)}, {"when": days}, {"text": [f"some words {i}" for i in range(N)]}):
        found = table(text(a=A, y=LABELS, **last))
        assert found.target == "y" and found.notes[0].startswith("the target is 'y'") and list(found.left_out) == list(last)


def test_the_receipt_names_every_decision(tmp_path):
    (tmp_path / "m.csv").write_text(text(";", a=["1,5", "2,25"] * 20, y=LABELS))
    rows = read_file(tmp_path / "m.csv").receipt.rows("command")
    assert [row["about"] for row in rows] == ["format", "encoding", "separator", "names", "target", "decimal mark"]
    assert all(row["sure"] in ("given", "sure", "likely", "unsure") for row in rows)
    chosen = read_file(tmp_path / "m.csv", sep=";", encoding="utf-8", header=1, target="y").receipt.rows("command")
    assert [row["sure"] for row in chosen] == ["sure", "given", "given", "given", "sure"]


def test_mistakes_are_in_own_words():
    for content, words in (
        (PLAIN + "1,2,3,4\n", "line 42: 4 fields where the header has 3"),
        (PLAIN + '1,"2,red\n', "a quotation mark is not closed"),
        ("a\n1\n2\n", "the table has one column"),
        ("a,y\n", "a header but no rows"),
    ):
        with pytest.raises(DataError, match=words):
            table(content)


def test_a_file_is_loaded_as_a_data_set_is(tmp_path):
    (tmp_path / "m.csv").write_text(PLAIN)
    data = load_dataset(tmp_path / "m.csv", target="y", drop=["b"])
    assert data.task == "classification" and data.classes == ("blue", "red") and data.feature_names == ("a",)
    assert load_dataset(str(tmp_path / "m.csv"), target="b").task == "regression"
    with pytest.raises(DataError, match="there is no file"):
        load_dataset("none.csv")
    with pytest.raises(DataError, match="takes no option 'target'"):
        load_dataset("wdbc", target="y")


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (RNG.poisson(4, N).tolist(), "regression"),
        (RNG.poisson(2, N).tolist(), "regression"),
        ([0, 1] * 20, "classification"),
        ([1, 2, 3, 4] * 10, "classification"),
        (list(range(10)) * 4, "classification"),
        ([0.5, 1.5] * 20, "regression"),
    ],
)
def test_counts_are_quantities_and_few_even_numbers_are_classes(tmp_path, values, task):
    (tmp_path / "m.csv").write_text(text(a=A, y=values))
    assert load_dataset(tmp_path / "m.csv", target="y").task == task
    for other in ("regression", "classification"):
        if set(values) != {0.5, 1.5}:
            assert load_dataset(tmp_path / "m.csv", target="y", task=other).task == other


def test_a_column_without_values_is_left_out_and_named():
    found = table(text(a=A, b=[""] * N, c=["?"] * N, y=LABELS))
    assert found.features == ["a"] and found.left_out == {"b": "no values", "c": "no values"}
    assert "left out of the inputs: b (no values); c (no values)" in notes(found) and "--keep" not in notes(found)


def test_names_that_are_repeated_between_the_rows_are_left_out():
    found = table(PLAIN + PLAIN)
    assert len(found.frame) == 2 * N and found.kinds["a"] == "real" and "the first is line 42" in notes(found)


def test_a_target_of_formulas_without_values_is_named_as_such(tmp_path):
    rows = [["a", "b", "y"], *([v, w, f"=A{i}"] for i, (v, w) in enumerate(zip(A, B)))]
    (tmp_path / "m.xlsx").write_bytes(workbook(("S", rows, "visible")))
    found = CliRunner().invoke(main, ["folds", str(tmp_path / "m.xlsx"), "-t", "y"])
    assert found.exit_code == 1 and "formulas without stored values" in found.stderr and "--target b" in found.stderr


def test_an_option_that_means_nothing_for_a_file_is_named():
    assert "--sheet 2 has no meaning for this file (text)" in notes(table(PLAIN, sheet=2))
    assert "--sep ';' has no meaning for this file (Excel)" in notes(table(workbook(("S", ROWS, "visible")), "m.xlsx", sep=";"))


def test_gaps_of_a_parquet_file_are_missing_and_its_texts_are_labels():
    frame = pd.DataFrame({"a": A, "k": ["NA", None] * 20, "y": LABELS})
    packed = io.BytesIO()
    frame.to_parquet(packed)
    found = table(packed.getvalue(), "m.parquet")
    assert found.frame["k"].isna().sum() == 20 and found.frame["k"].cat.categories.tolist() == ["NA"]


@pytest.mark.parametrize("given", [None, 5, pd.DataFrame({"y": [1]})], ids=["None", "number", "table"])
def test_what_is_no_name_of_a_file_is_refused_in_words(given):
    for read in (load_dataset, read_file):
        with pytest.raises(DataError, match=f"got {type(given).__name__}") as refused:
            read(given)
        assert ("foldshift.advise(X, y)" in str(refused.value)) == isinstance(given, pd.DataFrame)
