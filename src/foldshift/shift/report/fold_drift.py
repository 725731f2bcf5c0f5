"""Drift of folds: training part against test part of every fold, feature by feature, compared with random cuts."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.counting import bincount
from foldshift.core.printable import printable_lines
from foldshift.core.repr import readable
from foldshift.core.seeding import as_generator
from foldshift.inference.corrections import adjust_p
from foldshift.partition.fold_numbers import fold_dtype
from foldshift.partition.folds import given_folds
from foldshift.shift.columns import matched_columns, target_column, target_values, without_left_out
from foldshift.shift.detectors.co_failure import failing, jaccard, phi
from foldshift.shift.detectors.feature_tests import MISSING
from foldshift.shift.measures.null_distances import Parts, null_distances, nulls_of_one_cut, pattern_of, tails
from foldshift.shift.measures.random_splits import chances, fold_tests, mean_distances, random_cuts, ranked
from foldshift.shift.report.dot_plot import dots
from foldshift.shift.report.drift_text import check_alpha, counted, p_in_words, percent, plain_values, shortened
from foldshift.shift.table_versions import FEWEST_ROWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from foldshift.core.types import FloatArray, IntArray, Rows, TableLike, Task, UnsignedArray
    from foldshift.shift.columns import Column
    from foldshift.shift.measures.random_splits import Ranked

AS_CHANCE: Final = "as chance"


class FoldFeature(NamedTuple):
    """One feature of a `FoldDrift`."""

    name: str
    kind: str  # ``numeric``, ``nominal``, ``missing`` (being missing, of a numeric feature) or ``target``
    # distance, distance_chance: Mean over all folds of the largest difference in probability between training and test part (KS
    # distance, or total variation), and the same for random folds of the same sizes
    distance: float
    distance_chance: float
    # failing, failing_chance: Share of the folds in which KS or chi-square rejects at alpha, and the same for random folds. The
    # latter can differ from alpha: with few values and small folds the tests are coarse
    failing: float
    failing_chance: float
    p_more: float  # p_more, p_less: Chance that random cuts have a mean distance as large, or as small
    p_less: float
    p_adjusted: float  # twice the smaller of the two, corrected over all features and the target by Holm
    # ``more``: the cut shifts this feature; ``less``: the cut balances it better than chance; ``as chance``
    verdict: Literal["more", "less", "as chance"]


@readable
class FoldDrift(NamedTuple):
    """Result of `fold_drift`; ``str()`` of it is a table to read."""

    features: list[FoldFeature]  # in the order of the columns, then the target
    # p of KS or chi-square in every fold, one for each row of `features`; NaN for a fold that is empty or holds all samples;
    # shape (n_seeds, n_folds, n_rows)
    p_values: FloatArray
    # phi, jaccard: Co-failure over all folds of all seeds, see `foldshift.shift.detectors.co_failure`; NaN for features that
    # never or (phi) always fail; shape (n_rows, n_rows)
    phi: FloatArray
    jaccard: FloatArray
    alpha: float
    n_random: int  # number of random cuts that were compared
    verdict: str  # one sentence
    notes: tuple[str, ...] = ()  # columns that were left out, with the reason

    def to_rows(self) -> Rows:
        """Return one dictionary for each feature."""
        return [row._asdict() for row in self.features]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each feature, the smallest corrected p first."""
        return pd.DataFrame(self.to_rows()).sort_values(["p_adjusted", "name"], ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, e.g. for JSON; a value that is not known is None."""
        return {
            "verdict": self.verdict,
            "n_seeds": self.p_values.shape[0],
            "n_folds": self.p_values.shape[1],
            "alpha": self.alpha,
            "n_random": self.n_random,
            "features": [plain_values(row) for row in self.to_rows()],
            "notes": list(self.notes),
        }

    def sentences(self) -> list[str]:
        """Return the result as sentences: the comparison, the verdict, and the notes."""
        return [self._title() + ".", self.verdict, *self.notes]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the mean distance of every feature, the largest excess on top; a vertical line shows that of random cuts."""
        rows = sorted(self.features, key=lambda row: (row.distance_chance - row.distance, row.name))
        values, marks = [row.distance for row in rows], [row.verdict != AS_CHANCE for row in rows]
        label = "mean distance (filled: differs from chance, the line)"
        return dots(ax, [row.name for row in rows], values, marks, label, [row.distance_chance for row in rows])

    def _title(self) -> str:
        return (
            f"Drift of folds: {self.p_values.shape[1]} folds, {counted(self.p_values.shape[0], 'seed')}; level {self.alpha:g}, "
            f"Holm; chance from {self.n_random} random cuts"
        )

    def __str__(self) -> str:
        width = min(max(len(row.name) for row in self.features), 40)
        lines = [
            self._title(),
            "",
            fill(f"Verdict: {self.verdict}", 118),
            "",
            f"  {'':<{width}}  distance  chance   failing  chance   corrected p",
        ]
        for row in sorted(self.features, key=lambda row: (row.p_adjusted, row.name)):
            mark = "" if row.verdict == AS_CHANCE else f"  << {row.verdict} than chance"
            lines.append(
                f"  {shortened(row.name, width):<{width}}  {row.distance:8.4f}  {row.distance_chance:6.4f}  "
                f"{percent(row.failing):>8}  {percent(row.failing_chance):>6}   {p_in_words(row.p_adjusted)}{mark}"
            )
        if self.notes:
            lines += ["", "Notes", *(fill(note, 116, initial_indent="  ", subsequent_indent="    ") for note in self.notes)]
        return printable_lines("\n".join(lines))


def fold_drift(
    X: TableLike,
    y: ArrayLike | None,
    folds: ArrayLike,
    n_folds: int | None = None,
    *,
    categorical_features: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    task: Task | None = None,
    alpha: float = 0.05,
    n_random: int | None = None,
    rng: np.random.Generator | int = 0,
) -> FoldDrift:
    """Find the features that a cut into folds shifts, by comparing training and test parts with those of random cuts.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        Inputs. Missing values are handled as by `DriftReport`: in a numeric feature they are left out, and being missing is a row
        of its own; in a nominal one they are a category. Dates are a quantity in time.
    y : array-like of shape (n_samples,), optional
        Target, tested as one more feature. None: not tested.
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer; or splitter
        Fold of every sample from 0, one row per seed; or a splitter such as ``KFold(5)``. -1 is a sample that is in every
        training part and never tested.
    n_folds : int, optional
        Number of folds; by default the largest fold number plus one.
    categorical_features, feature_names, keep, task
        As in `DriftReport`.
    alpha : float, default=0.05
        Level at which a fold fails a test, and of the verdict.
    n_random : int, optional
        Number of random cuts. They are rows of `folds`, shuffled, so that they have the same sizes. Time grows with it. By
        default 1,999, or the number of seeds if that is larger; for one seed more if the smallest possible p could not be
        significant after the correction for so many features.
    rng : numpy.random.Generator or int, default=0
        Source of the random cuts.

    Returns
    -------
    drift : FoldDrift
        One row per feature, p-values of every fold, and the verdict.

    Raises
    ------
    ValueError
        If the shapes do not fit, a value is infinite, y has missing values, there are fewer than 5 samples or two folds, or
        `n_random` is below 99.

    Notes
    -----
    The folds of one cut are not independent samples, and those of different seeds share all their rows: the share that fails says
    nothing by itself. So the whole cut is compared with random cuts of the same sizes. Cuts that were random themselves could
    change places with these, so that the chances are those of a permutation test, exact for any number of seeds and of random
    cuts: `foldshift.shift.measures.random_splits.chances` has the derivation. With many seeds take many random cuts too, for
    power: the smallest difference that is found is proportional to ``sqrt(1 / n_seeds + 1 / n_random)``. Cuts by the classes or
    the neighbourhood can be closer than chance, which is reported too.

    D and chi-square of every fold are those of two samples. The p of D is asymptotic, since it is only compared with alpha; how
    often it is below alpha by chance is counted and not assumed. All columns are ranked once and share the random cuts, which are
    made block by block: 100,000 rows and 10 columns take some seconds.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> by_first = X[:, 0].argsort().argsort() // 20
    >>> fold_drift(X, None, by_first, feature_names=["age", "height"]).verdict
    '1 of 2 shifted by the cut: age.'
    """
    check_alpha(alpha)
    if n_random is not None and (isinstance(n_random, bool) or not isinstance(n_random, int | np.integer) or n_random < 99):
        raise ValueError(f"n_random={n_random!r} must be an integer of at least 99")
    rng = as_generator(rng)
    columns = matched_columns(X, X, categorical_features, feature_names)
    n = len(columns[0].train)
    columns, notes = without_left_out(columns, keep, "keep")
    if y is not None:
        values = target_values(y, n)
        columns.append(target_column(values, values, task))
    folds, n_folds, n_parts = given_folds(folds, n_folds, X, y, least=2)
    folds = folds.astype(fold_dtype(n_parts))
    rows, notes = _rows(columns, y is not None, notes)
    if not rows:
        raise ValueError(f"nothing can be compared: {' '.join(notes)}")
    n_seeds = len(folds)
    enough = int(np.ceil(4 * len(rows) / alpha)) - 1  # the smallest corrected p, two-sided, is then half of alpha
    if n_random is None:
        n_random = max(1999, enough if n_seeds == 1 else n_seeds)
    p_values, distances = np.empty((n_seeds, n_folds, len(rows))), np.empty((n_seeds, n_folds, len(rows)))
    for j, (_, _, row) in enumerate(rows):
        tests = fold_tests(row.is_nominal, row.ends, folds[:, row.order], n_parts)
        distances[:, :, j], p_values[:, :, j] = (values[:, :n_folds] for values in tests)
    found = np.column_stack([mean_distances(distances[:, :, j]) for j in range(len(rows))])
    ranks, parts = [row for _, _, row in rows], Parts(n_folds, n_parts, alpha)
    if n_seeds == 1:
        nulls = nulls_of_one_cut(ranks, found[0], folds, n_random, parts, rng)
        p_more, p_less = np.transpose([tails(nulls[pattern_of(row)].values, one) for row, one in zip(ranks, found[0])])
    else:
        nulls = null_distances(dict.fromkeys(map(pattern_of, ranks)), random_cuts(folds, n_random, rng), parts)
        by_chance = np.column_stack([np.concatenate(nulls[pattern_of(row)].means) for row in ranks])
        p_more, p_less = chances(found, by_chance, _kinds(folds, n_parts, n_random), max(9999, enough), rng)
    features = []
    for j, (name, kind, row) in enumerate(rows):
        null = nulls[pattern_of(row)]
        distance = float(np.nanmean(distances[:, :, j])) if not np.isnan(distances[:, :, j]).all() else 0.0
        shares = _failing_share(p_values[:, :, j], alpha), null.n_failed / null.n_tested if null.n_tested else np.nan
        chance = null.mean
        features.append(FoldFeature(name, kind, distance, chance, *shares, float(p_more[j]), float(p_less[j]), 1.0, AS_CHANCE))
    return _judged(features, p_values, alpha, n_random, tuple(notes))


class _Row(NamedTuple):
    """A column, or its being missing, that is compared."""

    name: str
    kind: str
    ranked: Ranked


def _rows(columns: list[Column], has_target: bool, notes: list[str]) -> tuple[list[_Row], list[str]]:
    """List the columns to compare, and add notes on those with too few values."""
    rows, notes = [], list(notes)
    for j, column in enumerate(columns):
        values = column.train.astype(np.float64)
        gone = np.isnan(values)
        kind = "target" if has_target and j == len(columns) - 1 else column.kind
        if len(values) - gone.sum() >= FEWEST_ROWS:
            rows.append(_Row(column.name, kind, ranked(values, column.kind == "nominal")))
        else:
            notes.append(f"{column.name!r} was not tested: it has {len(values) - int(gone.sum())} values.")
        if gone.any() and not gone.all():
            rows.append(_Row(column.name + MISSING, "missing", ranked(gone.astype(np.float64), True)))
    return rows, notes


def _kinds(folds: UnsignedArray, n_folds: int, n_random: int) -> IntArray:
    """Number the cuts, the random ones last: equal numbers where folds have the same sizes, in any order."""
    sizes = np.sort([bincount(cut, minlength=n_folds) for cut in folds], axis=1)
    kinds = np.unique(sizes, axis=0, return_inverse=True)[1].ravel()
    return np.concatenate([kinds, kinds[np.arange(n_random) % len(folds)]])


def _failing_share(p_values: FloatArray, alpha: float) -> float:
    return float(np.nanmean(failing(p_values, alpha)))


def _judged(rows: list[FoldFeature], p_values: FloatArray, alpha: float, n_random: int, notes: tuple[str, ...]) -> FoldDrift:
    """Correct the p-values, judge every feature and sum up."""
    adjusted = adjust_p(np.array([min(1.0, 2 * min(row.p_more, row.p_less)) for row in rows]), "holm")
    rows = [
        row._replace(p_adjusted=float(p), verdict=AS_CHANCE if p >= alpha else "more" if row.p_more < row.p_less else "less")
        for row, p in zip(rows, adjusted)
    ]
    fails = failing(p_values, alpha).reshape(-1, len(rows))
    fails = fails[~np.isnan(fails).all(axis=1)]
    parts = []
    for which, says in (("more", "shifted by the cut"), ("less", "balanced better than by chance")):
        chosen = sorted((row for row in rows if row.verdict == which), key=lambda row: (row.p_adjusted, row.name))
        if chosen:
            shown = ", ".join(row.name for row in chosen[:5]) + (f" and {len(chosen) - 5} more" if len(chosen) > 5 else "")
            parts.append(f"{len(chosen)} of {len(rows)} {says}: {shown}")
    verdict = (
        "; ".join(parts) if parts else f"None of {counted(len(rows), 'feature')} differs from a random cut of the same sizes"
    )
    return FoldDrift(rows, p_values, phi(fails), jaccard(fails), alpha, n_random, verdict + ".", notes)
