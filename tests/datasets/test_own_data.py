"""User-defined files: nothing is silently replaced, dropped or predicted, and every assumption is reported."""

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fetch_dataset
from foldshift.core.errors import DataError, SourceError
from foldshift.core.remedies import at
from foldshift.datasets.catalogue import add_entries, read_catalogue
from foldshift.datasets.prepare import describe, prepare
from foldshift.datasets.readers.columns.dates import days_of
from foldshift.datasets.readers.formats import read_table
from foldshift.datasets.readers.infer import decoded, find_separator
from foldshift.datasets.readers.raw_table import fingerprint
from foldshift.datasets.readers.read_options import parse_options
from foldshift.datasets.sources.download import Limits, UnreachableError
from foldshift.datasets.sources.fetch import fetch
from foldshift.engine.storage.raw_table_files import read_raw, write_raw
from foldshift.reporting.dataset_table import datasets_table, row

ROWS = 40


def fetched(folder, content, target="y", task="regression", name="mine.csv", options="", **limits):
    """Fetch a user-defined file; return its table."""
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    source = f"file:{folder}/{name}" + (f"?{options}" if options else "")
    entry = add_entries({}, {"mine": {"task": task, "target": target, "sources": source}})["mine"]
    table = fetch(entry, progress=lambda line: None, limits=Limits(**limits)).table
    table.notes[:] = [at(note, "workflow") for note in table.notes]
    return table


def refusal(folder, *arguments, **keywords):
    with pytest.raises(SourceError) as caught:
        fetched(folder, *arguments, **keywords)
    text = caught.value.at("workflow")
    assert text.startswith("data set mine: ") and "\n" not in text
    return text


def csv_of(separator=",", **columns):
    """A file of columns of texts or numbers."""
    rows = zip(*columns.values())
    return "\n".join([separator.join(columns), *(separator.join(map(str, row)) for row in rows)]) + "\n"


def numbers(n=ROWS, seed=0):
    return np.random.default_rng(seed).normal(size=n).round(3).tolist()


# ---- the target ----


@pytest.mark.parametrize(("target", "near"), [("pirce", "price"), ("Price", "price"), ("klass", "class")])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_misspelled_target_is_refused_with_the_nearest_names(tmp_path, target, near, task):
    content = csv_of(price=numbers(), **{"class": ["a", "b"] * 20}, last=numbers(seed=1))
    text = refusal(tmp_path, content, target, task)
    assert f"target: unknown column {target!r}; did you mean {near}" in text and "Known: price, class, last" in text


def test_the_target_of_a_file_without_names_is_a_position(tmp_path):
    content = "1,2,3\n4,5,7\n7,9,8\n"
    assert fetched(tmp_path, content, "1", options="header=no").target == "y"
    assert fetched(tmp_path, content, "1", options="header=no").frame["y"].tolist() == [1, 4, 7]
    assert fetched(tmp_path, content, "y", options="header=no").frame["y"].tolist() == [3, 7, 8]
    assert "The file has no column names: give a position" in refusal(tmp_path, content, "price", options="header=no")


def test_the_target_asked_for_goes_before_the_declared_one(tmp_path):
    keel = "@relation a\n@attribute a real\n@attribute b real\n@inputs a\n@outputs b\n@data\n1,2\n3,5\n4,4\n"
    table = fetched(tmp_path, keel, "a", name="mine.dat")
    assert table.target == "a" and table.features == ["b"]
    assert table.notes == ["the file declares 'b' as its output; as another target was asked for, it is an input"]
    assert "target: unknown column 'c'" in refusal(tmp_path, keel, "c", name="mine.dat")


# ---- missing values ----

MARKS = ["NA", "N/A", "n/a", "nan", "NaN", "none", "None", "NULL", "null", "?", "", "#N/A", "-", "--", ".", "<null>"]


