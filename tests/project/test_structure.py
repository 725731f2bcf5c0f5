"""How modules stand to each other: packages in layers, nothing private taken from elsewhere, no module too long to read."""

import ast
import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src/foldshift"
SCRIPTS = PACKAGE.parents[1] / "scripts"
LONGEST = 550  # lines; types in signatures took some fifty more in the longest


def sources():
    """Module name, without the package's own, to file."""
    return {name_of(file): file for file in sorted(PACKAGE.rglob("*.py"))}


def name_of(file):
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(text, modules):
    """What a file takes from the library, at its top or within functions: (module, name or None), without ``foldshift.``."""
    for node in running_nodes(ast.parse(text)):
        if isinstance(node, ast.Import):
            found = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import; say foldshift.<package>.<module>"
            found = [(node.module, alias.name) for alias in node.names]
        else:
            continue
        for module, name in found:
            if module.split(".")[0] != "foldshift":
                continue
            module = module.removeprefix("foldshift").removeprefix(".")
            inside = f"{module}.{name}".removeprefix(".")
            yield (inside, None) if inside in modules else (module, name)


def running_nodes(tree):
    """Nodes of a syntax tree that run: not the imports that only checkers of types see."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from running_nodes(child)


def house(module):
    """The package a module stands in; a module beside the packages is one of its own."""
    return module.split(".")[0]


def edges(texts):
    """Package to the packages it imports, each with one import as an example."""
    graph = {}
    for module, text in texts.items():
        for target, name in imports(text, texts):
            if house(target) not in ("", house(module)):
                example = f"{module} imports {name or 'all'} from {target}" if name else f"{module} imports {target}"
                graph.setdefault(house(module), {}).setdefault(house(target), example)
    return graph


def circle(graph):
    """A circle of packages, as the imports it is made of; None if there is none."""
    done = set()

    def visit(package, path):
        if package in path:
            around = [*path[path.index(package) :], package]
            return [graph[here][there] for here, there in itertools.pairwise(around)]
        if package in done:
            return None
        for target in graph.get(package, {}):
            if found := visit(target, [*path, package]):
                return found
        done.add(package)
        return None

    return next((found for package in graph if (found := visit(package, []))), None)


def private_imports(module, text, modules):
    """Private names, and private modules of other packages, that a module takes: as ``module: other._name``."""
    taken = []
    for target, name in imports(text, modules):
        foreign = any(part.startswith("_") for part in target.split(".")) and house(target) != house(module)
        private = name is not None and name.startswith("_") and not name.endswith("__")
        if foreign or private:
            short = target.removeprefix(f"{house(module)}.")
            taken.append(f"{module}: {short}{f'.{name}' if name else ''}")
    return taken


@pytest.fixture(scope="module")
def texts():
    return {module: file.read_text(encoding="utf-8") for module, file in sources().items()}


def test_packages_do_not_import_in_circles(texts):
    found = circle(edges(texts))
    assert found is None, "packages in a circle; move a function to a lower one: " + "; ".join(found)


def test_a_circle_is_found_within_functions_and_named():
    texts = {
        "a": "",
        "a.one": "from foldshift.b import two",
        "b": "",
        "b.two": "def f():\n    from foldshift.c.three import g\n",
        "c": "",
        "c.three": "import foldshift.a.one",
    }
    assert circle(edges(texts)) == ["a.one imports b.two", "b.two imports g from c.three", "c.three imports a.one"]
    assert circle(edges(texts | {"c.three": "import foldshift.c"})) is None


LIBRARY = ("core", "datasets", "partition", "learners", "shift", "evaluation", "inference", "reporting", "advice")


def test_the_library_imports_nothing_of_the_engine_the_command_or_a_study(texts):
    wrong = [
        f"{module} imports {target}"
        for module, text in texts.items()
        for target, _ in imports(text, texts)
        if house(module) in LIBRARY and house(target) in ("engine", "command", "studies", "study")
    ]
    assert wrong == [], "move what the library needs down into the library"


def test_a_cut_loads_no_module_of_the_engine_and_no_snakemake():
    code = (
        "import sys, numpy as np; from foldshift.partition import make_folds; "
        "make_folds('DOB-SCV', np.random.rand(30, 2), np.arange(30) % 2, 3, [1]); "
        "print(sorted(name for name in sys.modules if name.startswith(('foldshift.engine', 'snakemake'))))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_folders_are_small_enough_to_overlook_and_names_tell_modules_apart():
    files = [file for file in PACKAGE.rglob("*.py") if not file.name.startswith("__")]
    sizes = Counter(file.parent.relative_to(PACKAGE).as_posix() for file in files)
    assert max(sizes.values()) <= 16, sizes.most_common(3)
    assert sizes["."] <= 2, "a module belongs into a room"
    names = Counter(file.stem for file in files)
    shared = sum(count for count in names.values() if count > 1)
    assert shared <= 0.12 * len(files), {name: count for name, count in names.items() if count > 1}


def test_nothing_private_is_taken_from_another_module(texts):
    taken = [item for module, text in texts.items() for item in private_imports(module, text, texts)]
    for script in sorted(SCRIPTS.glob("*.py")):
        taken += private_imports(f"scripts/{script.name}", script.read_text(encoding="utf-8"), texts)
    assert taken == [], "make public what another module needs, or move it"


def test_private_names_and_foreign_private_modules_are_found():
    modules = dict.fromkeys(("a", "a.one", "a._two", "b", "b.one"))
    assert private_imports("a.one", "from foldshift.a import _two\nfrom foldshift.a._two import public", modules) == []
    assert private_imports("a.one", "from foldshift.a._two import _private", modules) == ["a.one: _two._private"]
    assert private_imports("b.one", "from foldshift.a._two import public", modules) == ["b.one: a._two.public"]
    assert private_imports("b.one", "def f():\n    import foldshift.a._two", modules) == ["b.one: a._two"]
    assert private_imports("b.one", "from foldshift import __version__", modules) == []


def test_modules_are_short_enough_to_read(texts):
    long = {module: text.count("\n") for module, text in texts.items() if text.count("\n") > LONGEST}
    assert long == {}, f"split where they fall apart: more than {LONGEST} lines"
