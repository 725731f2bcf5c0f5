"""Write envs/foldshift.yaml from the lock file: the same pins for conda as for pip."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = "3.11"  # the oldest supported; its pins are the ones without a marker or with one for it
HEAD = """# Made from requirements.lock by envs/write_conda_env.py; a test fails when they differ.
name: foldshift
channels: [conda-forge, nodefaults]
dependencies:
  - python={python}
  - pip
  - pip:
"""


def pins(lock):
    """Pinned requirements of a lock file, with their markers, without hashes.

    Parameters
    ----------
    lock : str
        Text of the lock file.

    Returns
    -------
    pins : list of str
        In the order of the file.
    """
    lines = re.findall(r"^([a-z0-9][^\s;\\]*==[^\s;\\]+)\s*(;[^\\\n]+)?", lock, re.MULTILINE)
    return [f"{pin} {marker.strip()}".strip() for pin, marker in lines]


def conda_env(lock):
    """Text of the conda environment with the pins of a lock file."""
    return HEAD.format(python=PYTHON) + "".join(f'      - "{pin}"\n' for pin in pins(lock))


if __name__ == "__main__":
    target = ROOT / "envs/foldshift.yaml"
    target.write_text(conda_env((ROOT / "requirements.lock").read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"wrote {target.relative_to(ROOT)}\n")
