"""Tables of validation programs, each with its provenance: tests tie the constants that users are shown to them."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldshift.core.versions import commit_of, installed_versions

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("foldshift", "numpy", "scipy", "scikit-learn", "pandas", "numba")
FOLDER = ROOT / "validation" / "tables"


def write_table(name: str, table: pd.DataFrame, **facts: Any) -> Path:
    """Write a table as CSV and, beside it, as JSON the command, the commit, versions and further facts such as seeds."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    commit = _commit()
    path = FOLDER / f"{name}.csv"
    table.to_csv(path, index=False, lineterminator="\n")
    provenance = {
        "command": " ".join(
            ["python", Path(sys.argv[0]).resolve().relative_to(ROOT).as_posix(), *map(_without_place, sys.argv[1:])]
        ),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit,
        "versions": {name: version for name, version in installed_versions()["packages"].items() if name in PACKAGES},
        **facts,
    }
    path.with_suffix(".json").write_text(json.dumps(provenance, indent=1, default=str) + "\n", encoding="utf-8")
    return path


def _commit() -> dict[str, Any] | None:
    """Commit of the programs, and the number of changed files; the tables that they write do not count."""
    found = commit_of(ROOT)
    if found is None:
        return None
    tables = ["git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no", "--", str(FOLDER)]
    written = subprocess.run(tables, capture_output=True, text=True, check=True).stdout.splitlines()
    return found | {"changed_files": found["changed_files"] - len(written)}


def _without_place(argument: str) -> str:
    """Write FOLDER for an argument that is a place on this machine."""
    return "FOLDER" if Path(argument).is_absolute() else argument
