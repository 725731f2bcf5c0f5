"""Shorter names than those of Snakemake's SLURM plugin (2.8.0) for the folders of what SLURM says of a job.

The plugin joins all wildcards of a job that it submits alone, and not in an array, to the name of one folder. Those of scores say
what a file holds, each in a folder of its own below the 255 letters that file systems allow; joined they can be longer, and then
the job fails before it is submitted.
"""

from __future__ import annotations

import hashlib
from typing import Any

from foldshift.engine.jobs.foreign_names import changed, left_alone

LONGEST = 200  # bytes
PACKAGE, TESTED = "snakemake-executor-plugin-slurm", "2.8.0"
USED = {"get_job_wildcards": ("job",)}


def shorten_log_folders(plugin: Any) -> str | None:
    """Change how the plugin names a job, in its folder of logs and in the comment that squeue shows.

    Where the plugin has changed, it is left as it is, and a line says so.
    """
    if reason := changed(plugin, USED):
        return left_alone(
            PACKAGE, TESTED, reason, "A job whose wildcards join to more than 255 letters may fail before it is submitted."
        )
    joined = plugin.get_job_wildcards
    plugin.get_job_wildcards = lambda job: shortened(joined(job))
    return None


def shortened(name: str) -> str:
    """A name of at most `LONGEST` bytes: of a longer one the beginning, and eight digits that stand for all of it."""
    whole = name.encode()
    if len(whole) <= LONGEST:
        return name
    return (whole[: LONGEST - 9] + b"-" + hashlib.sha256(whole).hexdigest()[:8].encode()).decode(errors="ignore")
