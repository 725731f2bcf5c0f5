"""Units of many small data sets: which data sets share files, and what is in those."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foldshift.core.errors import DamagedError, DataError
from foldshift.datasets.sources.download import UnreachableError
from foldshift.engine.jobs.each_dataset import for_each
from foldshift.engine.jobs.unit_inputs import Named, of_datasets
from foldshift.engine.layout.labels import add_units, read_units
from foldshift.engine.layout.units import MOST_IN_A_UNIT, Units, kept_units, new_units, unit_name
from foldshift.engine.storage.score_files import read_columns
from foldshift.engine.storage.unit_files import failed_in, pack, texts_in, unpack

NAMES = [f"set{i}" for i in range(30)]


def one_kind(name):
    return "all"


def test_units_are_filled_in_order_until_their_seconds_fill_a_job():
    found = list(new_units(NAMES, lambda name: 1.0, one_kind, seconds=12.0).values())
    assert [len(names) for names in found] == [12, 12, 6] and [name for names in found for name in names] == NAMES


def test_large_data_sets_and_a_single_one_have_jobs_of_their_own():
    costs = dict.fromkeys(NAMES, 1.0) | {"set3": 2.1}
    found = new_units(NAMES, costs.__getitem__, lambda name: name == "set5", seconds=20.0)
    assert {name for names in found.values() for name in names} == set(NAMES) - {"set3", "set5"}
    assert len(new_units([str(i) for i in range(2500)], lambda name: 0.0, one_kind, 1.0)) == -(-2500 // MOST_IN_A_UNIT)


def test_units_of_earlier_runs_are_kept_whole_or_not_at_all():
    first = new_units(NAMES[:20], lambda name: 1.0, one_kind, 10.0)
    more = kept_units([first], NAMES, one_kind)
    assert more == first
    fewer = kept_units([first], NAMES[:15], one_kind)
    assert list(fewer.values()) == [tuple(NAMES[:10])]
    assert kept_units([first], NAMES, lambda name: name == "set2") == {
        unit: names for unit, names in first.items() if "set2" not in names
    }
    overlapping = {unit_name(NAMES[5:12]): tuple(NAMES[5:12])}
    assert kept_units([first, overlapping], NAMES, one_kind) == first
    assert kept_units([{"many-0": tuple(NAMES[:3])}], NAMES, one_kind) == {}  # a name that does not stand for its data sets


def test_the_record_of_units_only_grows(tmp_path):
    file = tmp_path / "provenance/units.json"
    assert read_units(file) == {}
    add_units(file, {"mine": {"many-1": ("a", "b")}, "empty": {}})
    add_units(file, {"mine": {"many-2": ("c", "d")}})
    assert read_units(file) == {"mine": {"many-1": ("a", "b"), "many-2": ("c", "d")}}
    file.write_text("{not json")
    assert read_units(file) == {}


def test_files_of_data_sets_are_found_in_those_of_their_units():
    units = Units({"many-1": ("a", "b.c")})
    assert units.stored("<results>/mine/scores/a/CV_5x1/0-9.parquet") == "<results>/mine/scores/many-1/CV_5x1/0-9.parquet"
    assert units.stored("<resources>/fetched/b.c.json") == "<resources>/fetched/many-1.json"
    for path in ("<results>/mine/scores/d/0-9.parquet", "a.csv", "folder/a/b.csv"):
        assert units.stored(path) == path
    assert units.stored_files(["<resources>/fetched/a.json", "<resources>/fetched/b.c.json"]) == [
        "<resources>/fetched/many-1.json"
    ]
    assert Units().stored_files("<resources>/fetched/a.json") == "<resources>/fetched/a.json"


def rows_of(path, name, n_rows):
    table = pa.table({"dataset": pa.array([name] * n_rows, pa.string()).dictionary_encode(), "value": np.arange(n_rows) / 7})
    pq.write_table(table, path)
    return path


def test_rows_of_data_sets_stand_in_one_table_and_come_back(tmp_path):
    files = {name: rows_of(tmp_path / f"{name}.parquet", name, n) for name, n in (("b", 3), ("a", 2), ("none", 0))}
    unit = tmp_path / "many-1.parquet"
    pack(unit, files, {"c": {"message": "no", "file": "x"}})
    assert pq.read_table(unit).num_rows == 5 and failed_in(unit) == {"c": {"message": "no", "file": "x"}}
    assert unpack(unit, lambda name: tmp_path / "back" / f"{name}.parquet") == failed_in(unit)
    for name, file in files.items():
        back = read_columns(tmp_path / "back" / f"{name}.parquet", ("dataset", "value"))
        assert all((back[key] == values).all() for key, values in read_columns(file, ("dataset", "value")).items())


def test_other_files_come_back_as_they_were(tmp_path):
    texts = {"a": '{"name": "a"}', "b": "ü\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    unit = tmp_path / "many-1.json"
    pack(unit, {name: tmp_path / f"{name}.json" for name in texts}, {})
    first = unit.read_bytes()
    assert texts_in(unit) == list(texts.values()) and texts_in(tmp_path / "a.json") == [texts["a"]] and failed_in(unit) == {}
    unpack(unit, lambda name: tmp_path / "back" / name)
    assert {name: (tmp_path / "back" / name).read_text(encoding="utf-8") for name in texts} == texts
    pack(unit, {name: tmp_path / f"{name}.json" for name in texts}, {})
    assert unit.read_bytes() == first


@pytest.mark.parametrize("ending", ["parquet", "json"])
def test_a_damaged_file_of_a_unit_is_refused(tmp_path, ending):
    file = tmp_path / f"a.{ending}"
    rows_of(file, "a", 100) if ending == "parquet" else file.write_text(json.dumps({"numbers": list(range(100))}))
    unit = tmp_path / f"many-1.{ending}"
    pack(unit, {"a": file}, {})
    data = bytearray(unit.read_bytes())
    data[80] ^= 255
    unit.write_bytes(data)
    with pytest.raises(DamagedError, match="many-1"):
        unpack(unit, lambda name: tmp_path / "back" / name)


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", ".hidden", ""])
def test_names_that_lead_out_of_the_folder_are_refused(tmp_path, name):
    (tmp_path / "a.txt").write_text("text")
    pack(tmp_path / "many-1.txt", {name: tmp_path / "a.txt"}, {})
    pack(tmp_path / "many-1.parquet", {name: rows_of(tmp_path / "a.parquet", "a", 2)}, {})
    for ending in ("txt", "parquet"):
        with pytest.raises(DamagedError, match="is not the name of a data set"):
            unpack(tmp_path / f"many-1.{ending}", lambda found: tmp_path / "back" / found)
    assert not (tmp_path / "back").exists()


def unit_job(folder, members):
    """A job that doubles the number of each data set of a unit."""
    for name, text in members.items():
        (folder / f"{name}.txt").write_text(text)
    pack(
        folder / "many-1.txt", {name: folder / f"{name}.txt" for name in members}, {"lost": {"message": "long ago", "file": "x"}}
    )
    own = {name: {"times": i} for i, name in enumerate(members)}
    return SimpleNamespace(
        input=Named([("data", str(folder / "many-1.txt")), ("other", str(folder / "a.txt"))]),
        output=Named([("doubled", str(folder / "out/many-1.txt"))]),
        wildcards=Named([("dataset", "many-1"), ("block", "0-9")]),
        params=Named([("members", {"datasets": own}), ("times", 0), ("word", "w")]),
        log=[],
    )


def double(job):
    """The script of a rule: it knows one data set."""
    number = int(Path(job.input.data).read_text())
    if number < 0:
        raise DataError(f"data set {job.wildcards.dataset}: {number} is below 0")
    answer = f"{job.wildcards.dataset} {2 * number} {job.params.times} {job.params.word} {Path(job.input.other).read_text()}"
    Path(job.output.doubled).parent.mkdir(parents=True, exist_ok=True)
    Path(job.output.doubled).write_text(answer)


def no_fault(error):
    return None


def test_a_job_works_through_the_data_sets_of_its_unit_and_passes_over_those_that_fail(tmp_path):
    job = unit_job(tmp_path, {"a": "1", "b": "-2", "c": "3"})
    for_each(double, job, no_fault)
    assert texts_in(job.output.doubled) == ["a 2 0 w 1", "c 6 2 w 1"]
    assert {name: why["message"] for name, why in failed_in(job.output.doubled).items()} == {
        "lost": "long ago",
        "b": "data set b: -2 is below 0",
    }


def test_readers_get_one_file_for_each_data_set_in_the_order_of_the_study(tmp_path):
    pack(
        tmp_path / "many-1.parquet",
        {name: rows_of(tmp_path / f"{name}.parquet", name, 2) for name in ("c", "a")},
        {"b": {"message": "no"}},
    )
    single = rows_of(tmp_path / "d.parquet", "d", 1)
    files = Named(
        [("rows", [str(tmp_path / "many-1.parquet"), str(single)]), ("printed", "printed.csv"), ("more", ["table.csv"])]
    )
    with of_datasets(files, ["many-1"], ["d", "a", "b", "c"]) as (found, failed):
        assert [set(read_columns(path, ["dataset"])["dataset"]) for path in found.rows] == [{"d"}, {"a"}, {"c"}]
        assert (found.printed, found.more, failed) == ("printed.csv", ["table.csv"], {"b": "no"})
        gone = found.rows[1]
    assert not Path(gone).exists()
    with of_datasets(files, [], ["d", "a"]) as (same, _):
        assert same is files


def test_where_all_data_sets_fail_so_does_the_job_with_the_first_reason(tmp_path):
    job = unit_job(tmp_path, {"b": "-2", "c": "-3"})
    with pytest.raises(DataError, match="all 3 data sets of many-1 failed; lost: long ago"):
        for_each(double, job, no_fault)
    assert not Path(job.output.doubled).exists()


@pytest.mark.parametrize("error", [UnreachableError("no network"), MemoryError()])
def test_what_the_next_run_may_mend_is_no_failure_of_a_data_set(tmp_path, error):
    def script(job):
        raise error

    with pytest.raises(type(error)):
        for_each(script, unit_job(tmp_path, {"a": "1"}), lambda found: isinstance(found, MemoryError))


def test_a_fault_of_the_program_names_itself_and_costs_one_data_set(tmp_path):
    job = unit_job(tmp_path, {"a": "1", "b": "no number"})
    for_each(double, job, no_fault)
    assert failed_in(job.output.doubled)["b"]["message"].startswith("ValueError: invalid literal")
