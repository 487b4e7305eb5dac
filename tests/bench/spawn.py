"""Run one command with no streams and print its wall time, its CPU time and its peak memory in KiB.

python -I -S spawn.py COMMAND ARG...

A process of its own, and a small one: Linux counts the memory of whoever started a process as that process's own until
it has replaced itself, so a large starter hides what a small program takes.
"""

import os
import sys
import time

streams = [
    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
]
started = time.perf_counter()
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=streams)
_, status, usage = os.wait4(pid, 0)
wall_s = time.perf_counter() - started
sys.stdout.write(f"{wall_s} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}\n")
sys.exit(os.waitstatus_to_exitcode(status))
