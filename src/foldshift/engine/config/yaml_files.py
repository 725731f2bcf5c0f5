"""YAML files, read safely."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from foldshift.core.errors import ConfigError

if TYPE_CHECKING:
    from foldshift.core.types import PathLike


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


def read_yaml(path: PathLike, what: str) -> Any:
    """Read a YAML file; `what` names the kind of file in messages.

    Raises
    ------
    ConfigError
        If the file is missing or is not YAML, with its name and the line.
    """
    try:
        return _Loader(Path(path).read_text(encoding="utf-8")).get_single_data()
    except OSError as error:
        raise ConfigError(f"{what}: cannot read {path}: {error.strerror}; check the path") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{what}: {path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        problem = "a tab; indent with blanks" if "'\\t'" in str(error) else getattr(error, "problem", None) or error
        raise ConfigError(f"{what}: {where}: not valid YAML ({' '.join(str(problem).split())}); fix the file") from error


def typed(value: Any) -> Any:
    """Give the texts inside a list or mapping the types that YAML gives them.

    Examples
    --------
    >>> typed({"n_folds": ["2", "5"], "task": "regression", "note": ""})
    {'n_folds': [2, 5], 'task': 'regression', 'note': ''}
    """
    if isinstance(value, dict):
        return {key: typed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [typed(one) for one in value]
    return yaml.safe_load(value) if isinstance(value, str) and _is_plain(value) else value


def _is_plain(text: str) -> bool:
    """Whether a text is one number, truth value or null of YAML."""
    tag = yaml.SafeLoader("").resolve(yaml.ScalarNode, text, (True, False))
    return tag.rpartition(":")[2] in ("int", "float", "bool", "null") and text != ""
