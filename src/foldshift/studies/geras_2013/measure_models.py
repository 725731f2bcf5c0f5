"""Estimate the variance of cross-validation on models of several sources in which the truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pyarrow as pa

from foldshift.core.seeding import generator
from foldshift.engine.storage.score_files import TEXT
from foldshift.inference.repetitions.variance import ESTIMATORS, cv_variance, variance_components
from foldshift.inference.simulation.source_models import simulate_losses

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, Rows

N_SOURCES = 10
Sources = Literal["iid", "fixed", "random"]
Model = Literal["centroid", "stump", "highdim"]
Design = Literal["cvs", "cvr"]
DESIGNS: tuple[Design, ...] = get_args(Design)
# Sources, and points per source.
SETTINGS: list[tuple[Sources, int]] = [(kind, m) for kind in get_args(Sources) for m in (10, 50, 200)]
COLUMNS = ("mean", "W", "S2", *ESTIMATORS)
SCHEMAS = {
    "models": pa.schema(
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
}


def simulate_model(inputs: Inputs, cell: dict[str, Model], *, n_simulations: int, master_seed: int) -> dict[str, Rows]:
    """Simulate data sets of a model in every setting, and estimate the variance from each."""
    model, n = cell["model"], n_simulations
    parts: Rows = []
    for sources, m in SETTINGS:
        rng = generator(master_seed, "geras_2013", "model", model, sources, m)
        drawn = simulate_losses(model, N_SOURCES, m, n, rng, sources=sources, design="both")
        for design in DESIGNS:
            losses = getattr(drawn, design)
            found = cv_variance(losses)
            keys = {"model": model, "sources": sources, "n_points": m, "design": design}
            parts.append(
                {name: [value] * n for name, value in keys.items()}
                | {"dataset": np.arange(n), "out_of_source": drawn.out_of_source}
                | {"sigma_term": [variance_components(losses, design).sigma_term] * n}
                | {name: getattr(found, name) for name in COLUMNS}
            )
    return {"models": parts}
