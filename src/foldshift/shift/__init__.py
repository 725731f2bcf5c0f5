"""Measure data-set shift between training and test parts."""

from foldshift.lazy import exports

EXPORTS = {
    "adjust_p": "statistics",
    "chi_square": "statistics",
    "classifier_two_sample": "two_sample",
    "co_failure": "failures",
    "dependence_test": "dependence",
    "DriftReport": "drift",
    "energy_distance_test": "two_sample",
    "fold_covariates": "covariates",
    "fold_drift": "folds",
    "fold_hellinger_attributes": "covariates",
    "fold_ks": "ks",
    "fold_ks_attributes": "covariates",
    "friedman_bootstrap": "statistics",
    "hellinger": "hellinger",
    "hellinger_features": "hellinger",
    "inject_shift": "injectors",
    "kruskal_wallis": "statistics",
    "ks_features": "ks",
    "ks_p_value": "ks",
    "ks_statistic": "ks",
    "mmd": "two_sample",
    "two_proportion": "statistics",
    "versions": "injectors",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
