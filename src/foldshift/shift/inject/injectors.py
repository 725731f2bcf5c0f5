"""Shift a table on purpose: remove rows, mask or move values, undersample a class. Labels stay with their rows."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd

from foldshift.core.arguments import check_one_of
from foldshift.core.gate.arrays import as_array
from foldshift.core.gate.rows import check_same_rows
from foldshift.core.gate.targets import class_labels
from foldshift.core.repr import readable
from foldshift.core.seeding import as_generator
from foldshift.shift.inject.row_hash import digests, mix
from foldshift.shift.report.drift_text import counted, percent
from foldshift.shift.table_versions import as_numbers, as_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray, TableLike, UnsignedArray

KINDS = ("mcar", "mar", "mnar", "mnar_class", "translation", "prior")
ALIASES = {"cs": "translation"}
BY_FEATURE = ("mar", "mnar", "mnar_class", "translation")
ENDS = ("largest", "smallest")
SMALLEST_CLASS = 5  # rows that a shift leaves at least


@readable
class Injected(NamedTuple):
    """Result of `inject_shift`."""

    X: FloatArray  # inputs, a copy; shape (n_kept, n_features)
    y: Array  # classes; shape (n_kept,)
    rows: IntArray  # rows of the table given that were kept, ascending; shape (n_kept,)
    mask: BoolArray  # true where a value was masked; shape (n_kept, n_features)
    # share of the rows (for ``mnar_class`` of the positive ones) with the value at the cut, where the cut falls among equal
    # values and the seeded key decides; else 0
    tied_share: float

    def sentences(self) -> list[str]:
        """Return the result in words."""
        ties = f"; equal values at the cut ({percent(self.tied_share)} of the rows) were told by chance"
        by_chance = ties if self.tied_share else ""
        return [f"{counted(len(self.rows), 'row')} kept, {counted(int(self.mask.sum()), 'value')} masked{by_chance}."]

    def to_frame(self) -> pd.DataFrame:
        """Return the table, the class in the last column, with the number of the original row as index."""
        names = [f"feature {j}" for j in range(self.X.shape[1])]
        return pd.DataFrame(self.X, columns=names, index=self.rows).assign(target=self.y)


@readable
class Versions(NamedTuple):
    """Result of `versions`: many ways to shift one table; the table itself is not copied."""

    rows: IntArray  # rows kept in every version, ascending; shape (n_versions, n_kept)
    feature: IntArray  # the biased feature; -1 where there is none (``mcar``, ``prior``); shape (n_versions,)
    offset: FloatArray  # added to that feature; 0 but for ``translation``; shape (n_versions,)
    masked: bool  # true if that feature is masked
    tied_share: FloatArray  # as in `Injected`; shape (n_versions,)

    def sentences(self) -> list[str]:
        """Return the plan in words."""
        masked = ", the biased feature masked" * bool(self.masked)
        return [f"{counted(len(self.rows), 'version')} of a table, {counted(self.rows.shape[1], 'row')} kept in each{masked}."]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each version."""
        kept = np.full(len(self.feature), self.rows.shape[1])
        return pd.DataFrame({"feature": self.feature, "offset": self.offset, "n_kept": kept, "tied_share": self.tied_share})

    def injected(self, X: ArrayLike, y: ArrayLike, version: int, masked_value: float = np.nan) -> Injected:
        """Make one version of the table."""
        rows, j = self.rows[version].copy(), self.feature[version]
        table = as_numbers(X, "X")[rows]
        mask = np.zeros(table.shape, dtype=bool)
        if self.offset[version]:
            table[:, j] += self.offset[version]
        if self.masked:
            mask[:, j] = True
            table[:, j] = masked_value
        return Injected(table, as_array(y, "y")[rows], rows, mask, float(self.tied_share[version]))


class RowCounts(NamedTuple):
    """Result of `row_counts`; a class is None where chance or the values decide the number of its rows kept."""

    n_rows: int
    n_positive: int | None
    n_negative: int | None


