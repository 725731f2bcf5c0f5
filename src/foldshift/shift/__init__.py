"""Measure data-set shift between training and test parts."""

from foldshift.lazy import exports

EXPORTS = {"fold_ks": "ks", "ks_statistic": "ks"}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
