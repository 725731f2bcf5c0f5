"""Compile what the jobs of the run will call, once, before them."""

import json
import logging
import time

from foldshift.evaluation.first_calls import compile_kernels
from foldshift.files import write_text
from foldshift.jobs import run
from foldshift.partition.registry import import_path
from foldshift.planning.compile_cost import record_kept


def main(job):
    """Call everything once, on as many processes as the job has threads; write what it took."""
    start = time.perf_counter()
    params = job.params
    parts = compile_kernels(params.learners, params.partitioners, params.measures, n_processes=job.threads, progress=logging.info)
    summary = {
        "seconds": round(time.perf_counter() - start, 1),
        "processor_seconds": round(sum(part.seconds for part in parts), 1),
        "parts": {part.name: round(part.seconds, 1) for part in parts},
        "failed": {part.name: part.message for part in parts if part.message},
    }
    paths = {name: entry["import"] for name, entry in params.learners.items()}
    paths |= {name: import_path(name) for name in params.partitioners} | {path: path for path in params.measures}
    # An import path stands for all entries of a learner: one that failed leaves it out.
    failed = {paths[part.name] for part in parts if part.message}
    record_kept({paths[part.name] for part in parts} - failed)
    write_text(job.output.stamp, json.dumps(summary, indent=2) + "\n")
    logging.info("%d parts: %.0f s of processor time", len(parts), summary["processor_seconds"])


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
