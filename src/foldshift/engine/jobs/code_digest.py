"""Digest of the Python files that a script rests on, found by their import statements.

Snakemake does not see changes in imported modules. Rules have a digest of these files as a parameter, so that an edited module
replans exactly what depends on it. Modules of the library count, and the user's own: those outside of the standard library and
of installed packages.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import foldshift
from foldshift.core.cache import cache_root
from foldshift.core.errors import ConfigError
from foldshift.core.files import write_text

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

NEW = "new"  # key of the mark that something was looked up
MOST_KEPT = 2000  # contents
DATA = (".toml", ".csv", ".css")  # endings of the data file of a module of the library: same name, same folder
_memory: dict[Any, Any] = {}
PACKAGE = Path(foldshift.__file__).resolve().parent
INSTALLED = {"site-packages", "dist-packages"}
STANDARD = tuple(Path(sysconfig.get_paths()[name]).resolve() for name in ("stdlib", "platstdlib"))


class Import(NamedTuple):
    """One imported name, as it is written."""

    module: str  # ``a.b``; empty for ``from . import x``
    name: str | None = None  # ``x`` of ``from a.b import x``
    level: int = 0  # number of dots before a relative import


def expose(*folders: PathLike) -> None:
    """Put folders at the front of the import path of this process and of those that it starts."""
    paths = [str(folder) for folder in folders]
    sys.path[:0] = [folder for folder in paths if folder not in sys.path]
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *(path for path in inherited if path and path not in paths)])


def module_files(*scripts: Any, objects: Iterable[str] = (), called: Iterable[str] = (), tables: bool = True) -> list[str]:
    """List the files of the library and of the user that scripts and objects import, directly or through one another."""
    files = _reached([Path(script).resolve() for script in scripts], tables)
    for paths, with_strings in ((called, tables), (objects, True)):
        for path in paths:
            module, _, name = path.rpartition(".")
            files |= _reached(_files(Import(module, name)), with_strings)
    _keep()
    return sorted(str(file) for file in files)


def _reached(files: list[Path], tables: bool) -> set[Path]:
    """Files, and all that they import, directly or through one another."""
    found, todo = set(), list(files)
    while todo:
        file = todo.pop()
        if file not in found:
            found.add(file)
            if PACKAGE in file.parents:
                found.update(data for data in map(file.with_suffix, DATA) if data.is_file())
            imports, paths = _imports(file)
            for one in (*imports, *(paths if tables else ())):
                todo += _files(one, file)
    return found


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror}); results rest on what it says") from error


def _parse(file: Path, content: bytes | None = None) -> ast.Module:
    try:
        return ast.parse(_read(file) if content is None else content, filename=str(file))
    except SyntaxError as error:
        raise ConfigError(f"{file}, line {error.lineno or 1}: not valid Python ({error.msg}); mend the file") from error
    except ValueError as error:  # a byte of value 0, in some versions of Python
        raise ConfigError(f"{file}, line 1: not valid Python ({error}); mend the file") from error


@cache
def _imports(file: Path) -> tuple[Any, ...]:
    """Find the imports of a file, and the import paths of library objects that it holds as strings.

    They are looked up once for a content: reading all files takes milliseconds, parsing them half a second, and on a cluster
    every job starts Snakemake.
    """
    content, known = _read(file), _known()
    key = hashlib.sha256(content).hexdigest()
    if key not in known:
        known[key] = _imports_of(_parse(file, content))
        known[NEW] = True
    return tuple(tuple(Import(*one) for one in some) for some in known[key])


def _known() -> dict[str, Any]:
    """Imports by content, as this file reads them."""
    if not _memory:
        _memory[NEW] = False
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # none yet, or damaged: looked up anew
            kept = json.loads(_kept_file().read_text(encoding="utf-8"))
            _memory.update(kept["imports"] if kept["by"] == _reader() else {})
    return _memory


def _keep() -> None:
    """Keep new imports for later processes, where anything can be kept."""
    if _memory.get(NEW) and cache_root() is not None:
        found = {key: value for key, value in list(_memory.items())[-MOST_KEPT:] if key != NEW}
        with contextlib.suppress(OSError):  # the next process looks them up again
            write_text(_kept_file(), json.dumps({"by": _reader(), "imports": found}))
        _memory[NEW] = False


def _kept_file() -> Path:
    return (cache_root() or Path(os.devnull)) / "imports.json"


@cache
def _reader() -> str:
    """Version of this reader: the imports that it finds depend on it as well as on the files."""
    return f"{hashlib.sha256(Path(__file__).read_bytes()).hexdigest()} {sys.version}"


def _imports_of(tree: ast.Module) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Imports, and import paths as strings, of a syntax tree."""
    imports, paths = [], []
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            imports += [Import(alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imports += [Import(node.module or "", alias.name, node.level) for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                module = node.args[0].value.lstrip(".")
                imports.append(Import(module, None, len(node.args[0].value) - len(module)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("foldshift."):
            module, _, name = node.value.rpartition(".")
            if "." in module and node.value.replace(".", "_").isidentifier():
                paths.append(Import(module, name))
    return tuple(dict.fromkeys(imports)), tuple(dict.fromkeys(paths))


def _nodes(tree: ast.Module) -> Iterator[Any]:
    """Yield the nodes of a syntax tree that run: not the imports below ``if TYPE_CHECKING``, which only checkers of types see."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop(0)
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            todo += node.orelse
        else:
            todo += ast.iter_child_nodes(node)


def _files(one: Import, file: Path | None = None) -> list[Path]:
    """List the files that an import runs; relative imports count from `file`."""
    parts = tuple(one.module.split(".")) if one.module else ()
    if one.level and file is not None:
        folder = file.parents[one.level - 1]
        if folder == PACKAGE or PACKAGE in folder.parents:
            parts = ("foldshift", *folder.relative_to(PACKAGE).parts, *parts)
        else:
            return [path for path in _below([folder], parts, one.name) if _is_own(path)]
    if not parts:
        return []
    if parts[0] == "foldshift":
        return _library_files(parts, one.name)
    if file is not None and PACKAGE in file.parents:
        return []  # the library imports nothing of the user's but what the configuration names
    origin, folders = _top(parts[0], (os.getcwd(), *sys.path))
    files = [*([origin] if origin else []), *_below(folders, parts[1:], one.name)]
    return [path for path in files if _is_own(path)]


@cache
def _library_files(parts: tuple[str, ...], name: str) -> list[Path]:
    """Files of the library that ``from module import name`` runs: the module, and packages on the way that do more than
    re-export.

    Of a package that is imported as a whole, all that it exports counts.
    """
    base = PACKAGE
    found: list[Path] = []
    exported: dict[str, str] = {}
    for part in (*parts[1:], *([name] if name and (PACKAGE.joinpath(*parts[1:]) / name).is_dir() else [])):
        if (base / f"{part}.py").is_file():
            return [*found, base / f"{part}.py"]
        base /= part
        exported, has_code = _package(base / "__init__.py")
        found += [base / "__init__.py"] if has_code else []
    if name in exported:
        return [*found, *_module_files(base, exported[name])]
    if name in (None, "*", base.name):
        return [*found, *(file for module in exported.values() for file in _module_files(base, module))]
    return [*found, base / f"{name}.py"] if (base / f"{name}.py").is_file() else found


def _module_files(base: Path, module: str) -> list[Path]:
    """Files of a module that a package exports from, such as ``trees.c45``: itself, and packages on the way that hold code."""
    *folders, name = module.split(".")
    found = []
    for folder in folders:
        base /= folder
        found += [base / "__init__.py"] if _package(base / "__init__.py")[1] else []
    return [*found, base / f"{name}.py"]


@cache
def _package(file: Path) -> tuple[dict[str, str], bool]:
    """Public names of a package by their module, from its stub; and whether the package itself holds code that counts."""
    stub = file.with_suffix(".pyi")
    if stub.is_file():
        imports = [node for node in _parse(stub).body if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module]
        return {alias.name: str(node.module) for node in imports for alias in node.names}, False
    return {}, any(not isinstance(node, ast.Expr) for node in (_parse(file).body if file.is_file() else []))


@cache
def _top(name: str, path: tuple[str, ...]) -> tuple[Path | None, list[Path]]:
    """File and folders of a top-level module or package, found as an import would but without running it; `path` tells searches
    apart."""
    for finder in sys.meta_path:
        spec = finder.find_spec(name, None)
        if spec is not None:
            source = spec.origin if spec.has_location and spec.origin and spec.origin.endswith(".py") else None
            origin = Path(source).resolve() if source else None
            return origin, [Path(folder).resolve() for folder in spec.submodule_search_locations or ()]
    return None, []


def _below(folders: list[Path], parts: tuple[str, ...], name: str | None) -> list[Path]:
    """Files that importing ``parts`` of a package in `folders` runs, packages on the way and ``name`` if it is a module."""
    files = [folder / "__init__.py" for folder in folders]
    for part in (*parts, *([name] if name and name != "*" else [])):
        files += [path for folder in folders for path in (folder / part / "__init__.py", folder / f"{part}.py")]
        folders = [folder / part for folder in folders]
    if name == "*":  # may import whatever the package holds
        files += [path for folder in folders for path in sorted(folder.glob("*.py"))]
    return [path.resolve() for path in files if path.is_file()]


def _is_own(path: Path) -> bool:
    """Return True if a file is neither of the standard library nor of an installed package."""
    return not INSTALLED.intersection(path.parts) and not any(folder in path.parents for folder in STANDARD)


def digest(files: Iterable[PathLike], roots: Sequence[PathLike] = ()) -> str:
    """Digest of names and contents of files, to be compared where the files themselves cannot be."""
    found = hashlib.sha256()
    for name, file in sorted((_below_roots(file, roots), file) for file in map(Path, files)):
        found.update(f"{name}\0{hashlib.sha256(_read(file)).hexdigest()}\n".encode())
    return found.hexdigest()


def _below_roots(file: Path, roots: Sequence[PathLike]) -> str:
    for root in roots:
        if Path(root) in file.parents:
            return file.relative_to(root).as_posix()
    return file.as_posix()


def is_installed(path: str) -> bool:
    """Return True if an import path names a module of an installed package; nothing is imported to find out."""
    parts = path.split(".")[:-1]
    origin, folders = _top(parts[0], (os.getcwd(), *sys.path)) if parts else (None, [])
    for depth in range(2, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:depth]), [str(folder) for folder in folders])
        if spec is None:
            return False
        folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    files = [*([origin] if origin else []), *folders]
    return bool(files) and (parts[0] == "foldshift" or not any(map(_is_own, files)))
