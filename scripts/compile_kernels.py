"""Compile what the jobs of the run will call, once, before them."""

import json
import logging
import time
from collections.abc import Collection
from typing import Any

from foldshift.core.files import write_text
from foldshift.engine.costs.compile_cost import kept_paths, record_kept
from foldshift.engine.jobs.run_job import run
from foldshift.partition.registry import import_path


def main(job: Any) -> None:
    """Call everything whose code no earlier run has kept, on as many processes as the job has threads; write what it took."""
    start = time.perf_counter()
    params = job.params
    paths = {name: entry["import"] for name, entry in params.learners.items()}
    paths |= {name: import_path(name) for name in params.partitioners} | {path: path for path in params.measures}
    kept = kept_paths(set(paths.values()))
    left = {name for name in paths if paths[name] not in kept}
    parts = compile_parts(params, left, job.threads) if left else []
    # An import path stands for all entries of a learner: one that failed leaves it out.
    record_kept({paths[part.name] for part in parts} - {paths[part.name] for part in parts if part.message})
    summary = {
        "seconds": round(time.perf_counter() - start, 1),
        "processor_seconds": round(sum(part.seconds for part in parts), 1),
        "parts": {part.name: round(part.seconds, 1) for part in parts},
        "kept": [name for name in paths if name not in left],
        "failed": {part.name: part.message for part in parts if part.message},
    }
    write_text(job.output.stamp, json.dumps(summary, indent=2) + "\n")
    logging.info(
        "%d parts: %.0f s of processor time; %d kept from earlier runs",
        len(parts),
        summary["processor_seconds"],
        len(summary["kept"]),
    )


def compile_parts(params: Any, left: Collection[str], n_processes: int) -> list[Any]:
    """Compile those of the learners, partitioners and measures whose names are in `left`."""
    from foldshift.engine.jobs.warm_up import compile_kernels  # loads all that compiles: a second where nothing is left

    return compile_kernels(
        {name: entry for name, entry in params.learners.items() if name in left},
        [name for name in params.partitioners if name in left],
        [path for path in params.measures if path in left],
        n_processes=n_processes,
        progress=logging.info,
    )


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
