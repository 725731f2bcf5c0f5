"""The file of learners: how each of them is imported, its parameters, its tasks, and its switches in the paper configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldshift.core.errors import ConfigError, unknown
from foldshift.engine.config.yaml_files import read_yaml

if TYPE_CHECKING:
    from foldshift.core.types import PathLike

PAPER = "@paper"  # ends the id of a learner with the switches of the paper configuration
KINDS = {str: "text", dict: "keys and values", list: "a list, such as [regression]", int: "a whole number"}
LEARNER_KEYS = {
    "import": str,  # dotted path of a scikit-learn estimator class
    "params": dict,  # its parameters
    "tasks": list,  # regression, classification
    "nominal": str,  # codes, one_hot, or native: the learner takes categorical_features
    "title": str,
    "module": str,  # an optional package that it needs
    "paper": dict,  # what is different in the paper configuration: `PAPER_KEYS`
}
# `params` are added to those above; `same_fit`: the fit is the same and only what is made of it differs, so that one serves both.
PAPER_KEYS = ("params", "nominal", "same_fit")
FIT = "fit"  # key of what `read_learners` returns: the entry whose fit serves this one as well


def read_learners(path: PathLike) -> dict[str, dict[str, Any]]:
    """Read the learners file."""
    entries = read_yaml(path, "learners file")
    if not isinstance(entries, dict) or not entries:
        raise ConfigError(f"learners file {path} must map learner names to entries; got {type(entries).__name__}")
    learners = {}
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            raise ConfigError(f"learner {name} in {path}: expected keys {', '.join(LEARNER_KEYS)}; got {entry!r}")
        for key, value in entry.items():
            if key not in LEARNER_KEYS:
                raise ConfigError(unknown(f"key of learner {name} in {path}", key, LEARNER_KEYS))
            if not isinstance(value, LEARNER_KEYS[key]):
                raise ConfigError(f"learner {name} in {path}: {key}={value!r} must be {KINDS[LEARNER_KEYS[key]]}")
        for key in ("import", "tasks"):
            if key not in entry:
                raise ConfigError(f"learner {name} in {path}: key {key!r} is missing")
        entry = {"params": {}, "nominal": "codes", "title": name} | entry
        paper = entry.pop("paper", None)
        learners[name] = entry | {FIT: name}
        if paper is not None:
            for key in paper:
                if key not in PAPER_KEYS:
                    raise ConfigError(unknown(f"key of paper of learner {name} in {path}", key, PAPER_KEYS))
            fit = name if paper.pop("same_fit", False) else name + PAPER
            learners[name + PAPER] = entry | paper | {"params": entry["params"] | paper.get("params", {}), FIT: fit}
        if learners[name]["nominal"] not in ("codes", "one_hot", "native"):
            raise ConfigError(f"learner {name} in {path}: nominal={entry['nominal']!r} must be codes, one_hot or native")
    return learners


def configured_learners(settings: dict[str, Any], learners: dict[str, dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Ids of the learners of a study in each of its configurations."""
    return {
        configuration: {
            name: name + PAPER if configuration == "paper" and name + PAPER in learners else name
            for name in settings.get("learners", [])
        }
        for configuration in settings.get("configurations", ["corrected"])
    }
