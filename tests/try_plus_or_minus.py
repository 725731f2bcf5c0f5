"""Readings of the plus or minus in Table 3 of Cieslak and Chawla (2009), which the paper does not explain.

    python tests/try_plus_or_minus.py FOLDER

FOLDER holds the data files. Of every reading: how many of the 26 printed values above 0 under MAR and MNAR it meets within a
factor of two, the correlation of the logarithms, and the median of print over ours. Means over 20 splits.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.datasets import load_dataset
from foldshift.shift.detectors.co_failure import failing, phi
from foldshift.studies.cieslak_2009.datasets_in_print import PAPER_DATASETS
from foldshift.studies.cieslak_2009.detectors.feature_detectors import TrainTest, feature_p_values
from foldshift.studies.cieslak_2009.measure import draw_repeat, shifted_tests

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray

PRINTED = Path(__file__).resolve().parents[1] / "src/foldshift/studies/cieslak_2009/printed/table3_phi.csv"
CONDITIONS = ("MAR25", "MAR50", "MNAR25", "MNAR50")
MASTER_SEED, N_SPLITS, ALPHA = 20220721, 20, 0.05


def readings(fails: FloatArray) -> dict[str, float]:
    """Every reading of the plus or minus, from the failures of versions (rows) and features."""
    values, n = phi(fails, "paper"), fails.shape[1]
    pairs, upper = values[np.triu_indices(n, 1)], np.triu(values, 1)
    rows, some = values.sum(axis=1) / (n - 1), pairs[pairs > 0]
    spread = pairs.std(ddof=1)
    return {
        "standard deviation over pairs": spread,
        "standard error over pairs": spread / np.sqrt(n * (n - 1) / 2),
        "standard error over ordered pairs": spread / np.sqrt(n * (n - 1)),
        "standard error over the square, diagonal included": values.std(ddof=1) / n,
        "standard error over the square, lower triangle 0": upper.std(ddof=1) / n,
        "half of the 95 % interval over ordered pairs": 1.96 * spread / np.sqrt(n * (n - 1)),
        "standard error over pairs above 0": some.std(ddof=1) / np.sqrt(len(some)) if len(some) > 1 else 0.0,
        "standard deviation of the means by feature": rows.std(ddof=1),
        "standard error of the means by feature": rows.std(ddof=1) / np.sqrt(n),
        "variance over pairs": spread**2,
        "variance over pairs, by the number of features": spread**2 / n,
        "mean by the root of the number of pairs": pairs.mean() / np.sqrt(n * (n - 1) / 2),
    }


def measured(name: str, mirror: str) -> pd.DataFrame:
    """Readings of one data set: a row per condition, means over splits."""
    data, rows = load_dataset(name, mirror=mirror), []
    for number in range(N_SPLITS):
        repeat = draw_repeat(data, MASTER_SEED, number)
        parts = TrainTest.of(repeat)
        for shifted in shifted_tests(repeat, "smallest", print):
            if shifted.condition.name in CONDITIONS:
                p = feature_p_values(parts.train, parts.test, shifted.versions, parts.nominal).paper
                rows.append({"condition": shifted.condition.name} | readings(failing(p, ALPHA)))
    return pd.DataFrame(rows).groupby("condition").mean()


def main(mirror: str) -> None:
    """Print a table of the readings."""
    printed = pd.read_csv(PRINTED).set_index(["dataset", "condition"])["phi_spread"]
    names = [name for name in PAPER_DATASETS if name != "Compustat"]
    ours = pd.concat({name: measured(name.lower().replace("-", ""), mirror) for name in names}, names=["dataset"])
    printed = printed[printed.index.isin(ours.index) & (printed > 0)]
    rows = []
    for reading in ours:
        ratio = np.log(printed / ours[reading].reindex(printed.index))
        logs = np.log(printed).corr(np.log(ours[reading].reindex(printed.index)))
        rows.append((reading, int((ratio.abs() <= np.log(2)).sum()), len(printed), logs, np.exp(ratio.median())))
    columns = ["reading", "within a factor of two", "of", "correlation of logarithms", "print over ours"]
    print(pd.DataFrame(rows, columns=columns).round(2).to_string(index=False))


if __name__ == "__main__":
    main(sys.argv[1])
