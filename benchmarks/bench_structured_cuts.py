"""Measure cuts in time and in space beside those of other tools: seconds of a call, and what the cut keeps apart.

python benchmarks/bench_structured_cuts.py

Other tools take part where they are installed: tscv, sktime, verde, spatial-kfold (with geopandas).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.model_selection import TimeSeriesSplit

from foldshift.partition import ForwardBlockKFold, SpatialBlockKFold

SIZES = (2_000, 20_000, 200_000)
N_FOLDS, GAP, SIDE, BUFFER = 5, 20, 0.1, 0.02  # rows between parts; side of a block and buffer, of a unit square
REPEATS = 3
Pairs = list[tuple[np.ndarray, np.ndarray]]
Cut = Callable[[np.ndarray], Pairs]  # places (n, 2) or times (n,) to training and test rows


def forward(times: np.ndarray) -> Pairs:
    """Cut with foldshift, by times in any order of rows."""
    return list(ForwardBlockKFold(N_FOLDS, gap=GAP).split(times[:, None], groups=times))


def time_series_split(times: np.ndarray) -> Pairs:
    """Cut with scikit-learn, which takes the order of rows."""
    return list(TimeSeriesSplit(N_FOLDS, gap=GAP).split(times[:, None]))


def tscv_roll(times: np.ndarray) -> Pairs:
    """Cut with tscv, which takes the order of rows."""
    from tscv import GapRollForward

    size = len(times) // (N_FOLDS + 1)
    options = {"min_train_size": size - GAP, "min_test_size": size, "max_test_size": size, "gap_size": GAP, "roll_size": size}
    return list(GapRollForward(**options).split(times[:, None]))


def sktime_windows(times: np.ndarray) -> Pairs:
    """Cut with sktime, which takes the order of rows."""
    from sktime.split import ExpandingWindowSplitter

    size = len(times) // (N_FOLDS + 1)
    ahead = np.arange(GAP + 1, GAP + size + 1)
    return list(ExpandingWindowSplitter(fh=ahead, initial_window=size - GAP, step_length=size).split(times))


def blocks(places: np.ndarray) -> Pairs:
    """Cut with foldshift, without a buffer."""
    return list(SpatialBlockKFold(N_FOLDS, block_size=SIDE, random_state=0).split(places, groups=places))


def blocks_with_buffer(places: np.ndarray) -> Pairs:
    """Cut with foldshift, with a buffer."""
    return list(SpatialBlockKFold(N_FOLDS, block_size=SIDE, buffer=BUFFER, random_state=0).split(places, groups=places))


def verde_blocks(places: np.ndarray) -> Pairs:
    """Cut with verde."""
    from verde import BlockKFold

    return list(BlockKFold(spacing=SIDE, n_splits=N_FOLDS, shuffle=True, random_state=0).split(places))


def spatial_kfold_blocks(places: np.ndarray) -> Pairs:
    """Cut with spatial-kfold: blocks, then the fold of every point by a spatial join."""
    import geopandas
    from spatialkfold.blocks import spatial_blocks

    points = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(*places.T), crs="EPSG:32633")
    grid = spatial_blocks(points, SIDE, SIDE, N_FOLDS, method="random", random_state=0)
    joined = geopandas.sjoin(points, grid, how="left", predicate="intersects")
    folds = joined[~joined.index.duplicated()]["folds"].to_numpy()
    return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in np.unique(folds)]


IN_TIME: dict[str, Cut] = {
    "foldshift": forward, "scikit-learn": time_series_split, "tscv": tscv_roll,
    "sktime": sktime_windows,
}  # fmt: skip
IN_SPACE: dict[str, Cut] = {
    "foldshift": blocks, "foldshift, with a buffer": blocks_with_buffer,
    "verde": verde_blocks, "spatial-kfold": spatial_kfold_blocks,
}  # fmt: skip


def apart_in_time(times: np.ndarray, pairs: Pairs) -> str:
    """Say the least time between a training row and the test row that follows it."""
    return f"least time from training to test {min(times[test].min() - times[train].max() for train, test in pairs):g}"


def apart_in_space(places: np.ndarray, pairs: Pairs) -> str:
    """Say the least distance from test to training rows, and the largest test part by the smallest."""
    least = min(cKDTree(places[train]).query(places[test], k=1)[0].min() for train, test in pairs)
    sizes = [len(test) for _, test in pairs]
    return f"least distance {least:.2g}, largest test part by the smallest {max(sizes) / min(sizes):.3g}"


def timed(cut: Cut, rows: np.ndarray) -> tuple[float, Pairs]:
    """Least processor time of several calls, and the parts."""
    least, pairs = np.inf, []
    for _ in range(REPEATS):
        start = time.process_time()
        pairs = cut(rows)
        least = min(least, time.process_time() - start)
    return least, pairs


def inputs() -> Iterator[tuple[dict[str, Cut], np.ndarray, Callable[[np.ndarray, Pairs], str]]]:
    """Draw times and places of every size."""
    rng = np.random.default_rng(0)
    for size in SIZES:
        yield IN_TIME, np.arange(size), apart_in_time
        yield IN_SPACE, rng.random((size, 2)), apart_in_space


def main() -> None:
    """Print a line for every tool and size."""
    warnings.simplefilter("ignore")
    print(f"{'rows':>7s}  {'tool':26s} {'seconds':>8s} {'by ours':>8s}  folds, what is apart")
    for tools, rows, apart in inputs():
        ours: Any = None
        for name, cut in tools.items():
            try:
                seconds, pairs = timed(cut, rows)
            except ImportError:
                print(f"{len(rows):7d}  {name:26s} not installed")
                continue
            ours = ours or seconds
            print(
                f"{len(rows):7d}  {name:26s} {seconds:8.4f} {seconds / ours:8.2f}  {len(pairs)}, {apart(rows, pairs)}", flush=True
            )


if __name__ == "__main__":
    main()
