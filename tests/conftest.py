"""What many tests share: the project's root, the shared reference data where they are at hand."""

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[1]


def shared_folder():
    """Folder of the reference data: FOLDSHIFT_SHARED, or `shared` beside the project."""
    return Path(os.environ.get("FOLDSHIFT_SHARED", ROOT.parent / "shared"))


@pytest.fixture(autouse=True)
def no_open_figures():
    """Close what a test has drawn: matplotlib warns of more than twenty, in whichever test comes then."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def shared():
    folder = shared_folder()
    if not (folder / "data").is_dir():
        pytest.skip("the reference data are not here: set FOLDSHIFT_SHARED to their folder")
    return folder
