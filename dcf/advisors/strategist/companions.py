"""How companions do, and what each of them is good at."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from dcf.advisors.strategist.activity import GENERALIST, Activity, Task
from dcf.advisors.strategist.companion_track import CompanionTrack, track_of
from dcf.advisors.strategist.finding import Finding, Kind, last_tasks, share_text
from dcf.advisors.strategist.match import Match, match
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
from dcf.advisors.strategist.skills import LEAD
from dcf.advisors.strategist.wager import known_before, share_above
from dcf.evidence import (
    NOTHING,
    Beta,
    Counts,
    Record,
    difference_interval,
    probability_greater,
    standings,
)


@dataclass(frozen=True, slots=True)
class _Contest:
    """Who may do the tasks of a type: companions of one specialization, or specializations;
    ``best`` is for each the probability that no other is better."""

    task_type: str
    members: Mapping[str, tuple[Task, ...]]
    before: Mapping[str, Record]
    records: Mapping[str, Record]
    best: Mapping[str, float]
    kind: Kind
    called: str


class Companions:
    """Reads the outcomes of a session once."""

    def __init__(self, activity: Activity, rules: StrategistRules) -> None:
        self._rules = rules
        self._activity = activity
        self._specialization = activity.specializations
        self._history = {
            (one.task_type, one.specialization): one.record for one in activity.companion_history
        }
        self._by_type: dict[str, list[Task]] = defaultdict(list)
        for task in activity.outcomes:
            self._by_type[task.task_type].append(task)

    def tracks(self) -> tuple[CompanionTrack, ...]:
        """Every companion at every type of task that it did, by name."""
        return tuple(
            track_of(task_type, companion, self._specialization.get(companion, GENERALIST), tasks)
            for task_type, tasks in sorted(self._by_type.items())
            for companion in sorted({_companion(task) for task in tasks})
        )

    def findings(self) -> Iterator[Finding]:
        """Who suits which type of task, and who fails too often."""
        for contest in self._contests():
            for name in contest.members:
                yield from self._fit(contest, name)
        for companion, tasks in _grouped(self._activity.outcomes, _companion).items():
            yield self._failing(companion, tasks)

    def _contests(self) -> Iterator[_Contest]:
        for task_type, tasks in sorted(self._by_type.items()):
            kinds = _grouped(tasks, self._kind_of)
            if len(kinds) > 1:
                before = {name: self._history.get((task_type, name), NOTHING) for name in kinds}
                yield _contest(task_type, kinds, before, "prefer_specialization", "specialization")
            for members in kinds.values():
                companions = _grouped(members, _companion)
                if len(companions) > 1:
                    # What was before the session was other companions.
                    yield _contest(
                        task_type, companions, {}, "specialize_companion", "companion_id"
                    )

    def _kind_of(self, task: Task) -> str:
        return task.specialization or self._specialization.get(_companion(task), GENERALIST)

    def _fit(self, contest: _Contest, name: str) -> Iterator[Finding]:
        """Is ``name`` better at these tasks than the others, and is it quicker?"""
        own = contest.members[name]
        others = in_order(
            task for rival, tasks in contest.members.items() if rival != name for task in tasks
        )
        held = match(own, others, len(contest.members) - 1, _skills)
        yield self._better(contest, name, own, held)
        yield self._quicker(contest, name, own, held)

    def _better(self, contest: _Contest, name: str, own: Sequence[Task], held: Match) -> Finding:
        rules = self._rules.companions
        before = (
            _counted(contest, [name]),
            _counted(contest, [m for m in contest.members if m != name]),
        )
        first, second = held.first + before[0], held.second + before[1]
        delta = difference(first, second)
        low, high = difference_interval((first.successes, first.n), (second.successes, second.n))
        everything = counts_of(own) + before[0]
        apt = 1 - Beta(1 + everything.successes, 1 + everything.failures).cdf(rules.affinity)
        is_apt = apt > self._rules.confidence
        return Finding(
            family="companions",
            kind=contest.kind,
            subject={"task_type": contest.task_type, contest.called: name},
            value=name if contest.kind == "prefer_specialization" else contest.task_type,
            text=(
                f"{name} suits {contest.task_type}: {share_text(first.successes, first.n)} "
                f"succeeded, of others {share_text(second.successes, second.n)}"
            ),
            observations=min(first.n, second.n),
            evidence=held.more * known_before(*before),
            is_large=max(contest.best, key=contest.best.__getitem__) == name
            and lead(name, contest.records) >= rules.success_delta * LEAD
            and (delta > rules.success_delta or is_apt),
            confidence=contest.best[name],
            measures={
                "rate": first.rate or 0.0,
                "other_rate": second.rate or 0.0,
                "difference": delta,
                "affinity": everything.rate or 0.0,
                "matched": held.first.n,
                "before": before[0].n,
            },
            low=low,
            high=high,
            tasks=last_tasks(own),
        )

    def _quicker(
        self,
        contest: _Contest,
        name: str,
        own: Sequence[Task],
        held: Match,
    ) -> Finding:
        rules = self._rules.companions
        quickest = min(
            contest.members, key=lambda one: _median(contest.members[one]) or float("inf")
        )
        # Quick is no use where it fails: that it does not must show.
        low, high = held.interval
        is_large = (
            held.speed is not None
            and held.speed <= 1 - rules.speed_gain
            and low > -rules.speed_margin
            and quickest == name
        )
        return Finding(
            family="companions",
            kind=contest.kind,
            subject={"task_type": contest.task_type, contest.called: name, "goal": "speed"},
            value=name if contest.kind == "prefer_specialization" else contest.task_type,
            text=(
                f"{name} is quicker at {contest.task_type}: {share_text(held.faster, held.timed)} "
                f"of its successes took less than the median of others, its own is "
                f"{held.speed or 0:.0%} of theirs"
            ),
            observations=held.timed,
            evidence=held.quicker,
            is_large=is_large,
            confidence=1 - Beta(1 + held.faster, 1 + held.timed - held.faster).cdf(0.5),
            measures={"speed": held.speed or 0.0, "matched": held.timed},
            low=low,
            high=high,
            tasks=last_tasks(own),
        )

    def _failing(self, companion: str, tasks: Sequence[Task]) -> Finding:
        """Does it fail too often, and more often than others at the same?"""
        limit = self._rules.companions.failure
        counts = counts_of(tasks)
        others = [task for task in self._activity.outcomes if task.companion_id != companion]
        rivals = len({task.companion_id for task in others})
        held = match(tasks, others, max(1, rivals), lambda task: (task.task_type, task.skills))
        errors = Counter(error_of(task) for task in tasks if not task.ok)
        low, high = Counts(counts.failures, counts.successes).interval()
        too_often = 1 - Beta(1 + counts.failures, 1 + counts.successes).cdf(limit)
        first, second = (
            Beta(1 + one.successes, 1 + one.failures) for one in (held.first, held.second)
        )
        worse = probability_greater(second, first)
        return Finding(
            family="failures",
            kind="failing_companion",
            subject={"companion_id": companion},
            value=None,
            text=(
                f"{companion} fails: {share_text(counts.failures, counts.n)} tasks, of others at "
                f"the same {share_text(held.second.failures, held.second.n)}{often(errors)}"
            ),
            observations=counts.n,
            # Both must be true, so both must be shown: the weaker evidence counts.
            evidence=min(
                share_above(counts.failures, counts.successes, limit),
                held.less,
            ),
            is_large=counts.failures > limit * counts.n and held.difference < 0,
            confidence=min(too_often, worse),
            measures={
                "failure_rate": counts.failures / counts.n,
                "limit": limit,
                "difference": -held.difference,
                "matched": held.first.n,
            },
            low=low,
            high=high,
            tasks=last_tasks([task for task in tasks if not task.ok]),
        )


def _grouped(tasks: Sequence[Task], key: Callable[[Task], str]) -> dict[str, tuple[Task, ...]]:
    groups: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        groups[key(task)].append(task)
    return {name: tuple(groups[name]) for name in sorted(groups)}


def _companion(task: Task) -> str:
    return task.companion_id or ""


def _skills(task: Task) -> tuple[str, ...]:
    return task.skills


def _counted(contest: _Contest, names: Sequence[str]) -> Counts:
    records = (contest.before.get(name, NOTHING) for name in names)
    return sum((counts_before(record) for record in records), Counts())


def _contest(
    task_type: str,
    members: Mapping[str, tuple[Task, ...]],
    before: Mapping[str, Record],
    kind: Kind,
    called: str,
) -> _Contest:
    records = {}
    for name, tasks in members.items():
        earlier, counts = before.get(name, NOTHING), counts_of(tasks)
        records[name] = Record(
            earlier.successes + counts.successes,
            earlier.failures + counts.failures,
            earlier.n + counts.n,
        )
    best = {row.version: row.best for row in standings(list(records), records)}
    return _Contest(task_type, members, before, records, best, kind, called)


def _median(tasks: Sequence[Task]) -> float | None:
    times = [task.work_ms for task in tasks if task.ok]
    return median(times) if times else None
