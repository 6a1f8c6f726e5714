"""Insights to make guidelines of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dcf.guidelines import DAY_MS, Evidence, Insight, insight_id

NOW = 1_700_000_000_000


def insight(prefer: str | None = "skill.shop.pay@2.0.0", **changes: Any) -> Insight:
    """A sure insight about paying, with 20 outcomes of five runs."""
    condition = {"task_type": "pay"}
    plain = Insight(
        id=insight_id("skill_effectiveness", "version", condition, prefer, NOW),
        category="skill_effectiveness",
        topic="version",
        condition=condition,
        prefer=prefer,
        avoid=None,
        reason="it succeeded more",
        evidence=Evidence(20, 5, NOW - DAY_MS, NOW, ("r1", "r2"), {"rate": 0.9}),
        confidence=0.95,
        created_at=NOW,
        expires_at=NOW + 30 * DAY_MS,
    )
    return replace(plain, **changes)
