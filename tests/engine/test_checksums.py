"""Files of results that are damaged, replaced or lost are seen: by those who read them, and by the check of all files."""

import json
import logging
import random
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import check_results as script
from foldshift.core.errors import DamagedError, DataError
from foldshift.datasets.array_files import read_arrays
from foldshift.engine.storage.checksums import RECORD, ChecksumRecorder, add_checksums, check_results, recorded
from foldshift.engine.storage.fold_files import read_folds, write_folds
from foldshift.engine.storage.parquet_files import column_digest, read_parquet, write_parquet
from foldshift.engine.storage.prediction_files import read_predictions, write_predictions
from foldshift.engine.storage.score_files import SHIFT_SCHEMA, write_rows

N = 40
TABLE = {
    "text": pa.array(["a", None, "ü", ""] * 10).dictionary_encode(),
    "real": pa.array([0.5, None, float("nan"), -1.0] * 10),
    "whole": pa.array([1, 2, None, 4] * 10, pa.int32()),
    "flag": pa.array([True, None, False, True] * 10),
}


def make_parquet(path):
    write_parquet(path, pa.table(TABLE))


def make_rows(path):
    keys = {"dataset": ["d"] * N, "partitioner": ["CV"] * N, "k": [5] * N, "seed": [1] * N, "fold": [0] * N}
    write_rows(path, {**keys, "d_n": np.linspace(0, 1, N)}, SHIFT_SCHEMA)


def make_folds(path):
    write_folds(path, {("CV", 5): np.arange(400, dtype=np.uint8).reshape(2, -1) % 5}, {5: [3, 8]})


def make_predictions(path):
    write_predictions(path, {("C4.5", "CV", 5): np.arange(400).reshape(2, -1) % 3}, 3)


KINDS = {
    "parquet": ("t.parquet", make_parquet, read_parquet),
    "rows": ("r.parquet", make_rows, read_parquet),
    "folds": ("f.npz", make_folds, read_folds),
    "predictions": ("p.npz", make_predictions, read_predictions),
}


def shown(value):
    """All values of a table or of arrays, as text."""
    if isinstance(value, pa.Table):
        return repr({name: value[name].to_pylist() for name in value.column_names})
    with np.printoptions(threshold=10**6):
        return repr(value)


