"""What moved between a training and a test table, how much, and in which features; the same for the parts of every fold."""

import zlib
from textwrap import fill
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from foldshift.nominal import nominal_columns
from foldshift.partition.common import fold_dtype
from foldshift.shift.two_sample import FEWEST_ROWS

MULTIVARIATE = {"energy": "energy distance", "c2st": "classifier two-sample test", "mmd": "maximum mean discrepancy"}
ADJUST = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
FEW_EXPECTED = 5  # below this expected count in a cell, the chi-square p comes from permutations
BINS = 30
MISSING = " (missing)"
MISSING_LABEL = "missing"
AS_CHANCE = "as chance"
SHOWN = 8  # rows of a text that have not moved


class FeatureDrift(NamedTuple):
    """One feature of a `DriftReport`.

    Attributes
    ----------
    name : str
    kind : str
        ``numeric``, ``nominal``, or ``missing``: whether the value of a numeric feature is missing.
    test : str
        ``KS`` or ``chi-square``.
    statistic, p_value : float
        D or chi-square, and its p. Constant: 0 and 1. Not tested: NaN.
    p_adjusted : float
        Corrected for all tests of the report; see `DriftReport`.
    effect : float
        Largest difference in probability, in [0, 1]: over half-lines for a numeric feature (that is D), over sets of categories else (total
        variation). Features of both kinds compare.
    hellinger, hellinger_excess : float
        Hellinger distance (30 bins, at most sqrt(2)), and what of it is above that of two random parts of the same sizes (root mean square).
    moved : bool
        Whether p_adjusted is below alpha.
    change : str
        In words, from training to test.
    note : str
        What is out of the ordinary; mostly empty.
    n_train, n_test : int
        Values that are not missing.
    """

    name: str
    kind: str
    test: str
    statistic: float
    p_value: float
    p_adjusted: float
    effect: float
    hellinger: float
    hellinger_excess: float
    moved: bool
    change: str
    note: str
    n_train: int
    n_test: int


