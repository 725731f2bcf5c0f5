"""Check, before anything else, that this machine can run the workflow: Python, packages, Snakemake, the commands of a cluster.

Needs the standard library alone, so that it can say what is missing.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)  # Python
MODULES = {"scikit-learn": "sklearn", "pyyaml": "yaml", "lazy-loader": "lazy_loader"}  # where they are not named as the package
OPTIONAL = {
    "openml": "data sets of OpenML",
    "requests": "downloads",
    "openpyxl": "Excel files",
    "xlrd": "Excel files of the old format",
}
COMMANDS = {"slurm": ("sbatch", "sacct", "squeue", "scancel")}  # of an executor
NO_RUN = ("-n", "--dry-run", "--dryrun", "--list", "-l", "--list-rules", "--lint", "--unlock", "--report", "--summary", "--touch")


def check(arguments: list[str], executor: str | None = None) -> None:
    """End the process with a line on what this machine lacks, or on a mistake in the command line; called by the profiles.

    `executor` is the one that the profile names. Without arguments only packages are looked at.
    """
    problem = python_problem() or package_problem() or executor_problem(arguments, executor)
    if problem:
        sys.exit(f"foldshift: {problem}")
    sys.path.insert(0, str(ROOT / "src"))
    try:
        import foldshift.engine.rules.session  # noqa: F401  # all that Snakemake needs before the first job
        from foldshift.engine.config.command_line import end_at_mistake
        from foldshift.engine.rules.stopping import STOPPING
    except ImportError as error:
        sys.exit(f"foldshift: {' '.join(str(error).split())}; {remedy([error.name or 'foldshift'])}")
    if arguments:
        STOPPING.listen(arguments)
        end_at_mistake(arguments)


def python_problem() -> str | None:
    """Say which Python is needed, where this is another one."""
    if sys.version_info[:2] >= OLDEST:
        return None
    low, here = (".".join(map(str, version)) for version in (OLDEST, sys.version_info[:2]))
    return f"Python {low} or later is needed; {sys.executable} is {here}. Name another one: make setup PYTHON=python3.12"


def package_problem() -> str | None:
    """Say which packages are missing or too old, and how to install them; warn of those that only some runs need."""
    lacking = {text: why for text in requirements() if (why := lack(text))}
    needed = [text for text in lacking if name_of(text) not in OPTIONAL]
    for text in lacking.keys() - needed:
        print(f"foldshift: note: {lacking[text]}, needed for {OPTIONAL[name_of(text)]}; {remedy([text])}", file=sys.stderr)
    return f"{'; '.join(lacking[text] for text in needed)}; {remedy(needed)}" if needed else None


def requirements() -> list[str]:
    """Packages that the workflow needs, with their versions; plugins of executors are needed where they are used."""
    import tomllib

    file = ROOT / "pyproject.toml"
    if not file.exists():  # a copy of the workflow alone: the imports say what is missing
        return []
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    found = [*project["dependencies"], *project["optional-dependencies"]["workflow"]]
    return [text for text in found if "plugin" not in text]


def name_of(requirement: str) -> str:
    """Name of a package without its versions."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower()


def lack(requirement: str) -> str | None:
    """Say what is wrong with the installed package, if anything is."""
    name = name_of(requirement)
    try:
        found = importlib.metadata.version(name)
        there = importlib.util.find_spec(MODULES.get(name, name)) is not None
    except (ImportError, ValueError):
        there = False
    if not there:
        return f"the package {name} is not installed"
    least = re.search(r">=\s*([\d.]+)", requirement)
    if least and numbers(found) < numbers(least[1]):
        return f"{name} {found} is installed, and {least[1]} or later is needed"
    return None


def numbers(version: str) -> tuple[int, ...]:
    """Leading numbers of a version.

    Examples
    --------
    >>> numbers("9.19") < numbers("10.0.1rc1")
    True
    """
    return tuple(map(int, re.findall(r"\d+", re.split(r"[^\d.]", version, maxsplit=1)[0])))


def remedy(packages: list[str]) -> str:
    """Write how to install packages."""
    return f"install with: {shlex.join([sys.executable, '-m', 'pip', 'install', *packages])} (or all at once: make setup)"


def executor_problem(arguments: list[str], executor: str | None) -> str | None:
    """Say what the chosen executor lacks on this machine: its plugin, or the commands of the cluster."""
    values: dict[str, Any] = dict(zip(arguments, [*arguments[1:], ""]))
    chosen = [values[name] for name in ("--executor", "-e") if name in values]
    chosen += [word.partition("=")[2] for word in arguments if word.startswith("--executor=")]
    name = [executor, *chosen][-1]
    if name in (None, "", "local", "dryrun", "touch") or set(arguments) & set(NO_RUN):
        return None
    here = "or run on this machine, without the profile of the cluster and with --cores all"
    plugin = f"snakemake-executor-plugin-{name}"
    if importlib.util.find_spec(plugin.replace("-", "_")) is None:
        return f"Snakemake has no executor {name!r} here, since the package {plugin} is not installed; {remedy([plugin])}, {here}"
    lacking = [command for command in COMMANDS.get(name, ()) if shutil.which(command) is None]
    if lacking:
        said = f"{', '.join(lacking)} {'are' if len(lacking) > 1 else 'is'} not in the path of this machine"
        return f"{name.upper()} cannot be used: {said}; run on a login node of the cluster, {here}"
    return None
