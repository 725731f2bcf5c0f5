"""Compare several draws of the samples: claims that hold in each and in all together: `make validate WHAT=draws DRAWS="7deca6f
HEAD"`.

A draw is a commit with published tables, or a file ``by_population.csv`` of a run. Each draw has other samples of the same
populations, which stay the unit: the value of a population is the mean over its sizes in all draws.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from foldshift.studies.foldshift_2026.bias_tables import COMPARED, by_folds, ledger

PUBLISHED = "docs/results/foldshift_2026/tables/by_population.csv"


def read_draw(name: str) -> pd.DataFrame:
    """Read the measures by population of a draw."""
    if Path(name).is_file():
        return pd.read_csv(name)
    found = subprocess.run(["git", "show", f"{name}:{PUBLISHED}"], capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"{name}: neither a file nor a commit with {PUBLISHED}")
    return pd.read_csv(io.StringIO(found.stdout))


def pooled(draws: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join all draws to one table, for `ledger` and `by_folds`."""
    return pd.concat(
        [draw.assign(n_sample=[f"{i}/{n}" for n in draw["n_sample"]]) for i, draw in enumerate(draws)], ignore_index=True
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the verdicts of every draw and of all together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("draws", nargs="+", metavar="DRAW", help="a commit, or a file by_population.csv")
    draws = [read_draw(name) for name in parser.parse_args(arguments).draws]
    together = pooled(draws)
    ledgers = [ledger(draw) for draw in [*draws, together]]
    keys = ["claim", "task", "measure", "lower", "higher"]
    rows = []
    for number, (_, row) in enumerate(ledgers[-1].iterrows(), start=1):
        own = [found[(found[keys] == row[keys]).all(axis=1)] for found in ledgers]
        cells = [f"{one['difference'].iloc[0]:.2f} ± {one['standard_error'].iloc[0]:.2f}" if len(one) else "" for one in own]
        signs = ["".join({"holds": "+", "not decided": "?"}.get(verdict, "-") for verdict in one["verdict"]) for one in own]
        rows.append([number, *row[keys[1:]], *(f"{cell} {sign}" for cell, sign in zip(cells, signs, strict=True))])
    names = [*(f"draw {i}" for i in range(1, len(draws) + 1)), "together"]
    print(pd.DataFrame(rows, columns=["claim", *keys[1:], *names]).to_string(index=False))
    print("+: holds after Holm's correction, -: the opposite does, ?: not decided")
    print()
    folds = by_folds(together, list(dict.fromkeys(together["cut"])))
    for measure in COMPARED:
        folds[measure] = [f"{x:.1f} ± {e:.1f}" for x, e in zip(folds[measure], folds[f"{measure}_error"], strict=True)]
    print("All draws, by number of folds, against the random cut with as many")
    print(folds[["task", "k", "cut", *COMPARED]].to_string(index=False))


if __name__ == "__main__":
    main()
