"""The command line: configuration files, settings and targets, checked early so that messages are better than Snakemake's."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from foldshift.core.errors import ConfigError, unknown
from foldshift.engine.config.yaml_files import read_config_file

FILES, SETTINGS = ("--configfile", "--configfiles"), ("--config", "-C")


def option_values(arguments: Sequence[str], names: Collection[str]) -> list[str]:
    """Values of an option that takes several.

    >>> option_values(["all", "--config", "a=1", "b=2", "--cores", "1", "--config=c=3"], ("--config",))
    ['a=1', 'b=2', 'c=3']
    """
    values, reading = [], False
    for word in arguments:
        name, is_set, value = word.partition("=")
        if word.startswith("-"):
            reading = name in names and not is_set
            values += [value] if name in names and is_set else []
        elif reading:
            values.append(word)
    return values


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuse configuration that cannot be read, by file and line, and settings that are none."""
    for file in option_values(arguments, FILES):
        if not Path(file).suffix and not Path(file).exists():  # both options take every word that follows them
            raise ConfigError(
                f"configuration: there is no file {file}; if it is a target, put it before the options: "
                f"snakemake {file} --configfile ..."
            )
        read_config_file(file)
    for profile in option_values(arguments, ("--workflow-profile",))[:1]:
        check_profile(profile)
    for setting in option_values(arguments, SETTINGS):
        if not re.match(r"[A-Za-z_]\w+=", setting):
            raise ConfigError(
                f"--config {setting}: a setting is written name=value, without blanks, e.g. --config n_seeds=10; a target stands "
                "before the options"
            )


def check_profile(profile: str) -> None:
    """Refuse a profile that is not there: Snakemake would run without any."""
    places = (Path(profile), Path("profiles", profile))
    if profile == "none" or any(place.exists() for place in places):
        return
    there = sorted(one.parent.name for one in Path("profiles").glob("*/*.yaml"))
    near = difflib.get_close_matches(Path(profile).name, there, n=1)
    hint = (
        f"did you mean profiles/{near[0]}?" if near else f"there are {', '.join(f'profiles/{name}' for name in there) or 'none'}"
    )
    raise ConfigError(f"--workflow-profile {profile}: there is no such folder; {hint}")


def named_studies(targets: Sequence[str], studies: Iterable[str]) -> list[str]:
    """Studies that a command names; all of them where it names a target of all, or none.

    >>> named_studies(["one_2020_rows", "results/three_2022/tables/a.csv"], ["one_2020", "two_2021", "three_2022"])
    ['one_2020', 'three_2022']
    """
    studies, named = list(studies), set()
    for target in targets:
        own = [study for study in studies if re.search(rf"(^|[/_]){re.escape(study)}($|[/_.])", target)]
        if not own:
            return studies
        named.update(own)
    return [study for study in studies if study in named or not targets]


def check_targets(targets: Sequence[str], rules: Sequence[str], files: Callable[..., Any], is_made: Callable[..., Any]) -> None:
    """Refuse a target that nothing makes, with the nearest ones."""
    others = [target for target in targets if target != "plan" and not target.startswith("plan_")]
    if others and len(others) < len(targets):
        raise ConfigError(
            f"a plan stands alone: {', '.join(others)} beside it would be made, not planned; `snakemake plan` plans everything, "
            "`snakemake plan_STUDY` one study"
        )
    for target in targets:
        if target not in rules and not os.path.exists(target) and not is_made(target):
            hint = "`snakemake --list` says what can be made."
            if "/" not in target:
                raise ConfigError(unknown("target", target, rules, hint))
            near = ", ".join(difflib.get_close_matches(target, files(), n=3))
            near = f"did you mean {near}? " if near else ""
            raise ConfigError(f"target {target!r} is a file that no rule makes; {near}{hint}")


def end_at_mistake(arguments: Any) -> None:
    """End the process with a line, if `check_arguments` finds a mistake: what the profiles call."""
    _or_end(check_arguments, arguments)


def end_at_code(file: str) -> None:
    """End the process with a line, if a configuration file cannot be read or would run code: before Snakemake reads it."""
    _or_end(read_config_file, file)


def _or_end(check: Callable[..., Any], argument: Any) -> None:
    try:
        check(argument)
    except ConfigError as error:
        sys.exit(f"foldshift: {error}")
