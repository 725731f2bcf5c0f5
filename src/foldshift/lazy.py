"""Packages whose names are imported when they are first used, so that a job starts with only what it needs."""

import lazy_loader


def exports(package, where):
    """Make the ``__getattr__``, ``__dir__`` and ``__all__`` of a package that imports its public names on demand (PEP 562).

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
    names = {module: [name for name, place in where.items() if place == module] for module in where.values()}
    return lazy_loader.attach(package, submod_attrs=names)
