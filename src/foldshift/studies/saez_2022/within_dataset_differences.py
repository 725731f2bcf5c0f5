"""Differences within data sets of the regression study, and what one unit of its errors is in units of the target."""

import json
from pathlib import Path

from foldshift.studies.common.within_dataset import one_dataset

REFERENCE = "CV"


def differences(inputs, settings, wanted):
    """Ways of cutting, and learners, on each data set by itself.

    Parameters
    ----------
    inputs : object
        ``scores``: files of scores of all data sets; ``descriptions``: of the prepared data sets, in their order.
    settings : dict
        Of the study.
    wanted : list of dict
        See `foldshift.studies.common.within_dataset.one_dataset`.

    Returns
    -------
    items : dict of str to foldshift.reporting.items.Shown
    """
    return one_dataset(inputs, settings, wanted, "rmse", REFERENCE, own_units(inputs.descriptions))


def own_units(descriptions):
    """What errors are multiplied with to be in the target's own units.

    Parameters
    ----------
    descriptions : sequence of path-like
        Of prepared data sets, JSON.

    Returns
    -------
    units : dict of str to float
        By data set: the range of the target where it was scaled to [0, 1]; 1 where errors are in its own units anyway.
    """
    found = [json.loads(Path(path).read_text(encoding="utf-8")) for path in descriptions]
    ranges = {one["name"]: (one["target_range"], one["scaling"] == "global") for one in found}
    return {name: float(high - low) if scaled else 1.0 for name, ((low, high), scaled) in ranges.items()}
