"""Estimators of the variance on a model of several sources in which the truth is known: one row per setting, design and data set."""

import numpy as np
import pyarrow as pa

from foldshift.evaluation.storage import TEXT, write_rows
from foldshift.inference.sources_model import simulate_losses
from foldshift.inference.variance import ESTIMATORS, cv_variance, variance_components
from foldshift.jobs import run
from foldshift.seeding import generator

N_SOURCES = 10
# Sources, and points per source: the settings of the specification of the study.
SETTINGS = [(kind, m) for kind in ("iid", "fixed", "random") for m in (10, 50, 200)]
COLUMNS = ("mean", "W", "S2", *ESTIMATORS)
SCHEMA = pa.schema(
    [
        ("model", TEXT),
        ("sources", TEXT),
        ("n_points", pa.int32()),
        ("design", TEXT),
        ("dataset", pa.int32()),
        ("out_of_source", pa.float64()),
        ("sigma_term", pa.float64()),
        *[(name, pa.float64()) for name in COLUMNS],
    ]
)


def main(job):
    """Simulate, estimate, write."""
    model, n = job.wildcards.model, job.params.n_simulations
    parts = []
    for sources, m in SETTINGS:
        rng = generator(job.params.master_seed, "geras_2013", "model", model, sources, m)
        drawn = simulate_losses(model, N_SOURCES, m, n, rng, sources=sources, design="both")
        for design in ("cvs", "cvr"):
            losses = getattr(drawn, design)
            found = cv_variance(losses)
            parts.append(
                {
                    "model": [model] * n,
                    "sources": [sources] * n,
                    "n_points": [m] * n,
                    "design": [design] * n,
                    "dataset": np.arange(n),
                }
                | {"out_of_source": drawn.out_of_source, "sigma_term": [variance_components(losses, design).sigma_term] * n}
                | {name: getattr(found, name) for name in COLUMNS}
            )
    write_rows(job.output.rows, {name: [value for part in parts for value in part[name]] for name in SCHEMA.names}, SCHEMA)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