class GlobalTest(NamedTuple):
    """One test of a `DriftReport` that is not about a single feature.

    Attributes
    ----------
    name : str
    about : str
        ``predictions``, ``accuracy``, ``classes`` or ``features together``.
    statistic, p_value, p_adjusted : float
    effect : float
        Kruskal-Wallis: probability that a score of the test table is above one of the training table (.5: no shift). KS: D. Accuracy: test
        minus training. Classes: as of a feature. Energy: coefficient of inhomogeneity. Classifier: area under the ROC curve. MMD: squared.
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


class Column(NamedTuple):
    """Values of one column: floats with NaN, or the numbers of `categories`."""

    name: str
    kind: str
    train: np.ndarray
    test: np.ndarray
    categories: list


class DriftReport:
    """Compare a training and a test table; ``str()`` of it says in plain words what moved.

    Parameters
    ----------
    train, test : DataFrame or array-like of shape (n_samples, n_features)
        At least 5 rows each, with the same columns. Columns of data frames are matched by name.
    categorical_features : None, or array-like of str, of int, or of bool of shape (n_features,)
        Names, positions or mask of the nominal columns. By default the columns of a data frame that hold no numbers; none of an array.
    feature_names : list of str, optional
        Names of the columns of arrays; by default ``feature 0``, ``feature 1``, ...
    y_train, y_test : array-like of shape (n_samples,), optional
        Target of both tables. Floats that are not all whole are a quantity, anything else classes.
    scores_train, scores_test : array-like of shape (n,) or (n, n_classes), optional
        Predicted probabilities. Of the training table they must come from rows the model was not trained on: a validation part, or
        out-of-fold predictions; so their number may differ from that of the rows. Of two columns the second is used, of more each.
    correct_train, correct_test : array-like of bool of shape (n,), optional
        Whether each prediction was right; as the scores, of rows the model was not trained on.
    alpha : float, default=0.05
        Level of the whole report.
    adjust : {"holm", "bh"}, default="holm"
        ``holm``: the chance that anything is said to have moved when nothing has is at most alpha. ``bh``: the expected share of false
        ones among what is said to have moved is at most alpha (more is found).
    multivariate : sequence of {"energy", "c2st", "mmd"}, default=("energy",)
        Tests of all features together; see `foldshift.shift.two_sample`.
    n_permutations : int, default=999
        Of the tests of all features together.
    rng : numpy.random.Generator or int, default=0
        Each test takes its own stream from it, by name: what is tested beside it, and the order of the columns, do not matter.

    Attributes
    ----------
    verdict : str
        One sentence.
    features : list of FeatureDrift
        In the order of the columns; a numeric feature with missing values has a second row, of kind ``missing``.
    global_tests : list of GlobalTest
        Predictions first, then accuracy, classes, all features together.
    columns : list of Column
        What was compared, for figures.
    notes : list of str
    n_train, n_test, alpha, adjust

    Raises
    ------
    ValueError
        If the tables do not have the same columns, a table is too small, a value is infinite, text stands in a column of numbers, or one of
        a pair of arguments is missing.

    Notes
    -----
    The order is that of [1]_: predictions by Kruskal-Wallis first, since only what reaches the predictions can hurt; then the features one by
    one, by Kolmogorov-Smirnov or chi-square, and how far by Hellinger. Kruskal-Wallis does not see changes that keep the mean rank, so
    Kolmogorov-Smirnov on the scores stands beside it. Everything is tested whatever the predictions say; the verdict keeps the order.

    Two families of tests, the features and the rest, take half of alpha each; ``p_adjusted`` is the p-value corrected within the family,
    times two if there are two. So a permutation p, which cannot be arbitrarily small, is not set against hundreds of features.

    The p of Kolmogorov-Smirnov is exact where the tables are small, given the ties if there are any, otherwise asymptotic: see
    `foldshift.shift.statistics.ks_method`. That of chi-square is from permutations (9,999; 1,999 above 50 categories) where an expected count is below 5.

    Odd input: a feature with one value in both tables has statistic 0 and p 1 and does not count as a test. A numeric feature with fewer than 5
    values in a table is not tested (NaN); whether it is missing is, unless it has no value at all. In a nominal feature missing is a category; a category that only one
    table has counts as any other, and is noted. Where all features are tested together, a missing number is the median of both tables, and
    a column says that it was missing.

    References
    ----------
    .. [1] Cieslak, D.A., Chawla, N.V. (2009). A framework for monitoring classifiers' performance: when and why failure occurs?
       Knowledge and Information Systems 18, 83-108. Figure 1, sections 5 and 6.
    """

    def __init__(
        self,
        train,
        test,
        *,
        categorical_features=None,
        feature_names=None,
        y_train=None,
        y_test=None,
        scores_train=None,
        scores_test=None,
        correct_train=None,
        correct_test=None,
        alpha=0.05,
        adjust="holm",
        multivariate=("energy",),
        n_permutations=999,
        rng=0,
    ):
        _check_level(alpha)
        if adjust not in ADJUST:
            raise ValueError(f"adjust={adjust!r} must be 'holm' or 'bh'")
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
        root = rng if isinstance(rng, (int, np.integer)) else int(rng.integers(2**63))
        self.columns = _matched_columns(train, test, categorical_features, feature_names)
        self.n_train, self.n_test = len(self.columns[0].train), len(self.columns[0].test)
        features, self.notes = [], []
        for column in self.columns:
            features += _feature_rows(column, _stream(root, column.name))
        tests = []
        if scores_train is not None:
            tests += _score_tests(scores_train, scores_test)
        else:
            self.notes.append("No scores given: whether the shift reaches the predictions was not tested.")
        if correct_train is not None:
            tests.append(_accuracy_test(correct_train, correct_test))
        if y_train is not None:
            tests.append(_class_test(y_train, y_test, self.n_train, self.n_test, _stream(root, "classes")))
        tests += _together(self.columns, multivariate, n_permutations, root)
        self.features, self.global_tests = _corrected(features, tests, alpha, adjust)
        wanted = int(2 * len(tests) / alpha)
        if n_permutations < wanted and any(row.about == "features together" for row in tests):
            self.notes.append(
                f"n_permutations={n_permutations} may be too few for the tests of all features together to reject; take {wanted} or more."
            )
        self.notes += [f"{row.name}: {row.note}." for row in self.features if row.note]
        self.verdict = _verdict(self)

    def to_rows(self):
        """All tests as dictionaries with the same keys, those of `GlobalTest` first; ``about`` of a feature is ``feature``."""
        rows = []
        for row in [*self.global_tests, *self.features]:
            values = row._asdict()
            rows.append({key: values.get(key, default) for key, default in _ROW.items()})
        return rows

    def __str__(self):
        lines = [
            f"Drift report: {self.n_train} training rows, {self.n_test} test rows, {_number(len(self.columns), 'feature')}; "
            f"level {self.alpha:g}, p corrected by {ADJUST[self.adjust]}",
            "",
            fill(f"Verdict: {self.verdict}", 118),
        ]
        for about, title in (("predictions", "Predictions"), ("accuracy", "Accuracy"), ("classes", "Target")):
            chosen = [row for row in self.global_tests if row.about == about]
            lines += ["", title, *(_global_line(row) for row in chosen)] if chosen else []
        lines += ["", "Features, those that moved and large effects first (p corrected, Hellinger above chance)"]
        ordered = sorted(self.features, key=lambda row: (not row.moved, -np.nan_to_num(row.effect, nan=-1), row.name))
        n_moved = sum(row.moved for row in ordered)
        width = min(max(len(row.name) for row in ordered), 40)
        lines += [_feature_line(row, width) for row in ordered[: n_moved + SHOWN]]
        if len(ordered) > n_moved + SHOWN:
            lines.append(f"  and {len(ordered) - n_moved - SHOWN} more that have not moved")
        chosen = [row for row in self.global_tests if row.about == "features together"]
        lines += ["", "All features together", *(_global_line(row) for row in chosen)] if chosen else []
        lines += (
            ["", "Notes", *(fill(note, 116, initial_indent="  ", subsequent_indent="    ") for note in self.notes)]
            if self.notes
            else []
        )
        return "\n".join(lines)


_ROW = {
    "name": "", "about": "feature", "kind": "", "test": "", "statistic": np.nan, "p_value": np.nan, "p_adjusted": np.nan, "effect": np.nan,
    "hellinger": np.nan, "hellinger_excess": np.nan, "moved": False, "change": "", "note": "", "n_train": None, "n_test": None,
}  # fmt: skip


# Tables


def _check_level(alpha):
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must be between 0 and 1, e.g. 0.05")


def _stream(root, name):
    return np.random.default_rng([root, zlib.crc32(name.encode())])


def _is_frame(table):
    return hasattr(table, "columns") and hasattr(table, "iloc")


def _names(table, role):
    names = [str(name) for name in table.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the {role} table has more than one column {', '.join(map(repr, twice))}; names must differ")
    return names


def _matched_columns(train, test, categorical_features, feature_names):
    """Columns of both tables, matched by name where both have names."""
    frames = [_is_frame(table) for table in (train, test)]
    tables = [table if is_frame else np.asarray(table) for table, is_frame in zip((train, test), frames)]
    for role, table in zip(("training", "test"), tables):
        if len(table.shape) != 2 or table.shape[1] == 0:
            raise ValueError(f"the {role} table has shape {table.shape}; expected (n_samples, n_features)")
        if len(table) < FEWEST_ROWS:
            raise ValueError(f"the {role} table has {len(table)} rows; a comparison needs at least {FEWEST_ROWS}")
    order = None
    if all(frames):
        names, test_names = _names(train, "training"), _names(test, "test")
        absent, extra = [name for name in names if name not in test_names], [name for name in test_names if name not in names]
        if absent or extra:
            parts = [
                f"{what} {', '.join(map(repr, some))}" for what, some in (("lacks", absent), ("has in addition", extra)) if some
            ]
            raise ValueError(f"the tables have different columns: the test table {' and '.join(parts)}; give both the same")
        order = [test_names.index(name) for name in names]
    elif tables[0].shape[1] != tables[1].shape[1]:
        raise ValueError(
            f"the training table has {tables[0].shape[1]} columns, the test table {tables[1].shape[1]}; give both the same"
        )
    else:
        framed = [_names(table, "given") for table, is_frame in zip((train, test), frames) if is_frame]
        names = framed[0] if framed else [f"feature {j}" for j in range(tables[0].shape[1])]
    if feature_names is not None:
        if any(frames) or len(feature_names) != len(names) or len(set(map(str, feature_names))) != len(names):
            raise ValueError(
                f"feature_names has {len(feature_names)} names; expected {len(names)} that differ, for arrays only (data frames have their own)"
            )
        names = [str(name) for name in feature_names]
    nominal = _nominal(categorical_features, names)
    columns = []
    for j, name in enumerate(names):
        a, b = _values(tables[0], j), _values(tables[1], j if order is None else order[j])
        given = nominal is not None and nominal[j]
        by_type = nominal is None and any(frames) and not all(_holds_numbers(values[~missing]) for values, missing in (a, b))
        columns.append(_nominal_column(name, a, b) if given or by_type else _numeric_column(name, a, b))
    return columns


def _nominal(categorical_features, names):
    """Mask of the nominal columns from names, positions or a mask; None where the types decide."""
    if categorical_features is None:
        return None
    given = np.asarray(categorical_features)
    if given.dtype.kind in "UO" and given.size:
        absent = [name for name in map(str, given) if name not in names]
        if absent:
            raise ValueError(
                f"categorical_features names {', '.join(map(repr, absent))}; columns are {', '.join(map(repr, names))}"
            )
        return np.isin(names, [str(name) for name in given])
    return nominal_columns(given if given.size else None, len(names))


def _values(table, j):
    """Values of a column as an array, and which are missing."""
    if _is_frame(table):
        column = table.iloc[:, j]
        missing = np.asarray(column.isna(), dtype=bool)
        return (np.asarray(column.astype(object)) if column.dtype.kind not in "fiuMm" else np.asarray(column)), missing
    values = table[:, j]
    if values.dtype.kind == "O":
        return values, np.array([value is None or value != value for value in values], dtype=bool)
    return values, np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)


def _holds_numbers(values):
    """Whether a column of a data frame is one of numbers; dates count, to be refused by name."""
    if values.dtype.kind in "fiuMm":
        return True
    return values.dtype.kind == "O" and all(
        isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) for value in values
    )  # fmt: skip


def _numeric_column(name, *parts):
    arrays = []
    for (values, missing), role in zip(parts, ("training", "test")):
        if values.dtype.kind in "Mm":
            raise ValueError(f"column {name!r} of the {role} table holds dates; turn them into numbers, e.g. days")
        out = np.full(len(values), np.nan)
        try:
            out[~missing] = values[~missing].astype(np.float64)
        except (TypeError, ValueError):
            wrong = next(value for value in values[~missing] if not _is_number(value))
            raise ValueError(
                f"column {name!r} of the {role} table holds {wrong!r}, which is no number; name it in categorical_features if it is nominal"
            ) from None
        if np.isinf(out).any():
            raise ValueError(f"column {name!r} of the {role} table holds infinite values; replace them or mark them as missing")
        arrays.append(out)
    return Column(name, "numeric", *arrays, [])


def _is_number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _nominal_column(name, *parts):
    labels = [[MISSING_LABEL if gone else value for value, gone in zip(values.tolist(), missing)] for values, missing in parts]
    categories = sorted(set(labels[0]) | set(labels[1]), key=lambda label: (isinstance(label, str), label if isinstance(label, str) else 0,
                                                                            0 if isinstance(label, str) else label))  # fmt: skip
    number = {label: code for code, label in enumerate(categories)}
    return Column(name, "nominal", *(np.array([number[label] for label in some], np.int64) for some in labels), categories)


# Tests of one feature


def _feature_rows(column, rng):
    if column.kind == "nominal":
        return [_nominal_row(column, rng)]
    a, b = column.train[~np.isnan(column.train)], column.test[~np.isnan(column.test)]
    rows = [_numeric_row(column.name, a, b)]
    if (len(a) < len(column.train) or len(b) < len(column.test)) and len(a) + len(b) > 0:
        gone = Column(
            column.name, "nominal", *(np.isnan(part).astype(np.int64) for part in column[2:4]), ["given", MISSING_LABEL]
        )
        name = column.name + MISSING
        rows.append(
            _nominal_row(gone, rng)._replace(name=name, kind="missing", change=_share_words("missing", *column[2:4]), note="")
        )
    return rows


def _numeric_row(name, a, b):
    row = FeatureDrift(name, "numeric", "KS", np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, False, "", "", len(a), len(b))
    few = [f"{len(part) or 'no'} value{'s' * (len(part) != 1)} in the {role} table" for part, role in ((a, "training"), (b, "test"))
           if len(part) < FEWEST_ROWS]  # fmt: skip
    if few:
        return row._replace(note=f"not tested, {' and '.join(few)}")
    pooled = np.concatenate([a, b])
    if pooled.min() == pooled.max():
        return row._replace(statistic=0.0, p_value=1.0, effect=0.0, hellinger=0.0, hellinger_excess=0.0, note="constant")
    d, p = _ks(a, b)
    distance, excess = _hellinger_excess(a, b, False)
    return row._replace(
        statistic=d, p_value=p, effect=d, hellinger=distance, hellinger_excess=excess, change=_numeric_words(a, b)
    )


def _nominal_row(column, rng):
    codes = np.concatenate([column.train, column.test])
    counts = [np.bincount(part, minlength=len(column.categories)) for part in (column.train, column.test)]
    note, words = "", ""
    if (codes == codes[0]).all():
        values = 0.0, 1.0, 0.0, 0.0, 0.0
        note = "constant"
    else:
        statistic, p, effect = _chi_square(*counts, rng)
        values = statistic, p, effect, *_hellinger_excess(column.train, column.test, True)
        note = _one_sided(column.categories, counts)
        words = _nominal_words(column.categories, counts)
    statistic, p, effect, distance, excess = values
    sizes = [len(part) for part in (column.train, column.test)]
    if MISSING_LABEL in column.categories:
        sizes = [size - int(count[column.categories.index(MISSING_LABEL)]) for size, count in zip(sizes, counts)]
    return FeatureDrift(
        column.name, "nominal", "chi-square", statistic, p, np.nan, effect, distance, excess, False, words, note, *sizes
    )


def _one_sided(categories, counts):
    """Categories that only one table has."""
    parts = []
    for here, there, role in ((0, 1, "training"), (1, 0, "test")):
        only = [str(label) for label, n, m in zip(categories, counts[here], counts[there]) if n and not m]
        if only:
            shown = ", ".join(map(repr, only[:5])) + (f" and {len(only) - 5} more" if len(only) > 5 else "")
            parts.append(f"only in the {role} table: {shown}")
    return "; ".join(parts)


def _chi_square(counts_a, counts_b, rng):
    """Chi-square of two rows of counts, its p, and total variation."""
    kept = counts_a + counts_b > 0
    table = np.array([counts_a[kept], counts_b[kept]], dtype=np.int64)
    totals, n_a, n = table.sum(axis=0), table[0].sum(), table.sum()
    expected = totals * (n_a / n)
    scale = expected * (1 - n_a / n)  # with the row of A fixed, B's deviations are the same: both rows' terms in one
    statistic = float(((table[0] - expected) ** 2 / scale).sum())
    effect = float(np.abs(table[0] / n_a - table[1] / (n - n_a)).sum() / 2)
    if min(expected.min(), (totals - expected).min()) >= FEW_EXPECTED:
        from foldshift.shift.statistics import chi_square

        return statistic, float(chi_square(table).p_value), effect
    n_draws = 9999 if len(totals) <= 50 else 1999
    drawn = rng.multivariate_hypergeometric(totals, n_a, size=n_draws, method="marginals")
    reached = ((drawn - expected) ** 2 / scale).sum(axis=1) >= statistic * (1 - 1e-12)
    return statistic, float((1 + reached.sum()) / (1 + n_draws)), effect


def _hellinger_excess(train, test, is_nominal):
    """Hellinger distance of one feature, and how far it is above that of two random parts of the same sizes."""
    from foldshift.shift.statistics import hellinger_features

    found = hellinger_features(train[:, None], test[:, None], n_bins=BINS, categorical_features=[0] if is_nominal else None)
    return float(found.distance[0]), float(found.excess[0])


def _ks(a, b):
    """Kolmogorov and Smirnov's D and its two-sided p."""
    from foldshift.shift.ks import ks_statistic
    from foldshift.shift.statistics import ks_p_value, tie_sizes

    d = ks_statistic(a, b)
    return d, ks_p_value(d, len(a), len(b), ties=tie_sizes(a, b))


