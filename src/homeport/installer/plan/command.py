"""A server's command made right for the machine and the client that will start it."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

from homeport.environment import Environment
from homeport.errors import HomeportError
from homeport.installer.clients.client import Client
from homeport.installer.clients.references import plain_text
from homeport.installer.clients.values import Place, Server, Stdio, Text

# Installed as .cmd scripts by npm and its relatives; a program started without a shell cannot run those
# (cline/cline 902 and many others).
_SHIMS: Final = frozenset({"npx", "npm", "pnpm", "pnpx", "yarn", "yarnpkg", "corepack", "tsx", "ts-node"})
_WSL_SHARE: Final = r"(?i)^[\\/]{2}wsl(?:\$|\.localhost)[\\/]"
_WINDOWS_DRIVE: Final = r"^/mnt/[a-z]/"


def command_for(
    server: Server, client: Client, place: Place, environment: Environment, *, keeps_bare: bool = False
) -> tuple[Server, tuple[str, ...]]:
    """The server as this client has to start it, and notes on what was changed.

    keeps_bare: a bare command is meant so, for a teammate's machine.

    A leading `~/` becomes the home; a bare command becomes absolute for a client without the shell's PATH; one
    that is not found, or depends on the folder, is told; a script shim gets `cmd /c` on native Windows; a Linux command
    for a Windows client's file goes through wsl.exe.
    Raises HomeportError: reference_unsupported (a variable would have to cross from Windows into WSL).
    """
    if not isinstance(server, Stdio):
        return server, ()
    server = _at_home(server, environment)
    lost = () if keeps_bare else _not_found(server, environment)
    if client.IS_GUI and not keeps_bare:
        made = _absolute(server, environment)
    elif client.IS_GUI and not re.search(r"[\\/]", server.command.shown()):
        found = f"{client.LABEL} starts `{server.command.shown()}` from the PATH it has itself, which is not a shell's"
        return server, (found,)
    else:
        made = server
    if _starts_in_linux(place.file, environment):
        if environment.in_wsl and re.match(_WINDOWS_DRIVE, str(place.file)):
            return _through_wsl(server, environment), (
                "the client runs on Windows, so the command goes through wsl.exe",
            )
        return made, lost
    if _is_shim(server.command, environment):
        return server._replace(command=plain_text("cmd"), args=(plain_text("/c"), server.command, *server.args)), (
            f"{server.command.shown()} is a script on Windows, so cmd /c starts it",
        )
    return made, lost


def _not_found(server: Stdio, environment: Environment) -> tuple[str, ...]:
    command = server.command.plain
    if command is not None and re.match(r"\.{1,2}[\\/]", command):
        return (f"'{command}' is taken from the folder that the client starts servers in; an absolute path is safer",)
    if command is None or re.search(r"[\\/]", command) or environment.search(command) is not None:
        return ()
    return (f"'{command}' is not on PATH here, so the client may not find it either",)


def _starts_in_linux(file: PurePath, environment: Environment) -> bool:
    """Not only off Windows: a config on WSL's share is read by a client inside it, whatever we run on."""
    return environment.platform != "win32" or bool(re.match(_WSL_SHARE, str(file)))


def _at_home(server: Stdio, environment: Environment) -> Stdio:
    def expanded(text: Text) -> Text:
        if text.parts and isinstance(text.parts[0], str):
            return Text((environment.expanded(text.parts[0]), *text.parts[1:]))
        return text

    return server._replace(
        command=expanded(server.command),
        args=tuple(expanded(text) for text in server.args),
        cwd=None if server.cwd is None else environment.expanded(server.cwd),
    )


def _absolute(server: Stdio, environment: Environment) -> Stdio:
    command = server.command.plain
    if command is None or "/" in command or "\\" in command:
        return server
    found = environment.search(command)
    return server if found is None else server._replace(command=plain_text(str(found)))


def _is_shim(command: Text, environment: Environment) -> bool:
    plain = command.plain
    if plain is None:
        return False
    name = re.split(r"[\\/]", plain)[-1].lower()
    if name.endswith((".cmd", ".bat")) or name in _SHIMS:
        return True
    if "." in name or "/" in plain or "\\" in plain:
        return False
    found = environment.search(plain)
    return found is not None and found.suffix.lower() in (".cmd", ".bat")


def _through_wsl(server: Stdio, environment: Environment) -> Stdio:
    for name, value in server.env:
        if value.plain is None:
            raise HomeportError(
                "reference_unsupported",
                f"the variable {name} of Windows does not reach a server inside WSL",
                f"set {name} inside WSL, where the server starts, and leave out --env {name}",
                {"variable": name},
            )
    variables = [plain_text(f"{name}={value.plain}") for name, value in server.env]
    prefix = [plain_text("env"), *variables] if variables else []
    distribution = plain_text(environment.variables["WSL_DISTRO_NAME"])
    words = (plain_text("-d"), distribution, plain_text("--"), *prefix, server.command, *server.args)
    return Stdio(plain_text("wsl.exe"), words, (), server.cwd)
