"""Monitor a classifier while its test data shift: random splits, every injected shift, and the answer of each detector.

Two things that the paper leaves open are set as its printed numbers have them. Its KS is one-sided: the distribution function of
the training part less that of the test part, not the absolute difference. Equation 7 with two degrees of freedom is the limit of
the one-sided distance. And "the top 25 %" that MAR removes are the first rows in ascending order, the smallest values: only then
does a one-sided test that sees every translation upwards (Table 4) see every feature fail on itself (Table 2). The kind of rows
``readings`` counts failures under each of the four readings.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.core.errors import DataError
from foldshift.core.seeding import fit_states
from foldshift.datasets.dataset import Dataset, read_prepared
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.shift.inject.injectors import Versions, versions
from foldshift.studies.cieslak_2009.detectors.feature_detectors import (
    MULTIVARIATE,
    TrainTest,
    class_failures,
    complete_tables,
    count_readings,
    hellinger_permutation_p,
    multivariate_tests,
    shift_rows,
)
from foldshift.studies.cieslak_2009.detectors.prediction_detectors import detector_rows, failures, learner_scores
from foldshift.studies.cieslak_2009.row_schemas import SCHEMAS
from foldshift.studies.cieslak_2009.shift_conditions import CONDITIONS, ENDS, UNSHIFTED, Condition, Removed
from foldshift.studies.cieslak_2009.three_part_split import STUDY, Repeat, draw_repeat

if TYPE_CHECKING:
    from foldshift.core.types import Array, Inputs, Rows

    Columns = dict[str, Array]
    Progress = Callable[[str], None]


class Shifted(NamedTuple):
    """The test part under a condition.

    ``removing(end)`` makes the versions with the values of that end removed; `keys` are the names of the rows measured.
    """

    condition: Condition
    versions: Versions
    removing: Callable[[Removed], Versions]
    keys: dict[str, Any]


def measure_shifts(
    inputs: Inputs, cell: dict[str, str], *, master_seed: int, positive: str | None, **settings: Any
) -> dict[str, Rows]:
    """Measure a block of repeats on one data set: every injected shift, every detector that looks at the features."""
    return _over_repeats(inputs, cell, master_seed, positive, lambda one: feature_rows(one, **settings, progress=logging.warning))


def measure_learners(
    inputs: Inputs,
    cell: dict[str, str],
    *,
    learners: dict[str, dict[str, Any]],
    master_seed: int,
    positive: str | None,
    **settings: Any,
) -> dict[str, Rows]:
    """Measure a block of repeats on one data set: every injected shift, every detector that looks at predictions.

    Rows of a learner that fails are NaN and carry its message.
    """

    def measure(one: Repeat) -> dict[str, Columns]:
        return {"learners": learner_rows(one, learners, **settings, progress=logging.warning)}

    return _over_repeats(inputs, cell, master_seed, positive, measure)


def _over_repeats(
    inputs: Inputs, cell: dict[str, str], master_seed: int, positive: str | None, measure: Callable[[Repeat], dict[str, Columns]]
) -> dict[str, Rows]:
    """Collect the rows of a block of repeats, by kind."""
    data = read_prepared(inputs.data)
    rows: dict[str, Rows] = {}
    start, n_repeats = block_range(cell["block"])
    for number in range(start, start + n_repeats):
        try:
            found = measure(draw_repeat(data, master_seed, number, positive))
        except ValueError as error:
            raise DataError(f"data set {data.name}: {error}") from error
        for kind, columns in found.items():
            rows.setdefault(kind, []).extend([columns] if columns else [])
        logging.info("repeat %d: %s", number, ", ".join(f"{len(next(iter(c.values()), ()))} {k}" for k, c in found.items()))
    return rows


def shifted_tests(repeat: Repeat, removed: Removed, progress: Progress) -> Iterator[Shifted]:
    """Yield the test part of a repeat under every condition.

    A condition that would leave a class with fewer than 5 rows is left out and reported to `progress`.
    """
    if removed not in ENDS:
        raise ValueError(f"removed={removed!r} must be 'smallest' or 'largest'")
    test, y_test = repeat.data.X[repeat.parts.test], repeat.y[repeat.parts.test]
    for condition in CONDITIONS:

        def removing(end: Removed, condition: Condition = condition) -> Versions:
            # MAR and MNAR share the draw, and so their rows.
            kind = "mar" if condition.kind == "mnar" else condition.kind
            return versions(
                test,
                y_test,
                condition.kind,
                condition.severity,
                rng=repeat.generator("rows", kind, condition.severity),
                scale=repeat.scale,
                n_versions=1 if condition is UNSHIFTED else None,
                positive=True,
                removed=end,
            )

        try:
            found = removing(removed)
        except ValueError as error:
            progress(f"repeat {repeat.number}: {condition.name} left out: {error}")
            continue
        keys = {"dataset": repeat.data.name, "repeat": repeat.number, "condition": condition.name}
        yield Shifted(condition, found, removing, keys)


def feature_rows(
    repeat: Repeat,
    *,
    alpha: float = 0.05,
    removed: Removed = "smallest",
    n_versions_multivariate: int = 2,
    n_repeats_multivariate: int = 5,
    n_permutations: int = 200,
    progress: Progress = lambda line: None,
) -> dict[str, Columns]:
    """Shift the test part in every way, and ask the detectors that look at the features.

    Tests of whole tables by permutations are made on the first `n_versions_multivariate` versions of a condition, in the first
    `n_repeats_multivariate` repeats.

    Conditions that would leave a class with fewer than 5 rows have no rows. Nominal features are not translated.

    "Valid" p-values of a numeric feature are two-sided: exact for small samples, else asymptotic; under ties both are
    conservative. Those of a nominal one are chi-square's, in both columns. Source: Cieslak, D.A., Chawla, N.V. (2009). A
    framework for monitoring classifiers' performance: when and why failure occurs? Knowledge and Information Systems 18, 83-108.
    """
    parts = TrainTest.of(repeat)
    rows: dict[str, list[Columns]] = {kind: [] for kind in SCHEMAS if kind != "learners"}
    for condition, shifted, removing, keys in shifted_tests(repeat, removed, progress):
        n_versions = len(shifted.feature)

        def seed(purpose: str, *names: str | int, condition: Condition = condition) -> np.random.Generator:
            return repeat.generator(purpose, condition.name, *names)

        searched = range(min(n_versions_multivariate, n_versions) if repeat.number < n_repeats_multivariate else 0)
        tables = [complete_tables(parts, shifted, version) for version in searched]
        per_version, per_condition = shift_rows(parts, shifted, alpha)
        per_version["hellinger_p"][: len(tables)] = [
            hellinger_permutation_p(one.train, one.test, seed("hellinger", v), n_permutations, one.nominal)
            for v, one in enumerate(tables)
        ]
        if condition is UNSHIFTED or condition.kind == "prior":
            per_version |= class_failures(parts, shifted.rows[0], alpha)
        if condition.kind in ("mcar", "mar", "mnar"):
            by_end = {end: shifted if end == removed or condition.kind == "mcar" else removing(end) for end in ENDS}
            rows["readings"].append(_columns(4, **keys, **count_readings(parts, by_end, alpha)))
        rows["shift"].append(_columns(n_versions, **keys, version=np.arange(n_versions), **per_version))
        rows["co_failure"].append(_columns(1, **keys, **per_condition))
        for v, one in enumerate(tables):
            rngs = {name: seed(name, v) for name in MULTIVARIATE}
            for name, found in multivariate_tests(one, n_permutations, rngs).items():
                rows["multivariate"].append(_columns(1, **keys, version=v, detector=name, **found))
    return {kind: _joined(columns) for kind, columns in rows.items()}


def learner_rows(
    repeat: Repeat,
    learners: dict[str, dict[str, Any]],
    *,
    mask: Literal["median", "missing"] = "median",
    removed: Removed = "smallest",
    n_bootstraps: int = 100,
    progress: Progress = lambda line: None,
) -> Columns:
    """Train on the training part, shift the test part in every way, and ask the detectors that look at predictions.

    Numeric inputs are scaled to [0, 1] by the training part before any learner. A row is called positive where its score is above
    .5. A masked feature has its median in the training part (a nominal one its most frequent category), or NaN with
    ``mask = "missing"``, at which most learners fail; naive Bayes leaves the feature out in both.
    """
    if mask not in ("median", "missing"):
        raise ValueError(f"mask={mask!r} must be 'median' or 'missing'")
    scored, y_test = {}, repeat.y[repeat.parts.test]
    for name, spec in learners.items():
        state = fit_states(repeat.master_seed, (STUDY, repeat.data.name, name), [repeat.number], 1)[0, 0]
        scored[name] = learner_scores(spec, repeat, mask, state)
        for line in failures(scored[name]):
            progress(f"repeat {repeat.number}: {name} failed: {line}")
    rows = []
    for condition, shifted, _, keys in shifted_tests(repeat, removed, lambda line: None):
        n_versions = len(shifted.feature)
        for name, scores in scored.items():
            rng = repeat.generator("friedman", condition.name, name)
            found = detector_rows(scores, condition, shifted, y_test, n_bootstraps, rng)
            rows.append(_columns(n_versions, **keys, version=np.arange(n_versions), learner=name, **found))
    return _joined(rows)


def first_call() -> None:
    """Compile the kernels of the study: one repeat on made-up data, with the learners that have kernels of their own."""
    rng, n_rows = np.random.default_rng(0), 90
    X = np.column_stack([rng.random((n_rows, 2)), np.arange(n_rows) % 3, np.arange(n_rows) % 2])
    kinds, names, categories = ("real", "real", "nominal", "nominal"), tuple("abcd"), ((), (), ("a", "b", "c"), ("a", "b"))
    data = Dataset(
        "first calls", "classification", X, rng.permutation(np.arange(n_rows) % 2), names, kinds, categories, ("0", "1"), None,
        "y", (0, 0), np.zeros((4, 2)), "none", np.arange(n_rows), 0, (), (),
    )  # fmt: skip
    learners: dict[str, dict[str, Any]] = {
        "NB": {"import": "foldshift.learners.NaiveBayesClassifier", "nominal": "native"},
        "5NN": {"import": "foldshift.learners.NNClassifier", "nominal": "native", "params": {"n_neighbors": 5}},
    }
    repeat = draw_repeat(data, 0, 0)
    feature_rows(repeat, n_versions_multivariate=1, n_repeats_multivariate=0)
    learner_rows(repeat, learners, n_bootstraps=2)


def _columns(n: int, **columns: Any) -> Columns:
    """Make columns of n rows; single values are repeated."""
    return {
        name: np.full(n, value, dtype=object if isinstance(value, str) else None) if np.ndim(value) == 0 else np.asarray(value)
        for name, value in columns.items()
    }


def _joined(parts: list[Columns]) -> Columns:
    """Join columns of the same names."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}