def _numeric_words(a, b):
    spread = a.std(ddof=1)
    if spread == 0:
        return f"{a[0]:.4g} in training, mean {b.mean():.4g} in the test table"
    shift, ratio = (b.mean() - a.mean()) / spread, b.std(ddof=1) / spread
    words = (
        f"mean {'up' if shift > 0 else 'down'} by {abs(shift):.2f} standard deviations" if abs(shift) >= 0.005 else "same mean"
    )
    return words + (f", spread times {ratio:.2f}" if not 0.8 < ratio < 1.25 else "")


def _nominal_words(categories, counts):
    shares = [part / part.sum() for part in counts]
    most = int(np.argmax(np.abs(shares[1] - shares[0])))
    return f"{str(categories[most])!r} from {_percent(shares[0][most])} to {_percent(shares[1][most])}"


def _share_words(what, train, test):
    return f"{what}: {_percent(np.isnan(train).mean())} to {_percent(np.isnan(test).mean())}"


# Tests of predictions, accuracy, classes, and all features together


def _score_tests(train, test):
    parts = [np.asarray(part, dtype=np.float64) for part in (train, test)]
    parts = [part[:, None] if part.ndim == 1 else part for part in parts]
    for role, part in zip(("train", "test"), parts):
        if part.ndim != 2 or len(part) < FEWEST_ROWS or not np.isfinite(part).all() or part.shape[1] != parts[0].shape[1]:
            raise ValueError(
                f"scores_{role} has shape {part.shape}; expected (n,) or (n, n_classes), the same classes in both, at least {FEWEST_ROWS} "
                "rows, finite numbers"
            )
    if parts[0].shape[1] == 2:
        parts = [part[:, 1:] for part in parts]
    many = parts[0].shape[1] > 1
    tests = []
    for j in range(parts[0].shape[1]):
        tests += _one_score(parts[0][:, j], parts[1][:, j], f" of class {j}" if many else "")
    return tests


