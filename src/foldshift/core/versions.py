"""Versions that results rest on."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import distributions
from typing import TYPE_CHECKING, Any

import foldshift

if TYPE_CHECKING:
    from foldshift.core.types import PathLike


def installed_versions() -> dict[str, Any]:
    """Versions of the program, of Python and of every package that is installed."""
    packages = {dist.metadata["Name"].lower(): dist.version for dist in distributions() if dist.metadata["Name"]}
    return {
        "foldshift": foldshift.__version__,
        "python": platform.python_version(),
        "packages": dict(sorted(packages.items())),
    }


def commit_of(root: PathLike) -> dict[str, Any] | None:
    """Git commit of a folder with the workflow, and how many of its files differ from it."""

    def git(*arguments: Any) -> Any:
        return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=60).stdout

    try:
        git("ls-files", "--error-unmatch", "workflow/Snakefile")  # not a copy that lies in somebody else's repository
        return {
            "commit": git("rev-parse", "HEAD").strip(),
            "changed_files": len(git("status", "--porcelain", "--untracked-files=no").splitlines()),
        }
    except (OSError, subprocess.SubprocessError):
        return None
