"""The schemas themselves, and every JSON sample in the pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from homeport.cli.main import COMMANDS
from homeport.errors import CODES
from tests.docs.console import commands
from tests.docs.pages import DOCS, REPAIR, blocks, short
from tests.docs.schemas import misfits, names, schema

WITHOUT_RESULT = {"serve", "completion"}


def test_there_is_a_schema_for_every_result() -> None:
    assert set(names()) == {*COMMANDS} - WITHOUT_RESULT | {"envelope", "parts", "error-codes"}


@pytest.mark.parametrize("name", [name for name in names() if name != "error-codes"])
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("name", [name for name in names() if name != "error-codes"])
def test_every_object_with_fields_is_closed(name: str) -> None:
    assert [path for path in _open_objects(schema(name)) if not path.startswith("allOf")] == []


def _open_objects(value: Any, path: str = "") -> list[str]:
    if isinstance(value, list):
        return [found for at, item in enumerate(value) for found in _open_objects(item, f"{path}{at}/")]
    if not isinstance(value, dict):
        return []
    is_open = value.get("type") == "object" and "properties" in value and value.get("additionalProperties") is not False
    return ([path] if is_open else []) + [
        found for key, item in value.items() for found in _open_objects(item, f"{path}{key}/")
    ]


@pytest.mark.parametrize("name", [name for name in names() if name != "error-codes"])
def test_every_field_is_described(name: str) -> None:
    assert [path for path, field in _fields(schema(name)) if not _is_described(name, field)] == []


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from _fields(item, f"{path}{at}/")
    elif isinstance(value, dict):
        # A condition of the envelope names fields that are described above it.
        if value.get("type") == "object":
            for field, item in value.get("properties", {}).items():
                yield f"{path}{field}", item
        for key, item in value.items():
            yield from _fields(item, f"{path}{key}/")


def _is_described(name: str, field: Any) -> bool:
    """By itself, or by the part that it is or may be."""
    if "$ref" in field:
        file, _, pointer = field["$ref"].partition("#/")
        target = schema(file.removesuffix(".json") or name)
        for key in pointer.split("/"):
            target = target[key]
        return "description" in target
    return "description" in field or any(_is_described(name, one) for one in field.get("anyOf", []))


def test_the_list_of_error_codes_is_the_programs_own(updates_docs: bool) -> None:
    path = DOCS / "schemas" / "error-codes.json"
    rows = [{"code": code, "exit_code": exit_code, "meaning": meaning} for code, (exit_code, meaning) in CODES.items()]
    text = json.dumps({"version": 1, "codes": rows}, indent=2) + "\n"
    if updates_docs:
        path.write_text(text, encoding="utf-8")
    assert path.is_file() and path.read_text(encoding="utf-8") == text, f"{short(path)} is not CODES: {REPAIR}"


def samples() -> dict[str, str]:
    """Place -> JSON that a page shows: a `json` block, or what a command with --json printed."""
    found = {f"{short(block.page)}:{block.first}": block.text for block in blocks("json")}
    for block in blocks("console"):
        for command in commands(block):
            text = "\n".join(command.output)
            if "--json" in command.typed and text.startswith("{"):
                found[f"{short(block.page)}:{block.first + command.line}"] = text
    return found


@pytest.mark.parametrize("place", samples())
def test_a_json_sample_fits_its_schema(place: str) -> None:
    sample = json.loads(samples()[place])
    assert set(sample) == {"version", "homeport", "operation", "ok", "result", "error"}
    assert misfits(sample) == []
