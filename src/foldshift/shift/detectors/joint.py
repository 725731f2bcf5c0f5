"""Tests of predictions, of accuracy, of the target, and of all features of two tables together."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foldshift.core.gate.numbers import as_numbers, correctness
from foldshift.inference.roc import roc_area
from foldshift.shift.columns import target_column, target_values
from foldshift.shift.detectors.dependence import dependence_test
from foldshift.shift.detectors.feature_tests import MISSING, feature_rows, ks_with_p, spread_words
from foldshift.shift.detectors.monitoring_tests import kruskal_wallis, two_proportion
from foldshift.shift.detectors.spread import has_spread, spread_test
from foldshift.shift.detectors.two_sample import classifier_two_sample, energy_distance_test, mmd
from foldshift.shift.table_versions import FEWEST_ROWS

if TYPE_CHECKING:
    from foldshift.core.types import TableLike, Task
    from foldshift.shift.columns import Column

JointName = Literal["energy", "spread", "c2st", "mmd", "dependence"]
MULTIVARIATE: dict[JointName, str] = {
    "energy": "energy distance",
    "spread": "spread of columns",
    "c2st": "classifier two-sample test",
    "mmd": "maximum mean discrepancy",
    "dependence": "dependence of columns",
}
_TESTS: dict[str, Callable[..., Any]] = {
    "energy": energy_distance_test,
    "c2st": classifier_two_sample,
    "mmd": mmd,
    "dependence": dependence_test,
}


class GlobalTest(NamedTuple):
    """One test of a `DriftReport` on more than a single feature."""

    name: str
    about: str  # ``predictions``, ``accuracy``, ``classes`` or ``features together``
    statistic: float
    p_value: float
    p_adjusted: float
    # kruskal-Wallis: probability that a score of the test table is above one of the training table (.5: no shift). KS: D.
    # Accuracy: test minus training. Classes: as of a feature. Energy: coefficient of inhomogeneity. Classifier: area under the
    # ROC curve. MMD: squared. Dependence: root mean square difference of rank correlations.
    # Spread: that of the test table over that of the training table, in normal scores, of the column that changed most
    effect: float
    moved: bool
    change: str


def stream(root: int, name: str) -> np.random.Generator:
    """Make the random generator of the test of that name."""
    return np.random.default_rng([root, zlib.crc32(name.encode())])


def score_tests(train: TableLike, test: TableLike) -> list[GlobalTest]:
    """Test the scores of every class by Kruskal-Wallis and KS; the arguments are those of `DriftReport`."""
    parts = [as_numbers(part, f"scores_{role}") for role, part in (("train", train), ("test", test))]
    parts = [part[:, None] if part.ndim == 1 else part for part in parts]
    for role, part in zip(("train", "test"), parts):
        if part.ndim != 2 or len(part) < FEWEST_ROWS or not np.isfinite(part).all() or part.shape[1] != parts[0].shape[1]:
            raise ValueError(
                f"scores_{role} has shape {part.shape}; expected (n,) or (n, n_classes), the same classes in both, at least "
                f"{FEWEST_ROWS} rows, finite numbers"
            )
    if parts[0].shape[1] == 2:
        parts = [part[:, 1:] for part in parts]
    tests = []
    for j in range(parts[0].shape[1]):
        a, b, of_class = parts[0][:, j], parts[1][:, j], f" of class {j}" if parts[0].shape[1] > 1 else ""
        result = kruskal_wallis(a, b)
        above = float(roc_area(np.concatenate([a, b]), np.arange(len(a) + len(b)) >= len(a)))
        words, name = f"a test score is above a training score with probability {above:.2f}", "Kruskal-Wallis on the scores"
        tests.append(GlobalTest(name + of_class, "predictions", result.statistic, result.p_value, np.nan, above, False, words))
        d, p = ks_with_p(a, b)
        words = f"mean {a.mean():.3f}, then {b.mean():.3f}"
        tests.append(GlobalTest(f"KS on the scores{of_class}", "predictions", d, p, np.nan, d, False, words))
    return tests


def accuracy_test(train: TableLike, test: TableLike) -> GlobalTest:
    """Compare two proportions of correct predictions; the arguments are those of `DriftReport`."""
    parts = [correctness(part, f"correct_{role}") for role, part in (("train", train), ("test", test))]
    for role, part in zip(("train", "test"), parts):
        if part.ndim != 1 or len(part) < FEWEST_ROWS:
            raise ValueError(
                f"correct_{role} must be one-dimensional, 0 or 1, at least {FEWEST_ROWS} values; got shape {part.shape}"
            )
    result = two_proportion(parts[0].astype(bool), parts[1].astype(bool))
    before, after = (float(part.mean()) for part in parts)
    words = (
        f"accuracy {before:.3f}, then {after:.3f}; drop {result.drop:.3f}, 95 % interval {result.low:.3f} to {result.high:.3f}"
    )
    return GlobalTest("two proportions", "accuracy", result.statistic, result.p_value, np.nan, after - before, False, words)


def target_test(
    y_train: TableLike, y_test: TableLike, n_train: int, n_test: int, task: Task | None, rng: np.random.Generator
) -> GlobalTest:
    """Test the target, a quantity or classes, of tables with `n_train` and `n_test` rows; chi-square permutes with `rng`."""
    column = target_column(target_values(y_train, n_train, "y_train"), target_values(y_test, n_test, "y_test"), task)
    row = feature_rows(column, rng)[0]
    name = "KS on the target" if column.kind == "numeric" else "chi-square on the classes"
    words = row.change + (f"; {row.note}" if row.note else "")
    return GlobalTest(name, "classes", row.statistic, row.p_value, np.nan, row.effect, False, words)


def joint_tests(columns: list[Column], wanted: Sequence[JointName], n_permutations: int, root: int) -> list[GlobalTest]:
    """Test all features at once; no test where there is nothing to compare."""
    blocks, nominal, names = [], [], []
    for column in columns:
        values = np.concatenate([column.train, column.test]).astype(np.float64)
        missing = np.isnan(values)
        if not missing.all():
            blocks.append(np.where(missing, np.median(values[~missing]), values))
            nominal.append(column.kind == "nominal")
            names.append(column.name)
        if missing.any() and not missing.all():
            blocks.append(missing.astype(np.float64))
            nominal.append(True)
            names.append(column.name + MISSING)
    if not blocks:
        return []
    rows, n_train = np.column_stack(blocks), len(columns[0].train)
    tests = []
    for name in wanted:
        rng = stream(root, name)
        if name == "spread":
            tests += _spread(columns, n_permutations, rng)
        if name == "spread" or (name == "dependence" and len(blocks) < 2):
            continue
        result = _TESTS[name](
            rows[:n_train], rows[n_train:], rng, n_permutations=n_permutations, categorical_features=np.array(nominal)
        )
        words = f"{result.n_rows[0]} and {result.n_rows[1]} rows, effect {result.effect:.3f}"
        if name == "dependence":
            pair = " and ".join(names[j] for j in result.pair)
            words += f"; rank correlation of {pair} {result.before:.2f}, then {result.after:.2f}"
        tests.append(
            GlobalTest(
                MULTIVARIATE[name], "features together", result.statistic, result.p_value, np.nan, result.effect, False, words
            )
        )
    return tests


def _spread(columns: list[Column], n_permutations: int, rng: np.random.Generator) -> list[GlobalTest]:
    """Test the spread of the numeric columns; no test where there is none with enough values."""
    parts = [
        (column, [part[~np.isnan(part)] for part in (column.train, column.test)])
        for column in columns
        if column.kind == "numeric"
    ]
    enough = [
        (column, present)
        for column, present in parts
        if min(map(len, present)) >= FEWEST_ROWS and has_spread(np.concatenate(present))
    ]
    if not enough:
        return []
    train, test = np.column_stack([one.train for one, _ in enough]), np.column_stack([one.test for one, _ in enough])
    result = spread_test(train, test, rng, n_permutations)
    column, present = enough[result.column]
    words = f"most of {column.name}: {spread_words(column, *present)}"
    return [
        GlobalTest(
            MULTIVARIATE["spread"], "features together", result.statistic, result.p_value, np.nan, result.effect, False, words
        )
    ]
