"""What many tests share: the project's root, the shared reference data where they are at hand."""

import importlib
import os
import signal
import sys
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if hasattr(signal, "SIGHUP"):  # ignored by what `nohup` starts
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell, and in all that tests start there
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]
# What `make test` leaves to `make check`, folders and files; single tests bear the mark `slow` themselves.
SLOW = (
    "fuzz/",
    "slurm/",
    "core/test_compiling.py",
    "reporting/test_failures_report.py",
    "engine/test_modules.py",
    "workflow/test_added_work.py",
    "workflow/test_as_module.py",
    "workflow/test_classes.py",
    "workflow/test_crash.py",
    "workflow/test_failures.py",
    "workflow/test_inference_studies.py",
    "workflow/test_many_sets.py",
    "workflow/test_mistakes.py",
    "workflow/test_own.py",
    "workflow/test_own_study.py",
    "workflow/test_plan.py",
    "workflow/test_replanning.py",
    "workflow/test_report.py",
    "workflow/test_reproduce.py",
    "workflow/test_s3.py",
    "workflow/test_stopped_runs.py",
)
# Files whose tests look at one and the same finished run: one worker makes it and has them all.
ONE_RUN = tuple(f"tests/workflow/test_{name}.py" for name in ("as_module", "output", "plan", "report", "run"))


def pytest_collection_modifyitems(items):
    """Mark the slow folders and files, and begin with the longest files: at the end no worker waits for another."""
    tests = Path(__file__).parent
    for item in items:
        name = item.path.relative_to(tests).as_posix()
        if name.startswith(SLOW) or item.get_closest_marker("thorough"):
            item.add_marker(pytest.mark.slow)
    first = ("slurm", "workflow")
    items.sort(key=lambda item: first.index(folder) if (folder := item.path.parent.name) in first else len(first))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker whole files, and one of them all that rest on the finished run."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class OneRunTogether(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return "the finished run" if file in ONE_RUN else file

    return OneRunTogether(config, log)


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


@pytest.fixture
def slow_places():
    return [ROOT / "tests" / name for name in SLOW]


@pytest.fixture(scope="session")
def shared():
    folder = shared_folder()
    if not (folder / "data").is_dir():
        pytest.skip("the reference data are not here: set FOLDSHIFT_SHARED to their folder")
    return folder


@pytest.fixture(scope="module")
def oracle():
    """Import a module of the folder FOLDSHIFT_ORACLES, which is last in line and only there for these tests."""
    folder = os.environ.get("FOLDSHIFT_ORACLES")
    if folder is None:
        pytest.skip(
            "baycomp, mlxtend and scikit-posthocs are not here: set FOLDSHIFT_ORACLES to the folder they are installed in"
        )
    sys.path.append(folder)
    yield importlib.import_module
    sys.path.remove(folder)
