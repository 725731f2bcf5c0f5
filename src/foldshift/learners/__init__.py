"""Estimators that no maintained library has, each with a shared path over all folds of a data set."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
