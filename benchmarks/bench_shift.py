"""Compare Kolmogorov-Smirnov over all features of all injected versions at once with a loop over scipy's `ks_2samp`.

Times are processor seconds of one thread, in one run. Both paths give statistics and asymptotic p-values; the statistics must be
the same. The loop is timed on some of the versions and scaled to all. Tables are random numbers of the shapes of Cieslak and
Chawla (2009), Table 1.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import ks_2samp

from foldshift.core.files import write_text
from foldshift.reporting.table_grid import to_csv
from foldshift.shift.inject.injectors import feature_scale, versions
from foldshift.shift.measures.hellinger import hellinger_features
from foldshift.shift.measures.ks import ks_features, ks_p_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foldshift.core.types import FloatArray
    from foldshift.shift.inject.injectors import Versions

SHAPES = {"Oil": (470, 279, 49), "Pendigits": (5497, 3297, 16), "Satimage": (3218, 1930, 36)}
INJECTORS = {"mcar": 25, "mar": 25, "mnar": 25, "translation": 100}
REPEATS = 3  # of the fast path, the median counts


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result and the processor seconds of one call."""
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def all_at_once(train: FloatArray, test: FloatArray, which: Versions) -> tuple[FloatArray, FloatArray]:
    """Compute statistics and p-values of every version and feature."""
    ks = ks_features(train, test, which)
    return ks.statistic, ks_p_value(ks.statistic, ks.n_train, ks.n_test, method="asymptotic")


def one_by_one(train: FloatArray, tables: Sequence[FloatArray]) -> FloatArray:
    """Compute the statistics (n_versions, n_features) by scipy; NaN where a feature is masked."""
    out = np.full((len(tables), train.shape[1]), np.nan)
    for v, table in enumerate(tables):
        for j in range(train.shape[1]):
            if not np.isnan(table[:, j]).all():
                out[v, j] = ks_2samp(train[:, j], table[:, j], method="asymp").statistic
    return out


def bench(n_loop: int, decimals: int) -> pd.DataFrame:
    """Measure a row per shape and injector: times per test of both ways, the loop scaled to all versions, and their ratio."""
    table = []
    for name, (n_train, n_test, n_features) in SHAPES.items():
        rng = np.random.default_rng(0)
        train, test = (rng.normal(size=(n, n_features)).round(decimals) for n in (n_train, n_test))
        y = rng.integers(0, 2, n_test)
        for kind, severity in INJECTORS.items():
            which, seconds_inject = timed(
                lambda: versions(test, y, kind, severity, rng=np.random.default_rng(1), scale=feature_scale(train))  # noqa: B023
            )
            runs = [timed(lambda: all_at_once(train, test, which)) for _ in range(REPEATS)]  # noqa: B023
            (statistic, _), seconds = runs[0][0], float(np.median([run[1] for run in runs]))
            some = [which.injected(test, y, v).X for v in range(min(n_loop, n_features))]
            looped, seconds_loop = timed(lambda: one_by_one(train, some))  # noqa: B023
            if not np.allclose(statistic[: len(some)], looped, rtol=0, atol=1e-12, equal_nan=True):
                raise AssertionError(f"{name}, {kind}: the statistics of the two paths differ")
            seconds_loop *= n_features / len(some)
            _, seconds_hellinger = timed(lambda: hellinger_features(train, test, which))  # noqa: B023
            tests = n_features**2
            table.append(
                (name, f"{kind}{severity}", tests, 1000 * seconds_inject, 1e6 * seconds / tests, 1e6 * seconds_loop / tests,
                 seconds_loop / seconds, 1e6 * seconds_hellinger / tests)
            )  # fmt: skip
    return pd.DataFrame(
        table,
        columns=["shape", "injector", "n_tests", "inject_ms", "ks_us", "scipy_us", "scipy_over_ours", "hellinger_us"],
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, write a table."""
    parser = argparse.ArgumentParser(description="KS of all features and injected versions at once, against a loop over scipy.")
    parser.add_argument("--loop", type=int, default=3, metavar="V", help="versions that the loop is timed on (default: 3)")
    parser.add_argument("--decimals", type=int, default=6, help="decimals of the values, fewer make ties (default: 6)")
    parser.add_argument("--output", type=Path, default=Path("results/bench/shift.csv"), metavar="FILE")
    options = parser.parse_args(argv)
    if options.loop < 1:
        parser.error("--loop must be at least 1")
    print(
        "\nKolmogorov-Smirnov of every feature of every injected version, and Hellinger with its expected value; microseconds "
        "per test"
    )
    table = bench(options.loop, options.decimals)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    print(f"scipy: timed on {options.loop} versions, with the same statistics; ratio {table.scipy_over_ours.min():.0f} at least")
    write_text(options.output, to_csv(table))


if __name__ == "__main__":
    main()
