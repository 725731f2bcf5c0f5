"""One row per seed from the scores of one data set, the mean over the folds; and which fits failed, of how many, and why."""

import json
from collections import Counter
from pathlib import Path

from foldshift.evaluation.metrics import CLASSIFICATION_METRICS, METRICS
from foldshift.evaluation.scores import OK
from foldshift.evaluation.storage import read_columns, write_rows
from foldshift.evaluation.summary import count_failures, seed_schema, split_cells, summarise_scores
from foldshift.files import write_text
from foldshift.jobs import run

KEYS = ("dataset", "learner", "partitioner", "k", "seed")
OF_FAILURES = ("learner", "partitioner", "k", "status", "message")


def main(job):
    """Read the files of all learners, write one table and one list of failures."""
    metrics = CLASSIFICATION_METRICS if job.params.task == "classification" else METRICS
    results = Path(job.output.failures).parents[2]
    rows, n_fits, failed = [], Counter(), {}
    for path in job.input.scores:
        columns = read_columns(path, (*KEYS, *metrics, "status"))
        parts = [summarise_scores(cell, metrics) for cell in split_cells(columns)]
        rows += parts
        for part in parts:
            for cell, n_seeds in Counter(zip(part["learner"], part["partitioner"], part["k"].tolist())).items():
                n_fits[cell] += n_seeds * cell[2]
        lost = columns["status"] != OK
        if lost.any():  # only then are the messages read, the widest column
            columns = read_columns(path, OF_FAILURES)
            failed[Path(path).relative_to(results).as_posix()] = {name: values[lost] for name, values in columns.items()}
    write_rows(job.output.seeds, rows, seed_schema(metrics))
    found = {"dataset": str(rows[0]["dataset"][0]), "n_fits": sum(n_fits.values()), "failures": count_failures(failed, n_fits)}
    write_text(job.output.failures, json.dumps(found, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
