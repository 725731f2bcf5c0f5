"""Tests of predictions, accuracy, classes, and of all features of two tables together."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.inference.roc import roc_area
from foldshift.shift.columns import target_column, target_values
from foldshift.shift.detectors.dependence import dependence_test
from foldshift.shift.detectors.feature_tests import MISSING, feature_rows, ks_with_p
from foldshift.shift.detectors.two_sample import classifier_two_sample, energy_distance_test, mmd
from foldshift.shift.detectors.univariate import kruskal_wallis, two_proportion
from foldshift.shift.table_versions import FEWEST_ROWS

if TYPE_CHECKING:
    from foldshift.core.types import BoolArray, FloatArray, IntArray
    from foldshift.shift.columns import Column

MULTIVARIATE = {
    "energy": "energy distance",
    "c2st": "classifier two-sample test",
    "mmd": "maximum mean discrepancy",
    "dependence": "dependence of columns",
}


class GlobalTest(NamedTuple):
    """One test of a `DriftReport` that is not about a single feature.

    Attributes
    ----------
    name : str
    about : str
        ``predictions``, ``accuracy``, ``classes`` or ``features together``.
    statistic, p_value, p_adjusted : float
    effect : float
        Kruskal-Wallis: probability that a score of the test table is above one of the training table (.5: no shift). KS: D.
        Accuracy: test minus training. Classes: as of a feature. Energy: coefficient of inhomogeneity. Classifier: area under the
        ROC curve. MMD: squared. Dependence: root mean square difference of rank correlations.
    moved : bool
    change : str
    """

    name: str
    about: str
    statistic: float
    p_value: float
    p_adjusted: float
    effect: float
    moved: bool
    change: str


def stream(root: int, name: str) -> np.random.Generator:
    """Random generator of the test of that name."""
    return np.random.default_rng([root, zlib.crc32(name.encode())])


def score_tests(train: FloatArray, test: FloatArray) -> list[GlobalTest]:
    """Kruskal-Wallis and KS on the scores of every class; arguments as `scores_train` and `scores_test` of `DriftReport`."""
    parts = [np.asarray(part, dtype=np.float64) for part in (train, test)]
    parts = [part[:, None] if part.ndim == 1 else part for part in parts]
    for role, part in zip(("train", "test"), parts):
        if part.ndim != 2 or len(part) < FEWEST_ROWS or not np.isfinite(part).all() or part.shape[1] != parts[0].shape[1]:
            raise ValueError(
                f"scores_{role} has shape {part.shape}; expected (n,) or (n, n_classes), the same classes in both, at least "
                f"{FEWEST_ROWS} rows, finite numbers"
            )
    if parts[0].shape[1] == 2:
        parts = [part[:, 1:] for part in parts]
    many = parts[0].shape[1] > 1
    tests = []
    for j in range(parts[0].shape[1]):
        tests += _one_score(parts[0][:, j], parts[1][:, j], f" of class {j}" if many else "")
    return tests


def _one_score(a: FloatArray, b: FloatArray, of: str) -> list[GlobalTest]:
    result = kruskal_wallis(a, b)
    above = float(roc_area(np.concatenate([a, b]), np.arange(len(a) + len(b)) >= len(a)))
    d, p_ks = ks_with_p(a, b)
    words = f"a test score is above a training score with probability {above:.2f}"
    return [
        GlobalTest(
            f"Kruskal-Wallis on the scores{of}", "predictions", result.statistic, result.p_value, np.nan, above, False, words
        ),
        GlobalTest(
            f"KS on the scores{of}", "predictions", d, p_ks, np.nan, d, False, f"mean {a.mean():.3f}, then {b.mean():.3f}"
        ),
    ]


def accuracy_test(train: BoolArray, test: BoolArray) -> GlobalTest:
    """Two proportions of right predictions; arguments as `correct_train` and `correct_test` of `DriftReport`."""

    parts = [np.asarray(part) for part in (train, test)]
    for role, part in zip(("train", "test"), parts):
        if part.ndim != 1 or len(part) < FEWEST_ROWS or not np.isin(part, (0, 1)).all():
            raise ValueError(
                f"correct_{role} must be one-dimensional, 0 or 1, at least {FEWEST_ROWS} values; got shape {part.shape}"
            )
    result = two_proportion(*(part.astype(bool) for part in parts))
    before, after = (float(part.mean()) for part in parts)
    words = (
        f"accuracy {before:.3f}, then {after:.3f}; drop {result.drop:.3f}, 95 % interval {result.low:.3f} to {result.high:.3f}"
    )
    return GlobalTest("two proportions", "accuracy", result.statistic, result.p_value, np.nan, after - before, False, words)


def class_test(
    y_train: IntArray, y_test: IntArray, n_train: int, n_test: int, task: str | None, rng: np.random.Generator
) -> GlobalTest:
    """Test of the target, a quantity or classes, of tables of these sizes; `rng` is for the permutations of chi-square."""
    parts = [target_values(y, n, f"y_{role}") for role, y, n in (("train", y_train, n_train), ("test", y_test, n_test))]
    column = target_column(parts, task)
    row = feature_rows(column, rng)[0]
    name = "KS on the target" if column.kind == "numeric" else "chi-square on the classes"
    words = row.change + (f"; {row.note}" if row.note else "")
    return GlobalTest(name, "classes", row.statistic, row.p_value, np.nan, row.effect, False, words)


def joint_tests(columns: list[Column], wanted: Any, n_permutations: int, root: int) -> list[GlobalTest]:
    """Tests of all features at once; none where there is nothing to compare."""
    functions = {"energy": energy_distance_test, "c2st": classifier_two_sample, "mmd": mmd, "dependence": dependence_test}
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
        if name == "dependence" and len(blocks) < 2:
            continue
        rng = stream(root, name)
        result = functions[name](
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
