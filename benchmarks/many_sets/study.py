"""A study of many small data sets with one table over all of them, for `measure_scale.py` and the tests of units."""

from foldshift.study import DATASETS, OutputGroup, Study, Table, failures

STUDY = Study(
    cuts=True,
    prepared=lambda settings: settings["scaling"],
    items=(
        DATASETS,
        OutputGroup(
            "errors",
            function="show.errors",
            inputs=lambda run: {"scores": run.per_dataset("seed_scores"), "shift": run.per_dataset("seed_shift")},
            mb=4000,
            message="errors over all data sets",
            items=(
                Table(
                    "errors",
                    title="Errors over all data sets",
                    category="2 Errors",
                    caption="Mean and quartiles over data sets of the root mean squared error, and mean D_n, by way of cutting.",
                ),
            ),
        ),
        failures("3 Failures"),
    ),
)
