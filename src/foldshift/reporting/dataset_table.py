"""Table 1: the data sets of a study, what was expected and what came."""

import json

import pandas as pd

from foldshift.reporting.items import Shown
from foldshift.reporting.table_grid import plain_grid

SHOWN = 12  # names or classes on the page; the CSV file has all
LISTS = ("class_sizes", "read_as", "left_out", "dropped_because")


def row(data, origin, expected):
    """One row of the table; cells of `LISTS` are lists of texts."""
    sizes = dict(zip(data["classes"], data.get("class_sizes", ())))
    return {
        "dataset": data["name"],
        "target": data["target"],
        "target_is": target_words(data),
        "class_sizes": [f"{name} {size}" for name, size in sizes.items()],
        "attributes": data["n_features"],
        "expected_attributes": expected["n_features"],
        **{name: data["kinds"].count(name) for name in ("real", "integer", "nominal")},
        "read_as": [f"{name} {kind}" for name, kind in zip(data["feature_names"], data["kinds"])],
        "left_out": [f"{name} ({why})" for name, why in data.get("left_out", {}).items()],
        "samples": data["n_rows"],
        "expected_samples": expected["n_rows"],
        "dropped": data["n_dropped"],
        "dropped_because": [f"{name} lacks {count}" for name, count in data.get("missing", {}).items()],
        "target_values": data["target_values"],
        "constant": " ".join(data["constant_features"]),
        "source": origin["source"],
        "checksum": origin["fingerprint"],
        "note": "; ".join(data["notes"]),
    }


def target_words(data):
    """What kind of target a data set has."""
    if data["task"] == "classification":
        return f"{len(data['classes'])} classes"
    low, high = data["target_range"]
    return f"a number, {low:g} to {high:g}"


def shortened(texts):
    """Some of a list of texts."""
    return ", ".join(texts[:SHOWN]) + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")


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
        ``table1_datasets``: the target and its kind, the sizes of the classes, what every input was read as, the columns that
        were left out and why, the rows dropped and the columns that lacked values in them. What is long stands below the table
        on the page, twelve names at most, and columns that say nothing of any data set are left out there; the CSV file has all.
    """
    both = zip(inputs.descriptions, inputs.origins, entries)
    table = pd.DataFrame([row(read(description), read(origin), expected) for description, origin, expected in both])
    notes = [text for one, entry in zip(table.to_dict("records"), entries) for text in below(one, entry.get("own", False))]
    page = table.drop(columns=["checksum", "note", *LISTS[1:]]).assign(class_sizes=table["class_sizes"].map(shortened))
    page = page.loc[:, [page[name].notna().any() and page[name].ne("").any() for name in page]]
    table = table.assign(**{name: table[name].map(", ".join) for name in LISTS})
    return {"table1_datasets": Shown(table, plain_grid(page, notes))}


def below(row, own):
    """What stands below the table about a data set: of the user's own how every input was read, of any what is to be noted."""
    said = [f"read as {shortened(row['read_as'])}"] if own else []
    said += [row["note"]] if row["note"] else []
    return [f"{row['dataset']}: {'; '.join(said)}."] if said else []
