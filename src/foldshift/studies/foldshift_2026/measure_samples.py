"""Samples of one population and size of the study; both measures share it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foldshift.datasets.dataset import read_prepared
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.studies.common import measure_samples as common
from foldshift.studies.common.measure_samples import Population, Sample, SampleMeasure, SharedSettings
from foldshift.studies.foldshift_2026.partitioners import fits

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, Rows

    Names = tuple[int, str, str, int]  # of all randomness: master seed, measure, population, rows of a sample

__all__ = ["Names", "Sample", "SampleMeasure", "SharedSettings", "measure_samples"]

MOST_HELD_OUT = 4000  # rows that represent the population


def measure_samples(inputs: Inputs, cell: dict[str, str], work: SampleMeasure, settings: SharedSettings) -> Rows:
    """Cut every sample of a block, and measure every learner on it.

    A data set with fewer than twice the rows of a sample has no rows.
    """
    name, n_sample = cell["population"], int(cell["n_sample"])
    data = read_prepared(inputs.data) if inputs.data else None
    if data is not None and len(data.y) < 2 * n_sample:
        logging.warning("%s: %d rows are too few for samples of %d; left out", name, len(data.y), n_sample)
        return []
    start, n_replicates = block_range(cell["block"])
    names = (settings.master_seed, work.name, name, n_sample)
    samples = Population(name, data, n_sample, range(start, start + n_replicates), names, MOST_HELD_OUT)
    return common.measure_samples(samples, work, settings, fits)
