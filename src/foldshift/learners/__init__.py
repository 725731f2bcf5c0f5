"""Estimators that no well-kept library has, each with a shared path over all folds of a data set."""

from foldshift.lazy import exports

EXPORTS = {
    "C45Classifier": "c45",
    "ELMRegressor": "elm",
    "FURIAClassifier": "furia",
    "GBMRegressor": "gbm",
    "LDAClassifier": "lda",
    "MARSRegressor": "mars",
    "NNClassifier": "nearest_classifier",
    "NNRegressor": "nearest",
    "NaiveBayesClassifier": "naive_bayes",
    "PARTClassifier": "part",
    "PDFClassifier": "pdfc",
    "RIPPERClassifier": "ripper",
    "RPARTRegressor": "rpart",
    "SVMClassifier": "svm",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
