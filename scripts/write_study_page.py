"""Write the page of one study in the report: question, answer, figure, table, verdicts, links to everything."""

from pathlib import Path
from typing import Any

from foldshift.core.files import write_text
from foldshift.engine.jobs.run_job import run
from foldshift.reporting.report_page import ReportItem, StudyWords, study_page


def main(job: Any) -> None:
    """Make the page from the results beside it."""
    facts = dict(job.params.facts)
    facts |= {key: [ReportItem(*item) for item in facts[key]] for key in ("main", "items")}
    write_text(job.output.page, study_page(StudyWords(**facts), Path(job.output.page).parent))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
