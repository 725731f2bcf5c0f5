"""Imports of objects that the configuration names; configuration names code nowhere else."""

from __future__ import annotations

import importlib
import importlib.util
import re
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from foldshift.core.types import PathLike


def import_object(path: str, kind: str) -> Any:
    """Import the object behind a dotted path, e.g. ``sklearn.svm.SVR``."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"{kind}: cannot import {path!r} ({error}); give package.module.name") from error
    except (Exception, SystemExit) as error:
        raise ValueError(f"{kind}: {module} cannot be imported, it raised {raised(error)}; fix the module") from error


def is_named(path: str) -> bool:
    """Report whether the file of a module contains the name that an import path ends with, without importing the module.

    A quick check for packages that take a second to import; False does not mean that the name is missing.
    """
    (top, *parts), name = path.split(".")[:-1] or [""], path.rpartition(".")[2]
    spec = importlib.util.find_spec(top) if top else None
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in (Path(folder, *parts, "__init__.py"), Path(folder, *parts).with_suffix(".py")):
            if file.is_file():
                return re.search(rf"\b{re.escape(name)}\b", file.read_text(encoding="utf-8")) is not None
    return False


def raised(error: BaseException, folder: PathLike | None = None) -> str:
    """Describe an error and its line in user code (below `folder`, if given), such as ``KeyError: 'x' (my_cuts.py, line 12)``."""
    library, text = Path(__file__).parents[1], " ".join(f"{type(error).__name__}: {error}".split())
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename).resolve()
        is_installed = {"site-packages", "dist-packages"} & set(file.parts) or library in file.parents
        if file.is_file() and not is_installed and (folder is None or Path(folder).resolve() in file.parents):
            return f"{text} ({file.name}, line {frame.lineno})"
    return text


def is_own(path: str) -> bool:
    """Report whether an import path names code that is not part of foldshift or scikit-learn."""
    return path.partition(".")[0] not in ("foldshift", "sklearn")


def optional(module: str, purpose: str) -> ModuleType:
    """Import an optional module; if it is missing, raise an error that says how to install it.

    >>> optional("no_such_module", "a plot")
    Traceback (most recent call last):
        ...
    ImportError: a plot needs no_such_module, which is not installed: pip install no_such_module
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name != package:
            raise
        raise ImportError(f"{purpose} needs {package}, which is not installed: pip install {package}", name=package) from None
