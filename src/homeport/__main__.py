"""`python -m homeport` and the `homeport` program."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    # A command lives for a moment: looking for cycles costs it more than they hold. `serve` turns it on again.
    gc.disable()
    from homeport.cli.main import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
