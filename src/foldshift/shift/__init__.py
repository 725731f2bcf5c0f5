"""Measure data-set shift between training and test parts."""

from foldshift.lazy import exports

# At once: on demand, the module of that name would hide the function.
from foldshift.shift.hellinger import hellinger as hellinger

EXPORTS = {
    "fold_covariates": "covariates",
    "fold_hellinger_attributes": "covariates",
    "fold_ks": "ks",
    "fold_ks_attributes": "covariates",
    "hellinger": "hellinger",
    "ks_statistic": "ks",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
