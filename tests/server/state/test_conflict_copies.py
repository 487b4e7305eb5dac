from __future__ import annotations

import pytest

from homeport.server.state.conflict_copies import conflict_copies


@pytest.mark.parametrize(
    ("name", "main", "by"),
    [
        ("note (Nora's conflicted copy 2031-02-03).md", "note.md", "Dropbox or Nextcloud"),
        ("note (conflicted copy 2031-02-03 101112).md", "note.md", "Dropbox or Nextcloud"),
        ("note (Nora's conflicted copy 2031-02-03 (1)).md", "note.md", "Dropbox or Nextcloud"),
        ("note (Case Conflict 1).md", "note.md", "Dropbox"),
        ("note.sync-conflict-20310203-ABC.md", "note.md", "Syncthing"),
        ("note.sync-conflict-20310203-101112-ABCDEFG.md", "note.md", "Syncthing"),
        ("plain.sync-conflict-20310203-101112-ABCDEFG", "plain", "Syncthing"),
        ("note-DEPOTPC.md", "note.md", "OneDrive"),
        ("note-DESKTOP-7AB12CD.md", "note.md", "OneDrive"),
        ("plain-DEPOTPC", "plain", "OneDrive"),
        ("note (1).md", "note.md", "Google Drive, OneDrive or a browser"),
        ("note 2.md", "note.md", "iCloud Drive"),
    ],
)
def test_copies_are_known_by_their_names(name: str, main: str, by: str) -> None:
    assert conflict_copies([name, "note.md", "plain", "other.md"]) == {name: (main, by)}


@pytest.mark.parametrize(
    "name",
    ["chapter 2.md", "report (1).md", "HTTP-API.md", "note-v2.md", "note-2031-02-03.md", "sync-conflict.md", "a.b.c"],
)
def test_a_name_that_a_person_may_give_is_none_without_its_main_file(name: str) -> None:
    assert conflict_copies([name, "note.md"]) == {}


def test_what_only_a_program_writes_is_one_also_when_the_main_file_is_gone() -> None:
    assert set(conflict_copies(["x (Bo's conflicted copy 2031-02-03).md", "x.sync-conflict-20310203-ABC.md"])) == {
        "x (Bo's conflicted copy 2031-02-03).md",
        "x.sync-conflict-20310203-ABC.md",
    }
