"""Export and import: what goes out comes back, and one bad item costs that item."""

from __future__ import annotations

import io
import os
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from homeport.errors import HomeportError
from homeport.server.operations.operation import Call, Outcome
from homeport.server.operations.transfer import export_documents, import_documents
from homeport.server.state.documents.store import Documents
from homeport.server.state.mounts import Mount
from homeport.server.state.paths import parse_address
from tests.server.making import RW, caller, make_documents, names, put, text_of, version_of

MOUNTS = (RW, Mount("user:ann/proj:x", "p"))


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[Documents]:
    with closing(make_documents(tmp_path / "home", *MOUNTS)) as made:
        yield made


def call() -> Call:
    return Call("cli:ann", time.monotonic() + 4.5)


def brought(documents: Documents, source: Path, into: str = "/", replace: bool = False) -> Outcome:
    return import_documents(documents, source, into, replace, call())


def refused(outcome: Outcome) -> dict[str, str]:
    """Item to code."""
    assert outcome.result is not None
    return {one["item"]: one["code"] for one in outcome.result["refused"]}


def versions(documents: Documents, path: str) -> list[Any]:
    return [past[:6] + (past.data,) for past in documents.past.whole(parse_address(path), caller())]


@pytest.mark.parametrize("target", ["out", "out.tar", "out.tar.gz", "out.tgz"])
def test_what_was_exported_is_imported_whole_with_its_versions(
    documents: Documents, tmp_path: Path, target: str
) -> None:
    put(documents, "/m/a", "one\r\n")
    put(documents, "/m/a", "two \u2028 ž\x00", actor="mcp:other")
    put(documents, "/p/f/ü b", "")
    put(documents, "/m/gone", "was here")
    documents.remove(parse_address("/m/gone"), None, False, caller())
    done = export_documents(documents, tmp_path / target, "/", True, call())
    assert (done.error, done.text) == (None, "Exported 2 documents; versions: 5.")

    with closing(make_documents(tmp_path / "second", *MOUNTS)) as second:
        assert brought(second, tmp_path / target).text == "Imported: 0 created, 0 replaced, 2 unchanged; versions: 3."
        assert {path: text_of(second, path) for path in names(second, "/m") + names(second, "/p")} == {
            "/m/a": "two \u2028 ž\x00",
            "/p/f/ü b": "",
        }
        for path in ("/m/a", "/p/f/ü b", "/m/gone"):
            assert versions(second, path) == versions(documents, path)
        assert brought(second, tmp_path / target).text == "Imported: 0 created, 0 replaced, 2 unchanged."


def test_an_export_names_what_it_leaves_out_and_overwrites_nothing(documents: Documents, tmp_path: Path) -> None:
    put(documents, "/m/a", "one")
    (tmp_path / "home/memory/user=ann/bad").write_bytes(b"\xff")
    (tmp_path / "home/memory/user=ann/con").write_bytes(b"x")

    outcome = export_documents(documents, tmp_path / "out", "/m", False, call())

    assert refused(outcome) == {"/m/bad": "document_unreadable", "/m/con": "memory_path_invalid"}
    assert outcome.error is not None
    assert {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")} == {"m", "m/a"}
    for taken in ("out", "home"):
        with pytest.raises(HomeportError, match="is there already"):
            export_documents(documents, tmp_path / taken, "/", False, call())


def test_a_document_that_is_there_is_replaced_only_when_that_is_asked_for(documents: Documents, tmp_path: Path) -> None:
    put(documents, "/m/a", "mine")
    put(documents, "/m/b", "same")
    for name, text in (("a", "theirs"), ("b", "same"), ("c", "new")):
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / "notes" / name).write_text(text)

    kept = brought(documents, tmp_path / "notes", "/m")
    assert (kept.text.splitlines()[0], refused(kept)) == (
        "Imported: 1 created, 0 replaced, 1 unchanged.",
        {"a": "document_exists"},
    )
    assert text_of(documents, "/m/a") == "mine"

    assert brought(documents, tmp_path / "notes", "/m", replace=True).error is None
    assert text_of(documents, "/m/a") == "theirs"
    assert version_of(documents, "/m/a") == (2, "changed", "cli:ann")


