"""Try the package as a stranger would, in fresh environments of the Pythons at hand: `make package`.

Each environment gets the wheel and its requirements once. Then each way of installing goes over it: wheel, sdist, a clone, an
address of git; first without compiled learners, then with them (`[fast]`). After each, the library is imported, a table advised
on, data cut and the studies listed. Then the sdist is unpacked, installed with what its tests need, and runs a part of them.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
OLDEST = 11  # minor number of Python
# Run in an empty folder, with nothing of this checkout on the path.
LIBRARY = """
import importlib.metadata, importlib.util, json, sys, time
start = time.perf_counter()
import foldshift
from foldshift.partition import DOBSCV, make_folds
seconds = time.perf_counter() - start
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
X, y = load_iris(return_X_y=True)
scores = cross_val_score(GaussianNB(), X, y, cv=DOBSCV(5, random_state=0))
folds = make_folds("DOB-SCV", X, y, n_folds=5, seeds=[0])
facts = importlib.metadata.metadata("foldshift")
print(json.dumps({
    "import": seconds, "inside": foldshift.__file__.startswith(sys.prefix), "version": foldshift.__version__,
    "found": [scores.round(6).tolist(), folds.tolist()], "numba": importlib.util.find_spec("numba") is not None,
    "gone": importlib.util.find_spec("foldshift.gone") is not None,
    "requires": sorted(facts.get_all("Requires-Dist")),
}))
"""
ROWS = ["x,colour,y", *(f"{(7 * i) % 50},{'red' if i % 3 else 'blue'},{(7 * i) % 50 + i % 5}" for i in range(150))]
TESTS = tuple(
    f"tests/{name}.py"
    for name in (
        "partition/test_partition",
        "partition/test_balanced",
        "shift/test_shift",
        "command/test_command",
        "project/test_project",
        "core/test_lazy",
    )
)


class Row(NamedTuple):
    """Seconds that one way of installing took, and what was found."""

    python: str
    way: str
    install: float
    imported: float
    advise: float
    studies: float
    answers: str  # scores, folds and verdicts: the same text for every way


def run(*command, cwd=None):
    """Output of a command; ends the program with its last lines if it failed."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def starts(python):
    """Whether an interpreter is there and starts; a shim of a version manager may be there and not start."""
    return bool(shutil.which(python)) and subprocess.run([python, "--version"], capture_output=True).returncode == 0


