"""Cut data into folds: partitioners as array functions and as scikit-learn splitters."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