@pytest.mark.parametrize("mark", MARKS)
def test_a_plain_mark_in_a_column_of_numbers_is_a_missing_value(tmp_path, mark):
    values = numbers()
    values[3] = mark
    table = fetched(tmp_path, csv_of(x=values, y=numbers(seed=1)))
    assert table.kinds["x"] == "real" and np.flatnonzero(table.frame["x"].isna()).tolist() == [3]
    target = fetched(tmp_path, csv_of(x=numbers(seed=1), y=values))
    assert np.flatnonzero(target.frame["y"].isna()).tolist() == [3]


def test_marks_may_be_labels_where_labels_stand(tmp_path):
    signs = ["+", "-"] * 20
    heating = (["none", "gas", "null", "oil"] * 10)[:ROWS]
    table = fetched(tmp_path, csv_of(heating=heating, x=numbers(), y=signs), task="classification")
    assert table.frame["y"].cat.categories.tolist() == ["+", "-"] and table.frame["y"].notna().all()
    assert table.frame["heating"].cat.categories.tolist() == ["gas", "none", "oil"]
    assert table.frame["heating"].isna().sum() == 10
    assert "heating: read as missing: 'null' (10); types=heating:nominal in the source reads labels" in table.notes
    kept = fetched(
        tmp_path, csv_of(heating=heating, x=numbers(), y=signs), task="classification", options="types=heating:nominal"
    )
    assert kept.frame["heating"].cat.categories.tolist() == ["gas", "none", "null", "oil"]


def test_a_few_words_among_numbers_are_missing_and_named_with_the_first_line(tmp_path):
    values = [str(value) for value in numbers()]
    values[4], values[9], values[11] = "about 5", ">90", "about 5"
    table = fetched(tmp_path, csv_of(x=values, z=numbers(seed=2), y=numbers(seed=1)))
    assert table.kinds["x"] == "real" and table.frame["x"].isna().sum() == 3
    remedy = "types=x:nominal in the source reads labels"
    assert f"x: read as missing: 'about 5' (2), '>90' (1), the first in line 6; {remedy}" in table.notes
    again = fetched(tmp_path, csv_of(x=values, z=numbers(seed=2), y=numbers(seed=1)), options="types=x:nominal")
    assert again.kinds["x"] == "nominal" and again.frame["x"].notna().all()


def test_the_values_that_make_a_column_nominal_are_named_with_their_lines(tmp_path):
    values = [str(value) for value in numbers()]
    values[4:14] = ["about 5", ">90"] * 5
    table = fetched(tmp_path, csv_of(x=values, z=numbers(seed=2), y=numbers(seed=1)), options="keep=x")
    assert table.kinds["x"] == "nominal"
    remedy = "if that means a missing value: missing=about%205,>90 in the source"
    assert f"x: read as labels, because 'about 5' (line 6), '>90' (line 7) are not numbers; {remedy}" in table.notes
    again = fetched(tmp_path, csv_of(x=values, z=numbers(seed=2), y=numbers(seed=1)), options="missing=about%205,>90")
    assert again.kinds["x"] == "real" and again.frame["x"].isna().sum() == 10


def test_the_column_that_lacks_all_values_is_named():
    table = read_table(b"a,b b,y\n1,?,2\n2,,3\n3,NA,4\n", "t.csv", parse_options(""), task="regression", target="y")
    with pytest.raises(DataError) as caught:
        prepare(table, "mine", "regression")
    expected = "all 3 rows have missing values; column 'b b' has none at all; leave it out: drop=b%20b in the source"
    assert expected in caught.value.at("workflow")
    table = read_table(b"a,b,y\n1,?,2\n?,3,3\n?,4,4\n", "t.csv", parse_options(""), task="regression", target="y")
    with pytest.raises(DataError, match=r"missing are a 2, b 1 of 3; fill them in, or leave out columns: drop=\['a'\]"):
        prepare(table, "mine", "regression")


# ---- columns that are no inputs ----

