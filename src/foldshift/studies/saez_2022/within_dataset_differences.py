"""Differences within data sets of the regression study, and what one unit of its errors is in units of the target."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.studies.common.within_dataset import one_dataset

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, PathLike, Rows
    from foldshift.reporting.items import TableResult

REFERENCE = "CV"


def differences(inputs: Inputs, settings: dict[str, Any], wanted: Rows) -> dict[str, TableResult]:
    """Ways of cutting, and learners, on each data set by itself."""
    return one_dataset(inputs, settings, wanted, "rmse", REFERENCE, own_units(inputs.descriptions))


def own_units(descriptions: Sequence[PathLike]) -> dict[str, float]:
    """What errors are multiplied with to be in the target's own units."""
    found = [json.loads(Path(path).read_text(encoding="utf-8")) for path in descriptions]
    ranges = {one["name"]: (one["target_range"], one["scaling"] == "global") for one in found}
    return {name: float(high - low) if scaled else 1.0 for name, ((low, high), scaled) in ranges.items()}
