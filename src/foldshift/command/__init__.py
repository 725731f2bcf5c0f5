"""The command ``foldshift``: advice, drift, folds, data and studies from a terminal."""

from foldshift.core.lazy_exports import exports

EXPORTS = {"main": "main"}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
