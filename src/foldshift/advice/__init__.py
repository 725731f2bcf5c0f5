"""Advice for one data set: how to cut it, how often, which interval may be printed, and what to beware of."""

from foldshift.core.lazy_exports import exports

EXPORTS = {
    "advise": "advise",
    "Advice": "result",
    "find_faults": "issues",
    "read_rules": "rules",
}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
