"""Names of the scores that have an interval: what they need, their domain, and the parts that they are made of."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from foldshift.core.errors import DataError, unknown

Needs = Literal["labels", "ranks", "probabilities", "numbers"]
Family = Literal["shares", "table", "area", "precision-recall", "losses", "explained"]


class ScoreName(NamedTuple):
    """Score by scikit-learn's name, without ``neg_``."""

    name: str
    needs: Needs  # what the predictions hold
    family: Family  # how its interval is made
    part: str = ""  # of shares: the part of the rows that is counted
    average: str = ""  # of shares: mean over classes, ``macro`` or ``weighted``; empty for one part
    one_class: bool = False  # whether it is about one class, the positive one
    low: float = 0.0  # low, high: Domain
    high: float = 1.0
    higher_is_better: bool = True


def _loss(name: str, needs: Needs) -> ScoreName:
    return ScoreName(name, needs, "losses", high=np.inf, higher_is_better=False)


SCORES = {
    one.name: one
    for one in (
        ScoreName("error", "labels", "shares", "wrong", higher_is_better=False),
        ScoreName("accuracy", "labels", "shares", "right"),
        ScoreName("balanced_accuracy", "labels", "shares", "recall", "macro"),
        ScoreName("recall", "labels", "shares", "recall", one_class=True),
        ScoreName("specificity", "labels", "shares", "specificity", one_class=True),
        ScoreName("precision", "labels", "shares", "precision", one_class=True),
        ScoreName("f1", "labels", "shares", "f1", one_class=True),
        ScoreName("jaccard", "labels", "shares", "jaccard", one_class=True),
        *(
            ScoreName(f"{part}_{average}", "labels", "shares", part, average)
            for part in ("recall", "precision", "f1", "jaccard")
            for average in ("macro", "weighted")
        ),
        *(ScoreName(f"{part}_micro", "labels", "shares", "right") for part in ("recall", "precision", "f1")),
        ScoreName("matthews_corrcoef", "labels", "table", low=-1.0),
        ScoreName("cohen_kappa", "labels", "table", low=-1.0),
        ScoreName("roc_auc", "ranks", "area", one_class=True),
        ScoreName("average_precision", "ranks", "precision-recall", one_class=True),
        ScoreName("brier_score", "probabilities", "losses", higher_is_better=False),
        _loss("log_loss", "probabilities"),
        _loss("root_mean_squared_error", "numbers"),
        _loss("mean_squared_error", "numbers"),
        _loss("mean_absolute_error", "numbers"),
        ScoreName("r2", "numbers", "explained", low=-np.inf),
    )
}
ALIASES = {"rmse": "root_mean_squared_error", "mse": "mean_squared_error", "mae": "mean_absolute_error", "auc": "roc_auc",
           "auroc": "roc_auc", "auc_roc": "roc_auc", "auprc": "average_precision", "pr_auc": "average_precision",
           "mcc": "matthews_corrcoef", "kappa": "cohen_kappa", "brier": "brier_score", "brier_score_loss": "brier_score",
           "error_rate": "error", "zero_one_loss": "error", "sensitivity": "recall", "tpr": "recall",
           "tnr": "specificity", "ppv": "precision"}  # fmt: skip


def score_name(metric: str) -> ScoreName:
    """Look up a score; ``neg_`` before a name and ``_score`` after it are left out, capitals do not count.

    >>> score_name("neg_root_mean_squared_error").needs, score_name("f1_score").name, score_name("ROC AUC").name
    ('numbers', 'f1', 'roc_auc')
    """
    if not isinstance(metric, str):
        raise DataError(f"metric={metric!r} must be the name of a score, such as 'f1'; scorers of your own have no interval here")
    name = metric.lower().replace(" ", "_").replace("-", "_").removeprefix("neg_")
    for one in (name, name.removesuffix("_score")):
        if (known := ALIASES.get(one, one)) in SCORES:
            return SCORES[known]
    raise DataError(unknown("metric", metric, SCORES))
