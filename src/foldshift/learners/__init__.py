"""Estimators that no well-kept library has, each with a shared path over all folds of a data set."""

from foldshift.lazy import exports

EXPORTS = {
    "ELMRegressor": "elm",
    "GBMRegressor": "gbm",
    "MARSRegressor": "mars",
    "NNRegressor": "nearest",
    "RPARTRegressor": "rpart",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
