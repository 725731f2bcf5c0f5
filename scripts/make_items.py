"""Make tables and figures of a study: call the function that the study declares, write what it returns in all forms."""

from typing import Any

from foldshift.core.errors import require_keys
from foldshift.core.imports import import_object
from foldshift.engine.jobs.run_job import run
from foldshift.engine.jobs.unit_inputs import of_datasets
from foldshift.engine.jobs.user_code import ITEMS, call_own
from foldshift.reporting.items import write_item


def main(job: Any) -> None:
    """Write every item that the job declares."""
    settings, datasets = job.params.settings, job.params.settings.get("datasets", ())
    function = import_object(job.params.function, "items")
    with of_datasets(job.input, getattr(job.params, "units", ()), datasets) as (inputs, failed):
        if failed:  # the table of failures names them
            settings = settings | {"datasets": [name for name in datasets if name not in failed]}
        made = call_own(job.params.function, ITEMS, function, inputs, settings, **job.params.arguments)
        require_keys(made, [item["key"] for item in job.params.shown], f"{job.params.function} must return")
        for item, path in zip(job.params.shown, job.output):
            call_own(job.params.function, ITEMS, write_item, item, made[item["key"]], path, settings)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
