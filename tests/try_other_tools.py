"""Look for the names of other tools that the guide gives, in the versions that it gives: part of `make thorough WHAT=adapters`.

Archives are fetched without what they need and read, not installed: some megabytes in place of gigabytes.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guides" / "other_tools.md"
ROW = re.compile(r"^\| [^|]+ \| ([\w.-]+) (\d[\w.]*) \| ([^|]+) \|", re.MULTILINE)
NAME = re.compile(r"`([\w.]+)(?:\((\w+)\))?`")


class Name(NamedTuple):
    """Name of another tool, such as ``package.module.Class.method``, and an argument that the guide names with it."""

    package: str
    version: str
    path: str
    argument: str


def names_in(text):
    """Names in the table of the guide."""
    return [
        Name(package, version, *found.groups(default=""))
        for package, version, cell in ROW.findall(text)
        for found in NAME.finditer(cell)
    ]


def is_there(folder, name):
    """Tell whether an unpacked archive has a name: its module, and in the package's files a definition of each further part."""
    parts = name.path.split(".")
    modules = ((n, folder.joinpath(*parts[:n])) for n in range(len(parts) - 1, 0, -1))
    depth, module = next(((n, one) for n, one in modules if one.is_dir() or one.with_suffix(".py").is_file()), (0, None))
    if module is None:
        return False
    public = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    if not _mentions(public, parts[depth]):
        return False
    texts = [file.read_text(encoding="utf-8", errors="ignore") for file in folder.joinpath(parts[0]).rglob("*.py")]
    for part in parts[depth:]:  # each where the one before is defined
        texts = [text for text in texts if re.search(rf"^\s*(?:class|def) {part}\b", text, re.MULTILINE)]
    return any(name.argument in text for text in texts)


def _mentions(file, word):
    """Tell whether a module names a word, or takes all that another one has."""
    text = file.read_text(encoding="utf-8", errors="ignore")
    return bool(re.search(rf"\b{word}\b|import \*", text))


def fetch(package, version, folder):
    """Unpack the archive of a version."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--dest",
        folder / "got",
    ]
    subprocess.run([*command, f"{package}=={version}"], check=True)
    (archive,) = (folder / "got").iterdir()
    if archive.suffix == ".whl":
        shutil.unpack_archive(archive, folder / "in", format="zip")
        return folder / "in"
    shutil.unpack_archive(archive, folder / "in")
    return next((folder / "in").iterdir())


def main():
    """Fetch each tool once; end with the names that are not there."""
    found = names_in(GUIDE.read_text(encoding="utf-8"))
    missing = []
    for package, version in dict.fromkeys((name.package, name.version) for name in found):
        with tempfile.TemporaryDirectory() as folder:
            archive = fetch(package, version, Path(folder))
            its = [name for name in found if name.package == package]
            missing += [name for name in its if not is_there(archive, name)]
        print(f"{package} {version}: {len(its)} names looked for", flush=True)
    if missing or not found:
        sys.exit("\n".join(f"{name.package} {name.version} has no {name.path} {name.argument}" for name in missing) or "no names")


if __name__ == "__main__":
    main()
