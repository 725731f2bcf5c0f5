"""Compare several draws of the samples: what the ledger says in each and in all together.

`make validate WHAT=draws DRAWS="7deca6f HEAD"`.

A draw is a commit with published tables, or a file ``by_population.csv`` of a run. Each draw has other samples of the same
populations, which stay the unit. Of draws that were published without learners, the value of a population is the mean over them.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from foldshift.studies.foldshift_2026.bias_tables import CELL, MEASURES
from foldshift.studies.foldshift_2026.verdicts import FAILS, HOLDS, OPEN, Stated, ledger

PUBLISHED = "docs/results/foldshift_2026/tables/by_population.csv"
SIGNS = {HOLDS: "+", FAILS: "-", OPEN: "?"}


def read_draw(name: str) -> pd.DataFrame:
    """Read the measures by population of a draw."""
    if Path(name).is_file():
        return pd.read_csv(name)
    found = subprocess.run(["git", "show", f"{name}:{PUBLISHED}"], capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"{name}: neither a file nor a commit with {PUBLISHED}")
    return pd.read_csv(io.StringIO(found.stdout))


def pooled(draws: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Average the measures of every population over all draws."""
    return pd.concat(draws).groupby(["population", *CELL], sort=False)[list(MEASURES)].mean().reset_index()


def verdicts_of(draw: pd.DataFrame, stated: Stated) -> pd.DataFrame:
    """Make the ledger of a draw by population."""
    return ledger(draw.assign(learner="mean"), draw, stated)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the verdicts of every draw and of all together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("draws", nargs="+", metavar="DRAW", help="a commit, or a file by_population.csv")
    parser.add_argument("--rows", type=int, default=100, help="size of the samples at which claims are decided")
    parser.add_argument("--folds", type=int, default=10, help="number of folds at which claims are decided")
    options = parser.parse_args(arguments)
    draws = [read_draw(name) for name in options.draws]
    ledgers = [verdicts_of(draw, Stated(options.rows, options.folds)) for draw in [*draws, pooled(draws)]]
    keys = ["claim", "task", "measure", "lower", "higher"]
    rows = []
    for number, (_, row) in enumerate(ledgers[-1].iterrows(), start=1):
        own = [found[(found[keys] == row[keys]).all(axis=1)] for found in ledgers]
        cells = [
            f"{one['effect'].iloc[0]:.2f} ± {one['standard_error'].iloc[0]:.2f} {SIGNS.get(one['verdict'].iloc[0], '0')}"
            if len(one)
            else ""
            for one in own
        ]
        rows.append([number, *row[keys[1:]], *cells])
    names = [*(f"draw {i}" for i in range(1, len(draws) + 1)), "together"]
    print(pd.DataFrame(rows, columns=["claim", *keys[1:], *names]).to_string(index=False))
    print("+: holds after Holm's correction, -: the opposite does, 0: too small to matter, ?: not decided")


if __name__ == "__main__":
    main()
