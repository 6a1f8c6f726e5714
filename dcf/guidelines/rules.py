"""What guidelines may say, and for how long."""

from __future__ import annotations

from dataclasses import dataclass

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Rules:
    """An insight becomes a guideline when ``min_workflows`` runs with ``min_outcomes`` outcomes
    speak for it and its confidence is above ``min_confidence``; a guideline without new evidence
    for ``expiry_ms`` is dropped. Of each list the last ``max_items`` are kept, and of the insights
    the last ``max_insights``."""

    min_workflows: int = 3
    min_outcomes: int = 10
    min_confidence: float = 0.7
    expiry_ms: int = 30 * DAY_MS
    max_items: int = 50
    max_insights: int = 10
