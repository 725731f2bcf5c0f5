"""Make the report after a run and say where everything is."""

import subprocess
import sys
from pathlib import Path

import yaml

from foldshift.studies.configure import configure


def main():
    """Build results/report.html with Snakemake and print the paths of report, tables and figures."""
    raw = yaml.safe_load(Path("config/config.yaml").read_text(encoding="utf-8"))
    config = configure(raw, Path(__file__).resolve().parents[1]).config
    results = Path(config["results"])
    report = results / "report.html"
    snakemake = Path(sys.executable).with_name("snakemake")
    made = subprocess.run([snakemake, "--cores", "1", "--quiet", "all", "--report", report], capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"foldshift: the report could not be made:\n{made.stderr.strip()}")
    print("\nDone.")
    print(f"  report   {report}")
    for study in config["studies"]:
        print(f"  tables   {results / study / 'tables'}")
        print(f"  figures  {results / study / 'figures'}")
        if (compared := results / study / "paper_vs_ours.html").exists():
            print(f"  compared with the paper   {compared}")


if __name__ == "__main__":
    main()
