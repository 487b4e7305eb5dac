"""Whatever is asked for, by whichever command and through links at any depth, nothing outside the mount is reached."""

from __future__ import annotations

import io
import os
import tarfile
import time
import unicodedata
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from homeport.errors import HomeportError
from homeport.server.operations.operation import Call
from homeport.server.operations.search import search
from homeport.server.operations.transfer import export_documents, import_documents
from homeport.server.state.documents.store import Documents
from homeport.server.state.paths import parse_address
from tests.server.making import caller, make_documents, names, put, text_of

SECRET = "the secret outside"
DEPTHS = ("", "a", "a/b", "a/b/c")
LINKS = ("out", "file", "up", "chain", "loop", "gone", "sibling", "inside")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every sort of link at every depth, and around the mount what must stay as it is."""
    top = tmp_path_factory.mktemp("contained")
    home = top / "state/home"
    mount = home / "memory/user=ann"
    for folder in (top / "outside/deep", home / "memory/user=ann-evil", home / "memory/user=bob"):
        folder.mkdir(parents=True)
        for name in ("secret", "x", "A", "é"):
            (folder / name).write_text(SECRET)
    for at, depth in enumerate(DEPTHS):
        folder = mount / depth
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "x").write_text("inside")
        (folder / "out").symlink_to(top / "outside")
        (folder / "file").symlink_to(top / "outside/deep/secret")
        (folder / "up").symlink_to("/".join([".."] * (at + 2)))
        (folder / "chain").symlink_to("out")
        (folder / "loop").symlink_to("loop")
        (folder / "gone").symlink_to(top / "outside/new")
        (folder / "sibling").symlink_to(home / "memory/user=ann-evil")
        (folder / "inside").symlink_to(mount / "a")
    return home


def tricked(name: str) -> list[str]:
    """A name, and what some file system may take for it."""
    return [
        name, name.upper(), name.capitalize(), f"{name}.", f"{name} ", f"./{name}", f"{name}/.", f"{name}::$DATA",
        unicodedata.normalize("NFD", f"é{name}"), f"{name}\u200b", f"\u202e{name}", f"{name}\u0000", f"%2e%2e/{name}",
        name.replace("o", "ο"), name.replace("i", "ı"), f"{name}\\..",
    ]  # fmt: skip


plain = st.sampled_from(["a", "b", "c", "x", "new", "secret", "deep", "é", "A", *LINKS])
odd = st.sampled_from(
    ["..", ".", "", "...", "~", "C:", "C:\\x", "\\\\host\\share", "con", "NUL.txt", "com¹", "aux .md", ".git", "a:b",
     "*", "ﬁle", "out\u0301", "Å", "𝒙", "/", "//", "x" * 201, "é" * 120, "\ud800", "user=bob", "..\u2215", "．．"]
)  # fmt: skip
segments = st.one_of(plain, odd, plain.flatmap(lambda name: st.sampled_from(tricked(name))), st.text(max_size=6))
addresses = st.builds(
    lambda prefix, names: prefix + "/".join(names),
    st.sampled_from(["/m/", "/m/a/", "/m/a/b/c/", "/m/a/b/up/", "m/", "/", "", "//m/", "/m//", "/M/", "/m/../"]),
    st.lists(segments, max_size=6),
)


@settings(max_examples=120, deadline=None)
@given(addresses)
@example("/m/a/b/up/outside/deep/secret")
@example("/m/a/chain/deep/secret")
@example("/m/gone")
@example("/m/a/gone/new")
@example("/m/sibling/x")
@example("/m/up/user=bob/x")
def test_no_address_leads_out(home: Path, path: str) -> None:
    before = around(home)
    with closing(make_documents(home)) as documents:
        for use in uses(documents, path, home):
            with suppress(HomeportError):
                said = use()
                assert SECRET not in str(said)
        assert around(home) == before
        # What the next example finds is there again.
        put(documents, "/m/x", "inside")


def uses(documents: Documents, path: str, home: Path) -> list[Callable[[], object]]:
    """Every function that takes an address, and an archive whose item has it as its name."""
    call = Call("cli:ann", time.monotonic() + 4.5)
    archive, target = home.parent / "items.tar", home.parent / "exported.tar"
    target.unlink(missing_ok=True)
    return [
        lambda: text_of(documents, path),
        lambda: names(documents, path),
        lambda: documents.is_folder(parse_address(path)),
        lambda: documents.remarks(parse_address(path)),
        lambda: documents.past.whole(parse_address(path), caller()),
        lambda: documents.past.redact(parse_address(path), None, True, caller()),
        lambda: documents.revert(parse_address(path), 1, None, caller()),
        lambda: search(documents, "secret", path, 100),
        lambda: export_documents(documents, target, path, True, call) and target.read_bytes(),
        lambda: import_documents(documents, archive_of(archive, path), "/m", True, call),
        lambda: put(documents, path, "mine"),
        lambda: documents.move(parse_address(path), parse_address("/m/to"), None, True, caller()),
        lambda: documents.move(parse_address("/m/to"), parse_address(path), None, True, caller()),
        lambda: documents.remove(parse_address(path), None, False, caller()),
    ]


def archive_of(archive: Path, name: str) -> Path:
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo(name.encode("utf-8", "replace").decode())
        member.size = 4
        tar.addfile(member, io.BytesIO(b"mine"))
    return archive


def around(home: Path) -> dict[str, str]:
    """Everything beside the mount that a document could be confused with, and what the links point at."""
    top = home.parent.parent
    places = [top / "outside", home / "memory/user=ann-evil", home / "memory/user=bob"]
    found = {str(path): path.read_text() for place in places for path in place.rglob("*") if path.is_file()}
    found |= {str(folder): str(sorted(os.listdir(folder))) for folder in (top, top / "outside", home / "memory")}
    return found
