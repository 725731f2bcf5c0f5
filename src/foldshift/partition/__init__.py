"""Cut data into folds: partitioners as array functions and as scikit-learn splitters."""

from foldshift.core.lazy_exports import exports

EXPORTS = {
    "ContinuousStratifiedKFold": "splitters.regression_splitters",
    "CovariateBalancedKFold": "splitters.balanced_splitters",
    "DBSCV": "splitters.class_splitters",
    "DOBSCV": "splitters.class_splitters",
    "MSSCV": "splitters.class_splitters",
    "RepeatedContinuousStratifiedKFold": "splitters.regression_splitters",
    "RepeatedCovariateBalancedKFold": "splitters.balanced_splitters",
    "RepeatedDBSCV": "splitters.class_splitters",
    "RepeatedDOBSCV": "splitters.class_splitters",
    "RepeatedMSSCV": "splitters.class_splitters",
    "RepeatedSCV": "splitters.class_splitters",
    "SCV": "splitters.class_splitters",
    "aba_folds": "methods.anticlustering",
    "as_folds": "folds",
    "bdscv_folds": "methods.discrepancy",
    "cb_cv_folds": "methods.balanced",
    "cb_scv_folds": "methods.balanced",
    "cb_table_folds": "methods.balanced",
    "cb_tscv_folds": "methods.balanced",
    "cbdscv_folds": "methods.cluster",
    "check_folds": "folds",
    "db_scv_folds": "methods.distance_based",
    "dob_scv_folds": "methods.distance_based",
    "fold_randomness": "randomness",
    "make_folds": "registry",
    "ms_scv_folds": "methods.distance_based",
    "scbcv_folds": "methods.cluster",
    "scv_folds": "methods.scv",
    "spxy_folds": "methods.spxy",
    "stratified_folds": "methods.stratified",
    "twinning_folds": "methods.anticlustering",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
