"""Three files as users have them: regression with strings, dates, missing values and umlauts; rare classes; many rows."""

import pytest

from foldshift.datasets.catalogue import add_entries
from foldshift.datasets.prepare import describe, prepare
from foldshift.datasets.sources.fetch import fetch
from own_files import write_own_files

TARGETS = {
    "houses.csv": ("regression", "Preis"),
    "screening.csv.gz": ("classification", "finding"),
    "sensors.csv": ("regression", "load"),
}


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    write_own_files(folder, n_sensors=3000)

    def read(name, options=""):
        task, target = TARGETS[name]
        values = {"task": task, "target": target, "sources": f"file:{folder}/{name}{options}"}
        table = fetch(add_entries({}, {"mine": values})["mine"], progress=lambda line: None).table
        return describe(prepare(table, "mine", task), table)

    return read


def test_a_german_spreadsheet_is_read_and_all_that_was_assumed_is_said(read):
    about = read("houses.csv", "?missing=k.%20A.")
    assert dict(zip(about["feature_names"], about["kinds"])) == {
        "Ort": "nominal",
        "Größe": "real",
        "Baujahr": "integer",
        "Heizung": "nominal",
    }
    assert (about["n_rows"], about["n_dropped"], about["missing"]) == (575, 25, {"Baujahr": 12, "Größe": 9, "Ort": 5})
    assert about["notes"] == [
        "not UTF-8: read as Windows-1252, e.g. 'Straße'; if that is wrong: encoding=cp1250 in the source or another one",
        "fields are separated by semicolons",
        "Baujahr: read as missing: '-' (12)",
        "decimal commas in Größe, Preis: '116,7' of Größe is read as 116.7",
        "left out of the inputs: x1 (without a name, numbers the rows); Straße (600 labels in 600 rows); Verkauft am (dates, "
        "day.month.year); keep=x1,Straße,Verkauft%20am in the source takes them in",
        "25 of 600 rows dropped, for they lack values: Baujahr 12, Größe 9, Ort 5",
    ]
    assert "Verkauft am" in read("houses.csv", "?keep=Verkauft%20am")["feature_names"]


def test_a_class_of_two_rows_and_an_identifier_are_named(read):
    about = read("screening.csv.gz")
    assert about["classes"] == ["negative", "positive", "unclear"] and about["class_sizes"][2] == 2
    assert 0.04 < about["class_sizes"][1] / about["n_rows"] < 0.06
    assert about["left_out"] == {"patient_id": "a number of its own in every row"}
    assert about["kinds"] == ["real"] * 4 + ["integer", "nominal"] and list(about["missing"]) == ["smoker"]
    assert [note for note in about["notes"] if note.startswith("classes of fewer than 10 rows: unclear (2); ")]


def test_a_plain_file_has_no_notes(read):
    about = read("sensors.csv")
    assert (about["n_rows"], about["n_features"], about["notes"]) == (3000, 9, [])
