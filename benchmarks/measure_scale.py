"""Measure time and memory of planning: of all studies, and of made-up ones with more and more data sets.

python benchmarks/measure_scale.py --datasets 28 280 1120
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from foldshift.engine.study.find import main_study

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[1]
N_DATASETS = (28, 280)
FAR = 100_000  # data sets that the law is continued to
N_BATCHES = 10


def plan(label: str, targets: Sequence[str], configfile: Path, *arguments: str) -> tuple[int, float, float]:
    """Plan a run in a separate process; print and return jobs, seconds of processor time and MiB."""
    command = [Path(sys.executable).with_name("snakemake"), *targets, "--snakefile", ROOT / "Snakefile"]
    command += [
        "--workflow-profile",
        ROOT / "profiles/default",
        "--dry-run",
        "--quiet",
        "rules",
        *arguments,
        "--configfile",
        configfile,
    ]
    measure = "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); "
    measure += "u = resource.getrusage(resource.RUSAGE_CHILDREN); "
    measure += "print('peak', u.ru_maxrss, 'seconds', u.ru_utime + u.ru_stime); sys.exit(done.returncode)"
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", measure, *map(str, command)], capture_output=True, text=True, cwd=folder)
        wall = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"foldshift: {label} could not be planned:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    jobs = int(re.findall(r"^total\s+(\d+)", done.stdout + done.stderr, re.MULTILINE)[-1])
    peak, seconds = re.search(r"peak (\d+) seconds ([\d.]+)", done.stdout).groups()
    peak_mib = int(peak) / (1024 if sys.platform.startswith("linux") else 1024**2)
    print(
        f"{label}: {jobs:,} jobs, {wall:.1f} s, of which {float(seconds):.1f} s of processor time, {peak_mib:.0f} MiB", flush=True
    )
    return jobs, float(seconds), peak_mib


def grid(study: str, n_datasets: int) -> dict[str, Any]:
    """Configure a regression study at the paper's scale on `n_datasets` made-up data sets of the paper's sizes."""
    sizes = {f"made_up_{i:06}": (100 + 130 * i % 9500, 3 + i % 40) for i in range(n_datasets)}
    entries = {
        name: {"task": "regression", "target": "y", "sources": f"mirror:{name}.csv", "n_rows": rows, "n_features": columns}
        for name, (rows, columns) in sizes.items()
    }
    return {"scale": "paper", "extra_datasets": entries, "studies": {study: {"datasets": list(sizes)}}}


def law(small: float, large: float, n_small: int, n_large: int, n_far: int) -> tuple[float, float]:
    """Extrapolate a quantity by the power law through its values at two numbers of data sets; return power and value."""
    power = math.log(large / small) / math.log(n_large / n_small)
    return power, large * (n_far / n_large) ** power


def main() -> None:
    """Plan all studies at the papers' scale, then the made-up ones, the largest in batches too; say how time and memory grow."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--datasets", type=int, nargs="+", default=N_DATASETS, help="numbers of made-up data sets")
    given, study = sorted(parser.parse_args().datasets), main_study("regression").id
    plan("all studies, config/paper.yaml", ["all"], ROOT / "config/paper.yaml")
    with tempfile.TemporaryDirectory() as folder:
        file, found = Path(folder) / "large.yaml", {}
        for n_datasets in given:
            file.write_text(yaml.safe_dump(grid(study, n_datasets)), encoding="utf-8")
            found[n_datasets] = plan(f"{n_datasets:,} data sets, regression study", [study], file)
        batches = [
            plan(f"the same, batch {i} of {N_BATCHES}", [f"{study}_rows"], file, "--batch", f"{study}_rows={i}/{N_BATCHES}")[0]
            for i in (1, N_BATCHES // 2, N_BATCHES - 1)  # the last one can be planned when the others are done
        ]
    print(f"largest of these batches: {max(batches):,} jobs")
    if len(given) > 1:
        few, many = given[-2:]
        for what, small, large in zip(("jobs", "seconds", "MiB"), found[few], found[many]):
            power, far = law(small, large, few, many, FAR)
            print(f"{what} grow with the power {power:.2f} of the data sets: {far:,.0f} for {FAR:,}")


if __name__ == "__main__":
    main()
