"""What documents ask of the disk. Whatever it refuses is said of the address: a host's path is nobody's business."""

from __future__ import annotations

import contextlib
import errno
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from homeport import files
from homeport.errors import CODES, HomeportError
from homeport.server.state.documents.places import Place
from homeport.server.state.documents.texts import LARGEST_BYTES as LARGEST_BYTES
from homeport.server.state.paths import Address

_log = logging.getLogger(__name__)


def data_of(place: Place) -> bytes:
    """A document's bytes. Raises HomeportError: document_not_found, document_unreadable."""
    if place.kind in ("folder", "other"):
        what = "a folder" if place.kind == "folder" else "not a regular file"
        raise HomeportError(
            "document_unreadable", f"{place.address} is {what}", "name a document", {"address": str(place.address)}
        )
    return bytes_of(place.address, place.path)


def bytes_of(address: Address, path: Path) -> bytes:
    with _no_host_path(address):
        data = files.read_bytes(path)
    if data is None:
        raise not_found(address)
    return data


def text_of(address: Address, data: bytes) -> str:
    if len(data) > LARGEST_BYTES:
        raise too_large(address, len(data))
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise HomeportError(
            "document_unreadable",
            f"{address} is not text in UTF-8",
            "it was put there by hand; the person can save it as UTF-8 or take it away",
            {"address": str(address)},
        ) from None


def put(place: Place, data: bytes) -> None:
    with _no_host_path(place.address):
        _in_folder(place.path.parent, lambda: files.replace(place.path, data))


def rename(place: Place, target: Place) -> None:
    """To a free name, which the caller's lock keeps free: nothing is replaced."""
    with _no_host_path(place.address):
        _in_folder(target.path.parent, lambda: files.rename(place.path, target.path))


def _in_folder(folder: Path, act: Callable[[], object]) -> None:
    """Make the folder and do it; once more where another process deleted the folder's last document, and with it the
    folder, in between."""
    for attempt in range(10):
        files.make_folder(folder)
        try:
            act()
            return
        except HomeportError as error:
            if error.details.get("errno") != errno.ENOENT or attempt == 9:
                raise


def unlink(place: Place) -> None:
    with _no_host_path(place.address):
        files.remove_quietly(place.path)
        files.sync_folder(place.path.parent)


@contextlib.contextmanager
def _no_host_path(address: Address) -> Iterator[None]:
    """What the disk refuses, said of the address; the path goes to stderr only."""
    try:
        yield
    except (HomeportError, OSError) as raised:
        error = raised if isinstance(raised, HomeportError) else files.write_error(Path(str(address)), raised)
        _log.warning("%s: %s", address, raised)
        code = "document_unreadable" if error.code in ("unreadable_file", "file_too_large") else error.code
        details = {"address": str(address)} | ({"errno": error.details["errno"]} if "errno" in error.details else {})
        raise HomeportError(
            code, f"{address}: {CODES[code][1]}", "tell the person; stderr says more", details
        ) from None


def not_found(address: Address) -> HomeportError:
    return HomeportError(
        "document_not_found",
        f"there is no document or folder {address}",
        "view / to see what is there",
        {"address": str(address)},
    )


def too_large(address: Address, size_bytes: int) -> HomeportError:
    return HomeportError(
        "document_too_large",
        f"{address}: a document holds at most {LARGEST_BYTES} bytes, and these are {size_bytes}",
        "keep it in several documents",
        {"address": str(address), "size_bytes": size_bytes, "limit_bytes": LARGEST_BYTES},
    )
