import os
import types

import numpy as np
import pytest

from foldshift.errors import DataError, unknown
from foldshift.files import atomic_path, write_text
from foldshift.jobs import run
from foldshift.partition.storage import read_folds, write_folds


def test_a_file_appears_whole_with_the_usual_permissions(tmp_path):
    write_text(tmp_path / "new" / "a.txt", "x\n")
    path = tmp_path / "new" / "a.txt"
    mask = os.umask(0)
    os.umask(mask)
    assert path.read_text() == "x\n" and path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(RuntimeError), atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"] and (tmp_path / "a.txt").read_text() == "old"


def test_a_folder_that_cannot_be_made_is_a_plain_message(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(DataError, match=r"cannot write .*taken/a.txt: .*; check the folder's permissions and the free space"):
        write_text(tmp_path / "taken" / "a.txt", "x")


def test_folds_come_back_by_partitioner_and_k_and_give_the_same_bytes(tmp_path):
    folds = {("CV", 2): np.array([[0, 1, 0]], np.uint8), ("My/cut", 10): np.array([[2, 1, 0]], np.uint16)}
    for name in ("a.npz", "b.npz"):
        write_folds(tmp_path / name, folds, {2: [7], 10: [8]})
    back, seeds = read_folds(tmp_path / "a.npz")
    assert list(back) == list(folds) and seeds == {2: [7], 10: [8]}
    assert all((back[key] == folds[key]).all() and back[key].dtype == folds[key].dtype for key in folds)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_users_mistake_ends_a_job_with_one_line_and_a_fault_with_a_traceback_in_the_log(tmp_path, capsys):
    job = types.SimpleNamespace(log=[str(tmp_path / "log.txt")])

    def mistaken(job):
        raise DataError("data set x: no rows")

    def faulty(job):
        raise KeyError("y")

    for main, expected, trace in ((mistaken, "foldshift: data set x: no rows", False), (faulty, "please report it", True)):
        with pytest.raises(SystemExit):
            run(main, job)
        text = (tmp_path / "log.txt").read_text()
        assert expected in text and expected in capsys.readouterr().err
        assert ("Traceback" in text) == trace


def test_an_unknown_name_is_met_with_the_nearest_ones():
    assert unknown("learner", "RPRAT", ["RPART", "NN"]) == "unknown learner 'RPRAT'; did you mean RPART? Known: RPART, NN."
    assert unknown("learner", "zzz", ["RPART", "NN"], "Add it.") == "unknown learner 'zzz'. Known: RPART, NN. Add it."
