"""Make Snakemake's report after a run and say where it is; the run itself has said where everything else is, and what failed."""

import subprocess
import sys
from pathlib import Path

from foldshift.engine.config.yaml_files import read_yaml
from foldshift.engine.rules.stopping import STOPPING


def main() -> None:
    """Build report.html in the folder of the results with Snakemake."""
    STOPPING.listen(sys.argv)
    STOPPING.progress = lambda: "all results are there, but for report.html"
    results = Path(read_yaml("config/config.yaml", "configuration").get("results", "results"))
    report, snakemake = results / "report.html", Path(sys.executable).with_name("snakemake")
    made = subprocess.run([snakemake, "--cores", "1", "--quiet", "all", "--report", report], capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"foldshift: the report could not be made:\n{made.stderr.strip()}")
    index = results / "index.html"
    print(f"\nDone. The report is {index if index.exists() else report}; Snakemake's own, with every file, is {report}.")


if __name__ == "__main__":
    main()
