"""Compare the balanced cuts with others: with TSCV (SCV), ABA and Twinning on the papers' data sets, for shift and randomness.

Groups and labels are compared with the splitters of scikit-learn and iterative-stratification; the last section is on time.

python validation/balance_of_cuts.py --mirror FOLDER [--only joint random groups labels speed] [--seeds 100]

Numbers are means over folds and seeds; "relative" is the Kolmogorov-Smirnov distance of the inputs (nominal ones: total
variation), mean over the inputs, divided by that of plain cross-validation. A data set is won where the balanced cut is below
both competitors.
"""

from __future__ import annotations

import argparse
import resource
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from foldshift.core.errors import DataError
from foldshift.datasets.catalogue import load_dataset
from foldshift.engine.study.find import main_study
from foldshift.partition import CovariateBalancedKFold, as_folds, fold_randomness, make_folds
from foldshift.partition.registry import find_partitioner
from foldshift.shift import fold_ks
from foldshift.shift.measures.covariates import fold_ks_attributes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from foldshift.core.types import Array, IntArray, PathLike, UnsignedArray
    from foldshift.datasets.dataset import Dataset

CUTS = {"regression": ("CV", "TSCV", "CB-TSCV", "ABA", "Twinning"), "classification": ("CV", "SCV", "CB-SCV", "ABA", "Twinning")}
COMPETITORS = ("ABA", "Twinning")
FOLDS = (2, 5, 10)
SECTIONS = ("joint", "random", "groups", "labels", "speed")


def class_shares(y: IntArray, folds: UnsignedArray, k: int) -> float:
    """Compute the largest difference of a class's share between a fold and all samples, mean over folds and seeds."""
    whole = np.bincount(y) / len(y)
    parts = [
        np.bincount(y[row == fold], minlength=len(whole)) / max((row == fold).sum(), 1) for row in folds for fold in range(k)
    ]
    return np.abs(np.array(parts) - whole).max(axis=1).mean()


def cut(name: str, data: Dataset, k: int, seeds: Iterable[int]) -> UnsignedArray:
    """Make the folds of a partitioner, with the options that it accepts."""
    options = {"categorical_features": data.categorical_features} if find_partitioner(name).looks_at_inputs else {}
    return make_folds(name, data.X, data.y, k, seeds, **options)


def papers_data(task: str, mirror: PathLike | None) -> Iterator[Dataset]:
    """Yield the data sets of the paper of a task that are available."""
    for name in main_study(task).scales["paper"]["datasets"]:
        try:
            yield load_dataset(name, mirror=mirror)
        except DataError as error:
            print(f"left out: {error}")


def joint(args: argparse.Namespace) -> None:
    """Print the shift of target and inputs, set by set."""
    for task, names in CUTS.items():
        rows = []
        for data in papers_data(task, args.mirror):
            for k in FOLDS:
                row = {"dataset": data.name, "k": k}
                for name in names:
                    folds = cut(name, data, k, range(args.seeds))
                    row[name] = fold_ks_attributes(data.X, folds, k, categorical_features=data.categorical_features).mean()
                    target = fold_ks(data.y, folds, k).mean() if task == "regression" else class_shares(data.y, folds, k)
                    row[f"target {name}"] = target
                rows.append(row)
                print(" ".join(f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.values()), flush=True)
        summarise(pd.DataFrame(rows), names)


