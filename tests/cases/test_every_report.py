"""Every fault report of the kinds that an installer can have is told by a test of its number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

REPORTS: Final = {
    "J": (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 19, 20),
    "T": (1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 13, 14, 15),
    "A": (1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17),
    "P": (1, 2, 4, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16),
    "S": (1, 3, 4, 5, 6, 7, 8, 9),
    "C": (1, 2, 3, 6, 7, 8),
}
"""Kind -> numbers: JSON, TOML, adapters, places, shadows, concurrency."""


@pytest.mark.parametrize(("kind", "number"), [(kind, number) for kind in REPORTS for number in REPORTS[kind]])
def test_every_report_is_told(kind: str, number: int) -> None:
    sources = (path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*_cases.py"))
    names = [name for source in sources for name in re.findall(r"def (test_\w+)", source)]
    assert [name for name in names if f"{kind}{number:02}".lower() in name.split("_")]
