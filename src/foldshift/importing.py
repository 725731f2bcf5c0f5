"""Import what configuration names. This is the only place where configuration names code."""

import importlib


def import_object(path, kind):
    """Object behind a dotted import path, e.g. ``sklearn.svm.SVR``.

    Parameters
    ----------
    path : str
        ``package.module.name``.
    kind : str
        What it is, for the message.

    Raises
    ------
    ValueError
        If the module or the name in it does not exist.
    """
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"{kind}: cannot import {path!r} ({error}); give package.module.name") from error
