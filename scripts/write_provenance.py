"""Write beside the results what they came from: resolved configuration, versions, machine, seeds."""

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from foldshift.core.files import write_text
from foldshift.core.versions import installed_versions
from foldshift.engine.archive.crate import ROWS_FORMAT
from foldshift.engine.jobs.run_job import run

SEEDS = (
    "Every random number comes from numpy's PCG64, seeded with the master seed and the SHA-256 of the names of what it is for "
    "(data set, partitioner, k, seed, ...); "
    "see foldshift.core.seeding. The seeds of the partitions are drawn without replacement from 1 to 1,000,000; they stand in "
    "every row of the scores."
)


def machine() -> dict[str, Any]:
    """The machine that Snakemake runs on; where a cluster runs the jobs, its own records know the nodes."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
    return {
        "system": platform.platform(),
        "architecture": platform.machine(),
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "memory_gb": None if pages is None else round(pages / 1e9, 1),
    }


def main(job: Any) -> None:
    """Write the three files."""
    write_text(job.output.config, yaml.safe_dump(job.params.config, sort_keys=True, allow_unicode=True))
    write_text(job.output.versions, json.dumps(installed_versions() | {"rows_format": ROWS_FORMAT}, indent=2) + "\n")
    about = {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "master_seed": job.params.config["master_seed"],
        "seeds": SEEDS,
        "machine": machine(),
        "git": job.params.git,
    }
    write_text(job.output.run, json.dumps(about, indent=2) + "\n")


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