def _tar(path: Path, *members: tuple[str, bytes | tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, content in members:
            member = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.name = name
            data = content if isinstance(content, bytes) else b""
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def _special(kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo()
    member.type, member.linkname = kind, target
    return member


def test_an_archive_reaches_nothing_outside_and_every_attack_is_named(documents: Documents, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("secret")
    archive = _tar(
        tmp_path / "a.tar",
        ("m/good", b"good"),
        ("/m/absolute", b"x"),
        ("m/../../up", b"x"),
        ("../outside", b"x"),
        ("m/link", _special(tarfile.SYMTYPE, str(outside))),
        ("m/link/below", b"x"),
        ("m/hard", _special(tarfile.LNKTYPE, "m/good")),
        ("m/device", _special(tarfile.CHRTYPE)),
        ("m/pipe", _special(tarfile.FIFOTYPE)),
        ("m/C:\\x", b"x"),
        ("m/nul.txt", b"x"),
        ("m/.git/hooks/post-merge", b"x"),
        ("m/GOOD", b"x"),
        ("m/good", b"twice"),
        ("m/binary", b"\xff\xfe"),
        ("m/large", b"x" * (1024 * 1024 + 1)),
        ("beside", b"x"),
        ("q/no-such-mount", b"x"),
        ("./m/last", b"last"),
    )

    outcome = brought(documents, archive)

    assert refused(outcome) == {
        "/m/absolute": "memory_path_invalid",
        "m/../../up": "memory_path_invalid",
        "../outside": "memory_path_invalid",
        "m/link": "memory_path_invalid",
        "m/hard": "memory_path_invalid",
        "m/device": "memory_path_invalid",
        "m/pipe": "memory_path_invalid",
        "m/C:\\x": "memory_path_invalid",
        "m/nul.txt": "memory_path_invalid",
        "m/.git/hooks/post-merge": "memory_path_invalid",
        "m/GOOD": "name_collision",
        "m/good": "name_collision",
        "m/binary": "document_unreadable",
        "m/large": "document_too_large",
        "beside": "memory_path_invalid",
        "q/no-such-mount": "document_not_found",
    }
    assert names(documents, "/m") == ["/m/good", "/m/last", "/m/link/below"]
    assert text_of(documents, "/m/good") == "good"
    assert outside.read_text() == "secret"
    assert {path.name for path in tmp_path.iterdir()} == {"home", "outside", "a.tar"}


def test_links_in_a_folder_are_named_and_not_followed(documents: Documents, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "f").mkdir(parents=True)
    (notes / "f" / "a").write_text("a")
    (notes / "file").symlink_to(tmp_path / "home/versions.db")
    (notes / "folder").symlink_to(tmp_path)
    os.mkfifo(notes / "pipe")

    outcome = brought(documents, notes, "/m")

    assert refused(outcome) == dict.fromkeys(("file", "folder", "pipe"), "memory_path_invalid")
    assert names(documents, "/m") == ["/m/f/a"]


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_a_torn_archive_gives_what_stands_before_the_tear(documents: Documents, tmp_path: Path, name: str) -> None:
    for number in range(40):
        put(documents, f"/m/{number:02}", os.urandom(2000).hex())
    export_documents(documents, tmp_path / name, "/", False, call())
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) // 2])

    with closing(make_documents(tmp_path / "second", *MOUNTS)) as second:
        outcome = brought(second, tmp_path / name)
        assert refused(outcome) == {name: "unreadable_file"}
        assert 5 < len(names(second, "/m")) < 25
    with pytest.raises(HomeportError, match="no tar archive"):
        brought(documents, tmp_path / "home/versions.db")


def test_a_damaged_line_of_the_versions_costs_that_version(documents: Documents, tmp_path: Path) -> None:
    for text in ("one", "two", "three", "four"):
        put(documents, "/m/a", text)
    export_documents(documents, tmp_path / "out", "/", True, call())
    file = tmp_path / "out/versions.jsonl"
    lines = file.read_text().splitlines()
    lines[1] = lines[1][:40]
    lines[2] = lines[2].replace('"version":3', '"version":1')
    file.write_text("\n".join([*lines, "[]", '{"path": 7}', '{"path":"/m/../x","version":1,"action":"created"}']))

    with closing(make_documents(tmp_path / "second", *MOUNTS)) as second:
        outcome = brought(second, tmp_path / "out")

        assert set(refused(outcome)) == {f"versions.jsonl line {number}" for number in (2, 3, 5, 6, 7)}
        assert [(past[0], past[-1]) for past in versions(second, "/m/a")] == [(1, b"one"), (4, b"four")]
        assert version_of(second, "/m/a") == (4, "changed", "mcp:test")
