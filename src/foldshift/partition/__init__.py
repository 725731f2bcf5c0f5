"""Cut data into folds: partitioners as array functions and as scikit-learn splitters."""

from foldshift.lazy import exports

EXPORTS = {
    "ContinuousStratifiedKFold": "splitters",
    "DBSCV": "class_splitters",
    "DOBSCV": "class_splitters",
    "MSSCV": "class_splitters",
    "RepeatedContinuousStratifiedKFold": "splitters",
    "RepeatedDBSCV": "class_splitters",
    "RepeatedDOBSCV": "class_splitters",
    "RepeatedMSSCV": "class_splitters",
    "RepeatedSCV": "class_splitters",
    "SCV": "class_splitters",
    "as_folds": "arrays",
    "check_folds": "arrays",
    "db_scv_folds": "classes",
    "dob_scv_folds": "classes",
    "make_folds": "registry",
    "ms_scv_folds": "classes",
    "scv_folds": "scv",
    "stratified_folds": "stratified",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
