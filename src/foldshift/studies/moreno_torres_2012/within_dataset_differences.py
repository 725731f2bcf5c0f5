"""Differences within data sets of the classification study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.studies.common.within_dataset import one_dataset
from foldshift.studies.moreno_torres_2012.notation import REFERENCE

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, Rows
    from foldshift.reporting.items import TableResult


def differences(inputs: Inputs, settings: dict[str, Any], wanted: Rows) -> dict[str, TableResult]:
    """Ways of cutting, and learners, on each data set by itself."""
    return one_dataset(inputs, settings, wanted, "auc_crisp", REFERENCE)
