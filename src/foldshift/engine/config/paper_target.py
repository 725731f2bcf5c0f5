"""The target ``paper``: the five papers in full, which brings its own configuration."""

from __future__ import annotations

from collections.abc import Sequence

from foldshift.core.errors import ConfigError

PAPER, PLAN = "paper", "plan_paper"
FILES = ("config/paper.yaml", "config/published_papers.yaml")  # configuration of the target, below what the command line names
BESIDE = ("archive",)  # targets that may stand beside it: they are of all studies as well


def is_paper(targets: Sequence[str]) -> bool:
    """Return True if a command asks for the five papers in full, or for the plan of that.

    Other targets beside it raise ConfigError: they would get its configuration too.
    """
    if not {PAPER, PLAN} & set(targets):
        return False
    others = [target for target in targets if target not in (PAPER, PLAN, *BESIDE)]
    if others:
        raise ConfigError(
            f"{PAPER} is the full computation of the five papers, with a configuration of its own; {', '.join(others)} beside it "
            f"would get it too. Run it alone, or single studies in full: snakemake {' '.join(others)} --configfile {FILES[0]}"
        )
    return True
