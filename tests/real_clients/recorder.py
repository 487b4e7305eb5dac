"""Stands between a client and its server, and writes down every line that passes.

Arguments: a folder, then the server's command. The file in the folder has this process's number, since a client may
start a server more than once; a line of it is `{"from": "client" or "server", "message": ...}`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO


def main() -> None:
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None and server.stdout is not None
    with (Path(sys.argv[1]) / f"{os.getpid()}.jsonl").open("ab", buffering=0) as log:
        to_server = threading.Thread(target=copy, args=(sys.stdin.buffer, server.stdin, "client", log), daemon=True)
        to_server.start()
        copy(server.stdout, sys.stdout.buffer, "server", log)
    server.wait()


def copy(source: IO[bytes], target: IO[bytes], side: str, log: IO[bytes]) -> None:
    """Line by line until the source ends. Written down first, so that an answer stands after its request."""
    with source, target:
        for line in source:
            log.write(json.dumps({"from": side, "message": json.loads(line)}).encode() + b"\n")
            target.write(line)
            target.flush()


if __name__ == "__main__":
    main()
