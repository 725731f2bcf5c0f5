"""One row per seed from the scores of one data set, the mean over the folds; and which fits failed, of how many, and why."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from foldshift.core.files import write_text
from foldshift.engine.jobs.run_job import run
from foldshift.engine.layout.file_names import cells_wanted, held_scores, in_order, runs_wanted
from foldshift.engine.storage.score_files import read_columns, write_rows
from foldshift.engine.storage.seed_results import count_failures, seed_schema, select_cells, summarise_scores
from foldshift.evaluation.regression_scores import CLASSIFICATION_METRICS, METRICS
from foldshift.evaluation.tasks import OK

CELL = ("learner", "partitioner", "k")
MESSAGES = (*CELL, "status", "message")


def main(job: Any) -> None:
    """Read the files that hold what is wanted; write it in the order of the configuration, whatever files it stands in."""
    metrics = CLASSIFICATION_METRICS if job.params.task == "classification" else METRICS
    results = Path(job.output.failures).parents[2]
    wanted, found, n_fits, failed = job.params.wanted, {}, Counter(), {}
    for path in in_order(job.input.scores):
        columns = read_columns(path, ("dataset", *CELL, "seed", *metrics, "status"))
        lost = []
        for cell, rows in select_cells(columns, CELL, runs_wanted(held_scores(path), wanted)).items():
            part = {name: values[rows] for name, values in columns.items()}
            found.setdefault(cell, []).append(summarise_scores(part, metrics))
            n_fits[cell] += len(part["status"])
            lost.append(rows.start + np.flatnonzero(part["status"] != OK))
        lost = np.sort(np.concatenate(lost))
        if len(lost):  # only then are the messages read, the widest column
            columns = read_columns(path, MESSAGES)
            failed[Path(path).relative_to(results).as_posix()] = {name: values[lost] for name, values in columns.items()}
    cells = [(learner, *cut) for learner in wanted["learners"].values() for cut in cells_wanted(wanted)]
    rows = [part for cell in cells for part in found[cell]]
    write_rows(job.output.seeds, rows, seed_schema(metrics))
    summary = {"dataset": str(rows[0]["dataset"][0]), "n_fits": n_fits.total(), "failures": count_failures(failed, n_fits)}
    write_text(job.output.failures, json.dumps(summary, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
