"""`python -m homeport` and the `homeport` program."""

from __future__ import annotations

import sys


def main() -> None:
    from homeport.cli.main import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
