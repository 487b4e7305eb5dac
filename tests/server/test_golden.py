"""What a client is told when it connects, byte for byte: `golden/serve/`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

from tests.server.serving import Serving

LARGEST_LISTING_BYTES = 12 * 1024


class Golden(Protocol):
    def check(self, name: str, data: bytes) -> None: ...


def _laid_out(answer: dict[str, Any]) -> bytes:
    """The result in the wire's own order of keys, a line for each, so that a change can be reviewed."""
    return json.dumps(answer["result"], indent=2, ensure_ascii=False).encode() + b"\n"


def _serving(tmp_path: Path) -> Serving:
    mounts = ("--mount", "scope=user:ann,path=user", "--mount", "scope=user:ann/proj:site,path=project")
    return Serving(tmp_path / "home", *mounts)


def test_the_answer_to_initialize(tmp_path: Path, golden: Golden) -> None:
    with _serving(tmp_path) as serving:
        golden.check("serve/initialize.json", _laid_out(serving.initialize()))


def test_the_list_of_tools(tmp_path: Path, golden: Golden) -> None:
    with _serving(tmp_path) as serving:
        serving.initialize()
        answer = serving.request("tools/list")

    golden.check("serve/tools-list.json", _laid_out(answer))
    assert len(json.dumps(answer["result"], separators=(",", ":"))) < LARGEST_LISTING_BYTES
