"""How a companion does at a type of task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcf.advisors.strategist.activity import Task
from dcf.advisors.strategist.match import match
from dcf.advisors.strategist.outcomes import counts_of
from dcf.evidence import Counts, Spread, spread_of


@dataclass(frozen=True, slots=True)
class CompanionTrack:
    """A companion at a type of task: how often it succeeded, with the Wilson interval, and how long
    its successes took. ``fit`` is its success rate less that of others at the same tasks with the
    same skills (``matched`` of its own), None without any; ``speed`` its median time as a share of
    theirs."""

    task_type: str
    companion_id: str
    specialization: str
    counts: Counts
    low: float
    high: float
    work_ms: Spread | None
    matched: int
    fit: float | None
    fit_low: float
    fit_high: float
    speed: float | None


def track_of(
    task_type: str, companion: str, specialization: str, tasks: Sequence[Task]
) -> CompanionTrack:
    """Of ``companion``, among all outcomes of ``task_type`` in the order of time."""
    own = [task for task in tasks if task.companion_id == companion]
    others = [task for task in tasks if task.companion_id != companion]
    rivals = len({task.companion_id for task in others})
    held = match(own, others, max(1, rivals), lambda task: task.skills)
    counts = counts_of(own)
    low, high = counts.interval()
    fit_low, fit_high = held.interval
    return CompanionTrack(
        task_type=task_type,
        companion_id=companion,
        specialization=specialization,
        counts=counts,
        low=low,
        high=high,
        work_ms=spread_of(task.work_ms for task in own if task.ok),
        matched=held.first.n,
        fit=held.difference if held.first.n else None,
        fit_low=fit_low,
        fit_high=fit_high,
        speed=held.speed,
    )
