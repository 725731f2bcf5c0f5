"""Cut data into folds: partitioners as array functions and as scikit-learn splitters."""

from foldshift.lazy import exports

EXPORTS = {
    "ContinuousStratifiedKFold": "splitters",
    "CovariateBalancedKFold": "balanced_splitters",
    "DBSCV": "class_splitters",
    "DOBSCV": "class_splitters",
    "MSSCV": "class_splitters",
    "RepeatedContinuousStratifiedKFold": "splitters",
    "RepeatedCovariateBalancedKFold": "balanced_splitters",
    "RepeatedDBSCV": "class_splitters",
    "RepeatedDOBSCV": "class_splitters",
    "RepeatedMSSCV": "class_splitters",
    "RepeatedSCV": "class_splitters",
    "SCV": "class_splitters",
    "aba_folds": "published",
    "as_folds": "arrays",
    "bdscv_folds": "discrepancy",
    "cb_cv_folds": "balanced",
    "cb_scv_folds": "balanced",
    "cb_table_folds": "balanced",
    "cb_tscv_folds": "balanced",
    "cbdscv_folds": "clustered",
    "check_folds": "arrays",
    "db_scv_folds": "classes",
    "dob_scv_folds": "classes",
    "fold_randomness": "randomness",
    "make_folds": "registry",
    "ms_scv_folds": "classes",
    "scbcv_folds": "clustered",
    "scv_folds": "scv",
    "spxy_folds": "farthest",
    "stratified_folds": "stratified",
    "twinning_folds": "published",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