def inject_shift(
    X: TableLike,
    y: TableLike,
    kind: Literal["mcar", "mar", "mnar", "mnar_class", "translation", "cs", "prior"],
    *,
    severity: float,
    feature: int | str | None = None,
    rng: np.random.Generator | int | None = None,
    scale: TableLike = None,
    masked_value: float = np.nan,
    positive: Hashable = 1,
    removed: Literal["largest", "smallest"] = "largest",
) -> Injected:
    """Inject one shift into a table.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Test table, of numbers; NaN is a missing value.
    y : array-like of shape (n,)
        Class of every row.
    kind : {"mcar", "mar", "mnar", "mnar_class", "translation", "cs", "prior"}
        ``mcar``
            Rows are dropped uniformly at random.
        ``mar``
            The rows with the largest values of `feature` are dropped (see `removed`).
        ``mnar``
            As ``mar``, the same rows, and then `feature` is masked in the rows that stay: the paper's MNAR, which is MAR with its
            cause hidden.
        ``mnar_class``
            Truly missing not at random: dropping a row depends on its class, given its inputs. Of the positive rows those with
            the largest values of `feature` are dropped; all negative ones stay.
        ``translation`` or ``cs``
            `feature` grows by ``severity / 100 * scale`` in every row. The paper calls it covariate shift, but the class does not
            follow the moved value, so that P(y | x) changes too.
        ``prior``
            One class is undersampled at random, until the positive class has the share `severity`.
    severity : float
        Percentage of the rows that are dropped, in [0, 100); for ``mnar_class`` of the positive rows; for ``translation``
        percentage of a standard deviation; for ``prior`` the share of the positive class, in (0, 1). See `row_counts`.
    feature : int or str, optional
        The biased feature, in a data frame also by its name; needed by the kinds that have one. For ``mcar`` and ``prior`` the
        number of the replicate, 0 by default.
    rng : numpy.random.Generator or int, optional
        One number is drawn from it, for any kind. Needed by all kinds but ``translation``. The same state gives ``mar`` and
        ``mnar`` the same rows.
    scale : float or array-like of shape (n_features,), optional
        Standard deviation of the features in the training table (`foldshift.shift.inject.injectors.feature_scale`); needed by
        ``translation``.
    masked_value : float, default=NaN
        Replacement of a masked value; see `foldshift.shift.inject.impute.impute_masked`.
    positive : label, default=1
        The positive class, for ``prior`` and ``mnar_class``.
    removed : {"largest", "smallest"}, default="largest"
        Values that are dropped first under ``mar``, ``mnar`` and ``mnar_class``. "The top 25 %" of the paper is the largest by
        its Figure 3, but the smallest, the top of a table in ascending order, by its Tables 2 and 4: see the README of that
        study.

    Returns
    -------
    injected : Injected
        The shifted table, and the rows that were kept.

    Raises
    ------
    ValueError
        If an argument is missing or out of range, the shapes do not fit, or a class is absent or would be left with fewer than 5
        rows by ``prior`` or ``mnar_class``.

    Notes
    -----
    Chance decides the rows of ``mcar`` and ``prior``, and among rows that tie at the cut, by a key of the row: a hash of its
    values, its class and the number drawn from `rng`. The order of the rows does not matter: the same rows in another order give
    the same table in that order. Identical rows have different keys, by their place among their equals, which does not change the
    table as they are equal.

    Missing values of `feature` are dropped last. A feature that is constant, or missing throughout, is one tie: the rows dropped
    are random, and ``tied_share`` is 1. A table of one row keeps it.

    References
    ----------
    .. [1] Cieslak, D.A., Chawla, N.V. (2009). A framework for monitoring classifiers' performance: when and why failure occurs?
       Knowledge and Information Systems 18, 83-108. Section 3.

    Examples
    --------
    >>> X, y = pd.DataFrame({"age": [30, 50, 40, 20]}), [0, 1, 0, 1]
    >>> moved = inject_shift(X, y, "mar", severity=25, feature="age", rng=np.random.default_rng(0))
    >>> moved.X[:, 0], moved.sentences()
    (array([30., 40., 20.]), ['3 rows kept, 0 values masked.'])
    """
    names = [str(name) for name in getattr(as_table(X, "given"), "columns", [])]
    X, y = _table(X, y)
    name = _kind(kind)
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"feature={feature!r} is no column; columns are {', '.join(map(repr, names)) or 'without names'}")
        feature = names.index(feature)
    if name in BY_FEATURE:
        j = _feature(feature, X.shape[1], name)
    else:
        j = _count("feature (number of the replicate)", 0 if feature is None else feature, least=0)
    shift = _Shift(name, severity, scale, positive, removed)
    return _versions(X, y, shift, [j], rng).injected(X, y, 0, masked_value)


