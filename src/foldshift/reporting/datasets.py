"""Table 1: the data sets of a study, what was expected and what came."""

import json

import pandas as pd

from foldshift.reporting.items import Shown
from foldshift.reporting.tables import plain_grid


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


def datasets_table(inputs, settings, entries):
    """Table 1 of a study.

    Parameters
    ----------
    inputs : object
        ``descriptions`` of the prepared data sets and ``origins``, where they came from: JSON files in the same order.
    settings : dict
        Not used.
    entries : sequence of dict
        What the catalogue expects, in that order.

    Returns
    -------
    items : dict of str to foldshift.reporting.items.Shown
        ``table1_datasets``.
    """
    both = zip(inputs.descriptions, inputs.origins, entries)
    table = pd.DataFrame([row(read(description), read(origin), expected) for description, origin, expected in both])
    return {"table1_datasets": Shown(table, plain_grid(table.drop(columns="checksum")))}