def _one_score(a, b, of):
    from scipy.stats import rankdata

    from foldshift.shift.statistics import kruskal_wallis

    result = kruskal_wallis(a, b)
    ranks = rankdata(np.concatenate([a, b]))[len(a) :]
    above = float((ranks.mean() - (len(b) + 1) / 2) / len(a))
    d, p_ks = _ks(a, b)
    words = f"a test score is above a training score with probability {above:.2f}"
    return [
        GlobalTest(
            f"Kruskal-Wallis on the scores{of}", "predictions", result.statistic, result.p_value, np.nan, above, False, words
        ),
        GlobalTest(
            f"KS on the scores{of}", "predictions", d, p_ks, np.nan, d, False, f"mean {a.mean():.3f}, then {b.mean():.3f}"
        ),
    ]


def _accuracy_test(train, test):
    from foldshift.shift.statistics import two_proportion

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


def _class_test(y_train, y_test, n_train, n_test, rng):
    parts = []
    for role, y, n in (("train", y_train, n_train), ("test", y_test, n_test)):
        y = np.asarray(y)
        if y.shape != (n,):
            raise ValueError(f"y_{role} has shape {y.shape}; the table has {n} rows")
        values, missing = _values(y[:, None], 0)
        if missing.any():
            raise ValueError(f"y_{role} holds {missing.sum()} missing values; drop those rows")
        parts.append((values, missing))
    quantity = _is_quantity(parts)
    column = _numeric_column("target", *parts) if quantity else _nominal_column("target", *parts)
    row = _feature_rows(column, rng)[0]
    name = "KS on the target" if quantity else "chi-square on the classes"
    words = row.change + (f"; {row.note}" if row.note else "")
    return GlobalTest(name, "classes", row.statistic, row.p_value, np.nan, row.effect, False, words)


