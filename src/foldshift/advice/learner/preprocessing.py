"""Learners for raw tables: texts are coded and gaps filled inside every training part."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import parallel_config
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from foldshift.core.errors import DataError, unknown
from foldshift.core.estimators import check_predictor
from foldshift.core.imports import import_object, is_own
from foldshift.core.remedies import Given, Remedy
from foldshift.core.user_code.answers import one_line
from foldshift.core.user_code.guarded_process import call_guarded
from foldshift.shift.table_versions import as_table, is_frame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    import pandas as pd

    from foldshift.core.types import Estimator, ObjectArray, TableLike, Task

MOST_CATEGORIES = 30
LARGE = 50_000  # cells of a table from which on threads pay for themselves
MANY_ROWS = 20_000  # from which on a forest takes minutes, and boosting on histograms a second
SEED = 0  # of learners and folds, unless the user gives another one


def prepared(learner: Estimator, X: TableLike) -> Estimator:
    """Put a learner behind a plain preparation: gaps are filled by the median, texts become indicators, dates are left out.

    The preparation is learned inside every training part, as it must be. Only the types of the columns of `X` count; gaps and
    texts of sparse matrices are left to the learner.

    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"age": [30, None, 50, 60], "sex": ["m", "f", "f", None]})
    >>> prepared(LogisticRegression(), X).fit(X, [0, 1, 0, 1]).predict(X).shape
    (4,)
    """
    if not hasattr(X, "toarray"):
        X = as_table(X, "given")
    if not is_frame(X):
        return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), learner)
    numbers = [name for name in X.columns if X[name].dtype.kind in "biuf"]
    dates = [name for name in X.columns if X[name].dtype.kind in "Mm"]
    texts = [name for name in X.columns if name not in numbers and name not in dates]
    coded = (
        SimpleImputer(strategy="constant", fill_value="missing", missing_values=None),
        OneHotEncoder(handle_unknown="ignore", max_categories=MOST_CATEGORIES, sparse_output=False),
    )
    filled = SimpleImputer(strategy="median", keep_empty_features=True)
    parts = [("numbers", filled, numbers), ("texts", make_pipeline(FunctionTransformer(_as_texts), *coded), texts)]
    # Of a table from which a column was left out, such as one that gives the target away, the others are prepared alike.
    kept = [(name, step, partial(_present, names)) for name, step, names in parts if names]
    return make_pipeline(ColumnTransformer(kept), learner)


def _present(names: Sequence[str], X: TableLike) -> list[str]:
    """Names of the columns that a table has."""
    return [name for name in names if name in X.columns]


def _as_texts(X: pd.DataFrame) -> ObjectArray:
    """Turn every value into text, a gap into None."""
    gone = X.isna().to_numpy()
    values = X.astype(object).to_numpy().copy()
    values[~gone] = [str(value) for value in values[~gone]]
    values[gone] = None
    return values


def usual(task: Task, random_state: int = SEED, n_rows: int = 0) -> Estimator:
    """Make the default learner: a random forest of 100 trees, or boosted trees on histograms for `n_rows` above `MANY_ROWS`."""
    if n_rows > MANY_ROWS:
        boosted = HistGradientBoostingClassifier if task == "classification" else HistGradientBoostingRegressor
        return boosted(random_state=random_state)
    forest = RandomForestClassifier if task == "classification" else RandomForestRegressor
    return forest(100, min_samples_leaf=1 if task == "classification" else 3, random_state=random_state)


def on_all_cores(size: int) -> AbstractContextManager[Any]:
    """Context in which learners use threads on all cores, if the table (`size` cells) is large enough to pay for it."""
    return parallel_config("threading", n_jobs=-1) if size >= LARGE else nullcontext()


def baseline(task: Task) -> Estimator:
    """Make a learner that ignores the inputs: it predicts the largest class, or the mean."""
    return DummyClassifier(strategy="prior") if task == "classification" else DummyRegressor()


def imported(path: str, task: Task, setting: str = "learner", seconds: float | None = None) -> Estimator:
    """Make a learner by scikit-learn's name or an import path, with its defaults, and with random state 0 if it takes one.

    `setting` is the option that named it, for messages. With `seconds`, a learner that is not of scikit-learn or this library is
    first made in a process of its own, so that one that hangs or ends its process there is refused.
    """
    if path.startswith((".", "/")) or "/" in path or path.endswith(".py"):
        name = path.rpartition("/")[2].removesuffix(".py")
        raise DataError(Given(setting, path), f" is a file; name a learner in it by its import path: {name}.ClassName")
    if "." not in path:
        path = _by_name(path, task, setting)
    if is_own(path):
        call_guarded(lambda: bool(_made(path)), f"learner {path!r}", seconds)
    learner = _made(path)
    if "random_state" in learner.get_params() and learner.get_params()["random_state"] is None:
        learner.set_params(random_state=SEED)
    return learner


def _made(path: str) -> Estimator:
    try:
        made = import_object(path, "learner")
    except ValueError as error:
        raise DataError(str(error)) from error
    try:
        learner = made() if isinstance(made, type) or callable(made) else made
    except (Exception, SystemExit) as error:
        raise DataError(
            f"learner {path!r} could not be made without arguments: {one_line(error)}; name a function that makes it"
        ) from error
    if not hasattr(learner, "fit") or not hasattr(learner, "predict"):
        raise DataError(f"learner {path!r} is a {type(learner).__name__} without fit and predict; name a scikit-learn estimator")
    check_predictor(learner, f"learner {path!r}")
    return learner


def _by_name(name: str, task: Task, setting: str) -> str:
    """Find the import path of a learner of scikit-learn."""
    from sklearn.utils import all_estimators

    kind = "classifier" if task == "classification" else "regressor"
    known = {found: f"{made.__module__}.{found}" for found, made in all_estimators(kind)}
    if name not in known and name in dict(all_estimators("regressor" if kind == "classifier" else "classifier")):
        holds = "classes, and {} predicts numbers" if task == "classification" else "numbers, and {} predicts classes"
        stem = name.removesuffix("Classifier").removesuffix("Regressor").removesuffix("CV")
        alike = [
            stem + kind.capitalize(),
            stem + "C",
            stem.removesuffix("C") + "R",
            stem.removesuffix("R") + "C",
            stem,
            "Logistic" * (kind == "classifier") + "LinearRegression",
        ]
        found = next((one for one in alike if one in known and one != name), "LogisticRegression")
        raise DataError(f"the target holds {holds.format(name)}; take ", Remedy(setting, found), ", or name another target")
    if name not in known:
        raise DataError(unknown("learner", name, known, "Or give an import path, such as sklearn.linear_model.Ridge."))
    return known[name]


def has_gaps_or_texts(X: TableLike) -> bool:
    """Return True if a table holds texts, dates or missing values, which most learners refuse."""
    if hasattr(X, "toarray"):
        return False
    table: TableLike = as_table(X, "given")
    if is_frame(table):
        return bool(table.isna().to_numpy().any() or any(dtype.kind not in "biuf" for dtype in table.dtypes))
    return table.dtype.kind not in "biuf" or bool(table.dtype.kind == "f" and np.isnan(table).any())
