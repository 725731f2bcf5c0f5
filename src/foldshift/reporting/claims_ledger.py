"""Claims of a paper: every sentence that states a number or an order, with a verdict that the tables of a run decide.

The sentences stand in ``printed/claims.csv`` of a study, in our words; a function of the study judges each by its id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.errors import DataError
from foldshift.reporting.items import TableResult
from foldshift.reporting.number_formats import number, with_error
from foldshift.reporting.table_grid import Grid, TableCell
from foldshift.reporting.verdicts import DOES_NOT_HOLD as DOES_NOT_HOLD
from foldshift.reporting.verdicts import HOLDS as HOLDS
from foldshift.reporting.verdicts import IN_PART as IN_PART
from foldshift.reporting.verdicts import NOT_SEEN, VERDICTS

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

    Verdict = Literal["holds", "holds in part", "does not hold", "cannot be seen here"]

SENTENCES = ("id", "page", "claim", "shown_by", "item")  # columns of printed/claims.csv
COLUMNS = ("id", "claim", "page", "shown_by", "verdict", "effect", "standard_error", "remark", "item")
N_ERRORS = 2.0


class Judged(NamedTuple):
    """Verdict on a claim, with what it rests on."""

    verdict: Verdict
    effect: float = np.nan  # the number that ``shown_by`` names
    standard_error: float = np.nan
    remark: str = ""  # a few words where the verdict needs them: "24 of 28 data sets", "only with 10 folds"


def claims_ledger(sentences: PathLike, judged: Mapping[str, Judged]) -> TableResult:
    """Make the table of claims from the sentences of a paper and the verdicts on them, by id; a verdict must have its sentence.

    A sentence without a verdict cannot be seen in this run.
    """
    table = pd.read_csv(sentences, keep_default_na=False, dtype=str)[list(SENTENCES)]
    if unknown := sorted(set(judged) - set(table["id"])):
        raise DataError(f"{sentences}: no sentence for the verdicts {', '.join(unknown)}")
    found = [judged.get(one, Judged("cannot be seen here")) for one in table["id"]]
    rows = table.join(pd.DataFrame(found, columns=list(Judged._fields)))[list(COLUMNS)]
    return TableResult(rows, claims_grid(rows))


def by_error(effect: float, standard_error: float, remark: str = "") -> Judged:
    """Judge an effect that a claim says is positive: it holds, or does not, if it lies beyond two errors from 0."""
    if not np.isfinite(effect) or not np.isfinite(standard_error) or abs(effect) <= N_ERRORS * standard_error:
        return Judged("cannot be seen here", effect, standard_error, remark)
    return Judged("holds" if effect > 0 else "does not hold", effect, standard_error, remark)


def claims_grid(table: pd.DataFrame) -> Grid:
    """Lay out the claims for print, and count the verdicts below."""
    rows: list[list[TableCell | str]] = []
    for row in table.itertuples():
        effect = with_error(row.effect, row.standard_error) if row.standard_error > 0 else number(row.effect)
        rows.append([row.page, row.claim, row.shown_by, row.verdict, TableCell(effect), row.remark, row.item])
    counts = table["verdict"].value_counts()
    words = "; ".join(f"{counts.get(one, 0)} {one if one != NOT_SEEN else 'cannot be seen'}" for one in VERDICTS)
    return Grid(["Page", "Claim", "Shown by", "Verdict", "Effect", "Remark", "Item"], rows, [f"{len(table)} claims: {words}."])
