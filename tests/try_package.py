"""Build wheel and sdist, and try both as a stranger would: `make package`.

The wheel goes into a fresh environment of every interpreter at hand, where the library is imported and the command used on a
file; the sdist is unpacked, installed with what its tests need, and runs a part of its own tests.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Run in an empty folder, with nothing of this checkout on the path.
IMPORTS = (
    "import foldshift, foldshift.partition as p, foldshift.shift as s, foldshift.inference as i, foldshift.evaluation as e; "
    "from sklearn.datasets import load_iris; X, y = load_iris(return_X_y=True); "
    "print(foldshift.__version__, p.make_folds('DOB-SCV', X, y, n_folds=5, seeds=[0]).shape)"
)
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


def run(*command, cwd=None):
    """What a command printed; ends the program with its last lines if it failed."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def starts(python):
    """Whether an interpreter is there and starts; a shim of a version manager may be there and not start."""
    return bool(shutil.which(python)) and subprocess.run([python, "--version"], capture_output=True).returncode == 0


def environment(python, folder):
    """A fresh virtual environment; its interpreter."""
    run(python, "-m", "venv", folder)
    return next(path for path in (folder / "bin" / "python", folder / "Scripts" / "python.exe") if path.exists())


def try_wheel(python, wheel, folder):
    """Install, import, advise on a CSV file, list the studies; prints how long each took."""
    start = time.monotonic()
    inside = environment(python, folder / "env")
    run(inside, "-m", "pip", "install", "--quiet", wheel)
    installed = time.monotonic()
    said = run(inside, "-c", IMPORTS, cwd=folder).strip()
    lines = ["x,colour,y", *(f"{(7 * i) % 50},{'red' if i % 3 else 'blue'},{(7 * i) % 50 + i % 5}" for i in range(150))]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    command = inside.parent / "foldshift"
    begun = time.monotonic()
    verdict = run(command, "advise", "data.csv", "-t", "y", "-b", "30s", "-q", cwd=folder).splitlines()
    advised = time.monotonic()
    studies = run(command, "studies", cwd=folder)
    missing = [path.parent.name for path in ROOT.glob("src/foldshift/studies/*/study.yaml") if path.parent.name not in studies]
    if missing:
        sys.exit(f"foldshift studies does not list {', '.join(missing)}:\n{studies}")
    print(
        f"{said}; installed in {installed - start:.0f} s, advice in {advised - begun:.0f} s: {next(filter(None, verdict))}",
        flush=True,
    )


def try_sdist(python, sdist, folder):
    """Unpack, install with extras, run some of its own tests."""
    shutil.unpack_archive(sdist, folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    inside = environment(python, folder / "env")
    run(inside, "-m", "pip", "install", "--quiet", f"{unpacked}[workflow,test]")
    print("sdist:", run(inside, "-m", "pytest", "-q", *TESTS, cwd=unpacked).splitlines()[-1], flush=True)


def main(argv=None):
    """Build, and try."""
    parser = argparse.ArgumentParser(description="Build wheel and sdist, and try both as a stranger would.")
    parser.add_argument(
        "--pythons", nargs="+", metavar="PYTHON", help="interpreters (default: 3.11 and later ones where they are)"
    )
    parser.add_argument("--wheel-only", action="store_true", help="leave out the tests of the sdist")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "package", help="folder of wheel and sdist")
    options = parser.parse_args(argv)
    pythons = options.pythons or [name for minor in range(11, 20) if starts(name := f"python3.{minor}")] or [sys.executable]
    shutil.rmtree(options.out, ignore_errors=True)
    isolation = [] if options.wheel_only else ["--no-isolation"]  # setuptools is in the environment of the project alone
    run(sys.executable, "-m", "build", *isolation, "--outdir", options.out, ROOT)
    (wheel,), (sdist,) = options.out.glob("*.whl"), options.out.glob("*.tar.gz")
    for path in (wheel, sdist):
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB", flush=True)
    for python in pythons:
        with tempfile.TemporaryDirectory() as folder:
            try_wheel(python, wheel, Path(folder))
    if not options.wheel_only:
        with tempfile.TemporaryDirectory() as folder:
            try_sdist(pythons[0], sdist, Path(folder))


if __name__ == "__main__":
    main()
