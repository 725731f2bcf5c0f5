"""Measure the processor time of compiling every learner and every first call, each alone.

`python benchmarks/bench_compiling.py` prints the figures that `foldshift.engine.costs.compile_cost` plans with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from foldshift.engine.config.runs import configure
from foldshift.engine.config.yaml_files import read_yaml

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import json, sys
from foldshift.engine.jobs.warm_up import compile_kernels
learners, partitioners, measures = json.loads(sys.argv[1])
print(max(part.seconds for part in compile_kernels(learners, partitioners, measures)))
"""


def main() -> None:
    """Print seconds by import path, the longest first."""
    configured = configure(read_yaml("config/config.yaml", "configuration"), ROOT)
    ours = {entry["import"]: entry for entry in configured.learners.values() if entry["import"].startswith("foldshift.")}
    calls = {path: [{path: entry}, [], []] for path, entry in ours.items()}
    calls["foldshift.partition.methods.distance_based.db_scv_folds"] = [{}, ["DB-SCV"], []]
    first = {run.found.path(one.first_call) for run in configured.runs.values() for one in run.measures() if one.first_call}
    calls |= {path: [{}, [], [path]] for path in ("foldshift.engine.jobs.warm_up.target_shift", *first)}
    print_seconds(calls)


def print_seconds(calls: dict[str, list[Any]]) -> None:
    """Time every call in a process and with a cache of its own."""
    found = {}
    for path, call in calls.items():
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"NUMBA_CACHE_DIR": folder}
            command = [sys.executable, "-c", PROGRAM, json.dumps(call)]
            found[path] = float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    for path, seconds in sorted(found.items(), key=lambda one: -one[1]):
        print(f'    "{path}": {seconds:.1f},')


if __name__ == "__main__":
    main()
