"""Write beside the results what they came from: resolved configuration, versions."""

import json
import platform
from importlib.metadata import distributions

import yaml

import foldshift
from foldshift.files import write_text
from foldshift.jobs import run


def versions():
    """Versions of the program, of Python, of every package and of the machine's system."""
    packages = {dist.metadata["Name"].lower(): dist.version for dist in distributions() if dist.metadata["Name"]}
    return {
        "foldshift": foldshift.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "packages": dict(sorted(packages.items())),
    }


def main(job):
    """Write both files."""
    write_text(job.output.config, yaml.safe_dump(job.params.config, sort_keys=True, allow_unicode=True))
    write_text(job.output.versions, json.dumps(versions(), indent=2) + "\n")


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
