"""How a session is, who does what, how long tasks wait, and which failures come together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dcf.advisors.strategist.activity import Activity, Task
from dcf.advisors.strategist.outcomes import counts_of, error_of
from dcf.evidence import Counts, Spread, fisher_exact, spread_of

State: TypeAlias = Literal["quiet", "working", "waiting", "stuck"]


@dataclass(frozen=True, slots=True)
class Health:
    """``state`` is quiet without open tasks, working while every open task is somebody's, waiting
    while some are nobody's, stuck if nobody is there to take them. ``tasks`` counts them by
    status, ``counts`` how they ended, with the Wilson interval; ``retried`` took more than one
    attempt. ``oldest_ms`` is how long the oldest queued task has waited; ``unable`` companions are
    lost or in error."""

    state: State
    tasks: Mapping[str, int]
    counts: Counts
    low: float
    high: float
    retried: int
    oldest_ms: int | None
    unable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Tasks by who had them and by type; ``waits_ms`` from delegation to start by priority, and of
    all (``all``)."""

    by_companion: Mapping[str, int]
    by_task_type: Mapping[str, int]
    waits_ms: Mapping[str, Spread]


@dataclass(frozen=True, slots=True)
class FailureCluster:
    """``n`` failures with one error, of tasks with one ``skill`` or of one ``companion_id`` (the
    other is None). ``elsewhere`` counts the same error among all other tasks; ``p_value`` is
    Fisher's, of one look: for ordering, not for alarms."""

    error: str
    skill: str | None
    companion_id: str | None
    n: int
    of: int
    elsewhere: int
    of_others: int
    p_value: float
    tasks: tuple[str, ...]


def health_of(activity: Activity) -> Health:
    """The session as a whole."""
    statuses = Counter(task.status for task in activity.tasks)
    queued = [task for task in activity.tasks if task.status == "queued"]
    able = any(one.can_work for one in activity.companions)
    state: State = "quiet"
    if queued:
        state = "waiting" if able else "stuck"
    elif statuses["assigned"]:
        state = "working"
    counts = counts_of(activity.outcomes)
    low, high = counts.interval()
    return Health(
        state=state,
        tasks=dict(sorted(statuses.items())),
        counts=counts,
        low=low,
        high=high,
        retried=sum(task.attempts > 1 for task in activity.tasks),
        oldest_ms=max((activity.now - task.delegated_at for task in queued), default=None),
        unable=tuple(sorted(one.companion_id for one in activity.companions if not one.can_work)),
    )


def distribution_of(activity: Activity) -> Distribution:
    """Who does what, and how long tasks wait."""
    holders = Counter(task.companion_id for task in activity.tasks if task.companion_id)
    waits: dict[str, list[int]] = defaultdict(list)
    for task in activity.tasks:
        if task.wait_ms is not None:
            waits["all"].append(task.wait_ms)
            waits[task.priority].append(task.wait_ms)
    return Distribution(
        by_companion=dict(sorted(holders.items())),
        by_task_type=dict(sorted(Counter(task.task_type for task in activity.tasks).items())),
        waits_ms={
            name: spread for name in sorted(waits) if (spread := spread_of(waits[name])) is not None
        },
    )


def clusters_of(activity: Activity) -> tuple[FailureCluster, ...]:
    """The largest first."""
    outcomes = activity.outcomes
    failed: dict[tuple[str, str | None, str | None], list[Task]] = defaultdict(list)
    sizes: Counter[tuple[str | None, str | None]] = Counter()
    errors: Counter[str] = Counter()
    for task in outcomes:
        sizes[None, task.companion_id] += 1
        for skill in dict.fromkeys(task.skills):
            sizes[skill, None] += 1
        if task.ok:
            continue
        error = error_of(task)
        errors[error] += 1
        failed[error, None, task.companion_id].append(task)
        for skill in dict.fromkeys(task.skills):
            failed[error, skill, None].append(task)
    found = []
    for (error, of_skill, companion), tasks in failed.items():
        n, of = len(tasks), sizes[of_skill, companion]
        elsewhere, of_others = errors[error] - n, len(outcomes) - of
        chance = fisher_exact((n, of - n), (elsewhere, of_others - elsewhere))
        ids = tuple(task.task_id for task in tasks[-10:])
        found.append(
            FailureCluster(error, of_skill, companion, n, of, elsewhere, of_others, chance, ids)
        )
    return tuple(
        sorted(found, key=lambda one: (-one.n, one.error, one.skill or "", one.companion_id or ""))
    )
