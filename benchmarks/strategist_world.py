"""Sessions whose truth is known: tasks arrive, companions and skills differ, or nothing does.

Tasks arrive by chance at a constant rate (a Poisson process, or several at once), of one of the
task types, with one of its skills, both by lot. They wait in one queue; a companion that is idle
takes the oldest, by lot where several are. The work takes a log-normal time. It succeeds with the
rate of the skill times the factor of the companion at that type of task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import exp
from random import Random

from dcf.advisors.strategist import Activity, Companion, Task

START = 1_790_000_000_000
MINUTE_MS = 60_000
WORK_MS = 60_000
SPREAD = 0.5
"""Standard deviation of the logarithm of the time that a task takes."""
TASK_TYPES = ("refund", "shipment", "complaint")
ERRORS = ("Bank.Refused", "States.Timeout", "Shop.NotFound")
EVERY = 4
"""Tasks that end between two analyses."""

Choose = Callable[[str, Sequence[str], Random], str]


@dataclass(frozen=True, slots=True)
class Truth:
    """``skills[task_type][skill]`` are success rates, ``fit[task_type][companion]`` factors of
    them, ``pace`` factors of time. ``load`` is the work as a share of what the companions can do;
    ``burst`` tasks arrive at once. ``tiers[skill]`` are the tier that is predicted, ``escalations``
    how often it is too low, ``costs`` the usual cost. ``quiet_at`` is after which task nothing
    comes for half an hour."""

    skills: Mapping[str, Mapping[str, float]]
    fit: Mapping[str, Mapping[str, float]]
    specializations: Mapping[str, str]
    pace: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    load: float = 0.6
    burst: int = 1
    tiers: Mapping[str, int] = field(default_factory=dict)
    escalations: Mapping[str, float] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)

    @property
    def companions(self) -> tuple[str, ...]:
        return tuple(self.specializations)


@dataclass(frozen=True, slots=True)
class Session:
    """All tasks of a session, as they stand when all is done."""

    seed: int
    companions: tuple[Companion, ...]
    tasks: tuple[Task, ...]

    def at(self, now: int) -> Activity:
        """The session as it stood then (ms)."""
        tasks = tuple(_then(task, now) for task in self.tasks if task.delegated_at <= now)
        busy = {task.companion_id for task in tasks if task.status == "assigned"}
        freed: dict[str, int] = {}
        for task in tasks:
            if task.finished_at is not None and task.companion_id is not None:
                freed[task.companion_id] = max(freed.get(task.companion_id, 0), task.finished_at)
        companions = tuple(
            replace(
                one,
                status="busy" if one.companion_id in busy else "idle",
                idle_since=None
                if one.companion_id in busy
                else freed.get(one.companion_id, one.created_at),
            )
            for one in self.companions
        )
        return Activity(f"session-{self.seed}", now, tasks, companions, "conductor-1")

    def analyses(self, every: int = EVERY) -> Iterator[Activity]:
        """The session after every few tasks that end."""
        ends = sorted(task.finished_at for task in self.tasks if task.finished_at is not None)
        for number in range(every, len(ends) + 1, every):
            yield self.at(ends[number - 1])


def session_of(truth: Truth, seed: int, tasks: int, choose: Choose | None = None) -> Session:
    """The session of ``seed`` with so many tasks; ``choose`` takes a skill, without it the lot."""
    random = Random(f"session {seed}")
    pick = choose or (lambda _, names, lot: lot.choice(names))
    rate = truth.load * len(truth.companions) / (WORK_MS * exp(SPREAD**2 / 2))
    at, arrivals = float(START), []
    while len(arrivals) < tasks:
        at += random.expovariate(rate / truth.burst)
        arrivals += [round(at)] * min(truth.burst, tasks - len(arrivals))
    idle = dict.fromkeys(truth.companions, START)
    ending: list[tuple[int, str]] = []
    done: list[Task] = []
    for number, arrived in enumerate(arrivals):
        while ending and (ending[0][0] <= arrived or not idle):
            end, name = heappop(ending)
            idle[name] = end
        name = random.choice(sorted(idle))
        begun = max(arrived, idle.pop(name))
        task = _task(truth, random, pick, number, arrived, begun, name)
        heappush(ending, (task.finished_at or 0, name))
        done.append(task)
    companions = tuple(
        Companion(name, name, START, specialization=kind)
        for name, kind in truth.specializations.items()
    )
    return Session(seed, companions, tuple(done))


def _task(
    truth: Truth, random: Random, pick: Choose, number: int, arrived: int, begun: int, name: str
) -> Task:
    task_type = random.choice(TASK_TYPES)
    skill = pick(task_type, sorted(truth.skills[task_type]), random)
    pace = truth.pace.get(task_type, {}).get(name, 1.0)
    took = WORK_MS * pace * random.lognormvariate(0, SPREAD)
    ok = random.random() < truth.skills[task_type][skill] * truth.fit[task_type][name]
    tier = truth.tiers.get(skill)
    return Task(
        task_id=f"task-{number}",
        task_type=task_type,
        status="succeeded" if ok else "failed",
        delegated_at=arrived,
        skills=(skill,),
        companion_id=name,
        specialization=truth.specializations[name],
        assigned_at=begun,
        started_at=begun,
        finished_at=begun + round(took),
        error_code=None if ok else random.choice(ERRORS),
        tier=tier,
        escalated=random.random() < truth.escalations.get(skill, 0.0),
        cost=truth.costs[skill] * random.lognormvariate(0, SPREAD)
        if skill in truth.costs
        else None,
        fcs=None if tier is None else 10.0 + 12 * tier,
    )


def _then(task: Task, now: int) -> Task:
    if task.finished_at is not None and task.finished_at <= now:
        return task
    blank = replace(task, finished_at=None, error_code=None, escalated=False, cost=None)
    if task.started_at is not None and task.started_at <= now:
        return replace(blank, status="assigned")
    return replace(
        blank,
        status="queued",
        companion_id=None,
        specialization=None,
        assigned_at=None,
        started_at=None,
    )
