"""Several processes on one home."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from tests.server.making import make_documents, names, text_of, version_of

EDITOR = """
import sys
from contextlib import closing
from pathlib import Path
from homeport.server.state.documents import edits
from homeport.server.state.paths import parse_address
from tests.server.making import caller, make_documents, put
home, name = Path(sys.argv[1]), sys.argv[2]
with closing(make_documents(home)) as documents:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(40):
        line = f"{name} {number}"
        edit = lambda present: edits.insert_after(present or "", 0, line)
        documents.write(parse_address("/m/shared"), edit, None, caller(f"mcp:{name}"))
        put(documents, f"/m/folder/{name}", line)
        documents.remove(parse_address(f"/m/folder/{name}"), None, False, caller())
"""


def test_edits_of_one_document_by_several_processes_are_all_kept(tmp_path: Path) -> None:
    home = tmp_path / "home"
    editors = [
        subprocess.Popen(
            [sys.executable, "-c", EDITOR, str(home), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=os.getcwd(),
        )
        for name in ("a", "b", "c")
    ]
    for editor in editors:
        assert editor.stdout is not None
        assert editor.stdout.readline() == b"ready\n"
    said = [editor.communicate(b"\n")[1] for editor in editors]

    with closing(make_documents(home)) as documents:
        lines = text_of(documents, "/m/shared").splitlines()
        version = version_of(documents, "/m/shared")

        assert said == [b"", b"", b""]
        assert sorted(lines) == sorted(f"{name} {number}" for name in "abc" for number in range(40))
        assert version is not None
        assert version[0] == 120
        assert names(documents, "/m") == ["/m/shared"]
