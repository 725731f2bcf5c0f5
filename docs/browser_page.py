"""The page *advice in the browser* of the site: its own files, what they load, and the digests of it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import shutil
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import foldshift

SOURCE = Path(__file__).parent / "browser"
STYLE = Path(foldshift.__file__).parent / "core" / "page" / "web_page.css"
FOLDER = "browser"  # of the site
PURE = (
    "click",
    "lazy-loader",
)  # packages that Pyodide holds in other versions, or not at all; those of this environment are taken
PURE_FILE = "packages.zip"
SETTING = "FOLDSHIFT_PYODIDE"  # environment variable that names a folder with the files of Pyodide, for the site to hold itself


def write_browser_page(site: Path, wheel: Path) -> None:
    """Write the page into a site that holds the wheel of foldshift.

    With the environment variable FOLDSHIFT_PYODIDE, the files of Pyodide are copied from that folder into the site, which then
    loads nothing from another host.
    """
    folder = site / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for file in (*(SOURCE / name for name in ("page.css", "page.js", "worker.js")), STYLE):
        shutil.copy(file, folder)
    write_packages(folder / PURE_FILE)
    known = pinned()
    held = os.environ.get(SETTING)
    if held:
        (folder / "pyodide").mkdir(exist_ok=True)
        for name in known["files"]:
            shutil.copy(Path(held, name), folder / "pyodide")
    listed = files_of(known, "pyodide/" if held else known["folder"].format(**known))
    for path in (folder / PURE_FILE, wheel):
        listed["files"][path.name] = described(path) | {"address": os.path.relpath(path, folder).replace(os.sep, "/")}
    listed["own"] = [PURE_FILE, wheel.name]
    (folder / "files.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    (folder / "index.html").write_text(filled(listed), encoding="utf-8")


def pinned() -> dict[str, Any]:
    """Read which Pyodide the page is made for: version, address, digests of its files, and its packages."""
    known: dict[str, Any] = json.loads((SOURCE / "pyodide.json").read_text(encoding="utf-8"))
    return known


def files_of(known: dict[str, Any], address: str) -> dict[str, Any]:
    """List the files of Pyodide with their address; `known` is the content of pyodide.json."""
    files = {name: {**one, "address": f"{address}{name}"} for name, one in known["files"].items()}
    return {"version": known["version"], "folder": address, "files": files, "lock": known["lock"]}


def described(path: Path) -> dict[str, Any]:
    """Size of a file and its digest, as browsers check it."""
    content = path.read_bytes()
    return {"bytes": len(content), "integrity": f"sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}"}


def filled(listed: dict[str, Any]) -> str:
    """Text of the page with version, places and files."""
    parts = urlsplit(listed["folder"])
    rows = [
        f'<tr><td>{html.escape(name)}</td><td class="n">{one["bytes"] / 1e6:.2f}</td>'
        f"<td>{html.escape(parts.netloc if '://' in one['address'] else 'this site')}</td></tr>"
        for name, one in listed["files"].items()
    ]
    words = {
        "foldshift": foldshift.__version__,
        "version": listed["version"],
        "folder": html.escape(listed["folder"]),
        "host": f"{parts.scheme}://{parts.netloc}" if parts.netloc else "",
        "megabytes": f"{sum(one['bytes'] for one in listed['files'].values()) / 1e6:.0f}",
        "rows": "\n".join(rows),
    }
    text = (SOURCE / "index.html").read_text(encoding="utf-8")
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    return text


def write_packages(path: Path) -> None:
    """Write the small packages, with their licences, into one archive: the same bytes for the same versions."""
    left_out = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")  # of this environment
    with zipfile.ZipFile(path, "w") as archive:
        for name in PURE:
            for file in sorted(distribution(name).files or [], key=str):
                if file.suffix != ".pyc" and ".." not in file.parts and file.name not in left_out:
                    content = Path(str(file.locate())).read_bytes()
                    archive.writestr(zipfile.ZipInfo(file.as_posix()), content, zipfile.ZIP_DEFLATED)
