"""Compiling everything once: what is called, in which company, and what a part that fails does."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from scripts.compile_kernels import main

import foldshift
from foldshift.engine.costs.compile_cost import compile_seconds, kept_paths, record_kept, source_digest
from foldshift.engine.jobs.warm_up import compile_kernels, families

RIDGE = {"import": "sklearn.linear_model.Ridge", "tasks": ["regression"]}
REFUSED = {"import": "sklearn.linear_model.Ridge", "params": {"no_such": 1}, "tasks": ["regression"]}

SECOND = """
import numpy as np
from foldshift.learners import NNRegressor
from foldshift.learners.neighbours import nearest_regressor as nearest
if {first}:
    from foldshift.engine.jobs.warm_up import compile_kernels
    compile_kernels({{"NN": {{"import": "foldshift.learners.NNRegressor", "tasks": ["regression"]}}}})
rng = np.random.default_rng(0)
X, y, folds = rng.random((1600, 3)), rng.random(1600), rng.integers(0, 5, (4, 1600)).astype(np.uint8)
for n in (300, 1600):  # all points, and a tree's
    NNRegressor().predict_folds(X[:n], y[:n], folds[:, :n])
    NNRegressor().fit(X[:n], y[:n]).predict(X[:n])
print(sum(len(kernel.stats.cache_misses) for kernel in (nearest._walk, nearest._nearest, nearest._means)))
"""


def test_parts_that_share_source_stay_together_the_longest_first_and_last_what_a_longer_one_calls():
    parts = {
        "a": (print, (), frozenset("1")),
        "b": (print, (), frozenset("23")),
        "c": (print, (), frozenset("4")),
        "d": (print, (), frozenset("35")),
        "e": (print, (), frozenset("41")),
        "study": (print, (), frozenset(["study"])),
    }
    seconds = {"a": 1.0, "b": 8.0, "c": 2.0, "d": 3.0, "e": 2.5, "study": 9.0}
    found = [[name for name, _, _ in family] for family in families(parts, seconds, {})]
    assert found == [["study"], ["b", "d"], ["c", "a", "e"]]
    found = [[name for name, _, _ in family] for family in families(parts, seconds, {"study": "57"})]
    assert found == [["study"], ["c", "a", "e"], ["b", "d"]]


def test_a_learner_that_cannot_be_called_is_told_and_the_others_are_called():
    lines = []
    parts = {part.name: part for part in compile_kernels({"no": REFUSED, "yes": RIDGE}, n_processes=2, progress=lines.append)}
    assert "no_such" in parts["no"].message
    assert parts["yes"].message == ""
    assert len(lines) == 2


def test_jobs_compile_nothing_more(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(foldshift.__file__).parents[1])}
    for first, misses in ((True, None), (False, "0")):
        program = [sys.executable, "-c", SECOND.format(first=first)]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
        assert misses in (None, done.stdout.strip())


def test_the_stamp_says_what_was_compiled_what_failed_and_what_was_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("foldshift.engine.costs.compile_cost.cache_root", lambda: tmp_path)
    stamp = tmp_path / "compiled" / "kernels.json"
    params = SimpleNamespace(learners={"no": REFUSED, "yes": RIDGE}, partitioners=[], measures=[])
    main(SimpleNamespace(params=params, output=SimpleNamespace(stamp=str(stamp)), threads=1))
    said = json.loads(stamp.read_text())
    assert set(said["parts"]) == {"no", "yes"}
    assert list(said["failed"]) == ["no"] and said["kept"] == []
    # Both entries are of one class: one that failed leaves it out.
    main(SimpleNamespace(params=params, output=SimpleNamespace(stamp=str(stamp)), threads=1))
    assert json.loads(stamp.read_text())["kept"] == []
    del params.learners["no"]
    for kept in ([], ["yes"]):
        main(SimpleNamespace(params=params, output=SimpleNamespace(stamp=str(stamp)), threads=1))
        assert json.loads(stamp.read_text())["kept"] == kept


def test_what_is_kept_from_an_earlier_run_is_not_planned_again(tmp_path, monkeypatch):
    paths = ["foldshift.learners.FURIAClassifier", "sklearn.linear_model.Ridge", "foldshift.learners.NNRegressor"]
    nothing = compile_seconds(paths, 2)
    assert nothing == compile_seconds([*paths, paths[0]], 2) > compile_seconds(paths[1:], 2) > compile_seconds([], 2)
    monkeypatch.setattr("foldshift.engine.costs.compile_cost.cache_root", lambda: tmp_path)
    assert kept_paths(paths) == set()
    record_kept(paths[:1])
    record_kept(paths[1:2])
    assert kept_paths(paths) == set(paths[:2])  # the second record lost nothing of the first
    assert compile_seconds(paths, 2, kept_paths(paths)) < nothing
    digest = source_digest(paths[0])
    monkeypatch.setattr("foldshift.engine.costs.compile_cost.module_files", lambda objects: [__file__])
    assert source_digest(paths[0]) != digest and kept_paths(paths) == set()  # the source is another
    (tmp_path / "kept.json").write_text("[1")
    assert kept_paths(paths) == set()
    monkeypatch.setattr("foldshift.engine.costs.compile_cost.cache_root", lambda: None)
    record_kept(paths)
    assert kept_paths(paths) == set()
