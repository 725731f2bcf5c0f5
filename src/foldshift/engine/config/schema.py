"""Schema of the configuration: composed of the parts of all studies; defaults and checks that follow from it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import jsonschema

from foldshift.core.errors import ConfigError, unknown

if TYPE_CHECKING:
    from foldshift.engine.study.find import StudyInfo


def compose_schema(schema: dict[str, Any], studies: dict[str, StudyInfo]) -> dict[str, Any]:
    """Schema of the whole configuration: that of the engine, with the settings of every study."""
    whole = copy.deepcopy(schema)
    whole["properties"]["studies"]["properties"] = {name: copy.deepcopy(study.schema) for name, study in studies.items()}
    return whole


def fill_defaults(values: dict[str, Any], schema: dict[str, Any]) -> None:
    """Fill the defaults of a schema into a configuration, in place."""
    for key, part in schema.get("properties", {}).items():
        if key not in values and "default" in part:
            values[key] = copy.deepcopy(part["default"])
        if isinstance(values.get(key), dict):
            fill_defaults(values[key], part)


def check_schema(config: dict[str, Any], schema: dict[str, Any]) -> None:
    """Refuse a configuration that does not fit its schema: at the first mistake, the key, the value received, what is allowed."""
    errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(config), key=lambda error: list(map(str, error.path)))
    if errors:
        raise ConfigError(_one_line(errors[0]))


LIMITS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above", "exclusiveMaximum": "below"}
KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list, such as [a, b]",
    "object": "keys and values, such as {key: value}",
    "null": "null",
}


def _one_line(error: Any) -> str:
    where = ".".join(str(part) for part in error.path) or "configuration"
    if error.validator == "additionalProperties":
        allowed = list(error.schema.get("properties", {}))
        extra = next(key for key in error.instance if key not in allowed)
        return unknown("config key" if where == "configuration" else f"key in {where}", extra, allowed)
    if error.validator == "required":
        lacking = next(key for key in error.validator_value if key not in error.instance)
        return f"{where}: key {lacking!r} is missing; it needs {', '.join(error.validator_value)}"
    return f"{where}={error.instance!r} {_allowed(error)}"


def _allowed(error: Any) -> str:
    """Describe the values that are allowed, and the meaning of the key where the schema has it."""
    validator, value = error.validator, error.validator_value
    about = " ".join(str(error.schema.get("description", "")).split()).rstrip(".")
    if validator in LIMITS:
        return f"must be {LIMITS[validator]} {value}"
    if validator == "enum":
        return f"must be one of {', '.join(map(str, value))}"
    if validator == "type":
        return f"must be {' or '.join(KINDS[kind] for kind in ([value] if isinstance(value, str) else value))}"
    if validator == "uniqueItems":
        return "must not repeat a value"
    if validator in ("minItems", "minProperties", "minLength"):
        return "must not be empty; leave the key out for its default"
    if validator == "pattern":
        return f"is not written as it must be{f': {about}' if about else f'; the pattern is {value}'}"
    return f"is not allowed{f': {about}' if about else f' ({error.message})'}"
