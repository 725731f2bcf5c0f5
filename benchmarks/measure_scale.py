"""Measure time and memory of planning, with more and more data sets, and of a run of many small ones.

python benchmarks/measure_scale.py --datasets 28 280 1120 --small 100000 --run 2000
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

import numpy as np
import yaml

from foldshift.engine.study.find import main_study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldshift.core.types import PathLike

ROOT = Path(__file__).resolve().parents[1]
N_DATASETS = (28, 280)
FAR = 100_000  # data sets that the law is continued to
N_BATCHES = 10


def snakemake(label: str, folder: PathLike, targets: Sequence[str], configfile: Path, *arguments: str) -> tuple[str, str, float]:
    """Call Snakemake in a separate process; return what it says, seconds of processor time and MiB as text, and seconds."""
    command = [Path(sys.executable).with_name("snakemake"), *targets, "--snakefile", ROOT / "Snakefile"]
    command += ["--workflow-profile", ROOT / "profiles/default", *arguments, "--configfile", configfile]
    measure = "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); "
    measure += "u = resource.getrusage(resource.RUSAGE_CHILDREN); "
    measure += "print('peak', u.ru_maxrss, 'seconds', u.ru_utime + u.ru_stime); sys.exit(done.returncode)"
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", measure, *map(str, command)], capture_output=True, text=True, cwd=folder)
    wall = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"foldshift: {label} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    peak, seconds = re.search(r"peak (\d+) seconds ([\d.]+)", done.stdout).groups()
    peak_mib = int(peak) / (1024 if sys.platform.startswith("linux") else 1024**2)
    used = f"{float(seconds):.1f} s of processor time, {peak_mib:.0f} MiB"
    print(f"{label}: {wall:.1f} s, of which {used} in the largest process", flush=True)
    return done.stdout + done.stderr, f"{seconds} {peak_mib}", wall


def plan(label: str, targets: Sequence[str], configfile: Path, *arguments: str) -> tuple[int, float, float]:
    """Plan a run; print and return jobs, seconds of processor time and MiB."""
    with tempfile.TemporaryDirectory() as folder:
        said, used, _ = snakemake(label, folder, targets, configfile, "--dry-run", "--quiet", "rules", *arguments)
    jobs = int(re.findall(r"^total\s+(\d+)", said, re.MULTILINE)[-1])
    print(f"{label}: {jobs:,} jobs", flush=True)
    seconds, peak_mib = map(float, used.split())
    return jobs, seconds, peak_mib


def run_small(n_datasets: int, n_cores: int) -> None:
    """Make small data sets as files of one's own, and run the study on them from end to end; then nothing is left to do."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sizes = small_sizes(n_datasets)
        (folder / "data").mkdir()
        for i, (name, (n_rows, n_columns)) in enumerate(sizes.items()):
            rng = np.random.default_rng(i)
            X = rng.normal(size=(n_rows, n_columns))
            table = np.column_stack([X, X[:, 0] + 0.3 * rng.normal(size=n_rows)])
            header = ",".join([*(f"x{j}" for j in range(n_columns)), "y"])
            np.savetxt(folder / "data" / f"{name}.csv", table, fmt="%.4f", delimiter=",", header=header, comments="")
        file = small_config(folder, sizes, "file:data/{}.csv")
        label = f"a run of {n_datasets:,} small data sets"
        said, *_ = snakemake(label, folder, ["many_sets"], file, "--cores", str(n_cores))
        jobs, *_ = re.search(r"foldshift: ([\d,]+) jobs", said).groups()
        n_files = sum(path.is_file() for part in ("results", "resources") for path in (folder / part).rglob("*"))
        print(f"{label}: {jobs} jobs, {n_files:,} files")
        print((folder / "results/many_sets/tables/errors.csv").read_text(encoding="utf-8"), flush=True)
        said, *_ = snakemake(f"{label}, again", folder, ["many_sets"], file, "--dry-run")
        assert "Nothing to be done" in said, said[-2000:]


