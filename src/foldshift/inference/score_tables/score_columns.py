"""Columns of a table of scores: which one holds the learner, the item, the fold ..., by name or as the caller says."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from foldshift.core.errors import DataError
from foldshift.core.remedies import Given, Remedy
from foldshift.inference.intervals.score_names import ALIASES, SCORES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

NAMES = {
    "learner": "learner model method algorithm classifier regressor estimator system approach learnername modelname",
    "item": "item itemid row rowid id example exampleid instance instanceid question questionid sample sampleid case caseid "
    "prompt promptid",
    "fold": "fold folds foldid cvfold split splitid",
    "repeat": "repeat repetition rep seed run replicate trial",
    "dataset": "dataset datasetname data task benchmark problem",
    "score": "score scores value metricvalue scorevalue result correct iscorrect right hit",
    "metric": "metric metricname measure scoring scorer",
    "truth": "ytrue truth groundtruth truelabel truelabels trueclass truevalue goldlabel gold goldanswer actual",
    "prediction": "ypred prediction predictions predicted pred predictedlabel predictedclass predictedvalue",
    "n_train": "ntrain trainsize trainrows trainingrows",
    "n_test": "ntest testsize testrows",
}
ROLES = {name: role for role, names in NAMES.items() for name in names.split()}
MAYBE_TRUE = {"label", "labels", "target", "y", "class"}  # names of true values, or of something else
HIGHER = (
    "accuracy acc correct right hit auc auroc auprc f1 precision recall sensitivity specificity r2 kappa mcc corrcoef jaccard "
)
HIGHER += "iou dice bleu rouge em match exact ap map ndcg mrr success win wins reward neg likelihood"
LOWER = "error errors err rmse mse mae mape loss losses brier deviance perplexity wer cer rank wrong failure failures hinge"
CLUSTERS = "cluster group document doc patient subject user site passage context source topic"
# Words in names of other numbers.
NO_SCORES = {"time", "seconds", "size", "samples", "rows", "features", "length", "n", "p", "instances", "attributes", "attr",
             "atts", "classes", "examples", "variables", "ir"}  # fmt: skip
# Words in names of columns that say more of another column, and words that change nothing.
MORE_OF = {"std", "sd", "stdev", "stderr", "sem", "se", "var", "variance", "rank", "diff", "difference", "delta", "gain", "ci",
           "low", "high", "lower", "upper", "min", "max", "train", "training", "pvalue"}  # fmt: skip
MEANS = {"mean", "avg", "average"}
NOTHING = MEANS | {"test", "testing", "valid", "validation", "val"}
BETTER = {**dict.fromkeys(HIGHER.split(), True), **dict.fromkeys(LOWER.split(), False)}


class TableColumns(TypedDict, total=False):
    """Names of the columns of a table of scores, and what they mean, as `compare` takes them."""

    learner: str
    item: str
    fold: str
    repeat: str
    dataset: str
    score: str
    truth: str
    prediction: str
    clusters: str
    unit: str
    better: str


class Columns(NamedTuple):
    """Column of every role; None where the table has none."""

    learner: str | None = None
    item: str | None = None
    fold: str | None = None
    repeat: str | None = None
    dataset: str | None = None
    score: str | None = None
    metric: str | None = None
    truth: str | None = None
    prediction: str | None = None
    n_train: str | None = None
    n_test: str | None = None
    clusters: str | None = None

    @property
    def taken(self) -> list[str]:
        """Names of the columns that have a role."""
        return [name for name in self if name is not None]


def plain_name(name: str) -> str:
    """Reduce a name to its letters and digits in small letters."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def is_metric(name: str) -> bool:
    """Say whether a column has the name of a score, such as ``test_f1``."""
    return higher_is_better(name) is not None


def is_column_of_scores(name: str) -> bool:
    """Say whether a name is that of a column of scores of all learners, so that it is no learner's."""
    return ROLES.get(plain_name(name)) == "score" or name.lower() in SCORES or name.lower() in ALIASES or name.lower() in BETTER


def counts_something(name: str) -> bool:
    """Say whether a name is that of times or sizes, such as ``fit_time`` or ``n_samples``."""
    return bool(NO_SCORES.intersection(words_of(name)))


def side_columns(names: Sequence[str]) -> list[str]:
    """Columns that say more of another one, such as its standard deviation, its rank, or the score of the training part.

    >>> side_columns(["rf_mean", "rf_std", "train_acc", "test_acc", "rank_svm", "diff"])
    ['rf_std', 'train_acc', 'diff']
    """
    words = {name: words_of(name) for name in names}
    others = {frozenset(some - NOTHING) for some in words.values() if not some & MORE_OF}
    means = [name for name, some in words.items() if some and some <= MEANS]
    return means + [name for name, some in words.items() if some & MORE_OF and some - MORE_OF - NOTHING in (set(), *others)]


def words_of(name: str) -> set[str]:
    """Split a name into its words in small letters."""
    return {word for word in re.split(r"[^a-z0-9]+", name.lower()) if word}


def higher_is_better(name: str) -> bool | None:
    """Say whether a higher score is better, by the name of the metric; None if it does not tell.

    >>> [higher_is_better(name) for name in ("test_f1_macro", "RMSE", "neg_log_loss", "score")]
    [True, False, True, None]
    """
    lower = name.lower().strip()
    known = SCORES.get(ALIASES.get(lower, lower))
    if known is not None:
        return known.higher_is_better
    words = re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    if "neg" in words:
        return True
    said = {BETTER[word] for word in words if word in BETTER}
    return said.pop() if len(said) == 1 else None


def find_columns(names: Sequence[str], given: dict[str, str], of_numbers: Collection[str]) -> Columns:
    """Find the column of every role: as given, else by its name; refuse names that are not there or that two columns have.

    Columns in `of_numbers` hold measured numbers and name no learner. Without a learner, no column is the score: they all are.
    """
    chosen: dict[str, str] = {}
    for role, name in given.items():
        if name not in names:
            raise DataError(*_unknown(role, name, names))
        twice = next((other for other, one in chosen.items() if one == name and "clusters" not in (other, role)), None)
        if twice is not None:
            raise DataError(f"{twice} and {role} are both column {name!r}; each needs a column of its own")
        chosen[role] = name
    free = [name for name in names if name not in chosen.values()]
    for role in NAMES:
        if role in chosen:
            continue
        if role in ("score", "metric", "prediction") and "learner" not in chosen:
            continue
        found = [name for name in free if ROLES.get(plain_name(name)) == role and (role != "learner" or name not in of_numbers)]
        if role == "score" and not found:
            side = side_columns(free)
            found = [name for name in free if is_metric(name) and name not in side]
        if len(found) > 1:
            listed = " and ".join(map(repr, found[:4]))
            raise DataError(f"columns {listed} may each hold the {role}; say which one: ", Remedy(role, found[0]))
        if found:
            chosen[role] = found[0]
    return Columns(**chosen)


def _unknown(role: str, name: str, names: Sequence[str]) -> tuple[str | Remedy, ...]:
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6) or [
        one for one in names if plain_name(one) == plain_name(name)
    ]
    there = f": there is no such column among {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"
    if role == "score" and not near:
        near = [one for one in names if is_column_of_scores(one)] or [one for one in names if is_metric(one)]
    if near:
        return Given(role, name), f"{there}; did you mean ", Remedy(role, near[0]), "?"
    free = [one for one in names if plain_name(one) not in ROLES]
    return Given(role, name), f"{there}; name one of them: ", Remedy(role, next(iter(free or names), "COLUMN"))