@pytest.mark.parametrize("kind", KINDS)
def test_one_flipped_bit_changes_no_value_in_silence(tmp_path, kind):
    name, make, read = KINDS[kind]
    make(tmp_path / name)
    whole, good, rng, refused = (tmp_path / name).read_bytes(), shown(read(tmp_path / name)), random.Random(kind), 0
    for bit in rng.sample(range(8 * len(whole)), 250):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        (tmp_path / name).write_bytes(damaged)
        try:
            assert shown(read(tmp_path / name)) == good, bit
        except DamagedError as error:
            refused += 1
            assert str(tmp_path / name) in str(error) and "delete it and start the run again" in str(error)
    assert refused > 50


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_off_is_named(tmp_path, kind):
    name, make, read = KINDS[kind]
    make(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for size in range(0, len(whole), 97):
        (tmp_path / name).write_bytes(whole[:size])
        with pytest.raises(DamagedError):
            read(tmp_path / name)


def test_a_digest_does_not_depend_on_chunks_and_codes_but_on_values_gaps_and_type():
    column = pa.chunked_array([TABLE["text"]])
    same = [pa.chunked_array([TABLE["text"].cast(pa.string())[:7], TABLE["text"].cast(pa.string())[7:]])]
    assert {column_digest(one) for one in (column, *same)} == {column_digest(column)}
    others = [["a", "", "ü", ""], ["a", None, "ü", None], ["a", None, "u", ""], ["aü", None, "", ""]]
    digests = {column_digest(pa.chunked_array([pa.array(one * 10)])) for one in others}
    assert len(digests | {column_digest(column)}) == 5
    numbers = [pa.array([1, 2]), pa.array([1, 2], pa.int32()), pa.array([1.0, 2.0]), pa.array([1, None]), pa.array([1, 0])]
    assert len({column_digest(pa.chunked_array([one])) for one in numbers}) == 5


def test_files_of_earlier_versions_without_digests_are_read(tmp_path):
    pq.write_table(pa.table(TABLE), tmp_path / "old.parquet")
    assert read_parquet(tmp_path / "old.parquet", ["real"]).num_rows == N


@pytest.fixture
def run(tmp_path):
    """Results of a small run, recorded as jobs ended."""
    for name, make, _ in KINDS.values():
        (tmp_path / "results/study/scores").mkdir(parents=True, exist_ok=True)
        make(tmp_path / "results/study/scores" / name)
    (tmp_path / "results/study/tables").mkdir()
    (tmp_path / "results/study/tables/table1.csv").write_text("a\n1\n")
    (tmp_path / "results/study/failures.json").write_text("[]\n")
    files = [str(path.relative_to(tmp_path)) for path in sorted((tmp_path / "results").rglob("*")) if path.is_file()]
    add_checksums("results", files, tmp_path)
    return SimpleNamespace(folder=tmp_path, files=files)


def found(run):
    return {one.file.rpartition("/")[2]: one.state for one in check_results("results", run.folder)}


def test_a_run_as_it_was_written_has_no_findings(run):
    assert check_results("results", run.folder) == []


def test_every_flipped_bit_of_every_file_is_found(run):
    rng = random.Random(1)
    for file in run.files:
        path = run.folder / file
        whole = path.read_bytes()
        for bit in rng.sample(range(8 * len(whole)), min(20, 8 * len(whole))):
            damaged = bytearray(whole)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            assert list(found(run)) == [path.name]
        path.write_bytes(whole)


def test_what_is_missing_replaced_or_not_recorded_is_told_apart(run):
    scores = run.folder / "results/study/scores"
    (scores / "f.npz").unlink()
    write_folds(scores / "p.npz", {("CV", 5): np.zeros((1, 9), np.uint8)}, {5: [1]})
    (scores / "t.parquet").write_bytes((scores / "t.parquet").read_bytes()[:-9])
    (run.folder / "results/study/tables/mine.csv").write_text("b\n")
    expected = {"f.npz": "missing", "p.npz": "replaced", "t.parquet": "damaged", "mine.csv": "unrecorded"}
    assert found(run) == expected


def test_a_file_that_is_made_again_is_recorded_again(run):
    (run.folder / run.files[0]).write_text("[1]\n")
    assert len(found(run)) == 1
    add_checksums("results", run.files[:1], run.folder)
    assert found(run) == {}


def test_a_line_that_a_killed_run_left_half_written_costs_no_other(run):
    with open(run.folder / "results" / RECORD, "a") as file:
        file.write('{"file": "resu')
    add_checksums("results", run.files[:1], run.folder)
    assert found(run) == {} and len(recorded("results", run.folder)) == len(run.files)


def test_the_files_of_a_job_are_recorded_when_it_has_ended(run, monkeypatch):
    monkeypatch.chdir(run.folder)
    (run.folder / "results/study/new.csv").write_text("x\n")
    recorder = ChecksumRecorder("results", {3: ["results/study/new.csv"], 4: []})
    for event, job in (("job_info", 3), ("job_finished", 4)):
        recorder.emit(logging.makeLogRecord({"event": event, "job_id": job}))
    assert "results/study/new.csv" not in recorded("results")
    recorder.emit(logging.makeLogRecord({"event": "job_finished", "job_id": 3}))
    assert "results/study/new.csv" in recorded("results")


def test_the_rule_names_damaged_files_and_how_to_make_them_anew(run, monkeypatch, capsys):
    monkeypatch.chdir(run.folder)
    monkeypatch.delenv("FOLDSHIFT_RERUN", raising=False)
    job = SimpleNamespace(params=SimpleNamespace(results="results", studies=["study"]))
    script.main(job)
    assert f"{len(run.files)} of {len(run.files)} files are those that were written" in capsys.readouterr().out
    (run.folder / "results/study/tables/table1.csv").write_text("a\n2\n")
    with pytest.raises(DataError, match=r"1 files .*: snakemake study --forcerun results/study/tables/table1.csv --cores all$"):
        script.main(job)
    assert "damaged: results/study/tables/table1.csv (other bytes than were written" in capsys.readouterr().out


def test_many_files_to_make_anew_are_in_a_list(tmp_path, monkeypatch):
    monkeypatch.delenv("FOLDSHIFT_RERUN", raising=False)
    command = script.remedy([f"f {i}" for i in range(30)], str(tmp_path), ["study"])
    assert command == f"snakemake all --forcerun $(cat {tmp_path / script.LIST}) --cores all"
    assert (tmp_path / script.LIST).read_text().splitlines()[3] == "'f 3'"


def test_results_that_are_not_there_are_named(tmp_path):
    with pytest.raises(DataError, match="there is no folder of results"):
        check_results("results", tmp_path)


def test_arrays_of_a_missing_file_are_no_damage(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "a.npz")
    (tmp_path / "a.npz").write_bytes(json.dumps({}).encode())
    with pytest.raises(DamagedError):
        read_arrays(tmp_path / "a.npz")
