"""Table 1: the data sets of a study, what was expected and what came."""

import json

import pandas as pd

from foldshift.jobs import run
from foldshift.reporting.tables import plain_grid, write_table

CAPTION = (
    "Data sets of the study after rows with missing values were dropped: inputs and samples as expected by the catalogue (the paper's Table 1) and as "
    "found, rows dropped, distinct target values, constant inputs, and the source of the file."
)


def row(data, origin, expected):
    """One row of the table."""
    return {
        "dataset": data["name"],
        "attributes": data["n_features"],
        "expected_attributes": expected["n_features"],
        **{name: data["kinds"].count(name) for name in ("real", "integer", "nominal")},
        "samples": data["n_rows"],
        "expected_samples": expected["n_rows"],
        "dropped": data["n_dropped"],
        "target_values": data["target_values"],
        "constant": " ".join(data["constant_features"]),
        "source": origin["source"],
        "checksum": origin["fingerprint"],
        "note": "; ".join(data["notes"]),
    }


def read(path):
    """A JSON file."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main(job):
    """Join the descriptions of the prepared data sets with where they came from and what was expected."""
    both = zip(job.input.descriptions, job.input.origins, job.params.entries)
    table = pd.DataFrame([row(read(description), read(origin), expected) for description, origin, expected in both])
    write_table(job.output.html, table, plain_grid(table.drop(columns="checksum"), CAPTION))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