def _is_quantity(parts):
    """Whether a target is a quantity and not classes: numbers that are not all whole."""
    return all(values.dtype.kind in "fiu" for values, _ in parts) and any((values % 1 != 0).any() for values, _ in parts)


def _together(columns, wanted, n_permutations, root):
    """Tests of all features at once; none where there is nothing to compare."""
    from foldshift.shift.two_sample import classifier_two_sample, energy_distance_test, mmd

    functions = {"energy": energy_distance_test, "c2st": classifier_two_sample, "mmd": mmd}
    blocks, nominal = [], []
    for column in columns:
        values = np.concatenate([column.train, column.test]).astype(np.float64)
        missing = np.isnan(values)
        if not missing.all():
            blocks.append(np.where(missing, np.median(values[~missing]), values))
            nominal.append(column.kind == "nominal")
        if missing.any() and not missing.all():
            blocks.append(missing.astype(np.float64))
            nominal.append(True)
    if not blocks:
        return []
    rows, n_train = np.column_stack(blocks), len(columns[0].train)
    tests = []
    for name in wanted:
        rng = _stream(root, name)
        result = functions[name](
            rows[:n_train], rows[n_train:], rng, n_permutations=n_permutations, categorical_features=np.array(nominal)
        )
        words = f"{result.n_rows[0]} and {result.n_rows[1]} rows, effect {result.effect:.3f}"
        tests.append(
            GlobalTest(
                MULTIVARIATE[name], "features together", result.statistic, result.p_value, np.nan, result.effect, False, words
            )
        )
    return tests


