"""Table 1: the data sets of a study, what was expected and what came."""

import json

import pandas as pd

from foldshift.datasets.dataset import read_prepared
from foldshift.jobs import run
from foldshift.reporting.tables import plain_grid, write_table

CAPTION = (
    "Data sets of the study after rows with missing values were dropped: inputs and samples as expected by the catalogue (the paper's Table 1) and as "
    "found, rows dropped, distinct target values, constant inputs, and the source of the file."
)


def describe(data, origin, expected):
    """One row of the table."""
    return {
        "dataset": data.name,
        "attributes": data.X.shape[1],
        "expected_attributes": expected["n_features"],
        **{name: sum(kind == name for kind in data.kinds) for name in ("real", "integer", "nominal")},
        "samples": data.X.shape[0],
        "expected_samples": expected["n_rows"],
        "dropped": data.n_dropped,
        "target_values": len(set(data.y.tolist())),
        "constant": " ".join(data.constant_features),
        "source": origin["source"],
        "checksum": origin["fingerprint"],
        "note": "; ".join(data.notes),
    }


def main(job):
    """Describe every prepared data set."""
    rows = []
    for data, origin, expected in zip(job.input.data, job.input.origins, job.params.entries):
        with open(origin, encoding="utf-8") as file:
            rows.append(describe(read_prepared(data), json.load(file), expected))
    table = pd.DataFrame(rows)
    write_table(job.output.html, table, plain_grid(table.drop(columns="checksum"), CAPTION))


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
