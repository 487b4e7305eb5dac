"""Documents taken elsewhere and brought back: export and import. One bad item costs that item, and is named."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from homeport.errors import HomeportError
from homeport.server.operations.operation import Call, Outcome
from homeport.server.operations.version_lines import history_lines, read_histories
from homeport.server.state.documents.archive import VERSIONS, Item, read_items, writing
from homeport.server.state.documents.store import Caller, Documents
from homeport.server.state.paths import ROOT, Address, folded, parse_address, shown

_PATIENCE_S: Final = 4.5  # for each document


def export_documents(documents: Documents, target: Path, path: str, versions: bool, call: Call) -> Outcome:
    """Write every document at or below `path` to a folder or archive that is not there yet, under its own address.

    versions: also a line for each version of each of them, those that were deleted among them.
    Raises HomeportError: document_not_found, usage_error (the target is there), what the disk refuses.
    """
    start = parse_address(path)
    done = _Done("export")
    with writing(target) as add:
        if versions:
            lines = history_lines(documents, start, _patient(call))
            add(VERSIONS, "".join(f"{line}\n" for line in lines).encode())
            done.versions = len(lines)
        for address in _below(documents, start, done):
            try:
                document = documents.read(address, _patient(call))
            except HomeportError as error:
                done.refuse(str(address), error.code, error.message)
                continue
            add(str(address)[1:], document.text.encode())
            done.names["exported"].append(str(address))
    return done.outcome(f"Exported {len(done.names['exported'])} documents")


def _below(documents: Documents, start: Address, done: _Done) -> list[Address]:
    if start != ROOT and not documents.is_folder(start):
        return [start]
    found: list[Address] = []
    for top in [start] if start != ROOT else [Address(mount.path) for mount in documents.mounts]:
        for listed in documents.listing(top):
            if listed.trouble:
                done.refuse(shown(str(listed.address), 600)[1:-1], "memory_path_invalid", listed.trouble)
            else:
                found.append(listed.address)
    return found


def import_documents(documents: Documents, source: Path, into: str, replace: bool, call: Call) -> Outcome:
    """Make a document of every file of a folder or archive, below the address `into`; `/` takes what was exported.

    replace: also where a document with another text is there. Versions are brought along where nothing is known of a
    document yet. Raises HomeportError: unreadable_file.
    """
    start = parse_address(into)
    done = _Done("import")
    seen: Counter[str] = Counter()
    for item in read_items(source):
        if item.name == VERSIONS and start == ROOT and item.data is not None:
            _import_histories(documents, item.data, done, call)
            continue
        try:
            _import_item(documents, item, start, replace, seen, done, call)
        except HomeportError as error:
            done.refuse(item.name, error.code, error.message)
    made = f"{len(done.names['created'])} created, {len(done.names['replaced'])} replaced"
    return done.outcome(f"Imported: {made}, {done.unchanged} unchanged")


def _import_item(
    documents: Documents, item: Item, start: Address, replace: bool, seen: Counter[str], done: _Done, call: Call
) -> None:
    if item.data is None:
        assert item.trouble is not None
        raise HomeportError(*item.trouble)
    address = _address(item.name, start)
    # Two names that one file system takes for one: the second would silently overwrite the first.
    seen[folded(str(address))] += 1
    if seen[folded(str(address))] > 1:
        raise HomeportError("name_collision", "another item has that name, or one that differs only by case")
    text = _text(item.data)

    def edit(present: str | None) -> str:
        if present is not None and present != text and not replace:
            raise HomeportError("document_exists", f"{address} is there with another text; --replace overwrites it")
        return text

    change = documents.write(address, edit, None, _patient(call))
    if change.changed:
        done.names["created" if change.before is None else "replaced"].append(str(address))
    else:
        done.unchanged += 1


def _address(name: str, start: Address) -> Address:
    if name.startswith("/"):
        raise HomeportError("memory_path_invalid", "its name is absolute")
    prefix = "" if start == ROOT else f"{start}/"
    address = parse_address(f"{prefix}{name}", "item")
    if not address.segments:
        raise HomeportError("memory_path_invalid", "it lies beside the mounts; --into says where it belongs")
    return address


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise HomeportError("document_unreadable", "it is not text in UTF-8") from None


def _import_histories(documents: Documents, data: bytes, done: _Done, call: Call) -> None:
    histories, troubles = read_histories(data)
    for number, trouble in troubles:
        done.refuse(f"{VERSIONS} line {number}", "document_unreadable", trouble)
    for path, past in histories.items():
        try:
            if documents.past.adopt(parse_address(path), past, _patient(call)):
                done.versions += 1
        except HomeportError as error:
            done.refuse(f"{VERSIONS}: {shown(path)}", error.code, error.message)


@dataclass
class _Done:
    """What came of each item. versions: how many were written, or of how many documents they were brought along."""

    command: str
    names: dict[str, list[str]] = field(default_factory=lambda: {"created": [], "replaced": [], "exported": []})
    refused: list[dict[str, str]] = field(default_factory=list)
    unchanged: int = 0
    versions: int = 0

    def refuse(self, item: str, code: str, message: str) -> None:
        self.refused.append({"item": shown(item, 600)[1:-1], "code": code, "message": message})

    def outcome(self, text: str) -> Outcome:
        own = ("exported",) if self.command == "export" else ("created", "replaced")
        more: dict[str, Any] = {"unchanged": self.unchanged} if self.command == "import" else {}
        result = {
            "command": self.command, **{name: self.names[name] for name in own}, **more,
            "versions": self.versions, "refused": self.refused,
        }  # fmt: skip
        lines = [text + (f"; versions: {self.versions}" if self.versions else "") + "."]
        lines += [f"- refused: {one['item']}: {one['message']} [{one['code']}]" for one in self.refused]
        error = HomeportError(
            "import_incomplete",
            f"{len(self.refused)} of the items could not be {self.command}ed; the others were",
            "each is named with its reason",
            {"refused": len(self.refused)},
        )
        return Outcome(result, "\n".join(lines), error if self.refused else None)


def _patient(call: Call) -> Caller:
    return Caller(call.actor, time.monotonic() + _PATIENCE_S)
