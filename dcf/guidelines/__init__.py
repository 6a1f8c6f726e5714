"""Advice that planners act on: insights, and the guidelines made of them. Pure.

``read_guidelines`` reads what stands in the memory block ``reflector_guidelines``;
``Guidelines.for_task`` is what it says of a type of task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.guidelines.conflict import Conflict, conflicts, with_conflicts
    from dcf.guidelines.document import LABEL, Guidelines, iso, item_json
    from dcf.guidelines.errors import InvalidGuidelines
    from dcf.guidelines.fitting import fitted, text_of
    from dcf.guidelines.insight import (
        Category,
        Evidence,
        Followed,
        Insight,
        Severity,
        Verdict,
        insight_id,
    )
    from dcf.guidelines.item import (
        ITEMS,
        Action,
        Author,
        Goal,
        Item,
        ModelAdvice,
        SkillRecommendation,
        UserIntentTip,
        Warning,
        WorkflowPattern,
    )
    from dcf.guidelines.merging import (
        expired,
        merge,
        next_revision,
        with_insights,
        without_expired,
        without_insights,
    )
    from dcf.guidelines.publishing import condition_text, is_publishable, item_of, publish
    from dcf.guidelines.reading import parse_guidelines, parse_item, read_guidelines
    from dcf.guidelines.rules import DAY_MS, Rules
else:
    export_late(__name__)

__all__ = [
    "DAY_MS",
    "ITEMS",
    "LABEL",
    "Action",
    "Author",
    "Category",
    "Conflict",
    "Evidence",
    "Followed",
    "Goal",
    "Guidelines",
    "Insight",
    "InvalidGuidelines",
    "Item",
    "ModelAdvice",
    "Rules",
    "Severity",
    "SkillRecommendation",
    "UserIntentTip",
    "Verdict",
    "Warning",
    "WorkflowPattern",
    "condition_text",
    "conflicts",
    "expired",
    "fitted",
    "insight_id",
    "is_publishable",
    "iso",
    "item_json",
    "item_of",
    "merge",
    "next_revision",
    "parse_guidelines",
    "parse_item",
    "publish",
    "read_guidelines",
    "text_of",
    "with_conflicts",
    "with_insights",
    "without_expired",
    "without_insights",
]
