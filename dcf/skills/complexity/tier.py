"""Tiers of models: which one a complexity score asks for, and what a deadline leaves of that."""

from __future__ import annotations

from typing import Literal

Latency = Literal["critical", "standard", "relaxed", "batch"]

LATENCIES: tuple[Latency, ...] = ("critical", "standard", "relaxed", "batch")

TIER_LIMITS = (12, 25, 50)
"""The highest score of tiers 0, 1 and 2; every score above belongs to the next one. The bounds
are continuous: no score lies between two tiers (decision 0013)."""

TIER_DESCRIPTIONS = (
    "simple work: small and fast models",
    "ordinary work: models of middle size",
    "demanding work: large models",
    "the hardest work: the most capable models",
)

DEFAULT_TIER = 1
"""What work gets of which nothing is known."""

_CRITICAL_CAP = 1


def tier_of(fcs: float) -> int:
    """0 up to 12, 1 up to 25, 2 up to 50, 3 above.

    >>> [tier_of(fcs) for fcs in (12, 12.1, 25, 25.3, 50, 50.001)]
    [0, 1, 1, 2, 2, 3]
    """
    return sum(fcs > limit for limit in TIER_LIMITS)


def known_latency(requirement: str) -> Latency | None:
    """``requirement`` when it is one of ``LATENCIES``, else None."""
    return next((known for known in LATENCIES if known == requirement), None)


def capped(tier: int, latency: Latency) -> int:
    """The tier that ``latency`` leaves: critical work waits for no model above tier 1."""
    return min(tier, _CRITICAL_CAP) if latency == "critical" else tier
