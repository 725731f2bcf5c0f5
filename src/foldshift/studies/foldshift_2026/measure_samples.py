"""Samples of one population and size of the study; its measures share it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foldshift.datasets.dataset import read_prepared
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.studies.common import measure_samples as common
from foldshift.studies.common.measure_samples import Population, Sample, SampleMeasure, SharedSettings
from foldshift.studies.foldshift_2026.cuts_and_methods import TIMES_A_SAMPLE
from foldshift.studies.foldshift_2026.partitioners import fits

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, Rows
    from foldshift.datasets.dataset import Dataset

    Names = tuple[int, str, str, int]  # of all randomness: master seed, measure, population, rows of a sample

__all__ = ["Names", "Sample", "SampleMeasure", "SharedSettings", "measure_samples", "population_of"]


def population_of(inputs: Inputs, name: str, n_sample: int) -> tuple[Dataset | None, bool]:
    """Read the data set of a population, None for a generated one; and whether it has rows enough for samples of this size."""
    data = read_prepared(inputs.data) if inputs.data else None
    is_enough = data is None or len(data.y) >= TIMES_A_SAMPLE * n_sample
    if data is not None and not is_enough:
        logging.warning("%s: %d rows are too few for samples of %d; left out", name, len(data.y), n_sample)
    return data, is_enough


def measure_samples(inputs: Inputs, cell: dict[str, str], work: SampleMeasure, settings: SharedSettings, truth_rows: int) -> Rows:
    """Cut every sample of a block, and measure every learner on it.

    Of a generated population, `truth_rows` are held out, of a data set all rows outside the sample. One with fewer than
    `TIMES_A_SAMPLE` times the rows of a sample has no rows.
    """
    name, n_sample = cell["population"], int(cell["n_sample"])
    data, is_enough = population_of(inputs, name, n_sample)
    if not is_enough:
        return []
    start, n_replicates = block_range(cell["block"])
    names = (settings.master_seed, work.name, name, n_sample)
    most_held_out = truth_rows if data is None else len(data.y)
    samples = Population(name, data, n_sample, range(start, start + n_replicates), names, most_held_out)
    return common.measure_samples(samples, work, settings, fits)
