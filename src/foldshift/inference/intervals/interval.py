"""Confidence intervals as results, each with its target and the notes that a reader needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

from foldshift.core.repr import figures, readable

if TYPE_CHECKING:
    from typing import SupportsIndex

    from matplotlib.axes import Axes

    from foldshift.core.types import Floats

THESE_SOURCES = "these sources"
THESE_K_MODELS = "mean error of these k models"
THIS_POPULATION = "this sample's population, average over training sets of this size"
ALL_ROWS_MODEL = "the model trained on all rows"
NEW_SOURCE = "a new source"
DIFFERENCE = "difference"
FEW_FOLDS = 10  # an interval from fewer carries a note

WORDS = {
    "theta_A": "spread of the rows within folds, normal",
    "theta_B": "twice the spread of the rows within folds, normal",
    "S2/K": "spread of the fold means, Student's t",
    "all pairs": "spread of all rows, normal",
    "theta_5": "Grandvalet and Bengio: fold means less rows within folds, normal",
    "Nadeau-Bengio": "spread of the fold means, corrected for training sets that overlap, Student's t",
    "Wilson": "all errors as one binomial sample",
    "nested": "nested cross-validation",
}


@readable
class Interval(NamedTuple):
    """Confidence interval and its target.

    Floats for one data set, arrays of the shape of the leading axes of the losses for many.

    Attributes
    ----------
    name : str
        Symbol of the interval; `words` has it in words.
    target : str
        The number that it should cover: `THESE_K_MODELS`, `THESE_SOURCES`, `THIS_POPULATION`, `ALL_ROWS_MODEL`, `NEW_SOURCE` or
        `DIFFERENCE`.
    estimate, low, high : float or ndarray
        The ends are NaN if the variance estimate is negative or does not exist.
    standard_error : float or ndarray
        NaN like the ends.
    df : float or ndarray
        Degrees of freedom of Student's t; inf for the normal distribution.
    note : str
        Remarks that a reader needs; empty if there are none.
    confidence : float or None
        Probability of coverage aimed at.

    Examples
    --------
    >>> found = student_interval("S2/K", THIS_POPULATION, 0.2, 0.0004, 9, 0.95)
    >>> found.words
    "spread of the fold means, Student's t (S2/K)"
    >>> round(found.low, 3), round(found.high, 3)
    (0.155, 0.245)
    """

    name: str
    target: str
    estimate: Floats
    low: Floats
    high: Floats
    standard_error: Floats
    df: Floats
    note: str
    confidence: float | None = None

    @property
    def words(self) -> str:
        """The name in words, the symbol beside it."""
        return f"{WORDS[self.name]} ({self.name})" if self.name in WORDS else self.name

    def sentences(self) -> list[str]:
        """Report the interval in words; a list of str."""
        share = "interval" if self.confidence is None else f"{100 * self.confidence:g} % interval"
        if np.ndim(self.estimate):
            found = int(np.isfinite(self.low).sum())
            said = [f"{self.words}: {share} of {found} of {np.size(self.estimate)} data sets, for {self.target}."]
        elif np.isfinite(self.low):
            ends = f"{figures(self.low)} to {figures(self.high)}"
            said = [f"{self.words}: {figures(self.estimate)}, {share} {ends}, for {self.target}."]
        else:
            said = [f"{self.words}: {figures(self.estimate)}, without an interval, for {self.target}."]
        return [*said, f"Note: {self.note}."] if self.note else said

    def to_frame(self) -> pd.DataFrame:
        """Table with one row per data set: name in words, symbol, target, estimate, ends, standard error, df, note."""
        size = np.size(self.estimate)
        numbers = {name: np.ravel(getattr(self, name)) for name in ("estimate", "low", "high", "standard_error")}
        frame = pd.DataFrame({"interval": [WORDS.get(self.name, self.name)] * size, "symbol": self.name, "target": self.target})
        return frame.assign(**numbers, df=np.broadcast_to(np.ravel(self.df), size), note=self.note)


@readable
class Intervals(tuple[Interval, ...]):
    """Intervals from one cross-validation, in the order of `cv_intervals`; they print as sentences and a table."""

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Interval: ...

    @overload
    def __getitem__(self, key: slice) -> tuple[Interval, ...]: ...

    def __getitem__(self, key: SupportsIndex | str | slice) -> Interval | tuple[Interval, ...]:
        """Interval by position, or by name such as ``"Nadeau-Bengio"``; a KeyError lists the names."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = {one.name: one for one in self}
        if key not in found:
            raise KeyError(f"there is no interval {key!r}; there are {', '.join(map(repr, found))}")
        return found[key]

    def sentences(self) -> list[str]:
        """Report the interval to be quoted, then the notes of the others; a list of str."""
        first = self["Nadeau-Bengio"] if any(one.name == "Nadeau-Bengio" for one in self) else self[0]
        notes = [f"{one.words}: {one.note}." for one in self if one.note and one is not first]
        return [f"To be quoted: {first.sentences()[0]}", *first.sentences()[1:], *notes]

    def to_frame(self) -> pd.DataFrame:
        """Table with one row per interval (and data set), as `Interval.to_frame` but without the notes, which are sentences."""
        return pd.concat([one.to_frame().drop(columns="note") for one in self], ignore_index=True)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the intervals of one data set below each other, in `ax` or a new figure; needs matplotlib."""
        import matplotlib.pyplot as plt

        if any(np.ndim(one.estimate) for one in self):
            raise ValueError("these are intervals of many data sets; plot those of one")
        ax = plt.subplots(figsize=(7, 0.5 + 0.4 * len(self)))[1] if ax is None else ax
        for place, one in enumerate(self):
            ax.plot([one.low, one.high], [place, place], color="#000000", lw=1.5)
            ax.plot(one.estimate, place, "o", color="#000000", ms=4)
        ax.set_yticks(range(len(self)), [f"{one.words}\n{one.target}" for one in self], fontsize=7)
        ax.set_ylim(len(self) - 0.5, -0.5)
        ax.set_xlabel("estimate and interval")
        return ax


def student_interval(
    name: str, target: str, estimate: Floats, variance: Floats, df: Floats, confidence: float, note: Sequence[str] = ()
) -> Interval:
    """Interval of Student's t from an estimate and its variance; there is none if the variance is negative or NaN."""
    standard_error: Floats = np.sqrt(np.where(np.asarray(variance) >= 0, variance, np.nan))
    half = student_t.ppf((1 + confidence) / 2, df) * standard_error
    low, high = estimate - half, estimate + half
    if np.ndim(estimate) == 0:
        estimate, low, high, standard_error = float(estimate), float(low), float(high), float(standard_error)
    return Interval(name, target, estimate, low, high, standard_error, df, "; ".join(note), confidence)
