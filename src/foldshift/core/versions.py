"""Versions of the software that made the results."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import distributions
from typing import TYPE_CHECKING, Any

import foldshift

if TYPE_CHECKING:
    from foldshift.core.types import PathLike


def installed_versions() -> dict[str, Any]:
    """List the versions of foldshift, of Python and of every installed package (names in lower case, sorted)."""
    packages = {dist.metadata["Name"].lower(): dist.version for dist in distributions() if dist.metadata["Name"]}
    return {
        "foldshift": foldshift.__version__,
        "python": platform.python_version(),
        "packages": dict(sorted(packages.items())),
    }


def commit_of(root: PathLike) -> dict[str, Any] | None:
    """Find the git commit of a folder with the workflow and its number of changed files; None if it is not a checkout."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=60).stdout

    try:
        git("ls-files", "--error-unmatch", "workflow/Snakefile")  # fails for a copy inside another repository
        return {
            "commit": git("rev-parse", "HEAD").strip(),
            "changed_files": len(git("status", "--porcelain", "--untracked-files=no").splitlines()),
        }
    except (OSError, subprocess.SubprocessError):
        return None
