"""Items that several studies have."""

from foldshift.studies.base import Items, Table

DATASETS = Items(
    "datasets",
    make="foldshift.reporting.datasets.datasets_table",
    inputs=lambda run: {"descriptions": run.descriptions(), "origins": run.origins()},
    params=lambda run: {"entries": [dict(vars(run.catalogue[name])) for name in run.datasets]},
    local=True,
    message="data sets",
    items=(
        Table(
            "table1_datasets",
            title="Table 1: data sets",
            category="1 Data",
            caption="Data sets of the study after rows with missing values were dropped: what is predicted and the sizes of its "
            "classes, inputs and samples as expected by the catalogue (the paper's Table 1) and as found, by kind, rows dropped, "
            "distinct target values, constant inputs, and the source of the file. Below, where they differ from what was "
            "expected, and of data of your own what every column was read as, which were left out of the inputs and why, and "
            "which columns lacked values in the rows dropped. The CSV file says so of all data sets.",
        ),
    ),
)


def failures(category):
    """What failed in a study that the engine cuts.

    Parameters
    ----------
    category : str
        Part of the report.

    Returns
    -------
    items : foldshift.studies.base.Items
    """
    return Items(
        "failures",
        make="foldshift.reporting.failures.failures",
        inputs=lambda run: {"failures": run.per_dataset("failures", "json")},
        local=True,
        message="what failed, and why",
        items=(
            Table(
                "failures",
                title="What failed, and why",
                category=category,
                caption="A fit is one training of one learner on all folds but one of a data set. A fit that raises an error, "
                "does not end in time or uses up the "
                "memory costs itself only: it is an empty row of the scores, never a zero, and every table says on how many data "
                "sets, repetitions or pairs it "
                "rests; results that cannot be compared without it are left out on both sides. Listed are the message, how many "
                "fits were lost and of how many, "
                "and the command that runs such a job again alone. The table says so where nothing failed.",
            ),
        ),
    )
