"""The Strategist: what a session tells while it runs, and what its Conductor should do. Pure.

``analyse`` counts what an ``Activity`` says and asks what ``StrategistRules`` ask; ``follow`` looks
at what became of earlier advice, ``publish`` writes what is sure enough into the
``StrategistGuidelines``, ``patterns`` gives what is kept for good. ``update`` is what others write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.advisors.strategist.activity import (
        Activity,
        Companion,
        CompanionHistory,
        SkillHistory,
        Task,
    )
    from dcf.advisors.strategist.analysis import Analysis, analyse
    from dcf.advisors.strategist.errors import (
        InvalidActivity,
        InvalidRules,
        InvalidStrategistGuidelines,
        InvalidStrategy,
    )
    from dcf.advisors.strategist.finding import Finding
    from dcf.advisors.strategist.following import follow
    from dcf.advisors.strategist.guidelines import LABEL, StrategistGuidelines
    from dcf.advisors.strategist.patterns import Pattern, patterns
    from dcf.advisors.strategist.publishing import Change, publish
    from dcf.advisors.strategist.reading import parse_guidelines, read_strategist_guidelines
    from dcf.advisors.strategist.remark import Advice, Followed, Remark
    from dcf.advisors.strategist.rules import StrategistRules
    from dcf.advisors.strategist.scaling import Bounds
    from dcf.advisors.strategist.standing import standing
    from dcf.advisors.strategist.updating import Updated, update
else:
    export_late(__name__)

__all__ = [
    "LABEL",
    "Activity",
    "Advice",
    "Analysis",
    "Bounds",
    "Change",
    "Companion",
    "CompanionHistory",
    "Finding",
    "Followed",
    "InvalidActivity",
    "InvalidRules",
    "InvalidStrategistGuidelines",
    "InvalidStrategy",
    "Pattern",
    "Remark",
    "SkillHistory",
    "StrategistGuidelines",
    "StrategistRules",
    "Task",
    "Updated",
    "analyse",
    "follow",
    "parse_guidelines",
    "patterns",
    "publish",
    "read_strategist_guidelines",
    "standing",
    "update",
]
