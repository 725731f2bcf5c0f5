"""Lists of data sets."""

from __future__ import annotations

import json
import os

from foldshift.datasets.catalogue import find, read_catalogue


def is_data_set(name: str) -> bool:
    """Report whether a name stands for a data set, well spelt or not, rather than for a file."""
    return name in read_catalogue() or not (os.sep in name or "." in name or os.path.exists(name))


def data_sets(name: str | None = None, task: str | None = None, as_json: bool = False) -> str:
    """Show the catalogue, or one data set of it, as text."""
    catalogue = read_catalogue()
    if name is not None:
        entry = find(name, catalogue)
        rows = {
            key: getattr(entry, key) for key in ("name", "title", "task", "target", "n_rows", "n_features", "licence", "citation")
        }
        rows["sources"] = [str(source) for source in entry.sources]
        if as_json:
            return json.dumps(rows, indent=1, ensure_ascii=False)
        listed = [f"{key:<11} {value}" for key, value in rows.items() if key != "sources"]
        return "\n".join([*listed, *(f"{'source':<11} {source}" for source in rows["sources"])])
    entries = [entry for entry in catalogue.values() if task in (None, entry.task)]
    if as_json:
        keys = ("name", "title", "task", "n_rows", "n_features")
        return json.dumps([{key: getattr(entry, key) for key in keys} for entry in entries], indent=1, ensure_ascii=False)
    width = max(len(entry.name) for entry in entries)
    lines = [
        f"{entry.name:<{width}}  {entry.task:<14}  {entry.n_rows:>6} x {entry.n_features:<3}  {entry.title}" for entry in entries
    ]
    return "\n".join([*lines, f"{len(entries)} data sets. foldshift data NAME shows the sources of one."])
