from .class_scores import classification_scores as classification_scores
from .cross_validate import evaluate_folds as evaluate_folds
from .learner import build_learner as build_learner
from .learner import design_matrix as design_matrix
from .leave_one_out import leave_one_out as leave_one_out
from .regression_scores import regression_scores as regression_scores
from .regressors import evaluate_cell as evaluate_cell
from .scorers import score_folds as score_folds
