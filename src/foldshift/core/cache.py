"""Cache folder for compiled code and for facts about source files."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

CACHE_VARIABLE = "NUMBA_CACHE_DIR"  # environment variable of numba that names a folder for compiled code


@cache
def cache_root() -> Path | None:
    """Find a writable cache folder: ``NUMBA_CACHE_DIR``, `__pycache__` of the package, or the user's; None if there is none."""
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    places = [Path(__file__).parents[1] / "__pycache__" / "kernels", user / "foldshift" / "kernels"]
    if named := os.environ.get(CACHE_VARIABLE):
        places.insert(0, Path(named).absolute())
    for place in places:
        try:
            place.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=place).close()
        except OSError:
            continue
        return place
    return None
