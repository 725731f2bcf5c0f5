"""Measure intervals of a mean loss under heavy tails, and whether the caution is given in the samples that miss the truth.

``make validate WHAT=tails``. The threshold of the caution, `HEAVY_TAILS`, was chosen on the losses of `CHOSEN_ON`; the others
decide. Losses are drawn without a learner, so that the truth is exact. Writes ``tables/loss_tails.csv``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import gamma

from foldshift.inference import score_interval
from provenance_tables import write_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldshift.core.types import FloatArray

    Losses = dict[str, tuple[Callable[[int, np.random.Generator], FloatArray], float]]  # squared errors and their mean

SIZES, SAMPLES, SEED = (40, 80, 160, 320), 400, 2027


def mixture(n: int, rng: np.random.Generator) -> FloatArray:
    """Normal errors, of which two in a hundred are ten times as large."""
    return rng.standard_normal(n) * np.where(rng.random(n) < 0.02, 10, 1)


CHOSEN_ON: Losses = {
    "squared normal": (lambda n, rng: rng.standard_normal(n) ** 2, 1.0),
    "exponential": (lambda n, rng: rng.exponential(size=n), 1.0),
    "lognormal, 1": (lambda n, rng: np.exp(rng.standard_normal(n)), float(np.exp(0.5))),
    "lognormal, 2": (lambda n, rng: np.exp(2 * rng.standard_normal(n)), float(np.exp(2))),
    "Pareto, 1.5": (lambda n, rng: rng.pareto(1.5, n), 2.0),
    "squared t, 3": (lambda n, rng: rng.standard_t(3, n) ** 2, 3.0),
    "squared t, 5": (lambda n, rng: rng.standard_t(5, n) ** 2, 5 / 3),
    "squared Laplace": (lambda n, rng: rng.laplace(size=n) ** 2, 2.0),
}
HELD_OUT: Losses = {
    "squared uniform": (lambda n, rng: rng.random(n) ** 2, 1 / 3),
    "gamma, 2": (lambda n, rng: rng.gamma(2, size=n), 2.0),
    "squared t, 8": (lambda n, rng: rng.standard_t(8, n) ** 2, 8 / 6),
    "squared t, 4": (lambda n, rng: rng.standard_t(4, n) ** 2, 2.0),
    "squared t, 2.2": (lambda n, rng: rng.standard_t(2.2, n) ** 2, 11.0),
    "squared mixture": (lambda n, rng: mixture(n, rng) ** 2, 0.98 + 0.02 * 100),
    "Weibull, 0.4": (lambda n, rng: rng.weibull(0.4, n), float(gamma(1 + 1 / 0.4))),
    "F, 3 and 3": (lambda n, rng: rng.f(3, 3, n), 3.0),
    "gamma times lognormal": (lambda n, rng: (rng.gamma(2, size=n) * np.exp(rng.standard_normal(n))) ** 2, float(6 * np.exp(2))),
}


def cell(draw: Callable[[int, np.random.Generator], FloatArray], truth: float, n: int, rng: np.random.Generator) -> list[float]:
    """Coverage, and shares of samples with a caution: of all, of those that miss the truth, and of one row's share alone."""
    kept, said, by_share = (np.empty(SAMPLES, dtype=bool) for _ in range(3))
    for i in range(SAMPLES):
        found = score_interval(np.sqrt(draw(n, rng)), np.zeros(n), "root_mean_squared_error")
        kept[i] = found.low <= np.sqrt(truth) <= found.high
        by_share[i] = "one row holds" in found.note
        said[i] = by_share[i] or "heavy tails" in found.note
    missed = ~kept
    shares = (float(one[missed].mean()) if missed.any() else np.nan for one in (said, by_share))
    unsaid = float(kept[~said].mean()) if (~said).any() else np.nan
    return [float(kept.mean()), float(said.mean()), *shares, unsaid, int(missed.sum())]


def main() -> None:
    """Write the table."""
    rows = []
    for kind, losses in (("chosen on", CHOSEN_ON), ("held out", HELD_OUT)):
        for place, ((name, (draw, truth)), n) in enumerate((one, n) for one in losses.items() for n in SIZES):
            rng = np.random.default_rng([SEED, len(losses), place])
            rows.append((kind, name, n, *cell(draw, truth, n, rng)))
    columns = ["kind", "losses", "n", "covered", "caution", "caution_if_missed", "share_if_missed", "covered_without", "missed"]
    table = pd.DataFrame(rows, columns=columns)
    write_table("loss_tails", table.round(4), samples=SAMPLES, seed=SEED)
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
