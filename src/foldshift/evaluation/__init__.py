"""Folds and a learner in, predictions and scores out."""

from foldshift.core.lazy_exports import exports

EXPORTS = {
    "build_learner": "learner",
    "classification_scores": "class_scores",
    "design_matrix": "learner",
    "evaluate_cell": "regressors",
    "evaluate_folds": "cross_validate",
    "leave_one_out": "leave_one_out",
    "regression_scores": "regression_scores",
    "score_folds": "scorers",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
