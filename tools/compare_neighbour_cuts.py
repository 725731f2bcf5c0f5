"""The cuts that look at neighbours, at an earlier commit and now: processor time, and whether the folds are the same.

python tools/compare_neighbour_cuts.py COMMIT [--mirror FOLDER] [--seeds 1000]

Both run in processes of their own, one after the other, shape by shape; the earlier commit in a worktree of its own, with the
packages of this environment. The data sets are those of the papers' classification study, five folds.
"""

import argparse
import hashlib
import tempfile
import time
from pathlib import Path

import numpy as np

from two_commits import run, sources_of

TOOL = "compare_neighbour_cuts"
CUTS = ("DOB-SCV", "DB-SCV", "MS-SCV")
SHAPES = ((100_000, 10, 10), (20_000, 50, 5), (200_000, 5, 5), (1_000_000, 10, 10))  # rows, columns, folds
ONCE = 500_000  # tables of more rows are cut as they are now only


def measure(task):
    """What one process does: folds of a made-up table with their time and memory, or of a data set for many seeds."""
    from foldshift.partition import make_folds

    if task["kind"] == "time":
        import resource

        n, p, k = task["shape"]
        rng = np.random.default_rng(0)
        make_folds(task["cut"], rng.random((200, p)), np.arange(200) % 2, k, [0])  # compile before the clock runs
        X, y = rng.random((n, p)), rng.integers(3, size=n)
        start = time.process_time()
        folds = make_folds(task["cut"], X, y, k, [0])
        seconds, memory = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        return {"seconds": seconds, "gb": memory, "sum": digest(folds)}
    table = np.load(task["file"], allow_pickle=False)
    options = {"categorical_features": table["nominal"]}
    folds = {cut: make_folds(cut, table["X"], table["y"], 5, range(task["seeds"]), **options) for cut in CUTS}
    return {"sum": {cut: digest(found) for cut, found in folds.items()}}


def digest(folds):
    """Checksum of folds, whatever their integer type."""
    return hashlib.sha256(np.ascontiguousarray(folds, dtype="<u2").tobytes()).hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", help="the earlier one")
    parser.add_argument("--mirror", type=Path, help="folder with the data files; without it the data sets are left out")
    parser.add_argument("--seeds", type=int, default=1000)
    args = parser.parse_args()
    with sources_of(args.commit) as (before, now), tempfile.TemporaryDirectory() as folder:
        compare_times(before, now)
        if args.mirror:
            compare_folds(before, now, args, Path(folder))


def compare_times(before, now):
    """Print processor seconds and memory of one cut, before and now."""
    print(f"{'rows':>9} {'columns':>7}  k cut      before s   now s  ratio  GB now  same folds", flush=True)
    for shape in SHAPES:
        for cut in CUTS:
            task = {"kind": "time", "cut": cut, "shape": shape}
            old, new = None if shape[0] > ONCE else run(before, TOOL, task), run(now, TOOL, task)
            told = f"{'':8} {new['seconds']:7.2f} {'':6}" if old is None else (
                f"{old['seconds']:8.2f} {new['seconds']:7.2f} {old['seconds'] / new['seconds']:6.1f}"
            )  # fmt: skip
            same = "" if old is None else "yes" if old["sum"] == new["sum"] else "NO"
            print(f"{shape[0]:9,} {shape[1]:7} {shape[2]:2} {cut:8} {told} {new['gb']:7.2f}  {same}", flush=True)


def compare_folds(before, now, args, folder):
    """Print whether the folds of many seeds are the same on the papers' data sets."""
    from measure_cuts import papers_data

    same, n_sets = [], 0
    for data in papers_data("classification", args.mirror):
        file = folder / "data.npz"
        np.savez(file, X=data.X, y=data.y, nominal=data.categorical_features)
        task = {"kind": "folds", "file": str(file), "seeds": args.seeds}
        old, new = (run(source, TOOL, task)["sum"] for source in (before, now))
        n_sets += 1
        same += [cut for cut in CUTS if old[cut] == new[cut]]
        print(
            f"{data.name:16} "
            + "  ".join(f"{cut} {new[cut]} {'same' if old[cut] == new[cut] else 'NOT THE SAME'}" for cut in CUTS),
            flush=True,
        )
    print(f"{len(same)} of {n_sets * len(CUTS)} checksums of {args.seeds} seeds are the same")


if __name__ == "__main__":
    main()