def _corrected(features, tests, alpha, adjust):
    """Rows with p corrected within features and within the rest, times two where there are both."""
    from foldshift.shift.statistics import adjust_p

    counted = [i for i, row in enumerate(features) if not np.isnan(row.p_value) and row.note != "constant"]
    families = 2 if counted and tests else 1
    out = []
    for rows, chosen in ((features, counted), (tests, list(range(len(tests))))):
        rows = [row._replace(p_adjusted=row.p_value) for row in rows]
        adjusted = adjust_p(np.array([rows[i].p_value for i in chosen]), adjust) if chosen else []
        for i, p in zip(chosen, adjusted):
            p = min(1.0, families * float(p))
            rows[i] = rows[i]._replace(p_adjusted=p, moved=bool(p < alpha))
        out.append(rows)
    return out


# Folds


class FoldFeature(NamedTuple):
    """One feature of a `FoldDrift`.

    Attributes
    ----------
    name : str
    kind : str
        ``numeric``, ``nominal`` or ``target``.
    distance, distance_chance : float
        Mean over all folds of the largest difference in probability between training and test part (KS distance, or total variation), and
        the same for random folds of the same sizes.
    failing, failing_chance : float
        Share of the folds in which KS or chi-square rejects at alpha, and the same for random folds. The latter can be away from alpha: few
        values and small folds make the tests coarse.
    p_more, p_less : float
        Chance that random cuts have a mean distance as large, or as small.
    p_adjusted : float
        The smaller one times two, corrected over all features and the target by Holm.
    verdict : str
        ``more``: the cut shifts this feature; ``less``: the cut balances it better than chance; ``as chance``.
    """

    name: str
    kind: str
    distance: float
    distance_chance: float
    failing: float
    failing_chance: float
    p_more: float
    p_less: float
    p_adjusted: float
    verdict: str


class FoldDrift(NamedTuple):
    """Result of `fold_drift`; ``str()`` of it is a table to read.

    Attributes
    ----------
    features : list of FoldFeature
        In the order of the columns, then the target.
    p_values : ndarray of shape (n_seeds, n_folds, n_rows), dtype float64
        p of KS or chi-square in every fold, one for each row of `features`; NaN for a fold that is empty or holds all samples.
    phi, jaccard : ndarray of shape (n_rows, n_rows), dtype float64
        Co-failure over all folds of all seeds, `foldshift.shift.failures`; NaN for what never or (phi) always fails.
    alpha : float
    n_random : int
        Random cuts that say what chance gives.
    verdict : str
        One sentence.
    """

    features: list
    p_values: np.ndarray
    phi: np.ndarray
    jaccard: np.ndarray
    alpha: float
    n_random: int
    verdict: str

    def to_rows(self):
        """One dictionary for each feature."""
        return [row._asdict() for row in self.features]

    def __str__(self):
        width = min(max(len(row.name) for row in self.features), 40)
        lines = [
            f"Drift of folds: {self.p_values.shape[1]} folds, {_number(self.p_values.shape[0], 'seed')}; level {self.alpha:g}, Holm; "
            f"chance from {self.n_random} random cuts",
            "",
            fill(f"Verdict: {self.verdict}", 118),
            "",
            f"  {'':<{width}}  distance  chance   failing  chance   corrected p",
        ]
        for row in sorted(self.features, key=lambda row: (row.p_adjusted, row.name)):
            mark = "" if row.verdict == AS_CHANCE else f"  << {row.verdict} than chance"
            lines.append(
                f"  {_short(row.name, width):<{width}}  {row.distance:8.4f}  {row.distance_chance:6.4f}  {_percent(row.failing):>8}  "
                f"{_percent(row.failing_chance):>6}   {_p(row.p_adjusted)}{mark}"
            )
        return "\n".join(lines)


