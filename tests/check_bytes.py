"""Run all studies, cut small, in many ways, and compare every table and figure byte for byte: `make thorough WHAT=bytes`.

    python tests/check_bytes.py [--ways 6 7 8]

One, two and four cores; blocks of 1, 7 and 20 seeds; two hash seeds; a fresh clone in another folder; a folder with blanks in
its name.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from foldshift.core.files import content_of

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "tests/check_bytes.yaml"


class Way(NamedTuple):
    """One way to run: what it is called, and what it changes."""

    title: str
    cores: int = 2
    settings: tuple = ("seeds_per_block=20",)
    hash_seed: str = "1"
    folder: str = "run"
    clone: bool = False


WAYS = (
    Way("2 cores, blocks of 20 seeds, hash seed 1"),
    Way("1 core", cores=1),
    Way("4 cores", cores=4),
    Way("blocks of 7 seeds", settings=("seeds_per_block=7",)),
    Way("blocks of 1 seed", settings=("seeds_per_block=1", "minutes_per_job=1")),
    Way("blocks from the cost model", settings=()),
    Way("hash seed 2", hash_seed="2"),
    Way("a folder with blanks in its name", folder="a folder with blanks"),
    Way("a fresh clone in another folder", clone=True),
)


def outputs(folder):
    """Checksum of every table and figure by its name."""
    return {
        path.relative_to(folder).as_posix(): content_of(path).sha256
        for kind in ("tables", "figures")
        for path in sorted(folder.glob(f"results/*/{kind}/*"))
    }


def run(way, place):
    """Checksums of what one way makes, and its seconds."""
    root, folder = ROOT, place / way.folder
    if way.clone:
        root = place / "clone"
        subprocess.run(["git", "clone", "--quiet", ROOT, root], check=True)
    folder.mkdir(parents=True)
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "all",
        "--snakefile",
        root / "Snakefile",
        "--directory",
        folder,
        "--cores",
        way.cores,
    ]
    command += ["--workflow-profile", root / "profiles/default", "--quiet", "all", "--configfile", CONFIG]
    command += ["--config", *way.settings] if way.settings else []
    start = time.perf_counter()
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": way.hash_seed}
    )
    if done.returncode:
        sys.exit(f"foldshift: {way.title}: the run failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return outputs(folder), time.perf_counter() - start


def main():
    """Compare every way with the first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = range(2, len(WAYS) + 1)
    parser.add_argument("--ways", nargs="+", type=int, choices=numbers, default=numbers, help="which to compare with the first")
    args = parser.parse_args()
    expected, n_wrong = None, 0
    for way in (WAYS[0], *(WAYS[number - 1] for number in args.ways)):
        with tempfile.TemporaryDirectory() as place:
            found, seconds = run(way, Path(place))
        expected = found if expected is None else expected
        differing = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
        n_wrong += len(differing)
        print(f"{len(expected) - len(differing)} of {len(expected)} files identical, {seconds:.0f} s: {way.title}", flush=True)
        for name in differing:
            print(f"  differs: {name}", flush=True)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
