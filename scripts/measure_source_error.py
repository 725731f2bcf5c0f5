"""Estimates of cross-validation over several sources beside the error on a source held out (Figures 2 and 3): one row per draw of domains."""

import numpy as np
import pyarrow as pa

from foldshift.datasets.reviews import read_counts
from foldshift.evaluation.sources import draw_rows, out_of_source_error, source_losses
from foldshift.evaluation.storage import TEXT, write_rows
from foldshift.jobs import run
from foldshift.learners.text import text_learner
from foldshift.planning.blocks import block_range
from foldshift.seeding import generator

SCHEMA = pa.schema(
    [
        ("learner", TEXT),
        ("sampling", TEXT),
        ("n_sources", pa.int32()),
        ("n_points", pa.int32()),
        ("draw", pa.int32()),
        ("cvs", pa.float64()),
        ("cvr", pa.float64()),
        ("out_of_source", pa.float64()),
        ("sd_cvs", pa.float64()),
        ("sd_cvr", pa.float64()),
    ]
)


def main(job):
    """Draw domains, draw data sets from them, cross-validate both ways, and train on all for the domain held out."""
    settings, sampling = job.params.settings, job.wildcards.sampling
    counts = read_counts(job.input.counts)
    learner, X = text_learner(job.wildcards.learner, counts.X)
    start, n_draws = block_range(job.wildcards.block)
    fixed = settings["held_fixed"]
    grid = sorted(
        {(k, fixed["n_points"]) for k in settings["n_sources"]} | {(fixed["n_sources"], m) for m in settings["n_points"]}
    )
    found = []
    for draw in range(start, start + n_draws):
        # One order of the domains per draw: more training domains contain the fewer, and the one held out stays the same.
        order = generator(job.params.master_seed, "geras_2013", "domains", draw).permutation(len(counts.domains))
        held_out = np.flatnonzero(counts.groups == order[0])
        for k, m in grid:
            # The same data sets and cuts for every learner.
            rng = generator(job.params.master_seed, "geras_2013", "rows", sampling, k, m, draw)
            rows = draw_rows(counts.groups, order[1 : k + 1], m, settings["n_datasets"], rng, replace=sampling == "with")
            cvs = source_losses(X, counts.y, rows, learner, "cvs").mean(axis=(1, 2))
            cvr = source_losses(X, counts.y, rows, learner, "cvr", rng).mean(axis=(1, 2))
            test = np.broadcast_to(held_out, (len(rows), len(held_out)))
            new = out_of_source_error(X, counts.y, rows, test, learner)
            found.append((k, m, draw, cvs.mean(), cvr.mean(), new.mean(), cvs.std(ddof=1), cvr.std(ddof=1)))
    columns = {name: np.array(values) for name, values in zip(SCHEMA.names[2:], zip(*found))}
    keys = {"learner": [job.wildcards.learner] * len(found), "sampling": [sampling] * len(found)}
    write_rows(job.output.rows, keys | columns, SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
