"""Instants: whole microseconds since 1970 in UTC, so that order and bounds never depend on how a time was spelled."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal

UNDATED: Final = -(2**62)
"""The instant of a turn whose time is not known: older than every other."""

_EPOCH: Final = datetime(1970, 1, 1)
_FIRST: Final = (datetime.min - _EPOCH) // timedelta(microseconds=1)
_LAST: Final = (datetime.max - _EPOCH) // timedelta(microseconds=1)
_DAY_US: Final = 86_400_000_000


def now() -> int:
    return _since_epoch(datetime.now(UTC).replace(tzinfo=None))


def parse_instant(text: str) -> int | None:
    """The instant of an ISO 8601 date or time, None where it is neither.

    The one rule for what leaves something open: a time without a zone is UTC, a date alone is its first moment in UTC.
    The machine's own zone is never asked.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    offset = moment.utcoffset() or timedelta()
    # As numbers: a time at the edge of the calendar has no UTC counterpart that datetime could hold.
    return _since_epoch(moment.replace(tzinfo=None)) - offset // timedelta(microseconds=1)


def parse_bound(text: str, end: Literal["since", "until"]) -> int | None:
    """parse_instant for one end of a range, both ends included: a date alone is the whole day."""
    start = parse_instant(text)
    if start is not None and end == "until" and _is_date(text.strip()):
        return start + _DAY_US - 1
    return start


def stamp(instant: int) -> str:
    """`2031-02-03T04:05:06.000Z`, with microseconds where there are any; `undated`."""
    if dated(instant) == UNDATED:
        return "undated"
    moment = _EPOCH + timedelta(microseconds=instant)
    precision = "microseconds" if instant % 1000 else "milliseconds"
    return moment.isoformat(timespec=precision) + "Z"


def dated(instant: int) -> int:
    """The instant, UNDATED for one that no calendar holds."""
    return instant if _FIRST <= instant <= _LAST else UNDATED


def _is_date(text: str) -> bool:
    if re.search(r"[T :]", text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _since_epoch(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
