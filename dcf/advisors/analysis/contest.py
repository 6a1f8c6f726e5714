"""Versions and skills that do the same work, held against each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from dcf.advisors.analysis.track import TrackRecord
from dcf.evidence import (
    SIGNIFICANT,
    Comparison,
    Standing,
    compare,
    holm,
    is_non_inferior,
    mann_whitney,
    standings,
)
from dcf.knowledge import Outcome

FASTER = 0.8
"""A version is called faster from this share of the other's median duration on."""


@dataclass(frozen=True, slots=True)
class Rival:
    """One that lost: ``comparison`` holds the recommended one against it, since either's last
    change; ``is_worse`` says that it is by a test that allows for how many were held against each
    other. ``faster`` says in how many of ``timed`` successes it was faster than the median of the
    recommended one, if its own median is clearly smaller and it is shown to succeed about as often
    (``is_non_inferior``); None otherwise."""

    skill: str
    comparison: Comparison
    is_worse: bool
    faster: int | None
    timed: int


@dataclass(frozen=True, slots=True)
class Contest:
    """Of the ``standings`` at ``task_type`` the first is recommended; ``skill`` is the name that
    all share, None if different skills do this work."""

    task_type: str
    skill: str | None
    standings: tuple[Standing, ...]
    rivals: tuple[Rival, ...]
    records: tuple[TrackRecord, ...]

    @property
    def recommended(self) -> str:
        return self.standings[0].version

    @property
    def confidence(self) -> float:
        """The probability that no other is better."""
        return self.standings[0].best


class Company:
    """Which skills work together: versions of one skill always are rivals, different skills only
    where each outcome has a single one."""

    def __init__(self) -> None:
        self._together: set[str] = set()

    def add(self, outcome: Outcome) -> None:
        if len(outcome.skills) > 1:
            self._together.add(outcome.task_type)

    def contests(self, records: Sequence[TrackRecord]) -> tuple[Contest, ...]:
        """The contests among ``records``, where there are two or more to choose from."""
        groups: dict[tuple[str, str], list[TrackRecord]] = defaultdict(list)
        for record in records:
            if record.skill is not None:
                single = record.task_type not in self._together
                name = "" if single else skill_name(record.skill)
                groups[record.task_type, name].append(record)
        return tuple(
            _contest(task_type, members)
            for (task_type, _), members in sorted(groups.items())
            if len(members) > 1
        )


def skill_name(manifest_id: str) -> str:
    """The skill without its version."""
    return manifest_id.partition("@")[0]


def _contest(task_type: str, members: Sequence[TrackRecord]) -> Contest:
    known = {member.skill or "": member for member in members}
    rows = standings(sorted(known), {name: member.record for name, member in known.items()})
    top = known[rows[0].version]
    others = [known[row.version] for row in rows[1:]]
    comparisons = [compare(top.steady, other.steady) for other in others]
    raised = holm([comparison.p_value for comparison in comparisons])
    names = {skill_name(name) for name in known}
    return Contest(
        task_type=task_type,
        skill=names.pop() if len(names) == 1 else None,
        standings=rows,
        rivals=tuple(
            _rival(top, other, comparison, p_value < SIGNIFICANT)
            for other, comparison, p_value in zip(others, comparisons, raised, strict=True)
        ),
        records=tuple(members),
    )


def _rival(
    top: TrackRecord, other: TrackRecord, comparison: Comparison, is_significant: bool
) -> Rival:
    faster = None
    if top.duration_ms and other.duration_ms and is_non_inferior(other.steady, top.steady):
        median = top.duration_ms.p50
        p_value = mann_whitney(top.durations_ms, other.durations_ms)
        if p_value < SIGNIFICANT and other.duration_ms.p50 < FASTER * median:
            faster = sum(duration < median for duration in other.durations_ms)
    return Rival(
        skill=other.skill or "",
        comparison=comparison,
        is_worse=is_significant and comparison.verdict == "higher",
        faster=faster,
        timed=len(other.durations_ms),
    )
