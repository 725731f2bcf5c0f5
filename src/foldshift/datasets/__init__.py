"""Read, fetch and prepare data sets."""

from foldshift.core.lazy_exports import exports

EXPORTS = {"Dataset": "dataset", "load_dataset": "catalogue", "prepare": "prepare", "read_catalogue": "catalogue"}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
