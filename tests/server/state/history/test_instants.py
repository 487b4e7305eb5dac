"""Instants: one number for a moment, however it was spelled and wherever the machine stands."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from homeport.server.state.history.instants import UNDATED, dated, parse_bound, parse_instant, stamp

HOUR_US = 3_600_000_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("2031-02-03T09:00:00+08:00", "2031-02-03T01:00:00.000Z", id="offset"),
        pytest.param("2031-02-03T02:29:59.9Z", "2031-02-03T02:29:59.900Z", id="fraction"),
        pytest.param("2031-02-03 02:30", "2031-02-03T02:30:00.000Z", id="without-a-zone-is-UTC"),
        pytest.param("2031-02-03", "2031-02-03T00:00:00.000Z", id="a-date-is-its-first-moment"),
        pytest.param("2031-02-03T02:30:00.000001Z", "2031-02-03T02:30:00.000001Z", id="microseconds"),
        pytest.param("1969-12-31T23:59:59Z", "1969-12-31T23:59:59.000Z", id="before-1970"),
        pytest.param("0001-01-01T00:00:00+14:00", "undated", id="before-the-calendar"),
    ],
)
def test_a_time_is_an_instant(text: str, shown: str) -> None:
    instant = parse_instant(text)

    assert instant is not None
    assert stamp(instant) == shown


@pytest.mark.parametrize("text", ["", "yesterday", "2031-13-01", "2031-02-30", "12:00", "2031-02-03T25:00"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_instant(text) is None


def test_both_ends_of_a_range_are_in_it() -> None:
    day = parse_instant("2031-02-03")
    assert day is not None

    assert parse_bound("2031-02-03", "since") == day
    assert parse_bound("2031-02-03", "until") == day + 24 * HOUR_US - 1
    assert parse_bound("20310203", "until") == day + 24 * HOUR_US - 1
    assert parse_bound("2031-02-03T01:00", "until") == day + HOUR_US


@pytest.mark.parametrize("zone", ["Pacific/Chatham", "America/St_Johns", "UTC"])
def test_the_machines_zone_is_never_asked(zone: str) -> None:
    code = (
        "from homeport.server.state.history.instants import *\n"
        "texts = '2031-03-30T02:30:00+01:00', '2031-10-26', '2031-10-26T02:30'\n"
        "print(*(stamp(parse_instant(text)) for text in texts), stamp(parse_bound('2031-10-26', 'until')))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == [
        "2031-03-30T01:30:00.000Z",
        "2031-10-26T00:00:00.000Z",
        "2031-10-26T02:30:00.000Z",
        "2031-10-26T23:59:59.999999Z",
    ]


def test_a_time_that_no_calendar_holds_is_none() -> None:
    assert [dated(10**30), dated(-(10**30)), dated(0)] == [UNDATED, UNDATED, 0]
