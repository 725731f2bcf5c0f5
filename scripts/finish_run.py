"""Make the report after a run and say where everything is, and what failed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from foldshift.engine.config.runs import configure
from foldshift.engine.config.yaml_files import read_yaml
from foldshift.engine.jobs.failure_summary import lost_fits, lost_rows


def main() -> None:
    """Build results/report.html with Snakemake and print the paths of report, tables and figures."""
    configured = configure(read_yaml("config/config.yaml", "configuration"), Path(__file__).resolve().parents[1])
    results = Path(configured.config["results"])
    report = results / "report.html"
    snakemake = Path(sys.executable).with_name("snakemake")
    made = subprocess.run([snakemake, "--cores", "1", "--quiet", "all", "--report", report], capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"foldshift: the report could not be made:\n{made.stderr.strip()}")
    print("\nDone.")
    print(f"  report   {report}")
    for study in configured.config["studies"]:
        print(f"  tables   {results / study / 'tables'}")
        print(f"  figures  {results / study / 'figures'}")
        if (compared := results / study / "paper_vs_ours.html").exists():
            print(f"  compared with the paper   {compared}")
    runs = list(configured.runs.values())
    for line in (*lost_fits(results, [run for run in runs if run.is_cut]), *lost_rows(results, runs)):
        print(f"  failed   {line}")


if __name__ == "__main__":
    main()
