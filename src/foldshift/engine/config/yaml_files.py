"""YAML files, read safely: no file runs code, and none grows without end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from foldshift.core.errors import ConfigError

if TYPE_CHECKING:
    from foldshift.core.types import PathLike


MOST_BYTES = 20_000_000  # of a file; the largest of the project has 60 kB
MOST_VALUES = 1_000_000  # of a file, aliases written out


class _Loader(yaml.SafeLoader):
    """A loader that refuses a repeated key, of which YAML would silently take the last."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
        seen: dict[Any, Any] = {}
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    problem = f"{key.value!r} is there twice, first in line {seen[key.value]}"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                seen[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)

    def get_single_node(self) -> Any:
        """Compose the file, and refuse aliases that stand for more values than a file may hold."""
        node = super().get_single_node()
        if node is not None:
            _count(node, {})
        return node


def _count(node: Any, known: dict[Any, int | None]) -> int:
    """Count the values of a node with its aliases written out."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if node not in known:
        known[node] = None
        parts = [part for pair in node.value for part in (pair if isinstance(pair, tuple) else (pair,))]
        known[node] = 1 + sum(_count(part, known) for part in parts)
    total = known[node]
    if total is None or total > MOST_VALUES:
        what = "itself" if total is None else f"{total:,} values; at most {MOST_VALUES:,} are read"
        problem = f"an alias stands for {what}"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    return total


def read_yaml(path: PathLike, what: str) -> Any:
    """Read a YAML file, of the kind `what`; raise ConfigError with its name and the line if it is missing or not YAML."""
    try:
        size = Path(path).stat().st_size
        if size > MOST_BYTES:
            raise ConfigError(
                f"{what}: {path} has {size / 1e6:.0f} MB; at most {MOST_BYTES / 1e6:.0f} MB are read; see what it is"
            )
        return _Loader(Path(path).read_text(encoding="utf-8")).get_single_data()
    except OSError as error:
        raise ConfigError(f"{what}: cannot read {path}: {error.strerror}; check the path") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{what}: {path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except ConfigError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        problem = "a tab; indent with blanks" if "'\\t'" in str(error) else getattr(error, "problem", None) or error
        raise ConfigError(f"{what}: {where}: not valid YAML ({' '.join(str(problem).split())}); fix the file") from error


def typed(value: Any) -> Any:
    """Give the texts inside a list or mapping the types that YAML gives them.

    >>> typed({"n_folds": ["2", "5"], "task": "regression", "note": ""})
    {'n_folds': [2, 5], 'task': 'regression', 'note': ''}
    """
    if isinstance(value, dict):
        return {key: typed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [typed(one) for one in value]
    return yaml.safe_load(value) if isinstance(value, str) and _is_plain(value) else value


def _is_plain(text: str) -> bool:
    """Report whether a text is one number, truth value or null of YAML."""
    tag = yaml.SafeLoader("").resolve(yaml.ScalarNode, text, (True, False))
    return tag.rpartition(":")[2] in ("int", "float", "bool", "null") and text != ""


def read_config_file(path: PathLike, what: str = "configuration") -> dict[str, Any]:
    """Read a configuration file before Snakemake does; ConfigError if it is damaged or makes Snakemake run code of its own."""
    found = read_yaml(path, what)
    if not isinstance(found, dict):
        raise ConfigError(
            f"{what} {path} must hold keys and values, such as `n_seeds: 10`; got {'nothing' if found is None else repr(found)}"
        )
    check_keys(found, f"{what} {path}")
    return found


def check_keys(values: Any, where: str) -> None:
    """Refuse keys that make Snakemake run code, at any depth: ``__use_yte__``, ``__definitions__`` and their like."""
    todo = [values]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            for key in one:
                if str(key).startswith("__"):
                    raise ConfigError(
                        f"{where}: the key {str(key)!r} makes Snakemake run Python code of the file, and a configuration holds "
                        "settings alone; take it out, and write its values in full"
                    )
        if isinstance(one, dict | list):
            todo += one.values() if isinstance(one, dict) else one
