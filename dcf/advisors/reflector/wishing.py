"""What a person wants of planners, among the guidelines: it goes before all that was measured."""

from __future__ import annotations

from dataclasses import replace

from dcf.advisors.reflector.board import GuidelinesBoard
from dcf.guidelines import (
    Guidelines,
    Rules,
    SkillRecommendation,
    merge,
    without_expired,
)


async def publish_wish(
    board: GuidelinesBoard, wish: SkillRecommendation, *, now: int, rules: Rules | None = None
) -> Guidelines:
    """Write ``wish`` as the word of a person, in the place of what was wished before for its type
    of task; at ``now`` (ms) it begins to age. Whoever calls this knows that a person asks for it.
    Raises as ``GuidelinesBoard.change``."""
    kept = rules or Rules()
    item = replace(wish, written_by="person", insight=None, last_evidence_at=now)

    def changed(before: Guidelines) -> Guidelines:
        left = without_expired(_without_wishes(before, wish.task_type), now, kept)
        return merge(left, [item], now)

    guidelines, _ = await board.change(changed, now, kept)
    return guidelines


async def withdraw_wishes(
    board: GuidelinesBoard, task_type: str, *, now: int, rules: Rules | None = None
) -> Guidelines:
    """Take out what persons wished for tasks of ``task_type``. Raises as ``publish_wish``."""
    guidelines, _ = await board.change(
        lambda before: _without_wishes(before, task_type), now, rules or Rules()
    )
    return guidelines


def _without_wishes(guidelines: Guidelines, task_type: str | None) -> Guidelines:
    left = [
        one
        for one in guidelines.skill_recommendations
        if one.written_by != "person" or one.task_type != task_type
    ]
    return guidelines.with_items({SkillRecommendation.LIST: left})
