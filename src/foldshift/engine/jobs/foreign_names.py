"""Names of other packages that foldshift replaces: they must be there and take the arguments that they took."""

from __future__ import annotations

import inspect
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def changed(owner: Any, expected: Mapping[str, tuple[str, ...] | None]) -> str | None:
    """Describe the first name of a class or module that is not as expected.

    Parameters
    ----------
    owner : class or module
    expected : mapping of str to tuple of str or None
        Parameters of a function, by its name; None for anything that is not a function.

    Returns
    -------
    str or None
        None where all names are as expected.
    """
    for name, parameters in expected.items():
        found = inspect.getattr_static(owner, name, None)
        if found is None:
            return f"{owner.__name__} has no {name}"
        if parameters is None:
            continue
        if not callable(found):
            return f"{owner.__name__}.{name} is no function"
        if (taken := tuple(inspect.signature(found).parameters)) != parameters:
            return f"{owner.__name__}.{name} takes ({', '.join(taken)}) and not ({', '.join(parameters)})"
    return None


def left_alone(package: str, tested: str, reason: str, effect: str) -> str:
    """Write the line on a package that is not changed: what is not as expected, what follows, which version to install."""
    try:
        installed = version(package)
    except PackageNotFoundError:
        installed = "of an unknown version"
    return f"{package} {installed} is not changed: {reason}. {effect} Tested with {tested}: pip install '{package}=={tested}'"
