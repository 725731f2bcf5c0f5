"""Tests and intervals for cross-validation results."""

from foldshift.lazy import exports

EXPORTS = {
    "accuracy_interval": "accuracy",
    "agreements": "agreement",
    "bayesian_correlated_t": "comparisons",
    "compare": "advice",
    "compare_independent": "accuracy_tests",
    "compare_matched": "accuracy_tests",
    "converged_after": "convergence",
    "coverage_audit": "audit",
    "critical_difference": "ranks",
    "cv_intervals": "intervals",
    "cv_variance": "variance",
    "CVVariance": "variance",
    "estimator_from_bias": "variance",
    "f_5x2cv": "comparisons",
    "friedman": "ranks",
    "Interval": "intervals",
    "large_sample": "accuracy",
    "loo_interval": "accuracy",
    "loo_matched": "accuracy_tests",
    "mcnemar": "comparisons",
    "mean_predictor_fixed": "sources_model",
    "mean_predictor_random": "sources_model",
    "nadeau_bengio": "comparisons",
    "nested_cv_interval": "intervals",
    "recommend_repetitions": "repetitions",
    "sign_test": "sign",
    "SignedRanks": "wilcoxon",
    "simulate_losses": "sources_model",
    "t_5x2cv": "comparisons",
    "variance_components": "variance",
    "wilcoxon_signed_ranks": "wilcoxon",
    "wong_partition": "wong_cuts",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
