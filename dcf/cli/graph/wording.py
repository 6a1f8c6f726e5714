"""Shares, intervals and moments as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

from dcf.evidence import Counts

_BAR = 20


def moment(ms: int | None) -> str:
    """As in ``2026-11-22 18:15`` of this machine's time zone; "" for None."""
    if ms is None:
        return ""
    return f"{datetime.fromtimestamp(ms / 1000, UTC).astimezone():%Y-%m-%d %H:%M}"


def share(counts: Counts) -> str:
    """As in ``58 of 64, 91 % (81-96 %)``."""
    if counts.rate is None:
        return "none"
    low, high = counts.interval()
    percent = f"{100 * counts.rate:.0f} % ({100 * low:.0f}-{100 * high:.0f} %)"
    return f"{counts.successes} of {counts.n}, {percent}"


def bar(counts: Counts) -> str:
    """The interval of a share between 0 and 1, the share itself in it."""
    low, high = counts.interval()
    at = round((counts.rate or 0.0) * (_BAR - 1))
    first, last = int(low * (_BAR - 1)), round(high * (_BAR - 1))
    signs = ["─" if first <= place <= last else "·" for place in range(_BAR)]
    if counts.n:
        signs[at] = "●"
    return "".join(signs)


def few(names: tuple[str, ...] | list[str], most: int = 3) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" +{rest}" if rest > 0 else "")


def sureness(probability: float) -> str:
    """How sure something is, as reports say it: of what was counted nothing is certain."""
    if probability > 0.999:
        return "> 99.9 %"
    return "< 0.1 %" if probability < 0.001 else f"{100 * probability:.1f} %"
