"""Contract tests against the packages that users bring along, each in an environment of its own: `make thorough WHAT=adapters`.

Their pins differ from each other's and from those of the lock file: foldshift is installed beside them as a user would.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = "tests/evaluation/test_other_tools.py"
ENVIRONMENTS = (("skore==0.28.0", "optuna==5.0.0"), ("autogluon.tabular==1.6.3",))


def try_packages(packages, folder):
    """Install packages beside foldshift, run the tests; what they need must not be skipped."""
    start = time.monotonic()
    python = folder / "env/bin/python"
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{ROOT}[test]", *packages]
    subprocess.run(install, check=True)
    installed = time.monotonic()
    tests = [python, "-m", "pytest", "-rs", "-p", "no:cacheprovider", TESTS]
    done = subprocess.run(tests, cwd=ROOT, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    advice = [f"pip install {one.partition('==')[0]}" for one in packages]
    missing = [line for line in lines if line.startswith("SKIPPED") and any(words in line for words in advice)]
    if done.returncode or missing:
        sys.exit("\n".join(lines[-40:] + missing) + done.stderr)
    took = f"installed in {installed - start:.0f} s, tests in {time.monotonic() - installed:.0f} s"
    print(f"{', '.join(packages)}: {took}: {lines[-1].strip('= ')}", flush=True)


def main():
    for packages in ENVIRONMENTS:
        with tempfile.TemporaryDirectory() as folder:
            try_packages(packages, Path(folder))


if __name__ == "__main__":
    main()
