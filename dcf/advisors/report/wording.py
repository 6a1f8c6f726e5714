"""Numbers, as people read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

_LAST_MOMENT = 253_402_300_800_000
"""The year 10000: a clock that says more is broken."""


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f} %"


def sureness(probability: float) -> str:
    """How sure something is, as a percentage; of what was counted nothing is certain."""
    if probability > 0.999:
        return "> 99.9 %"
    return "< 0.1 %" if probability < 0.001 else percent(probability)


def points(difference: float | None) -> str:
    """A difference of shares, in percentage points."""
    return "–" if difference is None else f"{difference * 100:+.1f}"


def span(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "–"
    return f"{low * 100:.1f} – {high * 100:.1f} %"


def duration(milliseconds: float | None) -> str:
    if milliseconds is None:
        return "–"
    if milliseconds < 1_000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 120_000:
        return f"{milliseconds / 1_000:.1f} s"
    if milliseconds < 7_200_000:
        return f"{milliseconds / 60_000:.1f} min"
    return f"{milliseconds / 3_600_000:.1f} h"


def money(usd: float | None) -> str:
    return "–" if usd is None else f"${usd:.4f}"


def several(said: Callable[[float], str], values: Sequence[float]) -> str:
    """Values beside each other, each on one line with its unit."""
    return " / ".join(said(value).replace(" ", "\N{NO-BREAK SPACE}") for value in values) or "–"


def p_text(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def moment(at: int) -> str:
    if not 0 <= at < _LAST_MOMENT:
        return f"{at} ms"
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def short(name: str) -> str:
    """A skill as people call it."""
    return name.removeprefix("skill.")


def span_points(low: float | None, high: float | None) -> str:
    """From and to, in percentage points."""
    return "–" if low is None or high is None else f"{points(low)} to {points(high)}"
