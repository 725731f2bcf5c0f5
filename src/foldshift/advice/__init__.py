"""Advice for one data set: how to cut it, how often, which interval may be printed, and what to beware of."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
