"""Measure data-set shift between training and test parts."""

from foldshift.core.lazy_exports import exports

EXPORTS = {
    "adjust_p": "detectors.univariate",
    "chi_square": "detectors.univariate",
    "classifier_two_sample": "detectors.two_sample",
    "co_failure": "detectors.co_failure",
    "dependence_test": "detectors.dependence",
    "DriftReport": "report.drift_report",
    "energy_distance_test": "detectors.two_sample",
    "fold_covariates": "measures.covariates",
    "fold_drift": "report.fold_drift",
    "fold_hellinger_attributes": "measures.covariates",
    "fold_ks": "measures.ks",
    "fold_ks_attributes": "measures.covariates",
    "friedman_bootstrap": "detectors.univariate",
    "hellinger": "measures.hellinger",
    "hellinger_features": "measures.hellinger",
    "inject_shift": "inject.injectors",
    "kruskal_wallis": "detectors.univariate",
    "ks_features": "measures.ks",
    "ks_p_value": "measures.ks",
    "ks_statistic": "measures.ks",
    "mmd": "detectors.two_sample",
    "two_proportion": "detectors.univariate",
    "versions": "inject.injectors",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
