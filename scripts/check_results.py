"""Say which files of results are damaged, missing or of another run, and how to make them anew."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foldshift.core.errors import DataError
from foldshift.core.files import write_text
from foldshift.core.printable import printable
from foldshift.engine.jobs.run_job import RERUN, run
from foldshift.engine.storage.checksums import Finding, check_results, recorded

SHOWN = 20  # findings and files that are named one by one
LIST = "provenance/to_make_anew.txt"


def remedy(files: list[str], results: str, studies: Sequence[str]) -> str:
    """Write the command that makes files, and what rests on them, anew."""
    named = {file.removeprefix(f"{results}/").partition("/")[0] for file in files}
    targets = sorted(named) if named <= set(studies) else ["all"]
    chosen = shlex.join(files)
    if len(files) > SHOWN:
        path = Path(results, LIST)
        write_text(path, "\n".join(map(shlex.quote, files)) + "\n")
        chosen = f"$(cat {shlex.quote(str(path))})"
    return f"snakemake {shlex.join(targets)} --forcerun {chosen} {os.environ.get(RERUN, '--cores all')}"


def lines(findings: list[Finding], n_recorded: int) -> list[str]:
    """Lines on what was found: files that are wrong one by one, unrecorded ones by number."""
    wrong = [one for one in findings if one.state != "unrecorded"]
    others = [one for one in findings if one.state == "unrecorded"]
    found = [printable(f"{one.state}: {one.file} ({one.reason})") for one in wrong[:SHOWN]]
    found += [f"and {len(wrong) - SHOWN} more"] * (len(wrong) > SHOWN)
    if others:
        shown = printable(", ".join(one.file for one in others[:3]) + (", ..." if len(others) > 3 else ""))
        found.append(f"{len(others)} files without a checksum, of another run or of an earlier version: {shown}")
    return [*found, f"{n_recorded - len(wrong):,} of {n_recorded:,} files are those that were written"]


def main(job: Any) -> None:
    """Print what was found; an error if a file is wrong."""
    results = job.params.results
    findings = check_results(results)
    for line in lines(findings, len(recorded(results))):
        print(f"foldshift: {line}", flush=True)
    if wrong := [one.file for one in findings if one.state != "unrecorded"]:
        command = remedy(wrong, results, job.params.studies)
        raise DataError(f"{len(wrong)} files are not those that were written. To make them anew, type: {command}")


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
