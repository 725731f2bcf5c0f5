"""Compiled functions ("kernels") and their cache on disk, which is never older than the source.

Numba notices an edit of the file that holds a kernel, but not of other files whose kernels and constants went into the code. So
the cache folder of a module is named by a digest of the module and of all that its kernels import from other modules.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.cache import cache_root

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

numba: Any = None  # without it the functions run as they are written
# A folder "coverage" in the working directory, though not a package, is taken for the package that numba looks for, and numba
# cannot be imported. So it is hidden during that import.
_spec = None if "coverage" in sys.modules else importlib.util.find_spec("coverage")
_is_hidden = _spec is not None and _spec.origin is None
if _is_hidden:
    sys.modules["coverage"] = None  # type: ignore[assignment]  # None makes an import of it fail
with contextlib.suppress(ModuleNotFoundError):
    numba = importlib.import_module("numba")
if _is_hidden:
    del sys.modules["coverage"]

HAS_NUMBA = numba is not None
if HAS_NUMBA:
    from numba.core.event import Event, Listener, register

    class _Announcer(Listener):
        """Say once, when a function of this library is compiled: whoever waits knows for what."""

        said = False

        def on_start(self, event: Event) -> None:
            """Write the line before the first kernel is compiled."""
            if not self.said and event.data["dispatcher"].py_func.__module__.startswith("foldshift."):
                self.said = True
                print("foldshift: compiling kernels, once, 5 to 40 s", file=sys.stderr, flush=True)

        def on_end(self, event: Event) -> None:
            """Nothing is said."""

    register("numba:compile", _Announcer())
COMPILED_ONLY = "foldshift.learners."  # too slow as they are written: a learner says that it needs numba
KEPT_VERSIONS = 3  # of the code of a module, so that a change of branch and back compiles nothing
MOST_STEPS = 20_000_000  # of a call in NumPy while the kernel is not compiled: about a second
IN_USE_SECONDS = 3600  # code used so recently may belong to a running process
_DECORATOR = "compiled"
_steps: dict[Any, float] = {}  # that kernels would have taken in this process; NumPy took them in their place
_lock = threading.Lock()


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Callable[..., Any]:
    """Compile a function with numba at its first call, and cache the code for later processes.

    The only way to compile in this library. The cache is the folder of `cache_root`; without one, nothing is cached. Options are
    those of `numba.njit`, except ``cache``.

    Names that a kernel uses from another module must be imported with ``from module import name`` at the top of the file, so that
    their source is found.

    Where numba is not installed, the function stays what it is, and those of learners raise ImportError.
    """
    if function is None:
        return lambda function: compiled(function, **options)
    if not HAS_NUMBA:
        return _needs_numba(function) if function.__module__.startswith(COMPILED_ONLY) else function
    file = Path(function.__code__.co_filename)
    root = cache_root()
    if root is None or not file.is_file():
        return numba.njit(**options)(function)
    folder = _folder(root, function.__module__, str(file))
    config: Any = numba.config  # its settings are set at run time
    with _lock:  # numba reads the folder once, here, from a setting of the whole process
        before = config.CACHE_DIR
        config.CACHE_DIR = folder
        try:
            return numba.njit(cache=True, **options)(function)
        finally:
            config.CACHE_DIR = before


def form_for(kernel: Any, in_numpy: Callable[..., Any], steps: float) -> Callable[..., Any]:
    """Choose between a kernel and the same in NumPy, which gives the same bytes: nobody waits for a compiler for a small call.

    The kernel is taken where its code is at hand, in this process or in the cache, and where compiling pays: for many `steps`
    (such as rows times cuts) in one call, or in all calls of this process so far.
    """
    if not HAS_NUMBA:
        return in_numpy
    if kernel.signatures or _was_kept(kernel.py_func):
        return kernel
    _steps[kernel] = _steps.get(kernel, 0.0) + steps
    return kernel if _steps[kernel] > MOST_STEPS else in_numpy


def as_written(kernel: Any) -> Callable[..., Any]:
    """Return the function that a kernel is compiled from: for parts of a form in NumPy that are few enough for a loop."""
    return getattr(kernel, "py_func", kernel)


@contextlib.contextmanager
def compiling_always() -> Iterator[None]:
    """Take kernels for small calls as well: where calls are made in order to compile."""
    global MOST_STEPS
    before, MOST_STEPS = MOST_STEPS, -1
    try:
        yield
    finally:
        MOST_STEPS = before


@cache
def _was_kept(function: Callable[..., Any]) -> bool:
    return is_kept(function)


def _needs_numba(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that says that the learners of a package need numba."""
    package = function.__module__.rpartition(".")[0]

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise ImportError(f"the learners of {package} need numba, which is not installed: pip install numba", name="numba")

    return refuse


