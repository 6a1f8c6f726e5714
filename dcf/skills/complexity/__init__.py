"""How complex the work with some skills is, and which tier of models it asks for. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.skills.complexity.assessment import Assessment, assess
    from dcf.skills.complexity.compute import compute_task_complexity
    from dcf.skills.complexity.dimension import DIMENSIONS, check_overrides
    from dcf.skills.complexity.profile import ComplexityProfile, maturity_of
    from dcf.skills.complexity.score import Score, score
    from dcf.skills.complexity.tier import TIER_DESCRIPTIONS, TIER_LIMITS, capped, tier_of
else:
    export_late(__name__)

__all__ = [
    "DIMENSIONS",
    "TIER_DESCRIPTIONS",
    "TIER_LIMITS",
    "Assessment",
    "ComplexityProfile",
    "Score",
    "assess",
    "capped",
    "check_overrides",
    "compute_task_complexity",
    "maturity_of",
    "score",
    "tier_of",
]
