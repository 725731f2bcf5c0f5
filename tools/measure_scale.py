"""How large a study can be planned: time and memory of the plan of all studies, and of a made-up one ten times as large.

python tools/measure_scale.py
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
N_DATASETS = 280
N_BATCHES = 10


def plan(label, targets, configfile, *arguments):
    """Plan a run in a process of its own and print jobs, seconds and memory."""
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
    return jobs


def large_grid():
    """The regression study on made-up data sets, ten times as many as the paper's, of the paper's sizes."""
    sizes = {f"made_up_{i:03}": (100 + 130 * i % 9500, 3 + i % 40) for i in range(N_DATASETS)}
    entries = {
        name: {"task": "regression", "target": "y", "sources": f"mirror:{name}.csv", "n_rows": rows, "n_features": columns}
        for name, (rows, columns) in sizes.items()
    }
    return {"scale": "paper", "extra_datasets": entries, "studies": {"saez_2022": {"datasets": list(sizes)}}}


def main():
    """Plan all studies at the papers' scale, then the large grid, whole and in batches."""
    plan("all studies, config/paper.yaml", ["all"], ROOT / "config/paper.yaml")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.yaml"
        file.write_text(yaml.safe_dump(large_grid()), encoding="utf-8")
        plan(f"{N_DATASETS} data sets, regression study", ["saez_2022"], file)
        batches = [
            plan(f"the same, batch {i} of {N_BATCHES}", ["saez_2022_rows"], file, "--batch", f"saez_2022_rows={i}/{N_BATCHES}")
            for i in (1, N_BATCHES // 2, N_BATCHES - 1)  # the last one can be planned when the others are done
        ]
    print(f"largest of these batches: {max(batches):,} jobs")


if __name__ == "__main__":
    main()
