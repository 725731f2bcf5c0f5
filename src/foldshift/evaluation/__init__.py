"""Folds and a learner in, predictions and scores out."""

from foldshift.lazy import exports

EXPORTS = {
    "build_learner": "learner",
    "classification_scores": "classification",
    "design_matrix": "learner",
    "evaluate_cell": "scores",
    "evaluate_folds": "folds",
    "leave_one_out": "leave_one_out",
    "regression_scores": "metrics",
    "score_folds": "scoring",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
