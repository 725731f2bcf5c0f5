"""Report of the shift between a training and a test table: its size, and the features that moved."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import pandas as pd

from foldshift.core.arguments import check_one_of
from foldshift.core.printable import printable_lines
from foldshift.core.remedies import Message, Remedy
from foldshift.core.repr import readable
from foldshift.core.seeding import as_generator
from foldshift.inference.corrections import adjust_p
from foldshift.shift.columns import matched_columns, without_left_out
from foldshift.shift.detectors.feature_tests import MISSING, FeatureDrift, feature_rows
from foldshift.shift.detectors.joint import MULTIVARIATE, GlobalTest, accuracy_test, joint_tests, score_tests, stream, target_test
from foldshift.shift.report.dot_plot import dots
from foldshift.shift.report.drift_notes import other_units, rows_in_both
from foldshift.shift.report.drift_text import check_alpha, counted, p_in_words, plain_values, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from foldshift.core.types import PathLike, Rows, TableLike, Task

_Row = TypeVar("_Row", FeatureDrift, GlobalTest)
ADJUST = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
SHOWN = 8  # features in the text that have not moved
_DEFAULTS: dict[str, Any] = {
    "name": "", "about": "feature", "kind": "", "test": "", "statistic": np.nan, "p_value": np.nan, "p_adjusted": np.nan,
    "effect": np.nan, "hellinger": np.nan, "hellinger_excess": np.nan, "moved": False, "change": "", "note": "", "n_train": None,
    "n_test": None,
}  # fmt: skip


@readable
class DriftReport:
    """Compare a training and a test table; ``str()`` of the report lists in plain words which features moved.

    Parameters
    ----------
    train, test : DataFrame or array-like of shape (n_samples, n_features)
        At least 5 rows each, with the same columns. Columns of data frames (pandas, polars, pyarrow) are matched by name.
    categorical_features : None, or array-like of str, of int, or of bool of shape (n_features,)
        Names, positions or mask of the nominal columns. By default the columns of a data frame that hold no numbers; none of an
        array.
    keep : sequence of str, default=()
        Names of columns that are always tested. Other dates are left out, and in data frames also columns that look like
        identifiers: texts that differ in (nearly) every row, and whole numbers that all differ and either fill half of their
        range or are called ``id``, ``index`` or the like. `notes` names the columns left out. A date that is kept is a number of
        days.
    feature_names : list of str, optional
        Names of the columns of arrays; by default ``feature 0``, ``feature 1``, ...
    y_train, y_test : array-like of shape (n_samples,), optional
        Target of both tables.
    task : {None, "regression", "classification"}, default=None
        Kind of the target: a quantity or classes. None: numbers that are not all whole, or that have more than 20 distinct
        values, are a quantity, anything else is classes.
    scores_train, scores_test : array-like of shape (n,) or (n, n_classes), optional
        Predicted probabilities. Those for the training table must be for rows that the model was not trained on, of a validation
        part or out of fold, so their number may differ from that of the rows. Of two columns the second is used; of more than
        two, each one.
    correct_train, correct_test : array-like of bool of shape (n,), optional
        True where a prediction was correct; like the scores, for rows that the model was not trained on.
    alpha : float, default=0.05
        Level of the whole report.
    adjust : {"holm", "bh"}, default="holm"
        ``holm``: the chance of reporting any move when nothing has moved is at most alpha. ``bh``: the expected share of false
        reports among the reported moves is at most alpha (more moves are found).
    multivariate : sequence of {"energy", "spread", "c2st", "mmd", "dependence"}, default=("energy", "spread")
        Tests of all features together; see `foldshift.shift.detectors.two_sample`. `foldshift.shift.spread_test` is the only one
        that sees a moderate change of the spread of a feature, `foldshift.shift.dependence_test` of the dependence between them.
    n_permutations : int, default=999
        Number of permutations of the tests of all features together.
    rng : numpy.random.Generator or int, default=0
        Source of randomness. Each test takes its own stream from it, by name: other tests and the order of the columns do not
        matter.

    Attributes
    ----------
    verdict : str
        One sentence.
    features : list of FeatureDrift
        One row per column, in their order; a numeric feature with missing values has a second row, of kind ``missing``.
    global_tests : list of GlobalTest
        Predictions first, then accuracy, classes, all features together.
    columns : list of Column
        Columns that were compared, for figures; without those left out.
    notes : list of str
        Columns left out and tests not made, with the reason.
    n_train, n_test : int
        Rows of both tables.
    alpha, adjust
        As given.

    Raises
    ------
    ValueError
        If the tables do not have the same columns, a table is too small, a value is infinite, a column of numbers holds text, or
        one of a pair of arguments is missing.

    Notes
    -----
    The order is that of [1]_: predictions by Kruskal-Wallis first, since only what reaches the predictions can hurt; then the
    features one by one, by Kolmogorov-Smirnov or chi-square, and the size of the shift by Hellinger. Kruskal-Wallis does not see
    changes that keep the mean rank, so Kolmogorov-Smirnov on the scores is added. All tests are made for any result of the
    predictions; the verdict keeps the order.

    Two families of tests, the features and the rest, take half of alpha each; ``p_adjusted`` is the p-value corrected within the
    family, times two if there are two. So a permutation p, which cannot be arbitrarily small, is not corrected for hundreds of
    features.

    The p of Kolmogorov-Smirnov is exact where the tables are small, given the ties if there are any, otherwise asymptotic: see
    `foldshift.shift.measures.ks.ks_method`. That of chi-square is from permutations (9,999; 1,999 above 50 categories) where an
    expected count is below 5.

    Rows of the test table that are in the training table as well are noted; no test sees them. So are columns whose test values
    look like the training values times a power of ten.

    Odd input: a feature with one value in both tables has statistic 0 and p 1 and does not count as a test. A numeric feature
    with fewer than 5 values in a table is not tested (NaN); its being missing is tested, unless it has no value at all. In a
    nominal feature missing is a category; a category that only one table has counts like any other, and is noted. Where all
    features are tested together, a missing number becomes the median of both tables, and a further column marks it as missing.

    References
    ----------
    .. [1] Cieslak, D.A., Chawla, N.V. (2009). A framework for monitoring classifiers' performance: when and why failure occurs?
       Knowledge and Information Systems 18, 83-108. Figure 1, sections 5 and 6.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> before = pd.DataFrame({"age": rng.normal(40, 10, 200), "height": rng.normal(170, 8, 200)})
    >>> after = pd.DataFrame({"age": rng.normal(48, 10, 100), "height": rng.normal(170, 8, 100)})
    >>> DriftReport(before, after).verdict
    'Shift: 1 of 2 features moved: age (mean 40.15 to 48.12, up by 0.83 standard deviations).'
    """

    def __init__(
        self,
        train: TableLike,
        test: TableLike,
        *,
        categorical_features: ArrayLike | None = None,
        feature_names: list[str] | None = None,
        keep: Sequence[str] = (),
        y_train: TableLike = None,
        y_test: TableLike = None,
        task: Task | None = None,
        scores_train: TableLike = None,
        scores_test: TableLike = None,
        correct_train: TableLike = None,
        correct_test: TableLike = None,
        alpha: float = 0.05,
        adjust: Literal["holm", "bh"] = "holm",
        multivariate: Sequence[Literal["energy", "spread", "c2st", "mmd", "dependence"]] = ("energy", "spread"),
        n_permutations: int = 999,
        rng: np.random.Generator | int = 0,
    ) -> None:
        check_alpha(alpha)
        check_one_of("adjust", adjust, ADJUST)
        unknown = [name for name in multivariate if name not in MULTIVARIATE]
        if isinstance(multivariate, str) or unknown:
            raise ValueError(f"multivariate={multivariate!r} must be a list of {', '.join(map(repr, MULTIVARIATE))}")
        for name, pair in (
            ("y", (y_train, y_test)),
            ("scores", (scores_train, scores_test)),
            ("correct", (correct_train, correct_test)),
        ):
            if (pair[0] is None) != (pair[1] is None):
                raise ValueError(
                    f"{name}_train and {name}_test go together; only {name}_{'train' if pair[1] is None else 'test'} is given"
                )
        self.alpha, self.adjust = alpha, adjust
        root = rng if isinstance(rng, (int, np.integer)) and rng >= 0 else int(as_generator(rng).integers(2**63))
        columns = matched_columns(train, test, categorical_features, feature_names)
        self.n_train, self.n_test = len(columns[0].train), len(columns[0].test)
        self.columns, self.notes = without_left_out(columns, keep, "leave out")
        features = [row for column in self.columns for row in feature_rows(column, stream(root, column.name))]
        tests: list[GlobalTest] = []
        if scores_train is not None:
            tests += score_tests(scores_train, scores_test)
        else:
            self.notes.append("No scores given: whether the shift reaches the predictions was not tested.")
        if correct_train is not None:
            tests.append(accuracy_test(correct_train, correct_test))
        if y_train is not None:
            tests.append(target_test(y_train, y_test, self.n_train, self.n_test, task, stream(root, "classes")))
        tests += joint_tests(self.columns, multivariate, n_permutations, root)
        tested = [i for i, row in enumerate(features) if _is_test(row)]
        families = 2 if tested and tests else 1
        self.features = _corrected(features, tested, families, alpha, adjust)
        self.global_tests = _corrected(tests, list(range(len(tests))), families, alpha, adjust)
        wanted = int(2 * len(tests) / alpha)
        if n_permutations < wanted and any(row.about == "features together" for row in tests):
            few = f"{n_permutations} permutations may be too few for the tests of all features together to reject; take "
            self.notes.append(Message(few, Remedy("n_permutations", str(wanted)), " or more."))
        if "energy" in multivariate and "dependence" not in multivariate and len(self.columns) > 1:
            hardly = "The energy distance hardly sees a change of the dependence between features alone; "
            self.notes.append(Message(hardly, Remedy("multivariate", (*multivariate, "dependence")), " tests that as well."))
        self.notes += [f"{row.name}: {row.note}." for row in self.features if row.note]
        self.notes += other_units(self.columns, {row.name for row in self.features if row.moved})
        self.notes += rows_in_both(self.columns)
        self.verdict = _verdict(self)

    def to_rows(self) -> Rows:
        """Return all tests as dictionaries with the same keys, each `GlobalTest` first; ``about`` of a feature is ``feature``."""
        tests = [*(row._asdict() for row in self.global_tests), *(row._asdict() for row in self.features)]
        return [{key: values.get(key, default) for key, default in _DEFAULTS.items()} for values in tests]

    def to_frame(self) -> pd.DataFrame:
        """Return all tests, one row each, those that moved first; the columns are the keys of `to_rows`."""
        frame = pd.DataFrame(self.to_rows(), columns=list(_DEFAULTS))
        return frame.sort_values("moved", ascending=False, kind="stable", ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, e.g. for JSON; a value that is not known is None."""
        return {
            "verdict": self.verdict,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "alpha": self.alpha,
            "adjust": self.adjust,
            "tests": [plain_values(row) for row in self.to_rows()],
            "notes": list(self.notes),
        }

    def to_html(self, path: PathLike | None = None) -> str:
        """Make a page as text, without any reference to a network; write it to a file if a path is given."""
        from foldshift.core.files import write_text
        from foldshift.shift.report.drift_html import drift_page

        text = printable_lines(drift_page(self))
        if path is not None:
            write_text(path, text)
        return text

    def sentences(self) -> list[str]:
        """Return the report as sentences: the comparison, the verdict, and the notes."""
        return [self._title() + ".", self.verdict, *self.notes]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the effect of every feature, the largest on top; those that moved are filled squares.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw into; by default those of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        rows = sorted((row for row in self.features if not np.isnan(row.effect)), key=lambda row: (-row.effect, row.name))
        values, moved = [row.effect for row in rows], [row.moved for row in rows]
        return dots(ax, [row.name for row in rows], values, moved, "largest difference in probability (filled: moved)")

    def _title(self) -> str:
        return (
            f"Drift report: {self.n_train} training rows, {self.n_test} test rows, {counted(len(self.columns), 'feature')}; "
            f"level {self.alpha:g}, p corrected by {ADJUST[self.adjust]}"
        )

    def _section(self, title: str, about: str) -> list[str]:
        lines = [_global_line(row) for row in self.global_tests if row.about == about]
        return ["", title, *lines] if lines else []

    def __str__(self) -> str:
        lines = [self._title(), "", fill(f"Verdict: {self.verdict}", 118)]
        for about, title in (("predictions", "Predictions"), ("accuracy", "Accuracy"), ("classes", "Target")):
            lines += self._section(title, about)
        lines += ["", "Features, those that moved and large effects first (p corrected, Hellinger above chance)"]
        ordered = sorted(self.features, key=lambda row: (not row.moved, -np.nan_to_num(row.effect, nan=-1), row.name))
        n_moved = sum(row.moved for row in ordered)
        width = min(max((len(row.name) for row in ordered), default=0), 40)
        lines += [_feature_line(row, width) for row in ordered[: n_moved + SHOWN]]
        if len(ordered) > n_moved + SHOWN:
            lines.append(f"  and {len(ordered) - n_moved - SHOWN} more that have not moved")
        lines += self._section("All features together", "features together")
        if self.notes:
            lines += ["", "Notes", *(fill(note, 116, initial_indent="  ", subsequent_indent="    ") for note in self.notes)]
        return printable_lines("\n".join(lines))


