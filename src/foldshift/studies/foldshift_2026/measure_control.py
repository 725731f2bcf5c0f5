"""The control of the study: intervals of independent losses of a model that was not trained on the sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from scipy import stats

from foldshift.core.seeding import generator
from foldshift.datasets.synthetic.populations import draw_population
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.engine.storage.score_files import TEXT
from foldshift.studies.foldshift_2026.measure_samples import population_of

if TYPE_CHECKING:
    from foldshift.core.types import Array, FloatArray, Inputs, Rows

KEYS = ("population", "task", "interval", "n_sample", "replicate")
CONTROLS = ("known spread", "plain")
VALUES = ("low", "high", "truth", "truth_noise")
SCHEMAS = {
    "control": pa.schema(
        [
            *[(name, TEXT) for name in KEYS[:3]],
            *[(name, pa.int32()) for name in KEYS[3:]],
            *[(name, pa.float64()) for name in VALUES],
        ]
    )
}
SHARED = 50  # samples that are drawn from the same rows of a generated population


def measure_control(inputs: Inputs, cell: dict[str, str], *, truth_rows: int, level: float, master_seed: int) -> dict[str, Rows]:
    """Measure `CONTROLS` of the mean loss of a constant model on samples, and its truth on the rows outside each of them.

    ``known spread`` takes the standard deviation of the losses of all rows, ``plain`` that of the sample.
    """
    name, n_sample = cell["population"], int(cell["n_sample"])
    data, is_enough = population_of(inputs, name, n_sample)
    rows: Rows = []
    if is_enough:
        start, n_replicates = block_range(cell["block"])
        names = (master_seed, "control", name, n_sample)
        held = -1
        for replicate in range(start, start + n_replicates):
            if held != replicate // SHARED:
                held = replicate // SHARED
                drawn = data or draw_population(name, n_sample + truth_rows, generator(*names, "rows", held))
                losses = constant_losses(drawn.y)
            keys = {"population": name, "task": drawn.task, "n_sample": n_sample, "replicate": replicate}
            rows += [keys | one for one in control_intervals(losses, n_sample, level, generator(*names, replicate))]
    columns = SCHEMAS["control"].names
    return {"control": [{column: [row[column] for row in rows] for column in columns}] if rows else []}


def constant_losses(y: Array) -> FloatArray:
    """Losses of a constant model: 0/1 of the commonest class, or the absolute distance from the mean."""
    if y.dtype.kind == "i":
        return (y != np.bincount(y).argmax()).astype(np.float64)
    return np.abs(y - y.mean())


def control_intervals(losses: FloatArray, n_sample: int, level: float, rng: np.random.Generator) -> list[dict[str, float | str]]:
    """Draw a sample of losses; compute both intervals of its mean, and the mean of the losses outside it with its noise.

    Counts of 0/1 losses get uniform noise of half a row to either side, which takes away the steps of their distribution.
    """
    chosen = np.zeros(len(losses), dtype=bool)
    chosen[rng.choice(len(losses), n_sample, replace=False, shuffle=False)] = True
    own, rest = losses[chosen], losses[~chosen]
    is_count = bool(np.isin(losses, (0.0, 1.0)).all())
    mean = own.mean() + (rng.uniform(-0.5, 0.5) / n_sample if is_count else 0.0)
    z = stats.norm.ppf((1 + level) / 2)
    noise = rest.std(ddof=1) / np.sqrt(len(rest))
    half = {name: z * values.std(ddof=1) / np.sqrt(n_sample) for name, values in zip(CONTROLS, (losses, own))}
    truth = {"truth": float(rest.mean()), "truth_noise": float(noise)}
    return [{"interval": name, "low": mean - half[name], "high": mean + half[name]} | truth for name in CONTROLS]
