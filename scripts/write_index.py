"""Write the index of the report: a card for every study, taken from its page."""

from pathlib import Path
from typing import Any

from foldshift.core.files import write_text
from foldshift.engine.jobs.run_job import run
from foldshift.reporting.report_page import card_of, index_page


def main(job: Any) -> None:
    """Collect the cards in the order of the studies."""
    pages = {Path(path).parent.name: Path(path) for path in (*job.input.pages, *job.params.earlier)}
    cards = {
        study: (title, card_of(pages[study].read_text(encoding="utf-8")))
        for study, title in job.params.studies.items()
        if study in pages
    }
    write_text(job.output.index, index_page(cards, job.params.left_out))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