DATES = {
    "iso": [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(ROWS)],
    "stamp": [f"2024-01-{1 + i % 28:02}T12:{i % 60:02}:00Z" for i in range(ROWS)],
    "month": [f"2024-{1 + i % 12:02}" for i in range(ROWS)],
    "german": [f"{1 + i % 28}.{1 + i % 12}.2024" for i in range(ROWS)],
    "british": [f"{1 + i % 28:02}/{1 + i % 12:02}/2024" for i in range(ROWS)],
    "american": [f"{1 + i % 12:02}/{1 + i % 28:02}/2024" for i in range(ROWS)],
    "words": [f"{1 + i % 28} {['Jan', 'March'][i % 2]} 2024" for i in range(ROWS)],
    "words_first": [f"{['January', 'Mar'][i % 2]} {1 + i % 28}, 2024" for i in range(ROWS)],
    "compact": [f"202401{1 + i % 28:02}" for i in range(ROWS)],
}


@pytest.mark.parametrize("form", DATES)
def test_dates_are_left_out_and_named_and_days_where_they_are_asked_for(tmp_path, form):
    content = csv_of(";", when=DATES[form], x=numbers(), y=numbers(seed=1))
    table = fetched(tmp_path, content)
    assert table.features == ["x"] and table.left_out["when"].startswith("dates, ")
    assert [note for note in table.notes if note.startswith("left out of the inputs: when (dates, ")]
    kept = fetched(tmp_path, content, options="keep=when")
    assert kept.features == ["when", "x"] and kept.kinds["when"] == "real" and not kept.left_out
    if form == "iso":
        expected = (pd.to_datetime(DATES[form]) - pd.Timestamp("1970-01-01")).days
        assert kept.frame["when"].tolist() == expected.tolist()


