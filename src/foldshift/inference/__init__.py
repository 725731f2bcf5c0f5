"""Tests and intervals for cross-validation results."""

from foldshift.lazy import exports

EXPORTS = {
    "SignedRanks": "wilcoxon",
    "agreements": "agreement",
    "converged_after": "convergence",
    "wilcoxon_signed_ranks": "wilcoxon",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
