"""The head of a SKILL.md: YAML between two lines of three dashes, of which a description and a name are read.

The open form of Agent Skills (agentskills.io, specification): `name` and `description`, and keys that are others'.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

LARGEST_HEAD_CHARS: Final = 16 * 1024
LONGEST_DESCRIPTION_CHARS: Final = 1024
"""As the specification has it; a longer one is an error, so that nobody wonders where its end went."""
_TEXT: Final = "tag:yaml.org,2002:str"


class Head(NamedTuple):
    """name: None where none is given. body: what follows the head, without blank lines before it."""

    name: str | None
    description: str
    body: str


def parse(text: str) -> Head:
    """Split a skill into its head and its body.

    Raises ValueError with a sentence for the person who wrote it.
    """
    head, body = _split(text)
    values = _read(head)
    description = _text_of(values, "description")
    if not description:
        raise ValueError("its front matter has no description")
    if len(description) > LONGEST_DESCRIPTION_CHARS:
        raise ValueError(f"its description has more than {LONGEST_DESCRIPTION_CHARS} characters")
    return Head(_text_of(values, "name") or None, " ".join(description.split()), body)


def body_of(text: str) -> str:
    """What follows the head, where there is one; the whole text otherwise."""
    try:
        return _split(text)[1]
    except ValueError:
        return text


def _split(text: str) -> tuple[str, str]:
    found = re.match(r"\ufeff?---[ \t]*\r?\n", text)
    if found is None:
        raise ValueError("it does not begin with front matter: a line ---, `description: ...`, and a line ---")
    end = re.compile(r"^---[ \t]*\r?$\n?", re.MULTILINE).search(text, found.end())
    if end is None:
        raise ValueError("its front matter is not closed by a line ---")
    if end.start() - found.end() > LARGEST_HEAD_CHARS:
        raise ValueError(f"its front matter has more than {LARGEST_HEAD_CHARS} characters")
    return text[found.end() : end.start()], re.sub(r"\A(?:[ \t]*\r?\n)+", "", text[end.end() :])


def _read(head: str) -> dict[str, object]:
    """The keys of the head and their nodes. Nothing is constructed, so that no tag, merge or reference can do harm."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(head, Loader=loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise ValueError(f"its front matter is not YAML (line {line}: {error.problem})") from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise ValueError("its front matter is not YAML") from None
    if not isinstance(root, yaml.MappingNode):
        raise ValueError("its front matter holds no keys")
    values: dict[str, object] = {}
    for key, value in root.value:
        if isinstance(key, yaml.ScalarNode):
            if key.value in values:
                raise ValueError(f"its front matter has the key {key.value[:80]!r} twice")
            values[key.value] = value
    return values


def _text_of(values: dict[str, object], key: str) -> str:
    """Raises ValueError, where it is anything but text."""
    if key not in values:
        return ""
    node = values[key]
    if getattr(node, "tag", None) != _TEXT:
        raise ValueError(f"the {key} in its front matter is not text; put it in quotes")
    value = getattr(node, "value", "")
    return value.strip() if isinstance(value, str) else ""
