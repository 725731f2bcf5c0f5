"""Packages whose names are imported when they are first used, so that a job starts with only what it needs."""

import importlib


def exports(package, where):
    """Make the ``__getattr__`` and ``__dir__`` of a package that imports its public names on demand (PEP 562).

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    where : dict of str to str
        Public name to the submodule it stands in.

    Returns
    -------
    getattr, dir, all : callable, callable, list of str
    """

    def __getattr__(name):
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{where[name]}"), name)

    def __dir__():
        return sorted(where)

    return __getattr__, __dir__, sorted(where)
