"""How skills do at each type of task, and which of them is the best."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dcf.advisors.analysis import skill_name
from dcf.advisors.strategist.activity import Activity, Task
from dcf.advisors.strategist.finding import Finding, last_tasks, share_text
from dcf.advisors.strategist.match import match
from dcf.advisors.strategist.outcomes import (
    counts_before,
    counts_of,
    difference,
    error_of,
    in_order,
    lead,
    often,
)
from dcf.advisors.strategist.rules import StrategistRules
from dcf.advisors.strategist.wager import known_before, share_above
from dcf.evidence import (
    NOTHING,
    Beta,
    Counts,
    Record,
    Spread,
    Standing,
    difference_interval,
    spread_of,
    standings,
)

LEAD = 0.5
"""Where one of several fails, all others are better than the rest. So much of what is asked of one
against the others together is asked of it against each of them."""


@dataclass(frozen=True, slots=True)
class SkillTrack:
    """A skill version (a manifest id) at a type of task, in this session: how often it succeeded,
    with the Wilson interval, how long its successes took, what its tasks cost and which errors
    there were. With what was known before, ``expected`` is its success rate, and ``best`` the
    probability that none of its rivals is better; None where it has none."""

    task_type: str
    skill: str
    counts: Counts
    low: float
    high: float
    work_ms: Spread | None
    cost: Spread | None
    errors: Mapping[str, int]
    expected: float
    best: float | None


@dataclass(frozen=True, slots=True)
class _Rivals:
    """Skills that do the same work, with the tasks of each."""

    task_type: str
    members: Mapping[str, tuple[Task, ...]]
    standings: tuple[Standing, ...]


class Skills:
    """Reads the outcomes of a session once."""

    def __init__(self, activity: Activity, rules: StrategistRules) -> None:
        self._rules = rules
        self._history = {(one.task_type, one.skill): one.record for one in activity.skill_history}
        tracks: dict[tuple[str, str], list[Task]] = defaultdict(list)
        self._together: set[str] = set()
        for task in activity.outcomes:
            if len(set(task.skills)) > 1:
                self._together.add(task.task_type)
            for skill in dict.fromkeys(task.skills):
                tracks[task.task_type, skill].append(task)
        self._tracks = {key: tuple(tasks) for key, tasks in sorted(tracks.items())}
        self._rivals = tuple(self._groups())

    def tracks(self) -> tuple[SkillTrack, ...]:
        """Every skill at every type of task, by name."""
        best = {
            (group.task_type, row.version): row for group in self._rivals for row in group.standings
        }
        return tuple(
            self._track(task_type, skill, tasks, best.get((task_type, skill)))
            for (task_type, skill), tasks in self._tracks.items()
        )

    def findings(self) -> Iterator[Finding]:
        """Which skill to prefer where there is a choice, and which fails too often."""
        for group in self._rivals:
            for skill in group.members:
                yield self._preference(group, skill)
        for (task_type, skill), tasks in self._tracks.items():
            yield self._failing(task_type, skill, tasks)

    def _groups(self) -> Iterator[_Rivals]:
        """Versions of one skill are rivals; different skills where each task has a single one."""
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        known = dict.fromkeys([*self._tracks, *sorted(self._history)])
        for task_type, skill in known:
            is_single = task_type not in self._together
            groups[task_type, "" if is_single else skill_name(skill)].append(skill)
        for (task_type, _), names in groups.items():
            members = {name: self._tracks.get((task_type, name), ()) for name in sorted(names)}
            if len(members) < 2 or not any(members.values()):
                continue
            records = {name: self._record(task_type, name) for name in members}
            yield _Rivals(task_type, members, standings(list(members), records))

    def _record(self, task_type: str, skill: str) -> Record:
        """What was known before, and what the session adds."""
        before = self._history.get((task_type, skill), NOTHING)
        counts = counts_of(self._tracks.get((task_type, skill), ()))
        return Record(
            before.successes + counts.successes,
            before.failures + counts.failures,
            before.n + counts.n,
        )

    def _track(
        self, task_type: str, skill: str, tasks: Sequence[Task], row: Standing | None
    ) -> SkillTrack:
        counts = counts_of(tasks)
        low, high = counts.interval()
        return SkillTrack(
            task_type=task_type,
            skill=skill,
            counts=counts,
            low=low,
            high=high,
            work_ms=spread_of(task.work_ms for task in tasks if task.ok),
            cost=spread_of(task.cost for task in tasks if task.cost is not None),
            errors=dict(Counter(error_of(task) for task in tasks if not task.ok)),
            expected=row.expected if row else self._record(task_type, skill).posterior.mean,
            best=row.best if row else None,
        )

    def _preference(self, group: _Rivals, skill: str) -> Finding:
        """Is ``skill`` better than its rivals together? The one with the highest expected success
        is the one to prefer; which one that is, and how surely, all outcomes say."""
        own = group.members[skill]
        rivals = [name for name in group.members if name != skill]
        others = in_order(task for name in rivals for task in group.members[name])
        # Who did the task matters too: outcomes of one companion are held against each other.
        held = match(own, others, len(rivals), lambda task: task.companion_id)
        before = self._before(group.task_type, [skill]), self._before(group.task_type, rivals)
        first, second = held.first + before[0], held.second + before[1]
        gain = difference(first, second)
        needed = self._rules.skills.gain if _is_version(skill, rivals) else 0.0
        ahead = lead(skill, {row.version: row.record for row in group.standings})
        low, high = difference_interval((first.successes, first.n), (second.successes, second.n))
        return Finding(
            family="skills",
            kind="prefer_skill",
            subject={"task_type": group.task_type, "skill": skill},
            value=skill,
            text=(
                f"prefer {skill} for {group.task_type}: {share_text(first.successes, first.n)} "
                f"succeeded, with others {share_text(second.successes, second.n)}"
            ),
            observations=min(first.n, second.n),
            evidence=held.more * known_before(*before),
            is_large=group.standings[0].version == skill
            and gain > needed
            and ahead >= needed * LEAD,
            confidence=next(row.best for row in group.standings if row.version == skill),
            measures={
                "rate": first.rate or 0.0,
                "other_rate": second.rate or 0.0,
                "difference": gain,
                "matched": held.first.n,
                "before": before[0].n,
            },
            low=low,
            high=high,
            tasks=last_tasks(own),
        )

    def _before(self, task_type: str, skills: Sequence[str]) -> Counts:
        records = (self._history.get((task_type, skill), NOTHING) for skill in skills)
        return sum((counts_before(record) for record in records), Counts())

    def _failing(self, task_type: str, skill: str, tasks: Sequence[Task]) -> Finding:
        counts = counts_of(tasks)
        limit = self._rules.skills.failure
        errors = Counter(error_of(task) for task in tasks if not task.ok)
        low, high = Counts(counts.failures, counts.successes).interval()
        return Finding(
            family="failures",
            kind="failing_skill",
            subject={"task_type": task_type, "skill": skill},
            value=None,
            text=(
                f"{skill} fails at {task_type}: {share_text(counts.failures, counts.n)}"
                f"{often(errors)}"
            ),
            observations=counts.n,
            evidence=share_above(counts.failures, counts.successes, limit),
            is_large=counts.failures > limit * counts.n,
            confidence=1 - Beta(1 + counts.failures, 1 + counts.successes).cdf(limit),
            measures={"failure_rate": counts.failures / counts.n, "limit": limit},
            low=low,
            high=high,
            tasks=last_tasks([task for task in tasks if not task.ok]),
        )


def _is_version(skill: str, rivals: Sequence[str]) -> bool:
    """Whether the choice is among versions of one skill."""
    return all(skill_name(rival) == skill_name(skill) for rival in rivals)
