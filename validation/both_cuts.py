"""Compare headline and naive interval with the score at deployment: `python validation/both_cuts.py [--clean] [--most N]`.

The tables are those of `held_out_structures.py`, named before any check was made. Prints a line for each table, then the shares.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import pandas as pd  # noqa: E402
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor  # noqa: E402

from foldshift import advise  # noqa: E402
from foldshift.advice.learner.preprocessing import has_gaps_or_texts, prepared  # noqa: E402
from held_out_structures import clean, held_out  # noqa: E402

if TYPE_CHECKING:
    from foldshift.advice.report_interval import ScoreInterval
    from held_out_structures import StructuredTable


def compared(table: StructuredTable) -> dict[str, Any]:
    """Ask for advice without declaring anything, and score the same learner at deployment."""
    forest = RandomForestClassifier if table.task == "classification" else RandomForestRegressor
    learner = forest(30, min_samples_leaf=2, random_state=0)
    if has_gaps_or_texts(table.X):
        learner = prepared(learner, table.X)
    advice = advise(table.X, table.y, learner, task=table.task, effort="quick", most_repetitions=1)
    score = {"roc_auc": "roc_auc", "balanced_accuracy": "balanced_accuracy"}.get(advice.score.metric)
    truth = table.deployment(learner, score)

    def holds(one: ScoreInterval) -> bool:
        return bool(one.low <= truth <= one.high)

    naive = advice.interval if advice.both is None else advice.both.naive
    return {
        "table": table.name, "structure": "+".join(table.structure) or "clean", "score": advice.score.name,
        "kind": "" if advice.both is None else advice.both.kind, "truth": truth, "headline": advice.interval.estimate,
        "low": advice.interval.low, "high": advice.interval.high, "naive": naive.estimate, "holds": holds(advice.interval),
        "naive_holds": holds(naive), "grave": ",".join(one.code for one in advice.faults if one.severity != "note"),
    }  # fmt: skip


def main() -> None:
    """Compare table by table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clean", action="store_true", help="clean tables: alarms")
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--step", type=int, default=1, help="take every so many")
    options = parser.parse_args()
    rows = []
    for place, table in enumerate(clean() if options.clean else held_out()):
        if place % options.step or len(rows) >= options.most:
            continue
        rows.append(compared(table))
        print({key: f"{value:.3g}" if isinstance(value, float) else value for key, value in rows[-1].items()}, flush=True)
    frame = pd.DataFrame(rows)
    print(frame.groupby("structure")[["holds", "naive_holds"]].agg(["sum", "count"]).to_string())
    print(f"{int(frame.holds.sum())} of {len(frame)} headlines hold, {int(frame.naive_holds.sum())} naive ones; "
          f"{int((frame.grave != '').sum())} tables with a finding")  # fmt: skip


if __name__ == "__main__":
    main()
