"""Items that say the contrary of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from dcf.guidelines.insight import Insight
from dcf.guidelines.item import SkillRecommendation


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two recommendations that cannot both be followed when ``condition`` holds."""

    condition: str
    first: SkillRecommendation
    second: SkillRecommendation

    @property
    def words(self) -> str:
        """What the conflict is, for people."""
        return f"{self.condition}: {_advice(self.first)}, but also {_advice(self.second)}"


def conflicts(items: Sequence[SkillRecommendation]) -> tuple[Conflict, ...]:
    """All pairs of ``items`` that contradict each other: they are shown, nobody decides here."""
    return tuple(
        Conflict(first.condition, first, second)
        for first, second in combinations(items, 2)
        if (first.task_type or first.condition) == (second.task_type or second.condition)
        and contrary(first.prefer, first.avoid, second.prefer, second.avoid)
    )


def with_conflicts(insights: Sequence[Insight]) -> tuple[Insight, ...]:
    """The insights, each with the ids of those that say the contrary for its condition."""
    against: dict[str, list[str]] = {insight.id: [] for insight in insights}
    for first, second in combinations(insights, 2):
        if dict(first.condition) == dict(second.condition) and contrary(
            first.prefer, first.avoid, second.prefer, second.avoid
        ):
            against[first.id].append(second.id)
            against[second.id].append(first.id)
    return tuple(
        replace(insight, conflicts_with=tuple(against[insight.id])) for insight in insights
    )


def contrary(
    prefer: str | None, avoid: str | None, other_prefer: str | None, other_avoid: str | None
) -> bool:
    """Whether one prefers what the other avoids, or both prefer different things."""
    if prefer is not None and prefer == other_avoid:
        return True
    if other_prefer is not None and other_prefer == avoid:
        return True
    return prefer is not None and other_prefer is not None and prefer != other_prefer


def _advice(item: SkillRecommendation) -> str:
    parts = (("prefer", item.prefer), ("avoid", item.avoid))
    said = " and ".join(f"{verb} {name}" for verb, name in parts if name)
    sure = f" ({item.confidence:.0%} sure)" if item.confidence is not None else ""
    return said + sure
