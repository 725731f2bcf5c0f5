"""Where compiled code, and what is looked up once in source files, is kept between processes."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

CACHE_VARIABLE = "NUMBA_CACHE_DIR"  # environment variable of numba's: where the user wants compiled code


@cache
def cache_root() -> Path | None:
    """Folder that compiled code is kept below."""
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
