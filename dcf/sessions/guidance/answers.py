"""What ``Guidance`` is told and answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypedDict, get_args

from dcf.advisors.strategist import Analysis, Change, Pattern, StrategistGuidelines

Reason = Literal["periodic", "milestone", "on_demand", "task_completed"]
"""Why a session is analysed. For the first and the last nothing is published where nothing has
ended since the analysis before."""
REASONS: tuple[Reason, ...] = get_args(Reason)


class Said(TypedDict, total=False):
    """What somebody writes into guidelines: see ``dcf.advisors.strategist.update``."""

    guidelines_json: str | None
    recommendation: str | None
    skill_preferences_json: str | None
    companion_preferences_json: str | None
    companion_scaling_json: str | None
    model_selection_json: str | None
    clear_guidelines: bool


@dataclass(frozen=True, slots=True)
class Registered:
    """``strategist_id`` advises the conductor from now on, in the place of ``before``; the
    guidelines are at ``revision``."""

    strategist_id: str
    revision: int
    before: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guided:
    """What a conductor is told: complete ``guidelines`` at ``revision`` (0: nobody wrote any), and
    who advises it, None where nobody was registered."""

    guidelines: StrategistGuidelines
    revision: int
    strategist_id: str | None


@dataclass(frozen=True, slots=True)
class Analysed:
    """What an analysis found, and what it changed in the guidelines, which are at ``revision``.
    ``patterns`` are what is kept for good. ``is_new``: False where this much of the session had
    been analysed before, so that nothing was published."""

    analysis: Analysis
    guidelines: StrategistGuidelines
    revision: int
    changes: tuple[Change, ...]
    patterns: tuple[Pattern, ...]
    is_new: bool
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What a conductor has room for; ``analysis.to_json`` has all of it."""
        analysis = self.analysis.to_json()
        return {
            "session_id": analysis["session_id"],
            "is_new": self.is_new,
            "outcomes": analysis["outcomes"],
            "findings": [
                {
                    name: one[name]
                    for name in ("id", "kind", "subject", "value", "text", "observations",
                                 "confidence", "low", "high", "tasks")
                }
                for one in analysis["findings"]
                if one["is_published"]
            ],
            "changes": [asdict(one) for one in self.changes],
            "revision": self.revision,
            "health": analysis["health"],
            "load": analysis["load"],
            "patterns": len(self.patterns),
            "warnings": list(self.warnings),
        }  # fmt: skip