def grid(study: str, n_datasets: int) -> dict[str, Any]:
    """Configure a regression study at the paper's scale on `n_datasets` made-up data sets of the paper's sizes."""
    sizes = {f"made_up_{i:06}": (100 + 130 * i % 9500, 3 + i % 40) for i in range(n_datasets)}
    entries = {
        name: {"task": "regression", "target": "y", "sources": f"mirror:{name}.csv", "n_rows": rows, "n_features": columns}
        for name, (rows, columns) in sizes.items()
    }
    return {"scale": "paper", "extra_datasets": entries, "studies": {study: {"datasets": list(sizes)}}}


def small_sizes(n_datasets: int) -> dict[str, tuple[int, int]]:
    """Name small data sets, with 40 to 400 rows and 2 to 10 columns."""
    return {f"made_up_{i:06}": (40 + 7 * i % 361, 2 + i % 9) for i in range(n_datasets)}


def small_config(folder: Path, sizes: dict[str, tuple[int, int]], source: str) -> Path:
    """Write a catalogue of small data sets, and the configuration of the study of `many_sets` on them."""
    lines = ["name\ttask\ttarget\tsources\tn_rows\tn_features"]
    lines += [f"{name}\tregression\ty\t{source.format(name)}\t{rows}\t{columns}" for name, (rows, columns) in sizes.items()]
    (folder / "sets.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = {"studies_from": [str(ROOT / "benchmarks/many_sets")], "catalogue": str(folder / "sets.tsv")}
    config["many_datasets"] = min(500, len(sizes))
    config["studies"] = {"many_sets": {"datasets": list(sizes)}}
    (folder / "many.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return folder / "many.yaml"


def law(small: float, large: float, n_small: int, n_large: int, n_far: int) -> tuple[float, float]:
    """Extrapolate a quantity by the power law through its values at two numbers of data sets; return power and value."""
    power = math.log(large / small) / math.log(n_large / n_small)
    return power, large * (n_far / n_large) ** power


def main() -> None:
    """Plan all studies at the papers' scale, then the made-up ones; say how time and memory grow."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--datasets", type=int, nargs="*", default=N_DATASETS, help="numbers of made-up data sets to plan")
    parser.add_argument("--small", type=int, nargs="*", default=(), help="numbers of small data sets to plan")
    parser.add_argument("--run", type=int, default=0, help="number of small data sets to run from end to end")
    parser.add_argument("--cores", type=int, default=1, help="jobs of that run at once")
    given, study = parser.parse_args(), main_study("regression").id
    if given.datasets:
        plan_large(study, sorted(given.datasets))
    for n_datasets in given.small:
        with tempfile.TemporaryDirectory() as folder:
            file = small_config(Path(folder), small_sizes(n_datasets), "mirror:{}.csv")
            plan(f"{n_datasets:,} small data sets", ["many_sets"], file)
    if given.run:
        run_small(given.run, given.cores)


def plan_large(study: str, numbers: Sequence[int]) -> None:
    """Plan all studies, then one with more and more data sets, the most of them in batches too; say how it grows."""
    plan("all studies, config/paper.yaml", ["all"], ROOT / "config/paper.yaml")
    with tempfile.TemporaryDirectory() as folder:
        file, found = Path(folder) / "large.yaml", {}
        for n_datasets in numbers:
            file.write_text(yaml.safe_dump(grid(study, n_datasets)), encoding="utf-8")
            found[n_datasets] = plan(f"{n_datasets:,} data sets, regression study", [study], file)
        batches = [
            plan(f"the same, batch {i} of {N_BATCHES}", [f"{study}_rows"], file, "--batch", f"{study}_rows={i}/{N_BATCHES}")[0]
            for i in (1, N_BATCHES // 2, N_BATCHES - 1)  # the last one can be planned when the others are done
        ]
    print(f"largest of these batches: {max(batches):,} jobs")
    if len(numbers) > 1:
        few, many = numbers[-2:]
        for what, small, large in zip(("jobs", "seconds", "MiB"), found[few], found[many]):
            power, far = law(small, large, few, many, FAR)
            print(f"{what} grow with the power {power:.2f} of the data sets: {far:,.0f} for {FAR:,}")


if __name__ == "__main__":
    main()
