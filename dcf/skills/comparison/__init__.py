"""Versions side by side: what changed between two skills, two trees, two looks at a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.skills.comparison.bump import is_enough, next_version, step_between
    from dcf.skills.comparison.change import Bump, Change
    from dcf.skills.comparison.compare import Comparison, compare_skills
    from dcf.skills.comparison.compare_trees import TreeComparison, compare_trees
    from dcf.skills.comparison.schema_changes import schema_changes
    from dcf.skills.comparison.tool_pins import PinChange, RenewedPins, renew_pins, tool_pin
else:
    export_late(__name__)

__all__ = [
    "Bump",
    "Change",
    "Comparison",
    "PinChange",
    "RenewedPins",
    "TreeComparison",
    "compare_skills",
    "compare_trees",
    "is_enough",
    "next_version",
    "renew_pins",
    "schema_changes",
    "step_between",
    "tool_pin",
]
