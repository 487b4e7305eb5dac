"""Take one entry out so that the file is as it was before the entry came."""

from __future__ import annotations

from pathlib import PurePath

from homeport.installer.clients.values import Place, Reader
from homeport.installer.plan.files_view import HOME_MODE, PROJECT_MODE, FilesView
from homeport.installer.plan.ownership import History, Written
from homeport.installer.plan.rows import EntryChange
from homeport.installer.plan.splices import digest, taken_back


def mode_for(place: Place) -> int:
    return PROJECT_MODE if place.level in ("project", "parent") else HOME_MODE


def take_out(view: FilesView, place: Place, name: str, history: History) -> EntryChange | None:
    """Remove the entry `name` at `place` in the view; None where there is none.

    Where the file is still as our last change left it, that change is taken back byte for byte, however it was made;
    else the member goes, and with it the containers that the journal says we made. A file that was missing or blank
    before us, and holds nothing but what we began it with, goes or becomes blank again.
    """
    path = (*place.container, name)
    member = view.find(place.file, place.dialect, path)
    if member is None:
        return None
    file = str(view.reader.real(place.file))
    source = view.document(place.file, place.dialect).source
    rewound = _rewind(source, history.by_file.get(file, ()), history.of(file, path))
    after = rewound[0] if rewound else _structurally(view, place, name, history, file)
    put(view, place, after)
    return EntryChange(file, path, place.dialect, member.value, None, None)


def put(view: FilesView, place: Place, after: bytes | None) -> None:
    """Hand new bytes of a place's file to the view, with the mode and lock that the place asks for."""
    view.put(place.file, after, mode_for(place), client_lock(place, view.reader))


def client_lock(place: Place, reader: Reader) -> PurePath | None:
    """The folder by which the client itself locks the file, where it has one."""
    real = reader.real(place.file)
    return real.with_name(real.name + place.lock_suffix) if place.lock_suffix else None


def _structurally(view: FilesView, place: Place, name: str, history: History, file: str) -> bytes | None:
    document = view.document(place.file, place.dialect)
    made = history.made(file)
    prune = 0
    while prune < len(place.container) and place.container[: len(place.container) - prune] in made:
        prune += 1
    after = document.remove((*place.container, name), prune)
    first = next(iter(history.by_file.get(file, ())), None)
    if first is not None and first.blank and _holds_only(after, place, view):
        return first.file_before
    return after


def _holds_only(source: bytes, place: Place, view: FilesView) -> bool:
    """Nothing is left but what a new file of this client begins with."""
    view.put(place.file, source, mode_for(place))
    document = view.document(place.file, place.dialect)
    keys = document.keys(())
    return all(
        key in place.beginning
        and (member := document.find((key,))) is not None
        and member.value == place.beginning[key]
        for key in keys
    ) and not _has_comments(source)


def _has_comments(source: bytes) -> bool:
    """A comment that somebody put into a file we made keeps the file. The `//` of a URL is none."""
    text = source.replace(b"://", b"")
    return b"//" in text or b"/*" in text or b"#" in text


def _rewind(source: bytes, all_changes: tuple[Written, ...], ours: tuple[Written, ...]) -> tuple[bytes | None] | None:
    """Undo our changes of this entry, newest first, back to before it was there. None where the file moved on.

    Gives a 1-tuple, since the bytes themselves may be None (there was no file).
    """
    remaining = list(all_changes)
    current: bytes = source
    while remaining and remaining[-1] in ours:
        change = remaining.pop()
        if change.paths_changed != 1 or change.entry is None or digest(current) != change.digest_after:
            return None
        current = taken_back(current, change.edits)
        if change.entry_before is None:
            if change.blank and change.file_before is None:
                return (None,)
            return (current,) if digest(current) == change.digest_before else None
    return None
