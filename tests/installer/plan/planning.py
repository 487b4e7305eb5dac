"""Plans over made machines, and the files as a plan would leave them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from homeport.environment import Platform
from homeport.installer.clients import CLIENTS
from homeport.installer.clients.references import parse_text
from homeport.installer.clients.values import Registration, Stdio
from homeport.installer.plan.install import plan_install
from homeport.installer.plan.ownership import History, Written, identity
from homeport.installer.plan.request import InstallRequest, UninstallRequest
from homeport.installer.plan.rows import ClientPlan
from homeport.installer.plan.splices import digest
from homeport.installer.plan.survey import ClientSurvey, survey
from homeport.installer.plan.uninstall import plan_uninstall
from tests.made import MadeDisk, Thing, make_environment


def stdio(*words: str, **env: str) -> Stdio:
    pairs = tuple((name, parse_text(value)) for name, value in env.items())
    return Stdio(parse_text(words[0]), tuple(parse_text(word) for word in words[1:]), pairs)


OURS = Registration("homeport", stdio("/opt/py/bin/python", "-m", "homeport", "serve"), bundled=True)
ROTA = Registration("rota", stdio("/opt/rota", "serve"))
# A folder or file by which each client counts as installed.
HOMES: Mapping[str, str] = {
    "claude-code": "~/.claude",
    "claude-desktop": "~/.config/Claude",
    "cursor": "~/.cursor",
    "codex": "~/.codex",
    "opencode": "~/.config/opencode",
    "muse-code": "~/.config/muse",
}


class Planned:
    """One client on one made machine. files: what the plan's steps leave, `~/` paths; None is a file that goes."""

    def __init__(
        self,
        client: str,
        things: Mapping[str, Thing] | None = None,
        *,
        platform: Platform = "linux",
        history: History | None = None,
        tracked: tuple[str, ...] = (),
        **changes: Any,
    ) -> None:
        self.client = client
        self.environment = make_environment(platform, **changes)
        made: dict[str, Thing] = {HOMES[client]: "a folder", **(things or {})}
        self.disk = MadeDisk(self.environment, made, tracked=tracked)
        self.history = history or History()
        self.plan = ClientPlan(client, ())

    def install(self, *registrations: Registration, **request: Any) -> Planned:
        asked = InstallRequest(registrations or (OURS,), **request)
        self.plan = plan_install(self.client, asked, self.environment, self.disk, self.history)
        return self

    def uninstall(self, name: str = "homeport", **request: Any) -> Planned:
        asked = UninstallRequest(name, **request)
        self.plan = plan_uninstall(self.client, asked, self.environment, self.disk, self.history)
        return self

    def applied(self) -> Planned:
        """The same machine after the plan was carried out, and the journal's memory of it."""
        by_file = dict(self.history.by_file)
        for step in self.plan.steps:
            if step.after is None:
                del self.disk.things[step.real]
            else:
                self.disk.things[step.real] = step.after
            changes = [change for change in self.plan.changes if change.file == str(step.real)]
            for change in changes:
                blank = not (step.before or b"").strip()
                written = Written(
                    change.file, change.path, change.after, change.before, change.identity, change.made, blank,
                    step.before if blank else None, digest(step.before), digest(step.after), step.edits, len(changes),
                )  # fmt: skip
                by_file[change.file] = (*by_file.get(change.file, ()), written)
        self.history = History(by_file)
        self.plan = ClientPlan(self.client, ())
        return self

    @property
    def outcome(self) -> str:
        (row,) = self.plan.rows
        return row.outcome

    @property
    def code(self) -> str | None:
        (row,) = self.plan.rows
        return row.error.code if row.error else None

    @property
    def files(self) -> dict[str, bytes | None]:
        return {self.short(str(step.path)): step.after for step in self.plan.steps}

    @property
    def documents(self) -> dict[str, Any]:
        """The files as parsed JSON."""
        return {path: None if after is None else json.loads(after) for path, after in self.files.items()}

    def short(self, path: str) -> str:
        path, home = path.replace("\\", "/"), str(self.environment.home).replace("\\", "/")
        return "~" + path.removeprefix(home) if path.startswith(home + "/") else path

    def survey(self) -> ClientSurvey:
        return survey(self.client, self.environment, self.disk, self.history)


def value_of(registration: Registration, client: str, level: str = "user") -> dict[str, Any]:
    planned = Planned(client).install(registration, level=level)
    (row,) = planned.plan.rows
    assert row.entry is not None
    return row.entry


def remembered(file: str, path: tuple[str, ...], entry: Any, client: str = "cursor") -> History:
    """A journal that knows one entry, written by us, whose file has moved on since."""
    runs = identity(CLIENTS[client].server(entry))
    return History({file: (Written(file, path, entry, None, runs, (), False, None, "old", "old", ()),)})
