"""Which files of the project a script rests on, read from its import statements.

Snakemake does not see changes in imported modules. Rules list these files as inputs, so that an edited module replans exactly
what depends on it.
"""

import ast
import importlib
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path

import foldshift

PACKAGE = Path(foldshift.__file__).parent
FACADE = "EXPORTS"  # packages with this name in them only say where their public names stand


def expose(*folders):
    """Put folders at the front of the import path, of this process and of those it starts.

    Parameters
    ----------
    *folders : path-like
    """
    folders = [str(folder) for folder in folders]
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join([*folders, *(path for path in inherited if path and path not in folders)])


def module_files(*scripts, objects=()):
    """Files of the library that scripts import, directly or through one another.

    Parameters
    ----------
    *scripts : path-like
        Python files.
    objects : iterable of str
        Import paths of objects that are loaded by name, e.g. a learner's ``foldshift.learners.RPARTRegressor``. Files outside the
        library count if they lie below the working directory: a user's own learner.

    Returns
    -------
    files : list of str
        The scripts and the modules, sorted; packages that only re-export are left out.
    """
    found, todo = set(), [Path(script).resolve() for script in scripts]
    for path in objects:
        todo.extend(_own_module(path))
    while todo:
        file = todo.pop()
        if file not in found:
            found.add(file)
            todo.extend(_imports(file))
    return sorted(str(file) for file in found)


@cache
def _imports(file):
    """Modules of the library that one file imports."""
    files = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            files.extend(_locate(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            files.extend(_locate(node.module, alias.name) for alias in node.names)
    return tuple(dict.fromkeys(file for file in files if file is not None))


@cache
def _locate(module, name=None):
    """File of ``from module import name`` within the library; None for other packages and for packages that only re-export."""
    if module.split(".")[0] != "foldshift":
        return None
    base = PACKAGE.joinpath(*module.split(".")[1:])
    if name is not None and (base / f"{name}.py").is_file():
        return base / f"{name}.py"
    if base.with_suffix(".py").is_file():
        return base.with_suffix(".py")
    exported = getattr(importlib.import_module(module), FACADE, {})
    if name in exported:
        return base / f"{exported[name]}.py"
    return base / "__init__.py" if not exported and base != PACKAGE else None


def is_there(path):
    """Whether the module of an import path can be found.

    Parameters
    ----------
    path : str
        ``package.module.name``.

    Returns
    -------
    found : bool
    """
    try:
        return importlib.util.find_spec(path.rpartition(".")[0]) is not None
    except (ImportError, ValueError):
        return False


def _own_module(path):
    """File of the module of an import path, if it belongs to the library or lies below the working directory."""
    module, _, name = path.rpartition(".")
    if module.split(".")[0] == "foldshift":
        file = _locate(module, name)
        return [] if file is None else [file]
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return []
    file, here = Path(spec.origin).resolve(), Path.cwd().resolve()
    inside = here in file.parents and not any(part in {".venv", "site-packages"} for part in file.relative_to(here).parts)
    return [file] if inside else []
