"""Cut data into folds: partitioners as array functions and as scikit-learn splitters."""

from foldshift.lazy import exports

EXPORTS = {
    "ContinuousStratifiedKFold": "splitters",
    "RepeatedContinuousStratifiedKFold": "splitters",
    "make_folds": "registry",
    "stratified_folds": "stratified",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
