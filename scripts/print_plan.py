"""Print what a run will take. Nothing is started: two dry runs of the same configuration say what there is to do, and what is
left of it."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from foldshift.core.errors import ConfigError
from foldshift.engine.costs.machine_speed import pace
from foldshift.engine.costs.plan import RECORD, Job, plan_text, read_jobs
from foldshift.engine.jobs.run_job import RERUN, run


def dry_run(target: str, record: Path, *options: str) -> list[Job]:
    """Jobs of a dry run of a rule; `options` go to Snakemake, `record` is the file that it writes."""
    snakemake = Path(sys.executable).with_name("snakemake")
    command = [str(snakemake) if snakemake.exists() else shutil.which("snakemake"), target, *shlex.split(os.environ[RERUN])]
    done = subprocess.run(
        [*command, "--dry-run", "--nolock", *options], env=os.environ | {RECORD: str(record)}, capture_output=True, text=True
    )
    if done.returncode:
        raise ConfigError(f"the plan cannot be made: {(done.stderr.strip() or done.stdout.strip())[-2000:]}")
    return read_jobs(record)


def main(job: Any) -> None:
    """Print the text."""
    # Another workflow that uses this one as a module may put something in front of the names of rules.
    prefix = job.rule.removesuffix(job.params.name)
    target = prefix + job.params.target
    reporting = [prefix + rule for rule in job.params.reporting]
    here = pace(job.params.works)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        everything = pool.submit(dry_run, target, Path(folder, "everything"), "--forceall")
        left = pool.submit(dry_run, target, Path(folder, "left"))
        text = plan_text(everything.result(), left.result(), reporting, job.params.unmeasured, job.params.cores, here)
    print(f"\n{text}\nNothing was started.\n", flush=True)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