def fold_drift(X, y, folds, n_folds=None, *, categorical_features=None, feature_names=None, alpha=0.05, n_random=None, rng=0):
    """Which features does a cut into folds shift: training part against test part of every fold, and random cuts beside them.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        Inputs without missing values.
    y : array-like of shape (n_samples,), optional
        Target; it is looked at as one more feature. Floats that are not all whole are a quantity, anything else classes. None: without.
    folds : array-like of shape (n_seeds, n_samples) or (n_samples,), integer
        Fold of every sample from 0, one row per seed.
    n_folds : int, optional
        Number of folds; by default the largest fold number plus one.
    categorical_features, feature_names
        As of `DriftReport`.
    alpha : float, default=0.05
        Level at which a fold fails a test, and of the verdict.
    n_random : int, optional
        Random cuts: rows of `folds`, shuffled, so that they have the same sizes. Time grows with it. By default 1,999, or more where there are
        so many features that the smallest possible p would not survive the correction (one seed only).
    rng : numpy.random.Generator or int, default=0
        Source of the random cuts.

    Returns
    -------
    drift : FoldDrift

    Raises
    ------
    ValueError
        If the shapes do not fit, a value is missing or infinite, there are fewer than 5 samples or two folds, or `n_random` is below 99.

    Notes
    -----
    The folds of one cut are no independent samples, and those of different seeds share all their rows: the share that fails says nothing by
    itself. So the whole cut is compared with random cuts of the same sizes: ``p_more`` is exact for one seed; for several, means of as many
    random cuts are drawn 9,999 times or more from the `n_random`. Cuts by the classes or the neighbourhood can be closer than chance,
    which is said too. Memory grows with ``n_random * n_samples`` bytes.

    D and chi-square of every fold are those of two samples. The p of D is asymptotic, since it is only to be below alpha or not; how
    often that is by chance is counted and not assumed.
    """
    _check_level(alpha)
    if n_random is not None and (isinstance(n_random, bool) or not isinstance(n_random, int | np.integer) or n_random < 99):
        raise ValueError(f"n_random={n_random!r} must be an integer of at least 99")
    rng = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
    columns = _matched_columns(X, X, categorical_features, feature_names)
    if y is not None:
        columns.append(_target_column(np.asarray(y), len(columns[0].train)))
    for column in columns:
        if np.isnan(column.train).any() or MISSING_LABEL in column.categories:
            raise ValueError(f"column {column.name!r} holds missing values; drop or impute them first")
    folds = np.atleast_2d(folds)
    n = len(columns[0].train)
    if folds.ndim != 2 or folds.shape[1] != n or folds.dtype.kind not in "ui" or folds.size == 0 or folds.min() < 0:
        raise ValueError(f"folds have shape {folds.shape} and type {folds.dtype}; expected (n_seeds, {n}), integers from 0")
    n_folds = int(folds.max()) + 1 if n_folds is None else n_folds
    if n_folds < 2 or folds.max() >= n_folds:
        raise ValueError(f"n_folds={n_folds!r} must be at least 2 and above the largest fold, {folds.max()}")
    n_seeds = len(folds)
    enough = int(np.ceil(4 * len(columns) / alpha)) - 1  # the smallest corrected p, two-sided, is then half of alpha
    if n_random is None:
        n_random = max(1999, enough if n_seeds == 1 else 0)
    folds = folds.astype(fold_dtype(n_folds))
    cuts = rng.permuted(np.sort(folds, axis=1)[np.arange(n_random) % n_seeds], axis=1)
    sizes, random_sizes = (np.stack([np.bincount(cut, minlength=n_folds) for cut in some]) for some in (folds, cuts))
    nulls, rows, p_values = {}, [], np.empty((n_seeds, n_folds, len(columns)))
    picks = None if n_seeds == 1 else rng.integers(n_random, size=(max(9999, enough), n_seeds))
    for j, column in enumerate(columns):
        distance, p_values[:, :, j] = _fold_tests(column, folds, sizes)
        # A random cut knows no rows, only how many values are equal: columns without ties share one null distribution.
        ties = (column.kind, np.unique(column.train, return_counts=True)[1].tobytes())
        if ties not in nulls:
            nulls[ties] = _fold_tests(column._replace(train=np.sort(column.train)), cuts, random_sizes, in_order=True)
        random_distance, random_p = nulls[ties]
        found, by_cut = np.nanmean(distance), np.nanmean(random_distance, axis=1)
        null = by_cut if picks is None else by_cut[picks].mean(axis=1)
        slack = 1e-12 * max(abs(found), 1e-300)
        p_more, p_less = ((1 + (side * (null - found) >= -slack).sum()) / (1 + len(null)) for side in (1, -1))
        kind = "target" if y is not None and j == len(columns) - 1 else column.kind
        shares = _failing_share(p_values[:, :, j], alpha), _failing_share(random_p, alpha)
        rows.append(
            FoldFeature(
                column.name, kind, float(found), float(by_cut.mean()), *shares, float(p_more), float(p_less), 1.0, AS_CHANCE
            )
        )
    return _judged(rows, p_values, alpha, n_random)


def _target_column(y, n):
    if y.shape != (n,):
        raise ValueError(f"y has shape {y.shape}; the table has {n} rows")
    values = _values(y[:, None], 0)
    return _numeric_column("target", values, values) if _is_quantity([values]) else _nominal_column("target", values, values)


