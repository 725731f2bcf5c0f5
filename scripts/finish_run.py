"""Make Snakemake's report after a run and say where everything is, what to read first, and what failed."""

from __future__ import annotations
"""Make Snakemake's report after a run and say where it is; the run itself has said where everything else is, and what failed."""

import subprocess
import sys
from pathlib import Path

from foldshift.engine.config.yaml_files import read_yaml


def main() -> None:
    """Build results/report.html with Snakemake and print the paths of pages, report, tables and figures."""
    configured = configure(read_yaml("config/config.yaml", "configuration"), Path(__file__).resolve().parents[1])
    results = Path(configured.config["results"])
    report = results / "report.html"
    snakemake = Path(sys.executable).with_name("snakemake")
    made = subprocess.run([snakemake, "--cores", "1", "--quiet", "all", "--report", report], capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"foldshift: the report could not be made:\n{made.stderr.strip()}")
    print("\nDone.")
    print(f"  read first   {results / 'index.html'}")
    print(f"  report   {report}")
    for study in configured.config["studies"]:
        print(f"  tables   {results / study / 'tables'}")
        print(f"  figures  {results / study / 'figures'}")
        if (compared := results / study / "paper_vs_ours.html").exists():
            print(f"  compared with the paper   {compared}")
    runs = list(configured.runs.values())
    for line in (*lost_fits(results, [run for run in runs if run.is_cut]), *lost_rows(results, runs)):
        print(f"  failed   {line}")
    """Build report.html in the folder of the results with Snakemake."""
    results = Path(read_yaml("config/config.yaml", "configuration").get("results", "results"))
    report, snakemake = results / "report.html", Path(sys.executable).with_name("snakemake")
    made = subprocess.run([snakemake, "--cores", "1", "--quiet", "all", "--report", report], capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"foldshift: the report could not be made:\n{made.stderr.strip()}")
    index = results / "index.html"
    print(f"\nDone. The report is {index if index.exists() else report}; Snakemake's own, with every file, is {report}.")


if __name__ == "__main__":
    main()
