"""The schemas themselves, and every JSON sample in the pages."""

from __future__ import annotations

import json
from typing import Any

import json5
import pytest
from jsonschema import Draft202012Validator

from homeport.cli.main import COMMANDS
from homeport.errors import CODES
from tests.docs.pages import DOCS, REPAIR, Block, blocks, short
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


def test_the_list_of_error_codes_is_the_programs_own(updates_docs: bool) -> None:
    path = DOCS / "schemas" / "error-codes.json"
    rows = [{"code": code, "exit_code": exit_code, "meaning": meaning} for code, (exit_code, meaning) in CODES.items()]
    text = json.dumps({"version": 1, "codes": rows}, indent=2) + "\n"
    if updates_docs:
        path.write_text(text, encoding="utf-8")
    assert path.is_file() and path.read_text(encoding="utf-8") == text, f"{short(path)} is not CODES: {REPAIR}"


def block_id(block: Block) -> str:
    return f"{short(block.page)}:{block.first}"


@pytest.mark.parametrize("block", blocks("json"), ids=block_id)
def test_a_json_sample_is_json_and_an_envelope_fits_its_schema(block: Block) -> None:
    sample = json.loads(block.text)
    if isinstance(sample, dict) and "homeport" in sample and "operation" in sample:
        assert misfits(sample) == []


@pytest.mark.parametrize("block", blocks("jsonc"), ids=block_id)
def test_a_jsonc_sample_is_jsonc(block: Block) -> None:
    assert isinstance(json5.loads(block.text), dict)
