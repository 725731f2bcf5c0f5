"""Packages whose names are imported when they are first used, so that a job starts with only what it needs."""

import importlib

import lazy_loader


def exports(package, where, packages=()):
    """Make the ``__getattr__``, ``__dir__`` and ``__all__`` of a package that imports its public names on demand (PEP 562).

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    where : dict of str to str
        Public name to the submodule it stands in.
    packages : iterable of str
        Submodules that are public themselves.

    Returns
    -------
    getattr, dir, all : callable, callable, list of str
    """
    names = {module: [name for name, place in where.items() if place == module] for module in where.values()}
    return lazy_loader.attach(package, submodules=packages, submod_attrs=names)


def optional(module, purpose):
    """Import a module that not every user of the library has, or say in one line how to get it.

    Parameters
    ----------
    module : str
        Such as ``"matplotlib.pyplot"``.
    purpose : str
        What it is needed for, as the beginning of the message.

    Returns
    -------
    module : module

    Raises
    ------
    ImportError
        If it is not installed.

    Examples
    --------
    >>> optional("no_such_module", "a plot")
    Traceback (most recent call last):
        ...
    ImportError: a plot needs no_such_module, which is not installed: pip install foldshift[workflow]
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name != package:
            raise
        raise ImportError(
            f"{purpose} needs {package}, which is not installed: pip install foldshift[workflow]", name=package
        ) from None