def versions(
    X: TableLike,
    y: TableLike,
    kind: str,
    severity: float,
    *,
    rng: np.random.Generator | int | None = None,
    scale: TableLike = None,
    n_versions: int | None = None,
    positive: Hashable = 1,
    removed: Literal["largest", "smallest"] = "largest",
) -> Versions:
    """Make all versions of a table with one kind of shift: one for every feature.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Test table, of numbers; NaN is a missing value.
    y : array-like of shape (n,)
        Class of every row.
    kind : {"mcar", "mar", "mnar", "mnar_class", "translation", "cs", "prior"}
        Kind of shift, see `inject_shift`.
    severity : float
        Size of the shift, see `inject_shift`.
    rng : numpy.random.Generator or int, optional
        One number is drawn from it; version j is that of ``inject_shift(..., feature=j)`` with the same state.
    scale, positive, removed
        As in `inject_shift`.
    n_versions : int, optional
        Number of replicates of ``mcar`` (by default as many as features, as in [1]_) or of ``prior`` (by default 1). Not for the
        other kinds, which have one version per feature.

    Returns
    -------
    versions : Versions
        `foldshift.shift.ks_features` and `foldshift.shift.hellinger_features` take it as it is.

    Raises
    ------
    ValueError
        As in `inject_shift`.

    References
    ----------
    .. [1] Cieslak, Chawla (2009), section 3: "an equivalent number of MCAR samples were generated".

    Examples
    --------
    >>> X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    >>> versions(X, y, "mar", 50, rng=np.random.default_rng(0)).sentences()
    ['2 versions of a table, 5 rows kept in each.']
    """
    X, y = _table(X, y)
    kind = _kind(kind)
    if kind in BY_FEATURE and n_versions is not None:
        raise ValueError(f"n_versions={n_versions!r} is for mcar and prior; {kind} has one version for every feature")
    if n_versions is None:
        n_versions = 1 if kind == "prior" else X.shape[1]
    which = range(_count("n_versions", n_versions, least=1))
    return _versions(X, y, _Shift(kind, severity, scale, positive, removed), which, rng)


def row_counts(kind: str, n: int, severity: float, n_positive: int | None = None) -> RowCounts:
    """Count the rows of a table with n rows, `n_positive` of them positive, that a shift keeps.

    ``mcar``, ``mar`` and ``mnar`` drop ``floor(n severity / 100)`` rows, ``mnar_class`` as many of the positive ones.
    ``prior`` keeps the positive rows and ``n_positive (1 - severity) / severity`` negative ones if there are enough of these,
    else the negative rows and ``n_negative severity / (1 - severity)`` positive ones, rounded half to even.
    """
    kind = _kind(kind)
    n = _count("n", n, least=1)
    severity = _severity(kind, severity)
    if kind in ("mcar", "mar", "mnar"):
        return RowCounts(n - math.floor(n * severity / 100), None, None)
    if n_positive is None:
        if kind == "translation":
            return RowCounts(n, None, None)
        raise ValueError(f"n_positive is None; {kind} needs the number of positive rows, from 0 to n={n}")
    n_positive = _count("n_positive", n_positive, least=0)
    if n_positive > n:
        raise ValueError(f"n_positive={n_positive} must be at most n={n}")
    n_negative = n - n_positive
    if kind == "translation":
        return RowCounts(n, n_positive, n_negative)
    if kind == "mnar_class":
        positives, negatives = n_positive - math.floor(n_positive * severity / 100), n_negative
    else:
        share = Fraction(str(severity))  # the decimal as written: 0.7 is 7/10, so that halves are halves
        if share * n > n_positive:
            positives, negatives = n_positive, round(n_positive * (1 - share) / share)
        else:
            positives, negatives = round(n_negative * share / (1 - share)), n_negative
    if min(positives, negatives) < SMALLEST_CLASS:
        raise ValueError(
            f"{kind} with severity={severity:g} would leave {positives} of {n_positive} positive and {negatives} of {n_negative} "
            f"negative rows; expected {SMALLEST_CLASS} or more of both: take a milder severity or a larger table"
        )
    return RowCounts(positives + negatives, positives, negatives)


