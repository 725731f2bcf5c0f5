"""True variance of cross-validation over all domains, its decomposition, and what every estimator says of each single data set (Figures 4 to 6)."""

import numpy as np
import pyarrow as pa

from foldshift.datasets.reviews import read_counts
from foldshift.evaluation.sources import draw_rows, source_losses
from foldshift.evaluation.storage import TEXT, write_rows
from foldshift.inference.variance import ESTIMATORS, cv_variance, variance_components
from foldshift.jobs import run
from foldshift.learners.text import text_learner
from foldshift.seeding import generator

KEYS = [("learner", TEXT), ("sampling", TEXT), ("n_points", pa.int32()), ("design", TEXT)]
ESTIMATES = pa.schema([*KEYS, ("dataset", pa.int32()), *[(name, pa.float64()) for name in ("mean", "W", "S2", *ESTIMATORS)]])
COMPONENTS = pa.schema([*KEYS, ("kind", TEXT), ("k", pa.int32()), ("l", pa.int32()), ("value", pa.float64())])


def component_rows(parts):
    """Kind, pair of blocks and value of every component; -1 where one has no block."""
    for kind in ("sigma_term", "omega_term", "gamma_term", "theta"):
        yield kind, -1, -1, getattr(parts, kind)
    for kind in ("sigma", "omega"):
        for k, value in enumerate(getattr(parts, kind)):
            yield kind, k, k, value
    for k, other in zip(*np.triu_indices(len(parts.sigma), 1)):
        yield "gamma", k, other, parts.gamma[k, other]


def main(job):
    """Write both tables for both ways of cutting."""
    sampling, n_points = job.wildcards.sampling, int(job.wildcards.points)
    counts = read_counts(job.input.counts)
    learner, X = text_learner(job.wildcards.learner, counts.X)
    rng = generator(job.params.master_seed, "geras_2013", "rows of all domains", sampling, n_points)
    domains = range(len(counts.domains))
    rows = draw_rows(counts.groups, domains, n_points, job.params.n_truth, rng, replace=sampling == "with")
    tables = {"estimates": [], "components": []}
    for design in ("cvs", "cvr"):
        losses = source_losses(X, counts.y, rows, learner, design, rng)
        keys = (job.wildcards.learner, sampling, n_points, design)
        found = cv_variance(losses)
        values = np.column_stack([getattr(found, name) for name in ("mean", "W", "S2", *ESTIMATORS)])
        tables["estimates"] += [(*keys, number, *row) for number, row in enumerate(values.tolist())]
        tables["components"] += [(*keys, *row) for row in component_rows(variance_components(losses, design))]
    for kind, schema in (("estimates", ESTIMATES), ("components", COMPONENTS)):
        columns = {name: list(values) for name, values in zip(schema.names, zip(*tables[kind]))}
        write_rows(job.output[kind], columns, schema)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
