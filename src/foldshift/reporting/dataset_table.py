"""Table 1: the data sets of a study, with expected and actual sizes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from foldshift.reporting.items import TableResult
from foldshift.reporting.table_grid import Grid, plain_grid

if TYPE_CHECKING:
    from foldshift.core.types import Inputs, PathLike

SHOWN = 12  # names or classes on the page; the CSV file has all
LISTS = ("class_sizes", "read_as", "left_out", "dropped_because")


def row(data: dict[str, Any], origin: dict[str, str], expected: dict[str, Any]) -> dict[str, Any]:
    """Make one row of the table; cells of `LISTS` are lists of texts."""
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


def target_words(data: dict[str, Any]) -> str:
    """Describe the target of a data set."""
    if data["task"] == "classification":
        return f"{len(data['classes'])} classes"
    low, high = data["target_range"]
    return f"a number, {low:g} to {high:g}"


def shortened(texts: list[str]) -> str:
    """Join the first texts of a list, and count the others."""
    return ", ".join(texts[:SHOWN]) + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")


def read_json(path: PathLike) -> dict[str, Any]:
    """Read a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def datasets_table(inputs: Inputs, settings: dict[str, Any], entries: dict[str, dict[str, Any]]) -> dict[str, TableResult]:
    """Make Table 1 of a study; `entries` has of each data set what the catalogue expects."""
    origins = {origin["name"]: origin for origin in map(read_json, inputs.origins)}
    described = map(read_json, inputs.descriptions)
    table = pd.DataFrame([row(one, origins[one["name"]], entries[one["name"]]) for one in described])
    notes = [text for one in table.to_dict("records") for text in notes_of(one, entries[one["dataset"]]["own"])]
    table = table.assign(**{name: table[name].map(", ".join) for name in LISTS})
    return {"table1_datasets": TableResult(table, datasets_grid(table, notes))}


def datasets_grid(table: pd.DataFrame, notes: Sequence[str] | None = None) -> Grid:
    """Print Table 1; by default the notes are those of the column ``note``."""
    if notes is None:
        notes = [f"{row.dataset}: {row.note}." for row in table.itertuples() if row.note]
    page = table.drop(columns=["checksum", "note", *LISTS[1:]])
    page = page.loc[:, [page[name].notna().any() and page[name].ne("").any() for name in page]]
    if "class_sizes" in page:
        page = page.assign(class_sizes=[shortened(text.split(", ")) for text in page["class_sizes"]])
    return plain_grid(page, notes)


def notes_of(row: dict[Any, Any], own: bool) -> list[str]:
    """Build the note printed below Table 1 for a data set; a user-defined one also lists how every input was read."""
    parts = [f"read as {shortened(row['read_as'])}"] if own else []
    parts += [row["note"]] if row["note"] else []
    return [f"{row['dataset']}: {'; '.join(parts)}."] if parts else []
