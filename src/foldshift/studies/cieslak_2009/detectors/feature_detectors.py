"""Detectors on features, applied to shifted versions of a test table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.inference.corrections import adjust_p
from foldshift.shift.detectors.co_failure import co_failure, failing
from foldshift.shift.detectors.monitoring_tests import category_counts, chi_square, skew
from foldshift.shift.detectors.two_sample import classifier_two_sample, energy_distance_test, mmd
from foldshift.shift.measures.hellinger import bin_codes, hellinger_features
from foldshift.shift.measures.ks import ks_features, ks_p_value
from foldshift.studies.cieslak_2009.row_schemas import BY_CLASS
from foldshift.studies.cieslak_2009.shift_conditions import LARGEST_EXACT

if TYPE_CHECKING:
    from foldshift.core.types import Array, BoolArray, FloatArray, IntArray
    from foldshift.shift.inject.injectors import Versions
    from foldshift.studies.cieslak_2009.shift_conditions import Removed
    from foldshift.studies.cieslak_2009.three_part_split import Repeat

N_BINS = 30
MOST_ROWS = 800  # of either table in the multivariate tests, whose cost grows with the square
MULTIVARIATE: dict[str, Callable[..., Any]] = {"energy": energy_distance_test, "mmd": mmd, "c2st": classifier_two_sample}


class TrainTest(NamedTuple):
    """Training and test part of a repeat: tables, positive rows, and which features are nominal."""

    train: FloatArray
    test: FloatArray
    y_train: BoolArray
    y_test: BoolArray
    nominal: BoolArray

    @classmethod
    def of(cls, repeat: Repeat) -> TrainTest:
        """Take both parts of a repeat."""
        X, y, parts = repeat.data.X, repeat.y, repeat.parts
        return cls(X[parts.train], X[parts.test], y[parts.train], y[parts.test], repeat.data.categorical_features)


class CompleteTables(NamedTuple):
    """Training table and one version of the test table, without features that are masked or lack values."""

    train: FloatArray
    test: FloatArray
    nominal: BoolArray


class FeaturePValues(NamedTuple):
    """Result of `feature_p_values`: arrays of shape (n_versions, n_features), NaN where a feature is masked or has no values."""

    paper: Array  # equation 7 with the one-sided D, ``max (F_train - F_test)``, as the printed numbers have it
    two_sided: Array  # equation 7 with the two-sided D, as the text says
    valid: Array  # two-sided, by `ks_p_value`


def feature_p_values(train: FloatArray, test: FloatArray, shifted: Versions | IntArray, nominal: BoolArray) -> FeaturePValues:
    """Test every feature in every version; `shifted` may be the rows kept, of shape (n_versions, n_kept)."""
    ks = ks_features(train, test, shifted)
    found = FeaturePValues(
        ks_p_value(ks.greater, ks.n_train, ks.n_test, "paper"),
        ks_p_value(ks.statistic, ks.n_train, ks.n_test, "paper"),
        ks_p_value(ks.statistic, ks.n_train, ks.n_test, largest_exact=LARGEST_EXACT),
    )
    rows = shifted if isinstance(shifted, np.ndarray) else shifted.rows
    for j in np.flatnonzero(nominal):
        for v in np.flatnonzero(~np.isnan(ks.statistic[:, j])):
            counts, _ = category_counts(train[:, j], test[rows[v], j])
            p_value = chi_square(counts).p_value
            for one in found:
                one[v, j] = p_value
    return found


def count_readings(parts: TrainTest, by_end: dict[Removed, Versions], alpha: float) -> dict[str, list[Any]]:
    """Count the features that fail by equation 7, for either end that may be removed and D one-sided or two-sided."""
    columns: dict[str, list[Any]] = {"removed": [], "sides": [], "n_cells": [], "failing": []}
    for end, shifted in by_end.items():
        p_values = feature_p_values(parts.train, parts.test, shifted, parts.nominal)
        for sides, p in ((1, p_values.paper), (2, p_values.two_sided)):
            fails = failing(p, alpha)
            found = (end, sides, (~np.isnan(fails)).sum(), np.nansum(fails))
            for name, value in zip(columns, found):
                columns[name].append(value)
    return columns


def shift_rows(parts: TrainTest, shifted: Versions, alpha: float) -> tuple[dict[str, Any], dict[str, float]]:
    """Apply the detectors on features to one condition: columns with a value per version, and numbers of all versions."""
    train, test, _, y_test, nominal = parts
    paper, _, valid = feature_p_values(train, test, shifted, nominal)
    hellinger = hellinger_features(train, test, shifted, n_bins=N_BINS, categorical_features=nominal)
    distance = _mean(hellinger.distance)
    fails_paper, fails = failing(paper, alpha), failing(valid, alpha)
    n_versions, n_kept = shifted.rows.shape
    own = np.full((2, n_versions), np.nan)
    of_feature = np.flatnonzero(shifted.feature >= 0)
    for one, found in zip(own, (fails_paper, fails)):
        one[of_feature] = found[of_feature, shifted.feature[of_feature]]
    per_version = {
        "n_train": len(train),
        "n_test": n_kept,
        "share_positive": y_test[shifted.rows].mean(axis=1),
        "tied_share": shifted.tied_share,
        "n_tested": (~np.isnan(fails)).sum(axis=1),
        "fails_paper": np.nansum(fails_paper, axis=1),
        "fails": np.nansum(fails, axis=1),
        "fails_holm": np.nansum(failing(adjust_p(valid, "holm"), alpha), axis=1),
        "fails_bh": np.nansum(failing(adjust_p(valid, "bh"), alpha), axis=1),
        "self_tested": (~np.isnan(own[0])).astype(np.int64),
        "self_paper": own[0],
        "self_valid": own[1],
        "hellinger": distance,
        "hellinger_expected": _mean(hellinger.expected),
        "hellinger_p": np.full(n_versions, np.nan),
        **dict.fromkeys(BY_CLASS, np.nan),
    }
    by_paper, corrected = co_failure(fails_paper, "paper"), co_failure(fails)
    per_condition = {
        "n_tests": n_versions,
        "phi_paper": by_paper.mean,
        "phi_paper_sd": by_paper.std,
        "phi": corrected.mean,
        "phi_sd": corrected.std,
        "n_undefined": corrected.n_undefined,
        "jaccard": corrected.mean_jaccard,
        "hellinger_mean": float(_mean(distance)),
        "hellinger_skew": skew(distance),
        # Over features, as print's numbers hang together, and turned as its text says it: nearer to print, and not met.
        "hellinger_skew_turned": -skew(_mean(hellinger.distance.T)),
    }
    return per_version, per_condition


def hellinger_permutation_p(
    train: FloatArray, test: FloatArray, rng: np.random.Generator, n_permutations: int, nominal: BoolArray, n_bins: int = N_BINS
) -> float:
    """p-value of the mean Hellinger distance over the features; permutations deal whole rows to two tables of these sizes."""
    if train.shape[1] == 0:
        return math.nan
    pooled = np.concatenate([train, test])
    coded = [bin_codes(column, n_bins, is_nominal) for column, is_nominal in zip(pooled.T, nominal)]
    starts = np.cumsum([0, *(n_codes for _, n_codes in coded)])
    codes = np.column_stack([code + start for (code, _), start in zip(coded, starts)]).astype(np.intp)
    totals = np.bincount(codes.ravel(), minlength=starts[-1])

    def mean_distance(rows: IntArray) -> float:
        counts = np.bincount(codes[rows].ravel(), minlength=starts[-1])
        gaps = (np.sqrt(counts / len(test)) - np.sqrt((totals - counts) / len(train))) ** 2
        return np.sqrt(np.add.reduceat(gaps, starts[:-1])).mean()

    found = mean_distance(np.arange(len(train), len(pooled)))
    null = [mean_distance(rng.permutation(len(pooled))[: len(test)]) for _ in range(n_permutations)]
    return float((1 + np.sum(np.array(null) >= found - 1e-12)) / (1 + n_permutations))


def class_failures(parts: TrainTest, rows: IntArray, alpha: float) -> dict[str, float]:
    """Count features that differ within a class by the valid p, and features tested; `rows` of the test part are kept."""
    train, test, y_train, y_test, nominal = parts
    found: dict[str, float] = {}
    for name, positive in (("positive", True), ("negative", False)):
        kept = rows[y_test[rows] == positive]
        valid = feature_p_values(train[y_train == positive], test, kept[None], nominal).valid
        found |= {f"fails_{name}": np.nansum(failing(valid, alpha)), f"tested_{name}": (~np.isnan(valid)).sum()}
    return found


def complete_tables(parts: TrainTest, shifted: Versions, version: int) -> CompleteTables:
    """Leave out the features that are masked, or lack values in the training table or in one version of the test table."""
    train, test = parts.train, parts.test
    moved = shifted.injected(test, np.zeros(len(test)), version).X
    kept = ~(np.isnan(train).any(axis=0) | np.isnan(moved).any(axis=0))
    return CompleteTables(train[:, kept], moved[:, kept], parts.nominal[kept])


def multivariate_tests(
    tables: CompleteTables, n_permutations: int, rngs: dict[str, np.random.Generator]
) -> dict[str, dict[str, float]]:
    """Statistic and p of every test of whole tables, each with its own generator; NaN where a test refuses them."""
    a, b = tables.train[:MOST_ROWS], tables.test[:MOST_ROWS]  # rows are in random order: the first ones are a sample
    found = {}
    for name, test in MULTIVARIATE.items():
        try:
            result = test(a, b, rngs[name], n_permutations=n_permutations, categorical_features=tables.nominal)
            found[name] = {"p_value": result.p_value, "statistic": result.statistic}
        except ValueError:
            found[name] = {"p_value": np.nan, "statistic": np.nan}
    return found


def _mean(values: FloatArray) -> FloatArray:
    """Mean along the last axis without NaN; NaN where no value is left."""
    n = (~np.isnan(values)).sum(axis=-1)
    return np.divide(np.nansum(values, axis=-1), n, out=np.full(np.shape(n), np.nan), where=n > 0)
