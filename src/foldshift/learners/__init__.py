"""Estimators that no well-kept library has, each with a shared path over all folds of a data set."""

from foldshift.core.lazy_exports import exports

EXPORTS = {
    "C45Classifier": "trees.c45",
    "ELMRegressor": "linear.elm",
    "FURIAClassifier": "rules.furia",
    "GBMRegressor": "trees.gbm",
    "LDAClassifier": "linear.lda",
    "MARSRegressor": "linear.mars",
    "NNClassifier": "neighbours.nearest_classifier",
    "NNRegressor": "neighbours.nearest_regressor",
    "NaiveBayesClassifier": "linear.naive_bayes",
    "PARTClassifier": "trees.part",
    "PDFClassifier": "kernels.pdfc",
    "RIPPERClassifier": "rules.ripper",
    "RPARTRegressor": "trees.rpart",
    "SVMClassifier": "kernels.svm",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
