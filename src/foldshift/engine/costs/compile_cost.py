"""Expected time of compiling the kernels that no earlier run has compiled and kept."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Collection, Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from foldshift.core.cache import cache_root
from foldshift.core.files import write_text
from foldshift.engine.jobs.code_digest import module_files
from foldshift.partition.compile_seconds import COMPILE_SECONDS

# Seconds of processor time of the first call with nothing kept, alone: benchmarks/bench_compiling.py measures them.
FIRST_CALL = {
    "foldshift.learners.RIPPERClassifier": 36.6,
    "foldshift.learners.FURIAClassifier": 33.8,
    "foldshift.learners.PARTClassifier": 29.1,
    "foldshift.learners.C45Classifier": 24.6,
    "foldshift.learners.SVMClassifier": 21.1,
    "foldshift.learners.MARSRegressor": 17.4,
    "foldshift.learners.LDAClassifier": 15.2,
    "foldshift.learners.NaiveBayesClassifier": 12.6,
    "foldshift.learners.NNClassifier": 12.1,
    "foldshift.learners.PDFClassifier": 9.8,
    "foldshift.learners.ELMRegressor": 8.4,
    "foldshift.learners.RPARTRegressor": 8.0,
    "foldshift.learners.RandomTiesNNRegressor": 7.8,
    "foldshift.learners.NNRegressor": 5.3,
    "foldshift.learners.GBMRegressor": 5.0,
    "foldshift.studies.cieslak_2009.measure.first_call": 12.4,
    "foldshift.studies.common.measure_covariate_shift.first_call": 10.5,
    "foldshift.studies.geras_2013.measure.first_call": 3.8,
    "foldshift.studies.wong_2015.measures.measure_schemes.first_call": 25.9,
    "foldshift.engine.jobs.warm_up.target_shift": 1.0,
}
# Of the evaluation itself, which learners of a task share.
SHARED = {"Classifier": 9.0, "Regressor": 4.5}
UNKNOWN = 1.0
CALLER = "foldshift.engine.jobs.warm_up.compile_kernels"  # what it calls beside a learner is compiled with it
START = 4.0  # imports of all learners


def compile_seconds(paths: Iterable[str], n_processes: int, kept: Collection[str] = frozenset()) -> float:
    """Time until everything is compiled.

    >>> compile_seconds(["mine.Learner"], 2, kept=["mine.Learner"])
    4.0
    """
    wanted, left = {*paths} - {*kept}, []
    for task, shared in SHARED.items():
        learners = {path for path in wanted if path in FIRST_CALL and path.endswith(task)}
        left += [FIRST_CALL[path] - shared for path in learners] + ([shared] if learners else [])
        wanted -= learners
    cutting = {path for path in wanted if path.rpartition(".")[0] in COMPILE_SECONDS}
    left += [COMPILE_SECONDS[module] for module in {path.rpartition(".")[0] for path in cutting}]
    wanted -= cutting
    left += map(first_call_seconds, wanted)
    return START + max(sum(left) / n_processes, max(left, default=0.0))


def first_call_seconds(path: str) -> float:
    """Expected processor time of the first call of one import path, with nothing kept."""
    return COMPILE_SECONDS.get(path.rpartition(".")[0], FIRST_CALL.get(path, UNKNOWN))


def kept_paths(paths: Iterable[str]) -> set[str]:
    """Return the import paths whose kernels an earlier run has compiled from the present source."""
    recorded = _read()
    return {path for path in paths if recorded.get(path) == source_digest(path)}


def record_kept(paths: set[str] | list[str]) -> None:
    """Record that the kernels of some import paths are compiled; do nothing where compiled code is not kept."""
    root = cache_root()
    if root is not None:
        found = _read() | {path: source_digest(path) for path in paths}
        write_text(root / "kept.json", json.dumps(dict(sorted(found.items())), indent=1) + "\n")


def source_digest(path: str) -> str:
    """Digest of all source that an import path rests on, and of versions and processor."""
    digest = hashlib.sha256(f"{version('numba')} {version('numpy')} {sys.version} {_processor()}".encode())
    for file in module_files(objects=[path, CALLER]):
        digest.update(_of_file(file))
    return digest.hexdigest()


@cache
def _processor() -> str:
    """Kind of the processor: a folder of compiled code may be shared by machines that differ."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    return "\n".join(dict.fromkeys(line for line in lines if line.startswith(("model name", "flags", "Features"))))


@cache
def _of_file(file: str) -> bytes:
    return hashlib.sha256(Path(file).read_bytes()).digest()


def _read() -> dict[str, str]:
    root = cache_root()
    try:
        found = json.loads((root / "kept.json").read_text(encoding="utf-8")) if root is not None else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