def _fold_tests(column, folds, sizes, in_order=False):
    """Distance and p of every fold, of the sizes given, (n_seeds, n_folds): D, or total variation with the p of chi-square."""
    from foldshift.shift.ks import fold_ks, fold_ks_in_order
    from foldshift.shift.statistics import ks_p_value

    n, n_folds = folds.shape[1], sizes.shape[1]
    if column.kind == "numeric":
        if in_order:  # without the copy of all folds in the order of the values
            distance = fold_ks_in_order(folds, np.append(np.flatnonzero(np.diff(column.train)) + 1, n), n_folds)
        else:
            distance = fold_ks(column.train, folds, n_folds)
        return distance, ks_p_value(distance, n - sizes, sizes, "asymptotic")
    n_codes = len(column.categories)
    totals = np.bincount(column.train, minlength=n_codes)
    counts = np.stack([np.bincount(cut.astype(np.int64) * n_codes + column.train, minlength=n_folds * n_codes) for cut in folds])
    counts = counts.reshape(len(folds), n_folds, n_codes)
    size = sizes[:, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.abs(counts * n - totals * size).sum(axis=2) / (2 * sizes * (n - sizes))
        statistic = ((counts - totals * size / n) ** 2 / (totals * size / n * (1 - size / n))).sum(axis=2)
    return distance, np.where(np.isnan(statistic), np.nan, chi2.sf(statistic, n_codes - 1) if n_codes > 1 else 1.0)


def _failing_share(p_values, alpha):
    from foldshift.shift.failures import failing

    return float(np.nanmean(failing(p_values, alpha)))


def _judged(rows, p_values, alpha, n_random):
    from foldshift.shift.failures import failing, jaccard, phi
    from foldshift.shift.statistics import adjust_p

    adjusted = adjust_p(np.array([min(1.0, 2 * min(row.p_more, row.p_less)) for row in rows]), "holm")
    rows = [
        row._replace(
            p_adjusted=float(p),
            verdict=AS_CHANCE if p >= alpha else "more" if row.p_more < row.p_less else "less",
        )
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
        "; ".join(parts) if parts else f"None of {_number(len(rows), 'feature')} differs from a random cut of the same sizes"
    )
    return FoldDrift(rows, p_values, phi(fails), jaccard(fails), alpha, n_random, verdict + ".")


# Words


def _verdict(report):
    moved = sorted((row for row in report.features if row.moved), key=lambda row: (-row.effect, row.name))
    by_about = {}
    for row in report.global_tests:
        by_about.setdefault(row.about, []).append(row)
    n_tests = sum(not np.isnan(row.p_value) and row.note != "constant" for row in report.features) + len(report.global_tests)
    if not moved and not any(row.moved for row in report.global_tests):
        if n_tests == 0:
            return "Nothing could be tested: every feature is constant or has too few values."
        smallest = np.nanmin([row.p_adjusted for row in [*report.features, *report.global_tests]])
        tests = "the one test does not reject" if n_tests == 1 else f"none of {n_tests} tests rejects"
        return f"No shift found: {tests} at {report.alpha:g} after correction (smallest corrected p {_p(smallest)})."
    clauses = []
    if "predictions" in by_about:
        tests = [row.name.split(" ")[0] for row in by_about["predictions"] if row.moved]
        if tests:
            seen = "Kruskal-Wallis" if "Kruskal-Wallis" in tests else "by KS alone: their mean rank has not"
            clauses.append(f"the predicted scores moved ({seen})")
        else:
            clauses.append("the predicted scores have not moved")
    if any(row.moved for row in by_about.get("accuracy", [])):
        row = by_about["accuracy"][0]
        clauses.append(f"accuracy {'fell' if row.effect < 0 else 'rose'} by {abs(row.effect):.3f}")
    if any(row.moved for row in by_about.get("classes", [])):
        clauses.append(f"the target moved ({by_about['classes'][0].change})")
    if moved:
        n_moved = len({row.name.removesuffix(MISSING) if row.kind == "missing" else row.name for row in moved})
        shown = ", ".join(f"{row.name} ({row.change})" for row in moved[:3])
        more = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
        clauses.append(f"{n_moved} of {_number(len(report.columns), 'feature')} moved: {shown}{more}")
    elif any(row.moved for row in by_about.get("features together", [])):
        clauses.append(
            "no feature moved by itself, but the features together did: look at their dependence, or at many small changes"
        )
    else:
        clauses.append("no feature moved")
    return "Shift: " + "; ".join(clauses) + "."


def _global_line(row):
    return f"  {row.name}: {row.statistic:.4g}, p {_p(row.p_value)}, corrected {_p(row.p_adjusted)}; {row.change}{'  << moved' * row.moved}"


def _feature_line(row, width):
    name = _short(row.name, width)
    if np.isnan(row.p_value) or row.note == "constant":
        return f"  {name:<{width}}  {row.note}"
    return (
        f"  {name:<{width}}  {row.test:<10} {row.statistic:8.4g}  p {_p(row.p_adjusted):<7} effect {row.effect:.3f}  "
        f"Hellinger {row.hellinger_excess:+.3f}  {row.change}{'  << moved' * row.moved}"
    )


def _p(p):
    return "NaN" if np.isnan(p) else f"{p:.3f}" if p >= 0.001 else f"{p:.0e}" if p > 0 else "0"


def _percent(share):
    return f"{100 * share:.3g} %"


def _short(name, width):
    return name if len(name) <= width else name[: width - 3] + "..."


def _number(n, what):
    return f"{n} {what}{'s' * (n != 1)}"
