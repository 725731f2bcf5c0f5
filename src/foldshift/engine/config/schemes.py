"""Schemes of cross-validation in the notation "5x2": five folds iterated twice; an experiment is one such set of partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldshift.core.errors import ConfigError


def iterations(schemes: Sequence[str]) -> dict[int, int]:
    """Iterations of every number of folds."""
    pairs = [scheme.split("x") for scheme in schemes]
    return {int(k): int(r) for k, r in pairs}


def choose_schemes(study: str, settings: dict[str, Any]) -> None:
    """Reduce the schemes of a study to the numbers of folds that were asked for, and note these numbers."""
    known = iterations(settings["schemes"])
    if len(known) < len(settings["schemes"]):
        raise ConfigError(f"{study}.schemes={settings['schemes']!r} must not repeat a number of folds")
    if min(known) < 2:
        raise ConfigError(f"{study}.schemes={settings['schemes']!r} must have at least two folds, e.g. 5x2")
    for k in settings.setdefault("n_folds", list(known)):
        if k not in known:
            raise ConfigError(
                f"{study}.n_folds: k={k} has no scheme; allowed: {', '.join(map(str, known))}, or add {k}x1 to schemes"
            )
    settings["schemes"] = [f"{k}x{r}" for k, r in known.items() if k in settings["n_folds"]]
    settings["n_folds"] = list(iterations(settings["schemes"]))
