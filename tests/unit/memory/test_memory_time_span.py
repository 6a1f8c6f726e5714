"""A time is understood as a person says it."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from dcf.memory.search.time_span import span_of

# A Wednesday.
NOW = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)


def _said(text: str) -> tuple[str, str] | None:
    span = span_of(text, round(NOW.timestamp() * 1000), UTC)
    if span is None:
        return None
    first, last = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (span.first, span.last))
    return first.strftime("%Y-%m-%d %H:%M"), last.strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("today", "2026-03-11", "2026-03-11"),
        ("Yesterday", "2026-03-10", "2026-03-10"),
        ("this week", "2026-03-09", "2026-03-15"),
        ("last  week", "2026-03-02", "2026-03-08"),
        ("last month", "2026-02-01", "2026-02-28"),
        ("3 months ago", "2025-12-01", "2025-12-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("10 days ago", "2026-03-01", "2026-03-01"),
        ("2 weeks ago", "2026-02-23", "2026-03-01"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("2024-02-29", "2024-02-29", "2024-02-29"),
        # Other ways of ISO 8601 to write a day.
        ("20240229", "2024-02-29", "2024-02-29"),
        ("2024-W09-4", "2024-02-29", "2024-02-29"),
    ],
)
def test_a_span_is_whole(text: str, first: str, last: str) -> None:
    assert _said(text) == (f"{first} 00:00", f"{last} 23:59")


def test_a_moment_is_itself() -> None:
    assert _said("2026-03-01T10:20") == ("2026-03-01 10:20", "2026-03-01 10:20")
    assert _said("2026-03-01T10:20+02:00") == ("2026-03-01 08:20", "2026-03-01 08:20")


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-02-30", "2026-13", "9999 years ago", "last", "0000", "T10:20"]
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert _said(text) is None


def test_days_are_those_of_the_zone_and_may_be_longer() -> None:
    """Clocks in Berlin went back on 25 October 2026."""
    span = span_of("2026-10-25", round(NOW.timestamp() * 1000), ZoneInfo("Europe/Berlin"))
    assert span is not None
    assert span.last + 1 - span.first == 25 * 3_600_000