def _is_test(row: FeatureDrift) -> bool:
    """Return True for a feature that was tested; a constant one does not count as a test."""
    return not np.isnan(row.p_value) and row.note != "constant"


def _corrected(rows: list[_Row], tested: list[int], families: int, alpha: float, adjust: Literal["holm", "bh"]) -> list[_Row]:
    """Correct p within the rows at the positions `tested`, times the number of families; other rows keep their p."""
    rows = [row._replace(p_adjusted=row.p_value) for row in rows]
    adjusted = adjust_p(np.array([rows[i].p_value for i in tested]), adjust) if tested else np.empty(0)
    for i, p in zip(tested, adjusted):
        p = min(1.0, families * float(p))
        rows[i] = rows[i]._replace(p_adjusted=p, moved=bool(p < alpha))
    return rows


def _verdict(report: DriftReport) -> str:
    moved = sorted((row for row in report.features if row.moved), key=lambda row: (-row.effect, row.name))
    if not moved and not any(row.moved for row in report.global_tests):
        return _no_shift(report)
    joint = [row for row in report.global_tests if row.moved and row.about == "features together"]
    clauses = [*_global_clauses(report.global_tests), *_feature_clauses(moved, joint, len(report.columns))]
    return "Shift: " + "; ".join(clauses) + "."