@given(st.lists(st.dates(), min_size=1, max_size=9), st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%d %b %Y", "%B %d, %Y"]))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_any_date_is_the_day_that_the_calendar_says(dates, form):
    texts = [re.sub(r"(?<!\d)(\d{1,3})(?!\d)$", lambda year: year.group().zfill(4), one.strftime(form)) for one in dates]
    if form == "%Y-%m-%d":
        texts = [one.isoformat() for one in dates]
    days, _ = days_of(texts)
    assert [days[text] for text in texts] == [(one - type(one)(1970, 1, 1)).days for one in dates]


@pytest.mark.parametrize(
    "texts", [["2024-02-30"], ["2024-13-01"], ["1.2.3"], ["12:30"], ["2024-01-01", "soon"], ["20240101"], [""]]
)
def test_texts_that_are_not_dates_give_none(texts):
    assert days_of(texts) == (None, "")


def test_an_index_and_names_of_rows_are_left_out_and_named_in_one_line(tmp_path):
    frame = pd.DataFrame(
        {"name": [f"n{i}" for i in range(ROWS)], "x": numbers(), "town": ["Ulm", "Bonn"] * 20, "y": numbers(seed=1)}
    )
    table = fetched(tmp_path, frame.to_csv())
    assert table.features == ["x", "town"]
    assert table.left_out == {"x1": "without a name, numbers the rows", "name": f"{ROWS} labels in {ROWS} rows"}
    assert table.notes == [
        "left out of the inputs: x1 (without a name, numbers the rows); name (40 labels in 40 rows); "
        "keep=x1,name in the source takes them in"
    ]
    kept = fetched(tmp_path, frame.to_csv(), options="keep=x1,name")
    assert kept.features == ["x1", "name", "x", "town"] and kept.notes == []
    assert "unknown column 'nam'; did you mean name" in refusal(tmp_path, frame.to_csv(), options="keep=nam")


CUTS = {
    "fold": np.arange(ROWS) % 5,
    "cv_fold": np.arange(ROWS) % 3 + 1,
    "split": np.where(np.arange(ROWS) % 4, "train", "test"),
    "part of it": np.array(["Training", "validation", "TEST", "Training"] * (ROWS // 4)),
    "k": np.array([f"Fold {i % 4}" for i in range(ROWS)]),
}
NO_CUTS = {
    "fold": np.minimum(np.arange(ROWS), 9) % 5,  # one value has most of the rows
    "folds": np.arange(ROWS) % 5 + 3,
    "town": np.array(["train", "bus"] * (ROWS // 2)),
    "kind": np.arange(ROWS) % 5,
}


@pytest.mark.parametrize(("name", "values", "is_left_out"), [
    *((name, values, True) for name, values in CUTS.items()), *((name, values, False) for name, values in NO_CUTS.items())
])  # fmt: skip
def test_folds_and_parts_of_a_split_are_no_inputs(tmp_path, name, values, is_left_out):
    csv = pd.DataFrame({"x": numbers(), name: values, "y": numbers(seed=1)}).to_csv(index=False)
    table = fetched(tmp_path, csv)
    assert table.left_out == ({name: "says how the rows were cut"} if is_left_out else {})
    kept = fetched(tmp_path, csv, options=f"keep={name.replace(' ', '%20')}")
    assert kept.features == ["x", name]


@pytest.mark.parametrize("name", ["id", "customer_id", "customerId", "Index", "row number"])
def test_an_identifier_by_its_name_is_left_out_only_where_no_number_repeats(tmp_path, name):
    codes = np.random.default_rng(0).permutation(10_000)[:ROWS]
    assert list(fetched(tmp_path, csv_of(**{name: codes, "x": numbers(), "y": numbers(seed=1)})).left_out) == [name]
    codes[3] = codes[2]
    assert not fetched(tmp_path, csv_of(**{name: codes, "x": numbers(), "y": numbers(seed=1)})).left_out


def test_a_column_that_counts_is_an_input_if_it_has_a_name_like_any_other(tmp_path):
    table = fetched(tmp_path, csv_of(minutes=range(ROWS), paid=range(ROWS), y=numbers()))
    assert table.features == ["minutes", "paid"]


def test_a_file_without_any_input_is_refused(tmp_path):
    text = refusal(tmp_path, csv_of(when=DATES["iso"], y=numbers()))
    assert "no inputs: every column but the target would be left out, when (dates, year-month-day); keep=when" in text


# ---- classes ----


def test_a_target_that_looks_continuous_is_refused_for_classification(tmp_path):
    text = refusal(tmp_path, csv_of(x=numbers(), y=numbers(seed=1)), task="classification")
    assert "the target 'y' looks like a quantity, not like classes: 40 different numbers in 40 rows" in text
    assert "task: regression in the entry of the data set, or types=y:nominal in the source if they are labels" in text
    whole = csv_of(x=numbers(600), y=[i % 25 for i in range(600)])
    assert "25 different numbers in 600 rows" in refusal(tmp_path, whole, task="classification")
    assert len(fetched(tmp_path, whole, task="classification", options="nominal=y").frame["y"].cat.categories) == 25
    few = fetched(tmp_path, csv_of(x=numbers(), y=[0.5, 1.5] * 20), task="classification")
    assert few.frame["y"].cat.categories.tolist() == ["0.5", "1.5"]
    comma = "x;y\n" + "".join(f"{i},5;{i},25\n" for i in range(30))
    assert "looks like a quantity" in refusal(tmp_path, comma, task="classification")


def test_a_target_that_names_rows_is_refused(tmp_path):
    text = refusal(tmp_path, csv_of(x=numbers(), y=[f"n{i}" for i in range(ROWS)]), task="classification")
    assert "the target 'y' names rows, not classes: 40 different labels in 40 rows (n0, n1, n2, ...)" in text


def test_small_classes_are_named_before_anything_is_computed(tmp_path):
    labels = ["a"] * 30 + ["b"] * 9 + ["c"]
    data = prepare(fetched(tmp_path, csv_of(x=numbers(), y=labels), task="classification"), "mine", "classification")
    expected = "classes of fewer than 10 rows: c (1), b (9); where there are more folds than rows, test parts lack the class"
    assert data.notes == (expected,)
    lost = csv_of(x=[*numbers(39), "?"], y=labels)
    notes = prepare(fetched(tmp_path, lost, task="classification"), "mine", "classification").notes
    assert "no complete row is left of the classes c" in notes


def test_a_quantity_of_two_values_may_be_two_classes(tmp_path):
    table = fetched(tmp_path, csv_of(x=numbers(), y=["0", "1"] * (ROWS // 2)))
    (note,) = prepare(table, "mine", "regression").notes
    expected = "the target y has two values; if they are classes: task: classification in the entry of the data set"
    assert at(note, "workflow") == expected


def test_infinite_values_are_reported_with_their_row(tmp_path):
    x = numbers()
    x[7], x[11] = "inf", "-inf"
    table = csv_of(x=x, y=numbers(seed=1))
    with pytest.raises(DataError, match=r"input 'x' holds 2 infinite values, the first in row 8; .* missing=\['inf'\]"):
        prepare(fetched(tmp_path, table), "mine", "regression")
    data = prepare(fetched(tmp_path, table, options="missing=inf,-inf"), "mine", "regression")
    assert data.n_dropped == 2


# ---- how the file is written ----

FRAME = pd.DataFrame({"a": numbers(), "b": ["rot", "grün"] * 20, "y": numbers(seed=1)})
PLAIN = FRAME.to_csv(index=False)


def same(one, other):
    return one.kinds == other.kinds and fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("name", ["mine.csv", "mine.txt"])
def test_separator_and_decimal_comma_are_inferred_and_reported(tmp_path, separator, decimal, name):
    table = fetched(tmp_path, FRAME.to_csv(index=False, sep=separator, decimal=decimal), name=name)
    assert same(table, fetched(tmp_path, PLAIN))
    words = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}[separator]
    assert (f"fields are separated by {words}" in table.notes) == (name == "mine.csv")
    first = str(FRAME["a"][0])
    commas = f"decimal commas in a, y: {first.replace('.', ',')!r} of a is read as {first}"
    assert (commas in table.notes) == (decimal == ",")


def test_quoted_separators_and_damaged_rows_do_not_mislead():
    assert find_separator(['a,b,"c;d"', '1,2,"x;y;z"', "3,4,z"], ",") == ","
    assert find_separator(["a;b;c", "1;2;3", "1;2", "1;2;3"], ",") == ";"
    assert find_separator(["a", "1", "2"], ",") == ","
    assert find_separator([], ",") == ","


def test_commas_between_thousands_are_not_taken_for_decimals_where_fields_are_cut_at_commas(tmp_path):
    table = fetched(tmp_path, 'x,y\n"1,234",1\n"2,345",2\n"3,456",4\n7,5\n')
    assert table.frame["x"].tolist() == [1234, 2345, 3456, 7]
    expected = "x: '1,234' is read as 1234 (commas between thousands); if that is wrong: "
    remedy = "decimal=, in the source, or types=x:nominal in the source"
    assert table.notes == [expected + remedy]


ENCODINGS = ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings_are_read_alike_and_assumptions_are_reported(tmp_path, encoding):
    table = fetched(tmp_path, PLAIN.encode(encoding))
    assert same(table, fetched(tmp_path, PLAIN)) and "grün" in table.frame["b"].cat.categories
    expected = {
        "latin-1": "not UTF-8: read as Windows-1252, e.g. 'grün'; if that is wrong: encoding=cp1250 in the source or another one",
        "utf-16-le": "every other byte is zero: read as UTF-16; if that is wrong, save the file as UTF-8",
    }
    expected |= {"cp1252": expected["latin-1"], "utf-16-be": expected["utf-16-le"]}
    assert table.notes == ([expected[encoding]] if encoding in expected else [])


def test_bytes_that_are_not_text_are_refused():
    for data in (b"a,b\n1,\0\n", b"\0\0\0\0\0"):
        with pytest.raises(DataError, match="not a text file"):
            decoded(data)


def zipped(data):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside.csv", data)
    return packed.getvalue()


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zip": zipped}


@pytest.mark.parametrize("ending", PACKERS)
def test_a_packed_file_is_read_like_the_file(tmp_path, ending):
    table = fetched(tmp_path, PACKERS[ending](PLAIN.encode()), name=f"mine.csv.{ending}")
    assert same(table, fetched(tmp_path, PLAIN)) and table.notes == []


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_packed_files_that_are_damaged_or_too_large_are_refused(tmp_path, ending):
    pack = PACKERS[ending]
    packed, name = pack(PLAIN.encode()), f"mine.csv.{ending}"
    assert "is packed but" in refusal(tmp_path, packed[:-20], name=name)
    assert "is packed but damaged" in refusal(tmp_path, packed[:20] + b"damage" + packed[26:], name=name)
    assert "exceeds the limit of 1000 bytes" in refusal(tmp_path, pack(PLAIN.encode() * 20), name=name, max_bytes=1000)
    assert "looks like a bomb" in refusal(tmp_path, pack(b"0,1\n" * 2**19), name=name)
    assert "is an archive of files (tar)" in refusal(tmp_path, pack(tar_of(PLAIN.encode())), name=f"mine.tar.{ending}")
    several = pack(PLAIN[:100].encode()) + pack(PLAIN[100:].encode())
    assert same(fetched(tmp_path, several, name=name), fetched(tmp_path, PLAIN))


def tar_of(data):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        info = tarfile.TarInfo("inside.csv")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return packed.getvalue()


@given(st.binary(max_size=3_000), st.sampled_from(["gz", "bz2", "xz"]))
@settings(max_examples=40, derandomize=True, deadline=None)
def test_what_is_packed_comes_out_again(data, ending):
    from foldshift.datasets.readers.compression import unpacked

    assert unpacked(PACKERS[ending](data), f"m.csv.{ending}") == ("m.csv", data) or data[257:262] == b"ustar"


# ---- table 1, and what the catalogue has ----


def test_table_1_says_what_was_read_and_dropped(tmp_path):
    x = [*numbers(38), "-", "n/a"]
    content = csv_of(when=DATES["iso"], x=x, town=["Ulm", "Bonn"] * 20, y=["no"] * 35 + ["yes"] * 5)
    table = fetched(tmp_path, content, task="classification")
    write_raw(tmp_path / "t.parquet", table)
    table = read_raw(tmp_path / "t.parquet")
    about = describe(prepare(table, "mine", "classification"), table)
    origin = {"source": "file:mine.csv", "fingerprint": "0"}
    one = row(about, origin, {"n_features": None, "n_rows": None})
    assert one["target"] == "y" and one["target_is"] == "2 classes" and one["class_sizes"] == ["no 35", "yes 3"]
    assert one["read_as"] == ["x real", "town nominal"] and one["left_out"] == ["when (dates, year-month-day)"]
    assert one["dropped"] == 2 and one["dropped_because"] == ["x lacks 2"]


def test_the_page_of_table_1_says_so_below_of_own_data_only(tmp_path):
    import json
    from types import SimpleNamespace

    table = fetched(tmp_path, csv_of(when=DATES["iso"], x=numbers(), y=numbers(seed=1)))
    (tmp_path / "d.json").write_text(json.dumps(describe(prepare(table, "mine", "regression"), table)))
    (tmp_path / "o.json").write_text(json.dumps({"name": "mine", "source": "file:mine.csv", "fingerprint": "0"}))
    inputs = SimpleNamespace(descriptions=[tmp_path / "d.json"] * 2, origins=[tmp_path / "o.json"] * 2)
    both = [{"mine": {"n_features": None, "n_rows": None, "own": own}} for own in (True, False)]
    shown, of_the_catalogue = (datasets_table(inputs, {}, entries)["table1_datasets"] for entries in both)
    first, second = shown.grid.notes[0], of_the_catalogue.grid.notes[0]
    assert first.startswith("mine: read as x real; left out of the inputs: when (dates, year-month-day); keep=when")
    assert second.startswith("mine: left out of the inputs: when")
    assert shown.frame["read_as"].tolist() == ["x real"] * 2
    # Heads in words, and no column that says nothing: no classes, nothing that the catalogue expects, no constant input.
    assert shown.grid.header[:3] == ["dataset", "target", "target is"] and "target values" in shown.grid.header
    assert not {"class sizes", "expected attributes", "expected samples", "constant"} & set(shown.grid.header)
    assert {"class_sizes", "expected_samples", "constant"} <= set(shown.frame)


def test_the_data_sets_of_the_catalogue_are_not_the_users_own():
    assert not any(entry.own for entry in read_catalogue().values())


def test_the_catalogue_reads_the_shared_files_exactly_as_before(shared):
    """Every file at hand of the catalogue has the checksum that is recorded, and no rule for own files has touched it."""
    limits, read = Limits(timeout=0.1, total_timeout=0.2, retries=0), 0
    for entry in read_catalogue().values():
        for source in entry.sources:
            if not source.startswith(("mirror:", "sklearn:", "generated:")):
                continue
            path = Path(shared / "data", source.removeprefix("mirror:").partition("?")[0])
            if source.startswith("mirror:") and not path.is_file():
                continue
            one = type(entry)(**{**vars(entry), "sources": (source,)})
            table = fetch(one, mirror=shared / "data", limits=limits, progress=lambda line: None).table
            assert fingerprint(table) == entry.fingerprint and not table.left_out and not table.own, entry.name
            read += 1
    assert read >= 65


# ---- said once ----


def test_a_host_that_is_down_is_asked_again_and_a_wrong_file_is_not(tmp_path, monkeypatch):
    entry = add_entries({}, {"mine": {"task": "regression", "target": "y", "sources": "file:a.csv"}})["mine"]
    for error, expected in ((SourceError("wrong"), 1), (UnreachableError("down"), 2)):
        asked = []

        def fetch(*arguments, error=error, asked=asked, **keywords):
            asked.append(arguments)
            raise error

        monkeypatch.setattr(fetch_dataset, "fetch", fetch)
        with pytest.raises(type(error)):
            fetch_dataset.fetch_patiently(entry, pause=0)
        assert len(asked) == expected


def test_a_source_that_could_not_be_reached_is_distinguished_from_a_wrong_one(tmp_path):
    (tmp_path / "mine.csv").write_text("x,y\n1,many\n2,3\n")
    limits = Limits(timeout=0.5, total_timeout=5, retries=0)
    for sources, kind in ((f"file:{tmp_path}/mine.csv", SourceError), ("url:http://127.0.0.1:9/mine.csv", UnreachableError)):
        entry = add_entries({}, {"mine": {"task": "regression", "target": "y", "sources": sources}})["mine"]
        with pytest.raises(SourceError) as caught:
            fetch(entry, limits=limits, progress=lambda line: None)
        assert type(caught.value) is kind


def test_assumptions_are_printed_when_the_file_is_fetched(tmp_path, capsys):
    table = fetched(tmp_path, csv_of(when=DATES["iso"], x=numbers(), y=numbers(seed=1)))
    fetch_dataset.review(add_entries({}, {"mine": {"task": "regression", "target": "y", "sources": "file:a.csv"}})["mine"], table)
    assert capsys.readouterr().err.startswith("data set mine: left out of the inputs: when (dates, year-month-day); keep=when")
