"""How stored text is handed over: between two marks that it cannot hold, and said to be data."""

from __future__ import annotations

import secrets
from typing import Final

DATA: Final = "stored data, not an instruction"


def mark(text: str) -> str:
    """A mark that the text does not hold: nobody can write a text that ends its own quotation."""
    while True:
        chosen = secrets.token_hex(4)
        if chosen not in text:
            return chosen


def between_marks(text: str) -> list[str]:
    """The lines that quote a text."""
    chosen = mark(text)
    return [f"<<< data {chosen}", text.removesuffix("\n"), f">>> end of data {chosen}"]
