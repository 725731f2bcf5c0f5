"""Write src/foldshift/advice/expected.csv, the expected bias and error of a cut, from the published study of honest cuts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from foldshift.advice.work_plan import SIDE_BY_SIDE

ROOT = Path(__file__).resolve().parents[1]
(TABLE,) = ROOT.glob("docs/results/*/tables/honesty.csv")
WRITTEN = ROOT / "src" / "foldshift" / "advice" / "expected.csv"
COLUMNS = {"bias_whole": "bias", "bias_whole_error": "bias_error", "error_one": "off"}
FOLDS = (5, 10)


def made() -> str:
    """Make the text of the file."""
    table = pd.read_csv(TABLE)
    shown = np.array([cut in SIDE_BY_SIDE[task] for task, cut in zip(table.task, table.cut)])
    table = table[shown & table.k.isin(FOLDS)].rename(columns=COLUMNS)
    return table[["task", "n_sample", "k", "cut", "n_populations", *COLUMNS.values()]].round(1).to_csv(index=False)


if __name__ == "__main__":
    WRITTEN.write_text(made(), encoding="utf-8")
