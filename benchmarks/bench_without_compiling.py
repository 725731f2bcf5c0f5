"""Measure what the library costs where numba is not installed: every cut, measure, interval and the advice on 300 rows.

python benchmarks/bench_without_compiling.py            # milliseconds with and without numba, and their ratio
python benchmarks/bench_without_compiling.py --first    # seconds of the first call on an empty cache
"""

import argparse
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
N_ROWS = 300
REPEATS = 5
BLOCK = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""


def calls():
    """Functions without arguments by name: what is timed, and whose results must be the same bytes."""
    import numpy as np
    import pandas as pd
    from sklearn.linear_model import LogisticRegression, Ridge

    import foldshift
    from foldshift import inference, partition, shift
    from foldshift.partition.registry import PARTITIONERS, find_partitioner

    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 6))
    X[:, 4] = rng.integers(0, 4, N_ROWS)
    X[:, 5] = np.round(X[:, 5], 1)
    number = X @ np.arange(6.0) + rng.normal(size=N_ROWS)
    label = (number > np.median(number)).astype(int) + (number > np.quantile(number, 0.8))
    groups = rng.integers(0, 60, N_ROWS)
    found = {}
    for name in (*PARTITIONERS, "SCV10"):
        y = number if name in ("TSCV", "CB-TSCV", "SCV10") else label
        more = {"groups": groups} if name == "LOSO" else {}
        more |= {place: X[:, :2] for place in ("coordinates", "prediction_points") if place in find_partitioner(name).takes}
        n_folds = len(set(groups)) if name == "LOSO" else 5
        found[f"cut {name}"] = lambda name=name, y=y, n=n_folds, more=more: partition.make_folds(name, X, y, n, [0, 1, 2], **more)
    found["cut DOB-SCV keel"] = lambda: partition.make_folds("DOB-SCV", X, label, n_folds=5, seeds=[0, 1], metric="keel")
    for name in ("CB-TSCV", "CB-SCV", "CB-CV"):
        y = number if name == "CB-TSCV" else label
        found[f"cut {name} groups"] = lambda name=name, y=y: partition.make_folds(
            name, X, y, n_folds=5, seeds=[0, 1], groups=groups
        )
    folds = partition.make_folds("CV", X, number, n_folds=5, seeds=range(10))
    found["shift fold_ks"] = lambda: shift.fold_ks(number, folds)
    found["shift fold_ks columns"] = lambda: [shift.fold_ks(column, folds) for column in X.T]
    found["shift fold_drift"] = lambda: shift.fold_drift(X, number, folds, task="regression").to_frame().to_csv()
    found["shift covariates"] = lambda: shift.fold_covariates(X, folds)
    train, test = pd.DataFrame(X[:200]).add_prefix("x"), pd.DataFrame(X[200:]).add_prefix("x")
    found["shift DriftReport"] = lambda: shift.DriftReport(train, test).to_dict()
    found["shift hellinger"] = lambda: shift.hellinger(X[:150, 0], X[150:, 0])
    for name in ("energy_distance_test", "mmd", "classifier_two_sample"):
        found[f"shift {name}"] = lambda name=name: getattr(shift, name)(X[:150], X[150:], rng=np.random.default_rng(0))
    scores = rng.normal(0.8, 0.02, size=(2, 10, 10))
    found["inference compare"] = lambda: str(inference.compare(scores[0], scores[1], design="folds"))
    found["inference repetitions"] = lambda: str(inference.recommend_repetitions(scores[0]))
    found["inference wilcoxon"] = lambda: inference.wilcoxon_signed_ranks(scores[0].ravel(), scores[1].ravel())
    found["inference score_interval"] = lambda: inference.score_interval(label > 0, number, "roc_auc")
    found["advise classes"] = lambda: (
        foldshift.advise(X, label > 0, LogisticRegression(), isolate=False, budget=None, most_repetitions=3).verdict
    )
    found["advise numbers"] = lambda: foldshift.advise(X, number, Ridge(), isolate=False, budget=None, most_repetitions=3).verdict
    return found


def digest_of(value):
    """Digest of a result, bytes of arrays included."""
    import numpy as np

    digest = hashlib.sha256()

    def add(part):
        if isinstance(part, dict):
            part = list(part.items())
        if isinstance(part, (list, tuple)):
            for one in part:
                add(one)
        elif isinstance(part, np.ndarray) and part.dtype != object:
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            digest.update(repr(part).encode())

    add(value)
    return digest.hexdigest()[:16]


def measure(repeats):
    """Milliseconds of processor time of every call, the first one apart, and the digest of what it gave."""
    from foldshift.core.compiling import compiling_always

    warnings.simplefilter("ignore")
    with compiling_always() if repeats else contextlib.nullcontext():  # else the first call is that of a user
        return timed_calls(repeats)


def timed_calls(repeats):
    """Make and time the calls."""
    rows = {}
    for name, call in calls().items():
        begun = time.process_time()
        try:
            value = call()
        except ImportError as error:
            rows[name] = {"error": str(error)}
            continue
        first, taken = time.process_time() - begun, []
        for _ in range(repeats):
            begun = time.process_time()
            call()
            taken.append(time.process_time() - begun)
        rows[name] = {"first": first, "ms": 1000 * min(taken or [first]), "digest": digest_of(value)}
    return rows


def in_process(*options, blocked=False, cache=None):
    """Rows of a process of its own, with or without numba."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(BLOCK if blocked else "")
        path = os.pathsep.join([folder, str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PYTHONPATH": path} | ({"NUMBA_CACHE_DIR": cache} if cache else {})
        done = subprocess.run(
            [sys.executable, __file__, "--rows", *options], env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
    return json.loads(done.stdout)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description="Cost of the library without numba.")
    parser.add_argument("--rows", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--first", action="store_true", help="first calls on an empty cache")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args()
    if options.rows:
        json.dump(measure(options.repeats), sys.stdout)
        return
    repeats = ["--repeats", "0" if options.first else str(options.repeats)]
    with tempfile.TemporaryDirectory() as cache:
        compiled = in_process(*repeats, cache=cache if options.first else None)
    plain = in_process(*repeats, blocked=True)
    print(f"{'':28} {'numba':>10} {'without':>10} {'ratio':>7}  the same bytes")
    for name, row in compiled.items():
        other = plain[name]
        if "error" in row or "error" in other:
            print(f"{name:28} {row.get('error') or other.get('error')}")
            continue
        print(
            f"{name:28} {row['ms']:10.1f} {other['ms']:10.1f} {other['ms'] / row['ms']:7.2f}  {row['digest'] == other['digest']}"
        )


if __name__ == "__main__":
    main()
