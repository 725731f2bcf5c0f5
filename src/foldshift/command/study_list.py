"""Lists of studies; nothing of the library is loaded for them."""

from __future__ import annotations

import json
from importlib.resources import files

import yaml

from foldshift.core.errors import DataError, unknown

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is ten times as fast, and not in every build of PyYAML


def study_list(name: str | None = None, as_json: bool = False) -> str:
    """Show the studies, or one of them with its README and findings, as text."""
    folder = files("foldshift.studies")
    found = {
        one.name: LOADER(one.joinpath("study.yaml").read_text(encoding="utf-8")).get_single_data()
        for one in folder.iterdir()
        if one.is_dir() and one.joinpath("study.yaml").is_file()
    }
    found = dict(sorted(found.items(), key=lambda pair: pair[1].get("order", 99)))
    if name is not None:
        if name not in found:
            raise DataError(unknown("study", name, found))
        parts = {part: folder.joinpath(name, f"{part}.md").read_text(encoding="utf-8").strip() for part in ("README", "findings")}
        if as_json:
            return json.dumps({"id": name, "title": found[name]["title"], **parts}, indent=1, ensure_ascii=False)
        return "\n\n".join(parts.values())
    if as_json:
        rows = [{"id": key, "title": about["title"], "summary": about["summary"].strip()} for key, about in found.items()]
        return json.dumps(rows, indent=1, ensure_ascii=False)
    lines = [f"{key}: {about['title']}\n  {' '.join(about['summary'].split())}" for key, about in found.items()]
    return "\n\n".join([*lines, "To run one: snakemake ID --cores 2, in a clone of the repository."])
