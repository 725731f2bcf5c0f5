import os
import re
import socket
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from foldshift.core import files
from foldshift.core.errors import DataError, unknown
from foldshift.core.files import atomic_path, sweep, write_text
from foldshift.engine.storage.fold_files import read_folds, write_folds


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


NAME = r"\.foldshift-[0-9a-f]{8}-%d-[a-z0-9_]{8}\.parquet"


def make(path, age=0.0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def test_a_temporary_file_tells_who_writes_it(tmp_path):
    with atomic_path(tmp_path / "a.parquet") as temporary:
        assert re.fullmatch(NAME % os.getpid(), temporary.name) and temporary.parent == tmp_path


def test_what_a_killed_process_left_behind_is_swept_at_once(tmp_path):
    code = "import os, sys; from foldshift.core.files import atomic_path\n"
    code += "with atomic_path(sys.argv[1]) as temporary: temporary.write_text('half'); os.kill(os.getpid(), 9)"
    environment = os.environ | {"PYTHONPATH": str(files.__file__).removesuffix("/foldshift/core/files.py")}
    writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "deep/a.parquet")], env=environment)
    assert writer.wait() == -9
    (left,) = (tmp_path / "deep").iterdir()
    assert re.fullmatch(NAME % writer.pid, left.name)
    assert sweep(tmp_path) == [left] and list((tmp_path / "deep").iterdir()) == []


def test_what_a_living_process_writes_is_never_swept_however_old(tmp_path):
    with atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("x")
        os.utime(temporary, (0, 0))
        other = make(temporary.with_name(temporary.name.replace(f"-{os.getpid()}-", "-1-")), age=1e8)  # not ours to ask
        assert sweep(tmp_path, max_age=0) == [] and other.exists()
    assert (tmp_path / "a.txt").read_text() == "x"


def test_what_another_machine_left_behind_is_swept_when_it_is_old(tmp_path):
    young = make(tmp_path / ".foldshift-00000000-1-abcdefgh.npz", age=23 * 3600)
    old = make(tmp_path / "b/.foldshift-00000000-1-abcdefgh.npz", age=25 * 3600)
    assert sweep(tmp_path) == [old] and young.exists()
    assert sweep(tmp_path, max_age=3600) == [young]


def test_nothing_else_is_swept(tmp_path):
    names = ["a.npz", ".foldshift-1-abcdefgh.npz", ".foldshift-00000000-1-abcdefgh", ".a.abcdefgh.npz", ".foldshift-notes"]
    kept = [make(tmp_path / name, age=1e8) for name in names]
    outside = make(tmp_path / "outside/.foldshift-00000000-1-abcdefgh.npz", age=1e8)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/link").symlink_to(tmp_path / "outside")
    assert sweep(tmp_path / "in") == [] and outside.exists()
    assert sweep(tmp_path / "missing") == []
    assert sweep(tmp_path) == [kept[2], outside]


def test_machines_that_share_a_name_are_told_apart_by_their_start(monkeypatch):
    files._host.cache_clear()
    mine = files._host()
    if os.path.exists("/proc/sys/kernel/random/boot_id"):
        monkeypatch.setattr(os, "readlink", lambda path: "pid:[1]")  # a container on this machine
        files._host.cache_clear()
        assert files._host() != mine
    monkeypatch.undo()
    monkeypatch.setattr(socket, "gethostname", lambda: "another")
    files._host.cache_clear()
    assert files._host() != mine
    files._host.cache_clear()


def test_folds_come_back_by_partitioner_and_k_and_give_the_same_bytes(tmp_path):
    folds = {("CV", 2): np.array([[0, 1, 0]], np.uint8), ("My/cut", 10): np.array([[2, 1, 0]], np.uint16)}
    for name in ("a.npz", "b.npz"):
        write_folds(tmp_path / name, folds, {2: [7], 10: [8]})
    back, seeds = read_folds(tmp_path / "a.npz")
    assert list(back) == list(folds) and seeds == {2: [7], 10: [8]}
    assert all((back[key] == folds[key]).all() and back[key].dtype == folds[key].dtype for key in folds)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_an_unknown_name_is_met_with_the_nearest_ones():
    assert unknown("learner", "RPRAT", ["RPART", "NN"]) == "unknown learner 'RPRAT'; did you mean RPART? Known: RPART, NN."
    assert unknown("learner", "zzz", ["RPART", "NN"], "Add it.") == "unknown learner 'zzz'. Known: RPART, NN. Add it."


# ---- what is at the path already ----


def test_a_device_gets_the_content_and_stays_a_device(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    write_text(pipe, "x\n")
    assert reader.communicate(timeout=10)[0] == b"x\n" and stat.S_ISFIFO(pipe.stat().st_mode)
    write_text("/dev/null", "x\n")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_full_device_is_an_error_and_stays_a_device(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("/dev/full is not here")
    with pytest.raises(DataError, match="cannot write /dev/full: No space left on device"):
        write_text("/dev/full", "x\n")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a.txt").write_text("old")
    (tmp_path / "folder/a.txt").chmod(0o600)
    (tmp_path / "link").symlink_to("folder/a.txt")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "folder/a.txt").read_text() == "new"
    assert (tmp_path / "folder/a.txt").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["", "folder", "a\0b"])
def test_a_path_that_cannot_be_a_file_is_a_plain_message(tmp_path, name):
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match=r"cannot write .*: that is (a folder|not the name of a file)"):
        write_text(f"{tmp_path}/{name}" if name else name, "x")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]
