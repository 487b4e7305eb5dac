from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from homeport.server.state.documents.index import MountIndex, render_index
from homeport.server.state.mounts import Mount
from tests.server.making import RW, make_documents, put


def _fill(tmp_path: Path, *paths: str) -> Path:
    """Documents of which the first is the oldest."""
    with closing(make_documents(tmp_path / "home")) as documents:
        for second, path in enumerate(paths):
            put(documents, path, "stored text")
            file = tmp_path / "home/memory/user=ann" / path.removeprefix("/m/")
            os.utime(file, (second, second))
    return tmp_path / "home/memory"


def indexed(memory: Path, *mounts: Mount) -> list[MountIndex]:
    with closing(make_documents(memory.parent, *(mounts or (RW,)))) as documents:
        return documents.index()


def test_names_come_newest_first_and_alone(tmp_path: Path) -> None:
    memory = _fill(tmp_path, "/m/b", "/m/folder/c", "/m/a")

    assert render_index(indexed(memory), 1000) == "## /m\n- /m/a\n- /m/folder/c\n- /m/b"


def test_what_does_not_fit_is_folded_per_folder(tmp_path: Path) -> None:
    memory = _fill(tmp_path, *(f"/m/folder/{number:03}" for number in range(100)), "/m/loose", "/m/folder/newest")

    assert render_index(indexed(memory), 90) == (
        "## /m\n- /m/folder/newest\n- /m/loose\n- /m/folder/099\n- /m/folder/ (99 documents more)"
    )
    assert render_index(indexed(memory), 30) == "## /m\n- 102 documents"


def test_every_mount_has_its_block_and_the_budget_is_kept(tmp_path: Path) -> None:
    memory = _fill(tmp_path, *(f"/m/{'x' * 100}{number:03}" for number in range(150)))
    indexes = indexed(memory, RW, Mount("user:bob", "other", "ro"))

    text = render_index(indexes, 2000)

    assert len(text) <= 2000
    assert text.endswith("## /other (read-only)\n- (empty)")


def test_no_document_is_opened(tmp_path: Path) -> None:
    memory = _fill(tmp_path, "/m/a")
    (memory / "user=ann/a").chmod(0)
    os.mkfifo(memory / "user=ann/pipe")

    [index] = indexed(memory)

    assert (index.total, [str(address) for address in index.newest]) == (1, ["/m/a"])