@cache
def _folder(root: Path, module: str, file: str) -> str:
    """Make the folder for the code of the current version of a module, and remove old versions."""
    folder = root / f"{module}-{source_digest(file, module.partition('.')[0])}"
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    clear_old_versions(root, module)
    return str(folder)


def clear_old_versions(root: Path, module: str, now: float | None = None) -> None:
    """Remove compiled code of earlier versions of a module, except the last few and those in use."""
    now = time.time() if now is None else now
    used = []
    for folder in root.glob(f"{module}-*"):
        try:
            used.append((folder.stat().st_mtime, folder))
        except OSError:  # another process removed it
            continue
    for last, folder in sorted(used, reverse=True)[KEPT_VERSIONS:]:
        if now - last > IN_USE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def source_digest(file: PathLike, package: str) -> str:
    """Digest (20 hexadecimal digits) of all source that goes into the compiled code of a module.

    Modules of `package` are followed beside those of this library; they must have been imported.
    """
    digest = hashlib.sha256()
    for source in kernel_sources(file, package):
        digest.update(hashlib.sha256(Path(source).read_bytes()).digest())
    return digest.hexdigest()[:20]


def is_kept(function: Callable[..., Any]) -> bool:
    """Report whether the cache holds code for a kernel in the module of a function, compiled from its current source."""
    root, file = cache_root(), function.__code__.co_filename
    return root is not None and any(Path(_folder(root, function.__module__, file)).rglob("*.nbc"))


def kernel_sources(file: PathLike, package: str = "foldshift") -> list[str]:
    """List the files whose source goes into the compiled code of a module: itself, then those it imports from, in fixed order."""
    files = [str(file)]
    for source in files:  # the list grows in the loop
        files.extend(other for other in _taken_from(source, (package, "foldshift")) if other not in files)
    return files


@cache
def _taken_from(file: str, packages: tuple[str, str]) -> tuple[str, ...]:
    """List the files of the modules from which kernels and constants of a file import names."""
    tree = ast.parse(Path(file).read_bytes())
    parts = [node for node in tree.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or is_kernel(node)]
    names = {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}
    found = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module and node.module.partition(".")[0] in packages:
            for alias in node.names:
                if (alias.asname or alias.name) in names and alias.name != _DECORATOR:
                    found.append(_file_of(node.module, alias.name))
    return tuple(dict.fromkeys(found))


def is_kernel(node: ast.AST) -> bool:
    """Report whether a node of the syntax tree is a function with the decorator of this module."""
    if not isinstance(node, ast.FunctionDef):
        return False
    decorators = [getattr(decorator, "func", decorator) for decorator in node.decorator_list]
    return any(getattr(decorator, "id", getattr(decorator, "attr", None)) == _DECORATOR for decorator in decorators)


def _file_of(module: str, name: str) -> str:
    """Find the file that defines a name, even if a package passes it on."""
    owner = f"{module}.{name}"
    if owner not in sys.modules:
        origin = getattr(getattr(sys.modules[module], name), "__module__", None)
        owner = origin if isinstance(origin, str) and origin in sys.modules else module
    return str(sys.modules[owner].__file__)
