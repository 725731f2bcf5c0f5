"""What the workflow costs beside computing: run a slice of a study and compare the processor time of everything with that of the jobs' own work.

    python scripts/measure_overhead.py --study saez_2022 --datasets stock,laser --mirror FOLDER

Computing is what the scripts' functions take, as their logs say; the rest is starting Python, imports, and Snakemake itself.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = re.compile(r"done in [\d.]+ s, ([\d.]+) s of processor time")


def work_seconds(folder):
    """Processor seconds of the work of all jobs, and their number, from their logs."""
    found = [WORK.search(path.read_text(encoding="utf-8")) for path in Path(folder).rglob("*.log")]
    seconds = [float(match[1]) for match in found if match]
    return sum(seconds), len(seconds)


def main():
    """Run the slice in a folder of its own and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", default="saez_2022")
    parser.add_argument("--datasets", required=True, help="the slice, by commas")
    parser.add_argument("--mirror", help="folder or URL of the real data")
    parser.add_argument("--cores", default="2")
    parser.add_argument("--config", nargs="*", default=[], help="further settings, e.g. n_seeds=100")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = [
            f"datasets={options.datasets}",
            *([f"mirror={Path(options.mirror).resolve()}"] if options.mirror else []),
            *options.config,
        ]
        command = [
            Path(sys.executable).with_name("snakemake"),
            options.study,
            "--snakefile",
            ROOT / "Snakefile",
            "--directory",
            folder,
        ]
        command += ["--workflow-profile", ROOT / "profiles/default", "--cores", options.cores, "--quiet", "all"]
        command += ["--configfile", ROOT / "config/paper.yaml", "--config", *settings]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        wall = time.perf_counter() - start
        if done.returncode:
            sys.exit(f"foldshift: the slice failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        whole = usage.ru_utime + usage.ru_stime
        work, n_jobs = work_seconds(os.path.join(folder, "results/logs"))
    print(
        f"{options.study}, {options.datasets}, {' '.join(options.config) or 'paper scale'}: {n_jobs} jobs, {wall:.0f} s on {options.cores} cores"
    )
    print(
        f"processor time: {whole:.0f} s in all, {work:.0f} s computing; beside it {whole - work:.0f} s, {(whole - work) / n_jobs:.2f} s per job"
    )
    print(f"overhead: {100 * (1 - work / whole):.1f} % of core time")


if __name__ == "__main__":
    main()
