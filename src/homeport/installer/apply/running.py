"""Is a client running that would write its own copy of the file back?"""

from __future__ import annotations

from pathlib import Path

from homeport.errors import HomeportError


def client_running(label: str, names: frozenset[str]) -> HomeportError | None:
    """The refusal for a client one of whose programs this account is running; None where none is. Somebody else's copy
    writes somebody else's file; root, who writes for others, minds everybody's.

    names: exact file names of programs. Case matters: `Claude` is the app, `claude` the command-line client.
    """
    import psutil

    account = psutil.Process().username()
    for process in psutil.process_iter(["pid", "name", "exe", "cmdline", "username"]):
        found = process.info
        if found["username"] != account and account != "root":
            continue
        started = (found["cmdline"] or [""])[0]
        if {found["name"], Path(found["exe"] or "").name, Path(started).name} & names:
            return HomeportError(
                "client_running",
                f"{label} is running (process {found['pid']}) and would write its own copy of the file over ours",
                f"quit {label} fully, its tray icon too, and run this again; --force writes all the same",
                {"process": found["pid"]},
            )
    return None