def _no_shift(report: DriftReport) -> str:
    n_tests = sum(map(_is_test, report.features)) + len(report.global_tests)
    if n_tests == 0:
        return "Nothing could be tested: every feature is constant, has too few values or was left out."
    smallest = np.nanmin([*(row.p_adjusted for row in report.features), *(row.p_adjusted for row in report.global_tests)])
    tests = "the one test does not reject" if n_tests == 1 else f"none of {n_tests} tests rejects"
    return f"No shift found: {tests} at {report.alpha:g} after correction (smallest corrected p {p_in_words(smallest)})."


def _global_clauses(tests: list[GlobalTest]) -> list[str]:
    """Clauses on predictions, accuracy and target."""
    clauses = []
    scores = [row for row in tests if row.about == "predictions"]
    if any(row.moved for row in scores):
        by_rank = any(row.moved and row.name.startswith("Kruskal-Wallis") for row in scores)
        seen = "Kruskal-Wallis" if by_rank else "by KS alone: their mean rank has not"
        clauses.append(f"the predicted scores moved ({seen})")
    elif scores:
        clauses.append("the predicted scores have not moved")
    for row in tests:
        if row.moved and row.about == "accuracy":
            clauses.append(f"accuracy {'fell' if row.effect < 0 else 'rose'} by {abs(row.effect):.3f}")
        elif row.moved and row.about == "classes":
            clauses.append(f"the target moved ({row.change})")
    return clauses


