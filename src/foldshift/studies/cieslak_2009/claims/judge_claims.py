"""Judge the sentences of Cieslak and Chawla (2009) that state a number or an order, from the tables of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from foldshift.reporting.claims_ledger import claims_ledger
from foldshift.studies.cieslak_2009.claims import claims_on_features, claims_on_predictions
from foldshift.studies.cieslak_2009.claims.claim_verdicts import Tables

if TYPE_CHECKING:
    from foldshift.core.types import Inputs
    from foldshift.reporting.items import TableResult
    from foldshift.studies.cieslak_2009.claims.claim_verdicts import Verdicts


def claims(inputs: Inputs, settings: dict[str, Any]) -> dict[str, TableResult]:
    """Judge every claim that the tables of the run can show."""
    tables = Tables(*(pd.read_csv(getattr(inputs, name)) for name in Tables._fields))
    return {"claims_ledger": claims_ledger(inputs.printed, judged_claims(tables))}


def judged_claims(tables: Tables) -> Verdicts:
    """Judge every claim by its id."""
    return claims_on_predictions.judged(tables) | claims_on_features.judged(tables)
