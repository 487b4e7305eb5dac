from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from homeport.server.state.surroundings import network_type, remarks_on, synchronised_by

MOUNTS = r"""/dev/sda1 / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
/dev/sdb1 /home/local ext4 rw 0 0
//nas/share /mnt/my\040share cifs rw 0 0
C:\134 /mnt/c 9p rw,dirsync 0 0
me@host: /mnt/ssh fuse.sshfs rw 0 0
/dev/sdc1 /mnt/over nfs rw 0 0
/dev/sdc2 /mnt/over ext4 rw 0 0
"""


@pytest.mark.parametrize(
    ("home", "kind"),
    [
        ("/home/ann/.homeport", "nfs4"),
        ("/home/local/ann/.homeport", None),
        ("/homestead/.homeport", None),
        ("/mnt/my share/state", "cifs"),
        ("/mnt/c/Users/ann/.homeport", "9p"),
        ("/mnt/ssh", "fuse.sshfs"),
        ("/mnt/over/x", None),
        ("/srv", None),
    ],
)
def test_a_network_file_system_is_told_from_the_table_of_mounts(tmp_path: Path, home: str, kind: str | None) -> None:
    table = tmp_path / "mounts"
    table.write_text(MOUNTS)
    assert network_type(PurePosixPath(home), table) == kind


def test_without_a_table_nothing_is_said_and_a_share_of_windows_is_known_by_its_path(tmp_path: Path) -> None:
    assert network_type(PurePosixPath("/home/ann"), tmp_path / "none") is None
    assert network_type(PureWindowsPath(r"\\nas\share\home")) == "a share"
    assert network_type(PureWindowsPath(r"C:\Users\ann")) is None


@pytest.mark.parametrize(
    ("home", "program"),
    [
        (PureWindowsPath(r"C:\Users\ann\OneDrive\homeport"), "OneDrive"),
        (PureWindowsPath(r"C:\Users\ann\OneDrive - Depot Ltd\homeport"), "OneDrive"),
        (PurePosixPath("/Users/ann/Library/CloudStorage/OneDrive-Personal/x"), "OneDrive"),
        (PurePosixPath("/home/ann/Dropbox/.homeport"), "Dropbox"),
        (PurePosixPath("/home/ann/Dropbox (Depot)/.homeport"), "Dropbox"),
        (PurePosixPath("/Users/ann/Library/Mobile Documents/com~apple~CloudDocs/x"), "iCloud Drive"),
        (PureWindowsPath(r"C:\Users\ann\iCloudDrive\x"), "iCloud Drive"),
        (PurePosixPath("/Users/ann/Library/CloudStorage/GoogleDrive-ann@example.com/My Drive/x"), "Google Drive"),
        (PurePosixPath("/home/ann/Nextcloud/x"), "Nextcloud"),
        (PurePosixPath("/home/ann/.homeport"), None),
        (PurePosixPath("/home/dropboxer/.homeport"), None),
    ],
)
def test_a_synchronised_folder_is_known_by_its_name(home: PurePosixPath, program: str | None) -> None:
    assert synchronised_by(home) == program


def test_and_by_what_lies_in_it(tmp_path: Path) -> None:
    (tmp_path / "notes/.stfolder").mkdir(parents=True)
    assert synchronised_by(tmp_path / "notes/deep/home") == "Syncthing"


def test_copies_of_a_database_are_named_and_no_path_is(tmp_path: Path) -> None:
    home = tmp_path / "Dropbox/home"
    home.mkdir(parents=True)
    for name in (
        "versions.db",
        "versions (Ann's conflicted copy 2031-02-03).db",
        "versions.sync-conflict-20310203-A.db",
    ):
        (home / name).write_bytes(b"")

    remarks = remarks_on(home)

    assert [remark.partition(",")[0] for remark in remarks] == [
        "the home lies in a folder that Dropbox synchronises",
        "beside versions.db in the home lies versions (Ann's conflicted copy 2031-02-03).db",
        "beside versions.db in the home lies versions.sync-conflict-20310203-A.db",
    ]
    assert str(tmp_path) not in " ".join(remarks)