def interpreters():
    """Pythons at hand, one a version: those on the path, then those of pyenv."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found = []
    for name in (f"python3.{minor}" for minor in range(OLDEST, 30)):
        kept = [str(path) for path in versions.glob(f"{name.removeprefix('python')}.*/bin/{name}")]
        found += list(filter(starts, [name, *kept]))[:1]
    return found or [sys.executable]


def environment(python, folder):
    """A fresh virtual environment; its interpreter."""
    run(python, "-m", "venv", folder)
    return next(path for path in (folder / "bin" / "python", folder / "Scripts" / "python.exe") if path.exists())


def clone(folder):
    """A clone in which an earlier version was built, with a module that is gone."""
    run("git", "clone", "--quiet", ROOT, folder)
    left = folder / "build" / "lib" / "foldshift"
    left.mkdir(parents=True)
    (left / "gone.py").write_text("")
    return folder


def ways(wheel, sdist, wheel_only, folder):
    """Arguments of pip for each way of installing, without and with `[fast]`."""
    found = {"wheel": str(wheel)}
    if not wheel_only:
        found["sdist"] = str(sdist)
        if (ROOT / ".git").exists():
            found["clone"] = str(clone(folder / "clone"))
            found["git address"] = f"git+file://localhost{ROOT.as_posix()}"  # pip takes extras of an address with a host alone
        else:
            print("No git repository here: neither a clone nor an address of git is tried.", flush=True)
    named = {way: f"foldshift[fast] @ {given}" if way == "git address" else f"{given}[fast]" for way, given in found.items()}
    return found | {f"{way} [fast]": given for way, given in named.items()}


def try_way(inside, way, given, folder):
    """Install in one way, use library and command in an empty folder; a row."""
    begun = time.monotonic()
    run(inside, "-m", "pip", "uninstall", "--quiet", "--yes", "foldshift")
    run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", given)
    installed = time.monotonic()
    library = json.loads(run(inside, "-c", LIBRARY, cwd=folder))
    if not library["inside"] or library["gone"] or library["numba"] != way.endswith("[fast]"):
        sys.exit(f"{way}: not as it should be: {library}")
    (folder / "data.csv").write_text("\n".join(ROWS) + "\n")
    command = inside.parent / "foldshift"
    start = time.monotonic()
    verdict = run(command, "advise", "data.csv", "-t", "y", "--effort", "quick", "-q", cwd=folder)
    advised = time.monotonic()
    studies = run(command, "studies", cwd=folder)
    listed = time.monotonic()
    missing = [path.parent.name for path in ROOT.glob("src/foldshift/studies/*/study.yaml") if path.parent.name not in studies]
    if missing:
        sys.exit(f"foldshift studies does not list {', '.join(missing)}:\n{studies}")
    answers = json.dumps([library["version"], library["requires"], library["found"], verdict, studies])
    python = run(inside, "--version").split()[-1]
    return Row(python, way, installed - begun, library["import"], advised - start, listed - advised, answers)


def try_sdist(python, sdist, folder):
    """Unpack, install with extras, run some of its own tests."""
    shutil.unpack_archive(sdist, folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    inside = environment(python, folder / "env")
    run(inside, "-m", "pip", "install", "--quiet", f"{unpacked}[workflow,test]")
    print("sdist:", run(inside, "-m", "pytest", "-q", *TESTS, cwd=unpacked).splitlines()[-1], flush=True)


def main(argv=None):
    """Build, and try."""
    parser = argparse.ArgumentParser(description="Build wheel and sdist, and try the package as a stranger would.")
    parser.add_argument("--pythons", nargs="+", metavar="PYTHON", help="interpreters (default: 3.11 and later ones at hand)")
    parser.add_argument("--wheel-only", action="store_true", help="the wheel alone, and no tests of the sdist")
    parser.add_argument("--no-tests", action="store_true", help="leave out the tests of the sdist")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "package", help="folder of wheel and sdist")
    options = parser.parse_args(argv)
    pythons = options.pythons or interpreters()
    shutil.rmtree(options.out, ignore_errors=True)
    isolation = [] if options.wheel_only else ["--no-isolation"]  # setuptools is in the environment of the project alone
    run(sys.executable, "-m", "build", *isolation, "--outdir", options.out, ROOT)
    (wheel,), (sdist,) = options.out.glob("*.whl"), options.out.glob("*.tar.gz")
    for path in (wheel, sdist):
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB", flush=True)
    print(f"{'Python':8} {'way':20} {'install':>9} {'import':>9} {'advise':>9} {'studies':>9}", flush=True)
    for python in pythons:
        answers = set()
        with tempfile.TemporaryDirectory() as folder:
            inside = environment(python, Path(folder, "env"))
            for way, given in ways(wheel, sdist, options.wheel_only, Path(folder)).items():
                row = try_way(inside, way, given, Path(folder))
                seconds = " ".join(f"{one:7.2f} s" for one in (row.install, row.imported, row.advise, row.studies))
                print(f"{row.python:8} {row.way:20} {seconds}", flush=True)
                answers.add(row.answers)
        if len(answers) > 1:
            sys.exit(f"{python}: the ways differ in version, requirements, scores, folds, verdict or studies")
    if not (options.wheel_only or options.no_tests):
        with tempfile.TemporaryDirectory() as folder:
            try_sdist(pythons[0], sdist, Path(folder))


if __name__ == "__main__":
    main()
