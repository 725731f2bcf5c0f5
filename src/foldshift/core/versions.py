"""Versions that results rest on."""

import platform
import subprocess
from importlib.metadata import distributions

import foldshift


def installed_versions():
    """Versions of the program, of Python and of every package that is installed.

    Returns
    -------
    versions : dict
        ``foldshift`` and ``python``, and ``packages``: version by name in lower case, sorted.
    """
    packages = {dist.metadata["Name"].lower(): dist.version for dist in distributions() if dist.metadata["Name"]}
    return {
        "foldshift": foldshift.__version__,
        "python": platform.python_version(),
        "packages": dict(sorted(packages.items())),
    }


def commit_of(root):
    """Git commit of a folder with the workflow, and how many of its files differ from it.

    Parameters
    ----------
    root : path-like

    Returns
    -------
    git : dict or None
        ``commit``, ``changed_files``; None where the folder is no checkout of its own.
    """

    def git(*arguments):
        return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=60).stdout

    try:
        git("ls-files", "--error-unmatch", "workflow/Snakefile")  # not a copy that lies in somebody else's repository
        return {
            "commit": git("rev-parse", "HEAD").strip(),
            "changed_files": len(git("status", "--porcelain", "--untracked-files=no").splitlines()),
        }
    except (OSError, subprocess.SubprocessError):
        return None