def _feature_clauses(moved: list[FeatureDrift], joint: list[GlobalTest], n_features: int) -> list[str]:
    """Clauses on the features that moved, largest effect first, and on the joint tests that reject."""
    dependent = [row for row in joint if row.name == MULTIVARIATE["dependence"]]
    spread = [row for row in joint if row.name == MULTIVARIATE["spread"]]
    if moved:
        n_moved = len({row.name.removesuffix(MISSING) if row.kind == "missing" else row.name for row in moved})
        shown = ", ".join(f"{row.name} ({row.change})" for row in moved[:3])
        more = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
        clauses = [f"{n_moved} of {counted(n_features, 'feature')} moved: {shown}{more}"]
        clauses += [f"a spread moved ({spread[0].change})"] if spread else []
        return clauses + ([f"their dependence moved ({dependent[0].change})"] if dependent else [])
    if spread:
        also = [f"and so did their dependence ({dependent[0].change})"] if dependent else []
        return [f"no feature moved by itself, but the spread of one did ({spread[0].change})", *also]
    if dependent:
        return [f"no feature moved by itself, but their dependence did ({dependent[0].change})"]
    if joint:
        return ["no feature moved by itself, but the features together did: look at their dependence, or at many small changes"]
    return ["no feature moved"]


def _global_line(row: GlobalTest) -> str:
    p, corrected = p_in_words(row.p_value), p_in_words(row.p_adjusted)
    return f"  {row.name}: {row.statistic:.4g}, p {p}, corrected {corrected}; {row.change}{'  << moved' * row.moved}"


def _feature_line(row: FeatureDrift, width: int) -> str:
    name = shortened(row.name, width)
    if not _is_test(row):
        return f"  {name:<{width}}  {row.note}"
    return (
        f"  {name:<{width}}  {row.test:<10} {row.statistic:8.4g}  p {p_in_words(row.p_adjusted):<7} effect {row.effect:.3f}  "
        f"Hellinger {row.hellinger_excess:+.3f}  {row.change}{'  << moved' * row.moved}"
    )
