"""The schemas of docs/schemas/, ready to be asked."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.docs.pages import DOCS


@cache
def schema(name: str) -> Any:
    return json.loads((DOCS / "schemas" / f"{name}.json").read_text(encoding="utf-8"))


def names() -> list[str]:
    return sorted(path.stem for path in (DOCS / "schemas").glob("*.json"))


@cache
def validator(name: str) -> Draft202012Validator:
    files = [(f"{one}.json", Resource.from_contents(schema(one))) for one in names() if one != "error-codes"]
    registry: Registry[Any] = Registry().with_resources(files)
    return Draft202012Validator(schema(name), registry=registry)


def misfits(envelope: Any) -> list[str]:
    """What of an envelope breaks the schema: the path and why, the deepest reason where there are alternatives."""
    found: list[str] = []
    for error in validator("envelope").iter_errors(envelope):
        deepest = error
        while deepest.context:
            deepest = max(deepest.context, key=lambda one: len(one.absolute_path))
        found.append(f"{deepest.json_path}: {deepest.message[:300]}")
    return found
