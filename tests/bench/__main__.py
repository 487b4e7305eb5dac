"""What Homeport costs, beside others. `make bench` installs them and runs this; docs/performance.md has the figures.

python -m tests.bench [--runs N] [--peers FOLDER]
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.bench import install, large_file, serve

ROOT = Path(__file__).parent.parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--peers", type=Path, default=ROOT / ".real-clients" / "peers")
    asked = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, medians of {asked.runs} rounds")
    few = max(3, asked.runs // 3)
    install.bench(asked.peers, asked.runs)
    serve.bench(few)
    large_file.bench_edit(few)
    large_file.bench_command(few)


if __name__ == "__main__":
    main()
