"""Arguments held to their schema, strictly: `true` is not 1, "1" is not 1, and what is not known is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from homeport.errors import HomeportError
from homeport.server.state.paths import shown

_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "string": (str, "a string"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
    "array": (list, "a list"),
}


def check_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Give the arguments that are there; null counts as left out, because some clients send every property.

    schema: an object of strings, integers, booleans and lists of them, as the operations write it.

    Raises HomeportError: bad_argument; details `field`. No message repeats a value.
    """
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    given = {name: value for name, value in arguments.items() if value is not None}
    for name in given:
        if name not in properties:
            raise bad_argument(
                shown(name)[1:-1], "there is no such argument", f"the arguments are {', '.join(properties)}"
            )
    for name in schema.get("required", ()):
        if name not in given:
            raise bad_argument(name, "it is missing", str(properties[name]["description"]))
    for name, value in given.items():
        trouble = _trouble(value, properties[name])
        if trouble:
            raise bad_argument(name, trouble, str(properties[name]["description"]))
    return given


def bad_argument(field: str, trouble: str, hint: str) -> HomeportError:
    return HomeportError("bad_argument", f"{field}: {trouble}", hint, {"field": field})


def _trouble(value: object, schema: Mapping[str, Any]) -> str | None:
    wanted, called = _TYPES[schema["type"]]
    # bool is a kind of int to Python alone.
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        return f"it must be {called}"
    if isinstance(value, str):
        return _string_trouble(value, schema)
    if isinstance(value, list):
        return _list_trouble(value, schema)
    if isinstance(value, int) and not isinstance(value, bool):
        low, high = schema["minimum"], schema["maximum"]
        return None if low <= value <= high else f"it must be from {low} to {high}"
    return None


def _string_trouble(value: str, schema: Mapping[str, Any]) -> str | None:
    if "enum" in schema and value not in schema["enum"]:
        return f"it must be one of {', '.join(schema['enum'])}"
    if len(value) < schema.get("minLength", 0):
        return "it must not be empty"
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        return f"it has {len(value)} characters, and at most {schema['maxLength']} are taken"
    try:
        value.encode()
    except UnicodeEncodeError as error:
        return f"character {error.start + 1} is half of a surrogate pair, which is not text"
    return None


def _list_trouble(value: list[object], schema: Mapping[str, Any]) -> str | None:
    if not schema["minItems"] <= len(value) <= schema["maxItems"]:
        return f"it must have {schema['minItems']} items"
    for item in value:
        trouble = _trouble(item, schema["items"])
        if trouble:
            return f"an item is wrong: {trouble}"
    return None
