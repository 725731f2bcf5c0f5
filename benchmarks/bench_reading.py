"""Time and memory to read plain CSV as a user's file, beside pandas alone.

    python benchmarks/bench_reading.py [ROWS ...]

Each reading runs in a process of its own. Memory is the largest use of the process, and what reading adds to it. Both must give
the same values.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

COLUMNS, REPEATS = 20, 3
PROGRAM = """
import json, resource, sys, time
import numpy as np, pandas as pd
from foldshift.datasets.own_files import read_file
who, path = sys.argv[1:]
def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, start = most(), time.process_time()
frame = pd.read_csv(path) if who == "pandas" else read_file(path, target="c0").frame
seconds, after = time.process_time() - start, most()
sums = [float(frame[name].sum()) for name in frame if name != "c4"] + frame["c4"].astype(str).value_counts().sort_index().tolist()
print(json.dumps([seconds, after, after - before, sums]))
"""


def made_file(path: Path, n_rows: int) -> None:
    """Write a table of numbers, whole numbers and labels."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, COLUMNS)).round(5), columns=[f"c{i}" for i in range(COLUMNS)])
    frame["c3"], frame["c4"] = rng.integers(0, 50, n_rows), rng.choice(["red", "blue", "green"], n_rows)
    frame.to_csv(path, index=False)


def measured(who: str, path: Path) -> tuple[float, float, float, list[float]]:
    """Measure one reading: seconds, megabytes of the process, megabytes added, sums of the columns."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, who, str(path)], capture_output=True, text=True, check=True)
    seconds, most, added, sums = json.loads(done.stdout)
    return seconds, most, added, sums


def compared(n_rows: int, folder: Path) -> dict[str, float]:
    """Measure both readers, in turn, and take the best of some runs."""
    path = folder / "plain.csv"
    made_file(path, n_rows)
    found = {who: [measured(who, path) for _ in range(REPEATS)] for who in ("pandas", "foldshift")}
    if found["pandas"][0][-1] != found["foldshift"][0][-1]:
        raise SystemExit(f"{n_rows} rows: the readers give different values")
    row: dict[str, float] = {"rows": n_rows, "megabytes_of_file": path.stat().st_size / 2**20}
    for at, what in enumerate(("seconds", "megabytes", "megabytes_added")):
        theirs, ours = (min(float(one[at]) for one in found[who]) for who in ("pandas", "foldshift"))
        row |= {f"pandas_{what}": theirs, what: ours, f"times_{what}": ours / theirs}
    return row


def main() -> None:
    """Print the table, and write it to results/bench."""
    sizes = [int(one) for one in sys.argv[1:]] or [100_000, 1_000_000]
    with tempfile.TemporaryDirectory() as folder:
        table = pd.DataFrame([compared(n_rows, Path(folder)) for n_rows in sizes]).round(2)
    print(table.to_string(index=False))
    out = Path("results/bench")
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "reading.csv", index=False)


if __name__ == "__main__":
    main()
