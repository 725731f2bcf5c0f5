"""Code that gives the printed score: written for a notebook, and run when the page is written."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foldshift.core.errors import LearnerError
from foldshift.core.user_code.guarded_process import call_guarded
from foldshift.inference.intervals.score_names import score_name

if TYPE_CHECKING:
    from foldshift.advice.data import Data
    from foldshift.advice.result import Advice
    from foldshift.advice.score import Score
    from foldshift.advice.structure.both_cuts import BothCuts
    from foldshift.core.types import Estimator

LONG_ENOUGH = 1e9  # seconds that stand for no budget
# Scorer of scikit-learn, and the printed score from the mean over rows.
OF_ROWS = {
    "error rate": ("accuracy", "1 - {}"),
    "accuracy": ("accuracy", "{}"),
    "log loss": ("neg_log_loss", "-{}"),
    "Brier score": ("neg_brier_score", "-{}"),
    "root mean squared error": ("neg_mean_squared_error", "np.sqrt(-{})"),
    "mean squared error": ("neg_mean_squared_error", "-{}"),
    "mean absolute error": ("neg_mean_absolute_error", "-{}"),
}


class Ran(NamedTuple):
    """Result of running the code: the score it gave, or the reason why there is none."""

    value: float
    is_same: bool  # whether it is the printed score, and not by chance
    said: str  # one sentence


def score_code(
    cv_line: str, score: Score, data: Data, learner: Estimator, both: BothCuts | None = None, lines_before: tuple[str, ...] = ()
) -> str:
    """Write the code that makes the printed score of X, y and learner; with groups and scorer where there are any."""
    has_groups = data.groups is not None if both is None else both.has_groups
    groups, prelude = ", groups=groups" if has_groups else "", list(lines_before)
    numpy = ["import numpy as np"] if any("np." in line for line in prelude) else []
    split = f"cv.split(X, y{', groups' if groups else ''})"
    if score.kind in ("share", "loss"):
        scorer, shown = OF_ROWS[score.name]
        scorer, brier = f'"{scorer}"', list[str]()
        if score.name == "Brier score" and len(data.classes) == 2:  # by name, scikit-learn refuses labels that are texts
            label = np.unique(data.y).tolist()[-1]
            scorer = f'make_scorer(brier_score_loss, response_method="predict_proba", pos_label={label!r})'
            shown, brier = "{}", ["from sklearn.metrics import brier_score_loss, make_scorer"]
        lines = [
            "import numpy as np",
            *brier,
            "from sklearn.model_selection import cross_val_score",
            "",
            "import foldshift.partition",
            "",
            *prelude,
            f"cv = {cv_line}",
            f"scores = cross_val_score(learner, X, y, cv=cv, scoring={scorer}{groups})",
            f"sizes = [len(test) for _, test in {split}]  # every row counts alike",
            f"score = {shown.format('np.average(scores, weights=sizes)')}",
        ]
    elif score.kind == "pooled" and both is not None:
        lines = _by_splits(prelude, cv_line, score, data, learner, groups)
    elif score.kind == "pooled":
        asked = f'method="{_method(score, learner)}"'
        column = "[:, -1]" if "proba" in asked else ""
        label = f", pos_label={_positive(score, data)!r}" if score_name(score.metric).one_class else ""
        lines = [
            "from sklearn.model_selection import PredefinedSplit, cross_val_predict",
            "",
            "import foldshift.partition",
            "from foldshift.inference import score_interval",
            "",
            *prelude,
            f"cv = {cv_line}",
            f"folds = foldshift.partition.as_folds(cv, X, y{groups})  # a row for each repetition",
            f"predictions = [cross_val_predict(learner, X, y, cv=PredefinedSplit(row), {asked}){column} for row in folds]",
            f'score = score_interval(y, predictions, "{score.metric}", folds=folds{groups}{label}).estimate',
        ]
    else:
        sign = "" if score.higher_is_better else "-"
        lines = [
            *numpy,
            "from sklearn.model_selection import cross_val_score",
            "",
            "import foldshift.partition",
            "",
            *prelude,
            f"cv = {cv_line}",
            f"score = {sign}cross_val_score(learner, X, y, cv=cv, scoring=scorer{groups}).mean()",
        ]
    if any("foldshift.advice." in line for line in prelude):
        lines.insert(lines.index("import foldshift.partition"), "import foldshift.advice")
    return "\n".join([*lines, "print(score)"])


def _by_splits(prelude: list[str], cv_line: str, score: Score, data: Data, learner: Estimator, groups: str) -> list[str]:
    """Lines for a pooled score of a cut that does not train on all other rows."""
    method = _method(score, learner)
    label = f", pos_label={_positive(score, data)!r}" if score_name(score.metric).one_class else ""
    column = "[:, -1]" if "proba" in method else ""
    return [
        "import numpy as np",
        "from sklearn.base import clone",
        "from sklearn.utils import _safe_indexing as rows",
        "",
        "import foldshift.partition",
        "from foldshift.inference import score_interval",
        "",
        *prelude,
        f"cv = {cv_line}",
        "tested, folds, predicted = [], [], []",
        f"for fold, (train, test) in enumerate(cv.split(X, y{', groups' if groups else ''})):",
        "    model = clone(learner).fit(rows(X, train), rows(y, train))",
        f"    predicted.extend(model.{method}(rows(X, test)){column})",
        "    tested.extend(test)",
        "    folds.extend([fold] * len(test))",
        f'score = score_interval(np.asarray(y)[tested], np.asarray(predicted), "{score.metric}", folds=folds{label}).estimate',
    ]


def _method(score: Score, learner: Estimator) -> str:
    if score.method == "predict":
        return "predict"
    return "decision_function" if hasattr(learner, "decision_function") else "predict_proba"


def _positive(score: Score, data: Data) -> Any:
    """Class that counts as positive: 1 where labels are predicted and it is one, else the last."""
    classes = np.unique(data.y).tolist()
    return 1 if 1 in classes and score.method == "predict" else classes[-1]


def run_code(code: str, advice: Advice, learner: Estimator) -> float:
    """Run the code in this process, and return its score."""
    data, declared = advice.data, advice.declared
    names: dict[str, Any] = {"X": data.X, "y": data.y, "learner": learner, "groups": data.groups, "scorer": advice.score.scorer}
    names |= {"times": declared.times, "coordinates": declared.coordinates, "subsets": declared.subsets}
    if data.row_names is not None:
        names["row_names"] = np.asarray(data.row_names.categories, dtype=object)[data.row_names.train]
    names["print"] = lambda *_: None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, names)
    return float(names["score"])


def ran(advice: Advice, learner: Estimator, isolate: bool) -> Ran:
    """Run the code of an advice, in a copy of this process, and compare its score with the printed one."""
    if advice.stopped:
        return Ran(np.nan, False, "The code was not run: the budget was used up.")
    seconds = advice.budget or LONG_ENOUGH
    try:
        value = call_guarded(lambda: run_code(advice.code, advice, learner), "the code of the page", seconds if isolate else None)
    except (LearnerError, ValueError, TypeError) as error:
        return Ran(np.nan, False, f"The code was run and failed: {' '.join(str(error).split())}.")
    text, printed = advice.score.text(value), advice.score.text(advice.interval.estimate)
    gave = f"This code was run when the page was written, and gave {text}"
    if np.isclose(value, advice.interval.estimate, rtol=1e-6, atol=0, equal_nan=True):
        return Ran(value, True, f"{gave}.")
    instead = "again by chance" if text == printed else f"in place of {printed}"
    return Ran(value, False, f"{gave} {instead}: the learner draws at random without a seed; set its random_state.")
