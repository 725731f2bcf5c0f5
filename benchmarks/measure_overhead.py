"""Measure the overhead of the workflow on a slice of a study, and project it to the paper's scale.

    python benchmarks/measure_overhead.py --study ID --datasets stock,laser --mirror FOLDER

Computing is the time of the scripts' functions, from their logs; the rest is starting Python, imports, and Snakemake itself. A
slice has as many tables as the whole study and bears Snakemake's start alone, so its own share of overhead is an upper limit. At
the paper's scale every kind of job takes as long to start as in the slice, Snakemake's start is measured by a dry run, and
computing is the prediction of the cost model, corrected by its error on the slice.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.engine.costs.job_costs import START as ENGINE_START
from foldshift.engine.costs.plan import RECORD, read_jobs
from foldshift.engine.study.find import find_studies
from foldshift.engine.study.run import START

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parents[1]
WORK = re.compile(r"done in [\d.]+ s, ([\d.]+) s of processor time, and ([\d.]+) s of it to start")
TABLES = "tables"
MEASURES = {measure.name for found in find_studies().values() for measure in found.declaration().measures}


def kind_of_log(parts: Sequence[str], study: str) -> str:
    """Return the kind of a job by the path of its log; tables and figures of a study are one kind."""
    if parts[0] != study:
        return parts[0].removesuffix(".log")
    return TABLES if len(parts) == 2 else parts[1]


def kind_of_rule(rule: str, study: str) -> str:
    """Return the kind of a job by its rule."""
    if not rule.startswith(f"{study}_"):
        return rule
    name = rule.removeprefix(f"{study}_")
    return name if name in MEASURES else TABLES


def read_logs(folder: Path, study: str) -> dict[str, list[tuple[float, float]]]:
    """Read the seconds of processor time by kind of job: lists of (work, start)."""
    found = defaultdict(list)
    for path in Path(folder).rglob("*.log"):
        if match := WORK.search(path.read_text(encoding="utf-8")):
            found[kind_of_log(path.relative_to(folder).parts, study)].append((float(match[1]), float(match[2])))
    return found


def start_of(kind: str) -> float:
    """Return the seconds that the cost model counts for starting a job."""
    if kind == TABLES:
        return START["items"]
    if kind in MEASURES:
        return START["measure"]
    return ENGINE_START["learners" if kind == "evaluate" else "light"]


def work_of(jobs: Iterable[Any], study: str) -> float:
    """Sum the seconds of work that the cost model expects for jobs, without starting them."""
    return sum(max(job.seconds - start_of(kind_of_rule(job.rule, study)), 0.0) for job in jobs)


def processor_seconds(command: Sequence[Any], record: Path | None = None) -> tuple[float, float]:
    """Run a command; return processor seconds of it and its children, and wall time. A dry run writes its jobs to `record`."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    env = os.environ | ({RECORD: str(record)} if record else {})
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=env)
    if done.returncode:
        sys.exit(f"foldshift: the slice failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - start


def main() -> None:
    """Run the slice in a folder of its own and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", required=True, choices=list(find_studies()))
    parser.add_argument("--datasets", required=True, help="the slice, by commas")
    parser.add_argument("--mirror", help="folder or URL of the real data")
    parser.add_argument("--cores", default="2")
    parser.add_argument("--config", nargs="*", default=[], help="further settings, e.g. n_seeds=100")
    # Long jobs that do not belong to a data set are best left out: with them the share of the overhead would be smaller.
    parser.add_argument("--settings", type=json.loads, default={}, help="further settings of the study, JSON")
    options = parser.parse_args()
    mirror = [f"mirror={Path(options.mirror).resolve()}"] if options.mirror else []
    with tempfile.TemporaryDirectory() as folder:
        command = [
            Path(sys.executable).with_name("snakemake"),
            options.study,
            "--snakefile",
            ROOT / "Snakefile",
            "--directory",
            folder,
        ]
        command += ["--workflow-profile", ROOT / "profiles/default", "--cores", options.cores, "--quiet", "all"]
        command += ["--configfile", ROOT / "config/paper.yaml"]
        paper = ["--config", f"studies={json.dumps({options.study: options.settings})}", *mirror, *options.config]
        slice_config = [*paper, f"datasets={options.datasets}"]
        whole_record, slice_record = Path(folder) / "whole", Path(folder) / "slice"
        planning, _ = processor_seconds([*command, "--dry-run", *paper], whole_record)
        own_planning, _ = processor_seconds([*command, "--dry-run", *slice_config], slice_record)
        whole, wall = processor_seconds([*command, *slice_config])
        kinds = read_logs(Path(folder) / "results/logs", options.study)
        jobs, expected = read_jobs(whole_record), work_of(read_jobs(slice_record), options.study)
    n_jobs = sum(map(len, kinds.values()))
    work, start = (sum(pair[i] for pairs in kinds.values() for pair in pairs) for i in (0, 1))
    print(
        f"{options.study}, {options.datasets}, {' '.join(options.config) or 'paper scale'}: {n_jobs} jobs, {wall:.0f} s on "
        f"{options.cores} cores"
    )
    print(
        f"slice: {whole:.0f} s of processor time, {work:.0f} s computing, {start:.0f} s starting jobs, {own_planning:.0f} s "
        f"Snakemake's start, "
        f"{whole - work - start - own_planning:.0f} s its bookkeeping; overhead {100 * (1 - work / whole):.1f} %"
    )

    per_start = {kind: sum(pair[1] for pair in pairs) / len(pairs) for kind, pairs in kinds.items()}
    per_job = (whole - work - start - own_planning) / n_jobs
    starting = sum(per_start.get(kind_of_rule(job.rule, options.study), start / n_jobs) for job in jobs)
    computing = work_of(jobs, options.study) * work / expected
    overhead = planning + per_job * len(jobs) + starting
    print(
        f"whole study at this scale: {len(jobs)} jobs, {computing:.0f} s computing (the cost model's "
        f"{work_of(jobs, options.study):.0f} s by {work / expected:.2f}), "
        f"{starting:.0f} s starting jobs, {planning:.0f} s Snakemake's start, {per_job * len(jobs):.0f} s its bookkeeping"
    )
    print(f"overhead: {100 * overhead / (computing + overhead):.1f} % of core time")


if __name__ == "__main__":
    main()