def summarise(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Print means relative to CV, data sets won, and the largest distance of the target's shift."""
    ours, reference = names[2], names[1]
    for k, part in table.groupby("k"):
        relative = {name: (part[name] / part["CV"]).mean() for name in names[1:]}
        won = part[ours] < part[list(COMPETITORS)].min(axis=1)
        gap = (part[f"target {ours}"] - part[f"target {reference}"]).abs().max()
        print(f"k={k}: relative to CV " + ", ".join(f"{name} {value:.3f}" for name, value in relative.items()))
        print(
            f"  {ours} below both competitors on {won.sum()} of {len(won)}; not on {', '.join(part['dataset'][~won]) or 'none'}"
        )
        print(f"  target: at most {gap:.5f} from {reference}", flush=True)


def random(args: argparse.Namespace) -> None:
    """Print the randomness that is left in the cuts of 1,000 seeds."""
    print(f"{'data set':16} distinct  place error (chance)  pair error (chance)  pairs together")
    for task, names in CUTS.items():
        for data in papers_data(task, args.mirror):
            found = fold_randomness(cut(names[2], data, 5, range(1000)))
            print(
                f"{data.name:16} {found.n_distinct:8d}  {found.place_error:.4f} ({found.place_chance:.4f})"
                f"      {found.pair_error:.4f} ({found.pair_chance:.4f})     {found.pairs_together:.4f}",
                flush=True,
            )


def groups(args: argparse.Namespace) -> None:
    """Compare shift of target and inputs with scikit-learn's splitters on 2,000 rows in 200 groups that differ."""
    rng = np.random.default_rng(0)
    of_row = rng.integers(200, size=2000)
    X = rng.normal(size=(2000, 4)) + rng.normal(size=(200, 4))[of_row]
    y = X @ np.arange(1.0, 5) + rng.normal(size=2000) + 2 * rng.normal(size=200)[of_row]
    deciles = np.searchsorted(np.quantile(y, np.arange(0.1, 1, 0.1)), y)
    cuts = {
        "GroupKFold": as_folds(GroupKFold(5), X, y, of_row),
        "StratifiedGroupKFold": np.concatenate(
            [as_folds(StratifiedGroupKFold(5, shuffle=True, random_state=s), X, deciles, of_row) for s in range(args.seeds)]
        ),
        "CovariateBalancedKFold": make_folds("CB-TSCV", X, y, 5, range(args.seeds), groups=of_row),
    }
    for name, folds in cuts.items():
        sizes = [np.ptp(np.bincount(row)) for row in folds]
        shift = fold_ks(y, folds).mean(), fold_ks_attributes(X, folds).mean()
        print(f"{name:24} D_n {shift[0]:.4f}, inputs {shift[1]:.4f}, fold sizes differ by {np.mean(sizes):.1f}")


def labels(args: argparse.Namespace) -> None:
    """Compare with iterative-stratification, where it is installed, on 500 rows with six labels."""
    try:
        from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
    except ImportError:
        MultilabelStratifiedKFold = None
        print("iterative-stratification is not installed")
    rng = np.random.default_rng(0)
    Y = (rng.random((500, 6)) < [0.5, 0.3, 0.1, 0.05, 0.02, 0.2]).astype(int)
    X = rng.normal(size=(500, 4))
    pairs = np.column_stack([Y[:, i] & Y[:, j] for i in range(6) for j in range(i)])

    def uneven(table: Array, folds: UnsignedArray) -> float:
        return np.mean([np.std([table[row == fold].sum(axis=0) for fold in range(5)], axis=0).mean() for row in folds])

    splitters = {"CovariateBalancedKFold": CovariateBalancedKFold}
    if MultilabelStratifiedKFold is not None:
        splitters["iterative-stratification"] = partial(MultilabelStratifiedKFold, shuffle=True)
    for name, splitter in splitters.items():
        folds = np.concatenate([as_folds(splitter(5, random_state=seed), X, Y) for seed in range(20)])
        counts = f"counts of a label differ by {uneven(Y, folds):.3f} (sd), of a pair by {uneven(pairs, folds):.3f}"
        print(f"{name:24} {counts}; inputs {fold_ks_attributes(X, folds).mean():.4f}")


def speed(args: argparse.Namespace) -> None:
    """Print the processor time of one cut, and the largest memory so far."""
    rng = np.random.default_rng(0)
    make_folds("CB-TSCV", rng.random((99, 3)), rng.random(99), 5, [0])
    make_folds("CB-TSCV", rng.random((99, 3)), rng.random(99), 5, [0], groups=np.arange(99) // 3)
    for n, p, k, n_groups in ((100_000, 20, 5, 0), (100_000, 20, 5, 2000), (100_000, 20, 5, 43_000), (1_000_000, 20, 10, 0)):
        X, y = rng.random((n, p)), rng.random(n)
        options = {"groups": rng.integers(n_groups, size=n)} if n_groups else {}
        start = time.process_time()
        make_folds("CB-TSCV", X, y, k, [0], **options)
        seconds, peak = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{n:9,} x {p}, k={k}, {n_groups or 'no'} groups: {seconds:.2f} s, {peak:.2f} GB at most so far", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, help="folder with the data files")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--seeds", type=int, default=100)
    args = parser.parse_args()
    for section in args.only:
        print(f"\n# {section}", flush=True)
        globals()[section](args)


if __name__ == "__main__":
    main()
