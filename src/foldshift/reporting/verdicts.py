"""Verdicts on a claim of a paper, from the best to none."""

from __future__ import annotations

VERDICTS = ("holds", "holds in part", "does not hold", "cannot be seen here")
HOLDS, IN_PART, DOES_NOT_HOLD, NOT_SEEN = VERDICTS
