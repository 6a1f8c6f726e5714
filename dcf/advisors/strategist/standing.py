"""What of guidelines holds at a moment."""

from __future__ import annotations

from dcf.advisors.strategist.fitting import without
from dcf.advisors.strategist.guidelines import StrategistGuidelines


def standing(guidelines: StrategistGuidelines, now: int) -> StrategistGuidelines:
    """``guidelines`` without remarks that have expired by ``now`` (ms), and without what programs
    follow because of them. For reading: what is kept is written by ``publish``, which says why."""
    for remark in guidelines.remarks:
        if remark.expires_at is not None and remark.expires_at <= now:
            guidelines = without(guidelines, remark)
    return guidelines