def feature_scale(train: ArrayLike) -> FloatArray:
    """Compute the standard deviation (n - 1) of every feature of a training table; exactly 0 for a constant feature.

    NaN is left out; 0 also where fewer than two values are left. ``translation`` needs it.
    """
    train = as_numbers(train, "train")
    if train.ndim != 2:
        raise ValueError(f"train has shape {train.shape}; expected (n, n_features)")
    scale = np.zeros(train.shape[1])
    for j, column in enumerate(train.T):
        values = column[~np.isnan(column)]
        if len(values) > 1:
            scale[j] = (values - values[0]).std(ddof=1)  # about a value of its own: equal values differ by exactly 0
    return scale


class _Shift(NamedTuple):
    """Kind and size of a shift; the names are those of `inject_shift`."""

    kind: str
    severity: float
    scale: TableLike
    positive: Hashable
    removed: Literal["largest", "smallest"]


def _versions(X: FloatArray, y: Array, shift: _Shift, which: Sequence[int], rng: np.random.Generator | int | None) -> Versions:
    """Make the versions of the features, or replicates, with the given numbers."""
    kind, severity, scale, positive, removed = shift
    check_one_of("removed", removed, ENDS)
    n, numbers_of = len(X), np.array(which, dtype=np.int64)
    tied_share = np.zeros(len(numbers_of))
    offset = np.zeros(len(numbers_of))
    by_class = kind in ("prior", "mnar_class")
    positives = _positives(y, positive, kind) if by_class else np.zeros(n, dtype=bool)
    counts = row_counts(kind, n, severity, int(positives.sum()) if by_class else None)
    salt = _salt(rng, kind)
    if kind == "translation":
        offset[:] = float(severity) / 100 * _scale(scale, X.shape[1])[numbers_of]
        rows = np.broadcast_to(np.arange(n), (len(numbers_of), n))
        return Versions(rows, numbers_of, offset, False, tied_share)
    hashes = digests(X, y)
    rows = np.empty((len(numbers_of), counts.n_rows), dtype=np.int64)
    for v, number in enumerate(numbers_of):
        keys = mix(hashes ^ mix(np.array([salt]) + np.uint64(number)))
        kept = np.ones(n, dtype=bool)
        if kind == "prior":
            for members, n_kept in ((positives, counts.n_positive), (~positives, counts.n_negative)):
                _drop_largest(kept, np.flatnonzero(members), np.zeros(n), keys, n_kept)
        elif kind == "mcar":
            _drop_largest(kept, np.arange(n), np.zeros(n), keys, counts.n_rows)
        else:
            values = X[:, number] if removed == "largest" else -X[:, number]
            values = np.where(np.isnan(values), -np.inf, values)
            if kind == "mnar_class":
                tied_share[v] = _drop_largest(kept, np.flatnonzero(positives), values, keys, counts.n_positive)
            else:
                tied_share[v] = _drop_largest(kept, np.arange(n), values, keys, counts.n_rows)
        rows[v] = np.flatnonzero(kept)
    feature = numbers_of if kind in BY_FEATURE else np.full(len(numbers_of), -1)
    return Versions(rows, feature, offset, kind == "mnar", tied_share)


