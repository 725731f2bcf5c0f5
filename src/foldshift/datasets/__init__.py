"""Read, fetch and prepare data sets."""

from foldshift.lazy import exports

EXPORTS = {"Dataset": "dataset", "load_dataset": "catalogue", "prepare": "preparation", "read_catalogue": "catalogue"}
__getattr__, __dir__, __all__ = exports(__name__, EXPORTS)
