"""Measure data-set shift between training and test parts, test for it, and inject it on purpose."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