def _drop_largest(kept: BoolArray, members: IntArray, values: FloatArray, keys: UnsignedArray, n_kept: int | None) -> float:
    """Set `kept` to False for all but `n_kept` of the rows `members`, largest values first, then largest keys.

    Returns the share of these rows that tie at the cut, 0 where it falls between two values. None keeps all.
    """
    n_kept = len(members) if n_kept is None else n_kept
    order = members[np.lexsort((keys[members], values[members]))]
    kept[order[n_kept:]] = False
    if n_kept in (0, len(order)) or values[order[n_kept - 1]] != values[order[n_kept]]:
        return 0.0
    return float(np.mean(values[members] == values[order[n_kept]]))


def _salt(rng: np.random.Generator | int | None, kind: str) -> np.uint64:
    if rng is None:
        if kind == "translation":
            return np.uint64(0)  # not used
        raise ValueError(f"rng is None; {kind} needs a numpy.random.Generator, or a whole number that seeds one")
    return as_generator(rng).integers(0, 2**64, dtype=np.uint64)


def _table(X: TableLike, y: TableLike) -> tuple[FloatArray, Array]:
    check_same_rows(X=X, y=y)
    X, y = as_numbers(X, "X"), class_labels(y, "y")
    if X.ndim != 2 or 0 in X.shape or y.shape != (len(X),):
        raise ValueError(
            f"X has shape {X.shape} and y {y.shape}; expected (n, n_features) and (n,) with a row and a feature at least"
        )
    return X, y


def _kind(kind: str) -> str:
    name = ALIASES.get(kind, kind)
    if name not in KINDS:
        raise ValueError(f"kind={kind!r} must be one of {', '.join(KINDS)}")
    return name


def _severity(kind: str, severity: float) -> float:
    if isinstance(severity, bool) or not isinstance(severity, numbers.Real) or not math.isfinite(severity):
        raise ValueError(f"severity={severity!r} must be a finite number")
    if kind == "prior" and not 0 < severity < 1:
        raise ValueError(f"severity={severity!r} must be a share of the positive class between 0 and 1 for prior, e.g. 0.5")
    if kind not in ("prior", "translation") and not 0 <= severity < 100:
        raise ValueError(f"severity={severity!r} must be a percentage from 0 to below 100 for {kind}, e.g. 25")
    return severity


def _feature(feature: int | None, n_features: int, kind: str) -> int:
    if feature is None:
        raise ValueError(f"feature is None; {kind} needs the number of a feature, from 0 to {n_features - 1}")
    if isinstance(feature, bool) or not isinstance(feature, numbers.Integral) or not 0 <= feature < n_features:
        raise ValueError(f"feature={feature!r} must be the number of a feature, from 0 to {n_features - 1}")
    return int(feature)


def _count(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name}={value!r} must be an integer of at least {least}")
    return int(value)


def _scale(scale: TableLike, n_features: int) -> FloatArray:
    if scale is None:
        raise ValueError(
            "scale is None; translation needs the training standard deviation of every feature: feature_scale(train)"
        )
    scale = as_numbers(scale, "scale")
    if scale.shape not in ((), (n_features,)) or not np.isfinite(scale).all() or (scale < 0).any():
        raise ValueError(
            f"scale={scale.tolist()!r} must be one finite number of at least 0, or one for each of the {n_features} features"
        )
    return np.broadcast_to(scale, (n_features,))


def _positives(y: Array, positive: Hashable, kind: str) -> BoolArray:
    positives = y == positive
    if not np.any(positives) or np.all(positives):
        found = ", ".join(str(label) for label in np.unique(y)[:5])
        raise ValueError(f"{kind} needs rows of class positive={positive!r} and of another; y holds only: {found}")
    return positives
