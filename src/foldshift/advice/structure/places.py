"""Space: columns of coordinates along which the target, and other columns, are alike."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree
from sklearn.preprocessing import PolynomialFeatures

from foldshift.advice.structure.record import Part
from foldshift.partition.methods.cosine_features import mid_ranks

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.core.types import FloatArray, IntArray
    from foldshift.shift.columns import Column

SURE = (("lat(itude)?", "(lon|lng|long)(gitude)?"), ("east(ing)?s?", "north(ing)?s?"),
        ("(x[ _-]?coord(inate)?)s?", "(y[ _-]?coord(inate)?)s?"))  # fmt: skip
UNSURE = (("x", "y"), ("e", "n"))  # names that other columns have too
NEAR, FAR = (0, 2), (8, 16)  # neighbours that are compared with each row: the nearest, and those farther away
MOST_ROWS = 4000
MOST_COLUMNS = 12  # numeric columns whose pairs are tried if no names say where the coordinates are
WITHIN, SURE_Z = 8, 5.0  # near rows, and standard errors, for columns that are named as coordinates
LEAST_Z, LEAST_Z_TARGET = 3.5, 2.0  # standard errors by which near neighbours are more alike than farther ones
DEGREE = 3  # of the surface that is taken away first: a column that follows two others smoothly is no field
SHARE = 0.5  # of the other columns that must be alike in near rows, if no names say where the coordinates are
MOST_RATIO = 0.85  # of mean squared differences, near by far
MOST_OF_ONE = 0.25  # share of the rows with the most frequent value, such as 0, of a coordinate that no name tells
ENOUGH_VALUES = 0.1  # share of different values of a coordinate


def find_places(data: Data, rows: IntArray, by_values: bool = True) -> Part | None:
    """Find coordinates among the columns; `rows` are those looked at, one of every set of copies."""
    numeric = [column for column in data.columns if _can_be_coordinate(column)]
    if len(rows) > MOST_ROWS:
        rows = rows[:: len(rows) // MOST_ROWS + 1]
    if len(rows) < 4 * FAR[1]:
        return None
    target = _target(data)[rows]
    for a, b in _named(numeric, SURE):
        if max(_neighbours_z(_points(a, b, rows), column) for column in target.T) >= SURE_Z:
            return _part(a, b)
    for a, b in _named(numeric, UNSURE):
        points = _points(a, b, rows)
        if max(_alike(points, column)[0] for column in target.T) >= LEAST_Z:
            return _part(a, b)
    if by_values and len(numeric) <= MOST_COLUMNS:
        return _by_values(numeric, data, rows, target)
    return None


def _by_values(numeric: list[Column], data: Data, rows: IntArray, target: FloatArray) -> Part | None:
    """Find the pair of columns along which the target and most other columns are alike at short range."""
    numeric = [column for column in numeric if np.unique(column.train, return_counts=True)[1].max() <= MOST_OF_ONE * data.n]
    ranked = {column.name: mid_ranks(column.train[rows].astype(np.float64)) for column in numeric}
    best: tuple[float, Column, Column] | None = None
    for a, b in itertools.combinations(numeric, 2):
        others = [ranked[column.name] for column in numeric if column.name not in (a.name, b.name)]
        points = _points(a, b, rows)
        found = [_alike(points, column) for column in target.T]
        if not others or not any(_is_field(one, LEAST_Z_TARGET) for one in found):
            continue
        shares = [_is_field(_alike(points, column)) for column in others]
        if np.mean(shares) < SHARE:
            continue
        z = max(z for z, _ in found)
        best = (z, a, b) if best is None or z > best[0] else best
    return None if best is None else _part(*best[1:])


def _neighbours_z(points: FloatArray, values: FloatArray) -> float:
    """Mean product of each row's value and those of its near rows, in standard errors of values in random order."""
    if not values.std() > 0:
        return 0.0
    scaled = (values - values.mean()) / values.std()
    near = cKDTree(points).query(points, k=WITHIN + 1)[1][:, 1:]
    products = scaled[:, None] * scaled[near]
    # A pair counts once more where each is near the other: the sum of n * k products has at most twice the variance.
    return float(products.sum() / np.sqrt(2 * products.size))


def _is_field(alike: tuple[float, float], least: float = LEAST_Z) -> bool:
    return alike[0] >= least and alike[1] <= MOST_RATIO


def _alike(points: FloatArray, values: FloatArray) -> tuple[float, float]:
    """Measure by how much near rows are more alike than farther ones: standard errors, and ratio of mean squared differences.

    A surface of the third degree is taken away first.
    """
    surface = PolynomialFeatures(DEGREE).fit_transform(points)
    left = values - surface @ np.linalg.lstsq(surface, values, rcond=None)[0]
    spread = left.std()
    if not spread > 1e-9:
        return 0.0, 1.0
    left = left / spread
    near = cKDTree(points).query(points, k=FAR[1] + 1)[1][:, 1:]
    by_near, by_far = (((left[near[:, slice(*some)]] - left[:, None]) ** 2).mean(axis=1) for some in (NEAR, FAR))
    gain = by_far - by_near
    error = gain.std() / np.sqrt(len(gain) / 3)  # neighbours share what they are compared with
    return float(gain.mean() / max(error, 1e-12)), float(by_near.mean() / max(by_far.mean(), 1e-12))


def _can_be_coordinate(column: Column) -> bool:
    if column.categories or column.kind == "date" or np.isnan(column.train).any():
        return False
    return len(np.unique(column.train)) >= max(20, ENOUGH_VALUES * len(column.train))


def _named(columns: list[Column], names: tuple[tuple[str, str], ...]) -> list[tuple[Column, Column]]:
    """Pairs of columns that are named like coordinates, and differ in nothing else."""
    pairs = []
    for parts in names:
        first, second = (re.compile(rf"(^|[ _.-]){part}($|[ _.-])", re.IGNORECASE) for part in parts)
        pairs += [
            (a, b)
            for a, b in itertools.permutations(columns, 2)
            if first.search(a.name) and second.search(b.name) and first.sub("", a.name) == second.sub("", b.name)
        ]
    return pairs


def _points(a: Column, b: Column, rows: IntArray) -> FloatArray:
    points = np.column_stack([a.train[rows], b.train[rows]]).astype(np.float64)
    return (points - points.mean(axis=0)) / points.std(axis=0)


def _target(data: Data) -> FloatArray:
    """Ranks of a quantity, or indicators of classes."""
    if data.task == "regression":
        return mid_ranks(data.target)[:, None].astype(np.float64)
    classes = np.eye(len(data.classes))[data.target.astype(int)]
    return classes[:, :1] if classes.shape[1] == 2 else classes


def _part(a: Column, b: Column) -> Part:
    values = np.column_stack([a.train, b.train]).astype(np.float64)
    return Part(values, f"found: columns {a.name!r} and {b.name!r}", (a.name, b.name), "S1")
