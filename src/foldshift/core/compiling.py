"""Compiled functions ("kernels"), and where their machine code is kept: code is never older than the source it was made from.

Numba notices an edit of the file that a kernel stands in, and no edit of other files whose kernels and constants went into the
code. So the code of a module is kept in a folder named by a digest of the module and of all that its kernels take from other
modules.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.cache import cache_root

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

# A folder "coverage" in the working directory, which is no package, passes for the package that numba asks for; numba cannot be
# imported then. Hidden while numba is imported.
_spec = None if "coverage" in sys.modules else importlib.util.find_spec("coverage")
if _spec is not None and _spec.origin is None:
    sys.modules["coverage"] = None
    import numba

    del sys.modules["coverage"]
else:
    import numba

KEPT_VERSIONS = 3  # of a module's code: a branch and back again compiles nothing
IN_USE_SECONDS = 3600  # code used so recently may belong to a process that is still running
_DECORATOR = "compiled"
_lock = threading.Lock()


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Callable[..., Any]:
    """Compile a function with numba when it is first called, and keep the code for later processes.

    The one way to compile in this library. Code is kept in ``__pycache__`` of the package, in the user's cache folder where that
    is read-only, or in the folder that the environment variable ``NUMBA_CACHE_DIR`` names; where nothing can be written, it is
    not kept.

    Notes
    -----
    Names that a kernel uses from another module must be imported with ``from module import name`` at the top of the file: this is
    how their source is found.
    """
    if function is None:
        return lambda function: compiled(function, **options)
    file = Path(function.__code__.co_filename)
    root = cache_root()
    if root is None or not file.is_file():
        return numba.njit(**options)(function)
    folder = _folder(root, function.__module__, str(file))
    with _lock:  # numba takes the folder from a setting of the whole process, once, here
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = folder
        try:
            return numba.njit(cache=True, **options)(function)
        finally:
            numba.config.CACHE_DIR = before


@cache
def _folder(root: Path, module: str, file: str) -> str:
    """Folder for the code of a module as it stands; old versions of it are cleared."""
    folder = root / f"{module}-{source_digest(file, module.partition('.')[0])}"
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    clear_old_versions(root, module)
    return str(folder)


def clear_old_versions(root: Path, module: str, now: float | None = None) -> None:
    """Remove compiled code of earlier versions of a module, but for the last few and those in use."""
    now = time.time() if now is None else now
    used = []
    for folder in root.glob(f"{module}-*"):
        try:
            used.append((folder.stat().st_mtime, folder))
        except OSError:  # another process clears as well
            continue
    for last, folder in sorted(used, reverse=True)[KEPT_VERSIONS:]:
        if now - last > IN_USE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def source_digest(file: PathLike, package: str) -> str:
    """Digest of all source that goes into the compiled code of a module."""
    digest = hashlib.sha256()
    for source in kernel_sources(file, package):
        digest.update(hashlib.sha256(Path(source).read_bytes()).digest())
    return digest.hexdigest()[:20]


def is_kept(function: Callable[..., Any]) -> bool:
    """Whether machine code of the kernels that stand in the module of a function is kept, as their source stands now."""
    root, file = cache_root(), function.__code__.co_filename
    return root is not None and any(Path(_folder(root, function.__module__, file)).rglob("*.nbc"))


def kernel_sources(file: Any, package: str = "foldshift") -> list[str]:
    """Files whose source goes into the compiled code of a module."""
    files = [str(file)]
    for source in files:  # grows on the way
        files.extend(other for other in _taken_from(source, (package, "foldshift")) if other not in files)
    return files


@cache
def _taken_from(file: str, packages: tuple[str, str]) -> tuple[str, ...]:
    """Files of the modules that kernels and constants of a file take names from."""
    tree = ast.parse(Path(file).read_bytes())
    parts = [node for node in tree.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or is_kernel(node)]
    names = {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}
    found = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module.partition(".")[0] in packages:
            for alias in node.names:
                if (alias.asname or alias.name) in names and alias.name != _DECORATOR:
                    found.append(_file_of(node.module, alias.name))
    return tuple(dict.fromkeys(found))


def is_kernel(node: ast.ClassDef | ast.FunctionDef) -> bool:
    """Whether a node of the syntax tree is a function with the decorator of this module."""
    if not isinstance(node, ast.FunctionDef):
        return False
    decorators = [getattr(decorator, "func", decorator) for decorator in node.decorator_list]
    return any(getattr(decorator, "id", getattr(decorator, "attr", None)) == _DECORATOR for decorator in decorators)


def _file_of(module: str, name: str) -> str:
    """File of the module that a name comes from, also where a package passes it on."""
    if f"{module}.{name}" in sys.modules:
        return sys.modules[f"{module}.{name}"].__file__
    origin = getattr(getattr(sys.modules[module], name), "__module__", None)
    return sys.modules[origin if isinstance(origin, str) and origin in sys.modules else module].__file__
