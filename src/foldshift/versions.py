"""Versions that results rest on."""

import platform
from importlib.metadata import distributions

import foldshift


def installed_versions():
    """Versions of the program, of Python and of every package that is installed.

    Returns
    -------
    versions : dict
        ``foldshift`` and ``python``, and ``packages``: version by name in lower case, sorted.
    """
    packages = {dist.metadata["Name"].lower(): dist.version for dist in distributions() if dist.metadata["Name"]}
    return {
        "foldshift": foldshift.__version__,
        "python": platform.python_version(),
        "packages": dict(sorted(packages.items())),
    }
