"""Cost model of fits: time and memory by learner, rows and columns, from a table of measurements."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from foldshift.core.errors import ConfigError
from foldshift.engine.costs.machine_speed import WORKS

if TYPE_CHECKING:
    from foldshift.core.types import PathLike, Rows

# In the place of a learner: milliseconds of the works of `foldshift.engine.costs.machine_speed` on the machine of the table.
MACHINE = "(machine)"
COLUMNS = ("learner", "dataset", "n_rows", "n_features", "ms_per_fit", "seconds_once", "peak_mb")
FLOOR = {"ms_per_fit": 1e-3, "seconds_once": 1e-4, "peak_mb": 1.0}  # below, a measurement says nothing
UNKNOWN = {"ms_per_fit": (50.0, 1.2, 0.7), "seconds_once": (1e-4, 0.0, 0.0), "peak_mb": (50.0, 1.0, 1.0)}
REFERENCE = (1000, 10)  # rows and columns at which a learner without measurements costs the first of its numbers
LEAST_BY_ROWS = 1.0  # exponent beyond the most rows measured: what does not grow with them is no longer seen
NEAR = 1e-4  # squared logarithmic distance: a size as near as this is the measured one


class LearnerCost(NamedTuple):
    """Cost of a learner on a data set."""

    seconds_per_fit: float  # seconds of one core for one fit and its predictions
    seconds_once: float  # seconds of one call of the shared path, whatever the number of seeds
    peak_mb: float  # memory in MB beside that of an idle process
    measured: bool  # whether the learner stands in the table


def read_costs(path: PathLike) -> dict[str, Rows]:
    """Read the table of costs."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t")
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise ConfigError(f"costs file {path}: column {missing[0]!r} is missing; expected {', '.join(COLUMNS)}")
            found: dict[str, Rows] = {}
            for number, row in enumerate(reader, 2):
                try:
                    values = {name: float(row[name]) for name in COLUMNS[2:]}
                except (TypeError, ValueError):
                    values = {}
                if not values or any(not (0 <= value < math.inf) for value in values.values()) or not values["n_rows"]:
                    raise ConfigError(
                        f"costs file {path}, line {number}: expected numbers of at least 0 in {', '.join(COLUMNS[2:])}"
                    )
                found.setdefault(row["learner"], []).append(values)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"costs file: cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    works = works_of(found)
    if works and (len(works) != len(WORKS) or not all(works)):
        shown = ", ".join(f"{value:g}" for value in works)
        raise ConfigError(
            f"costs file {path}: rows of {MACHINE} with {shown} ms_per_fit; expected one above 0 for each "
            f"of {', '.join(WORKS)}, as make bench writes them, or none"
        )
    return found


def works_of(rows: dict[str, Rows]) -> list[float]:
    """Milliseconds that the works of `foldshift.engine.costs.machine_speed` took on the machine that a table of costs was
    measured on.
    """
    return [row["ms_per_fit"] for row in rows.get(MACHINE, ())]


class CostModel:
    """Costs of learners on data sets of any size: a power law in rows and columns near the measurements that `read_costs` reads.

    log(value) = a + b log(rows) + c log(columns) by least squares; the residuals are interpolated with weights 1 / squared
    distance in (log rows, log columns), so that a measured size costs what was measured. Where the measurements do not determine
    the exponents, they are those of a learner without measurements. Beyond the most rows measured costs grow at least as the rows
    do: small data sets, whose fits take a constant time, make the law too flat there.
    """

    def __init__(self, rows: dict[str, Rows]) -> None:
        self._surfaces = {
            learner: {name: _Surface(measured, name) for name in FLOOR}
            for learner, measured in rows.items()
            if measured and learner != MACHINE
        }
        self.works = works_of(rows)
        self._known: dict[tuple[str, int, int], LearnerCost] = {}

    def __call__(self, learner: str, n_rows: int, n_features: int) -> LearnerCost:
        """Cost of a learner on a data set."""
        key = learner, n_rows, n_features
        if key not in self._known:
            surfaces = self._surfaces.get(learner)
            values = {
                name: surfaces[name](n_rows, n_features) if surfaces else _power_law(UNKNOWN[name], n_rows, n_features)
                for name in FLOOR
            }
            self._known[key] = LearnerCost(
                values["ms_per_fit"] / 1000, values["seconds_once"], values["peak_mb"], surfaces is not None
            )
        return self._known[key]


def _power_law(law: tuple[float, float, float], n_rows: int, n_features: int) -> float:
    value, by_rows, by_features = law
    return value * (n_rows / REFERENCE[0]) ** by_rows * (max(n_features, 1) / REFERENCE[1]) ** by_features


class _Surface:
    """One quantity of one learner over (log rows, log columns)."""

    def __init__(self, rows: list[dict[str, float]], name: str) -> None:
        self.points = np.log([(row["n_rows"], max(row["n_features"], 1)) for row in rows])
        values = np.log([max(row[name], FLOOR[name]) for row in rows])
        matrix = np.column_stack([np.ones(len(rows)), self.points])
        if np.linalg.matrix_rank(matrix, tol=0.1) == 3:
            self.plane = np.linalg.lstsq(matrix, values, rcond=None)[0]
        else:
            exponents = np.array(UNKNOWN[name][1:])
            self.plane = np.array([np.mean(values - self.points @ exponents), *exponents])
        self.residuals = values - matrix @ self.plane
        self.largest = self.points[:, 0].max()

    def __call__(self, n_rows: int, n_features: int) -> float:
        point = np.log([n_rows, max(n_features, 1)])
        beyond = max(point[0] - self.largest, 0.0)
        point[0] -= beyond
        weights = 1 / (NEAR + ((self.points - point) ** 2).sum(axis=1))
        inside = self.plane[0] + self.plane[1:] @ point + weights @ self.residuals / weights.sum()
        return math.exp(inside + beyond * max(self.plane[1], LEAST_BY_ROWS))
