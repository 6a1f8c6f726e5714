"""Where the time of runs goes: states on the critical path."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dcf.advisors.analysis.track import RUNS
from dcf.knowledge import TASK_WORKFLOW, Outcome


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """A state's time on the critical paths of ``runs_counted`` runs of one workflow: ``path_ms`` in
    all, which is the ``share`` of what these runs took on the path, waits between tasks (of
    ``waiting_share``) included. In ``slowest_in`` runs no state took longer."""

    workflow_name: str
    state: str
    path_ms: int
    share: float
    slowest_in: int
    runs_counted: int
    waiting_share: float
    runs: tuple[str, ...]
    first_at: int
    last_at: int


@dataclass(slots=True)
class _Workflow:
    by_state: Counter[str] = field(default_factory=Counter)
    slowest: Counter[str] = field(default_factory=Counter)
    waited: int = 0
    runs: list[tuple[int, str]] = field(default_factory=list)


Visit = tuple[int, int, str]
"""Started, ended (ms), state."""


class Paths:
    """Takes in the outcomes of the period, in any order."""

    def __init__(self) -> None:
        self._visits: dict[tuple[str, str, str], list[Visit]] = defaultdict(list)

    def add(self, outcome: Outcome) -> None:
        """Of a delegated task nothing is taken in: it is one state, and no workflow's time."""
        if outcome.workflow_name.startswith(TASK_WORKFLOW):
            return
        visit = (outcome.started_at, max(outcome.started_at, outcome.ended_at), outcome.state)
        # An id may be used again: two runs of one would be one long one, with a long wait.
        run = outcome.workflow_name, outcome.run, outcome.workflow_id
        self._visits[run].append(visit)

    def bottlenecks(self) -> tuple[Bottleneck, ...]:
        """For each workflow the states by their time on the path, the longest first."""
        workflows: dict[str, _Workflow] = defaultdict(_Workflow)
        for (name, _, workflow_id), visits in self._visits.items():
            spent, waited = critical_path(visits)
            found = workflows[name]
            found.by_state.update(spent)
            found.slowest[min(spent, key=lambda state: (-spent[state], state))] += 1
            found.waited += waited
            found.runs.append((max(ended for _, ended, _ in visits), workflow_id))
        return tuple(one for name in sorted(workflows) for one in _ranked(name, workflows[name]))


def critical_path(visits: Sequence[Visit]) -> tuple[Mapping[str, int], int]:
    """The time by state on the path that decided when a run ended, and the time between: back from
    the visit that ended last, each time to the one that ended last before it began."""
    ordered = sorted(visits, key=lambda visit: (visit[1], visit[0], visit[2]))
    ends = [ended for _, ended, _ in ordered]
    spent: Counter[str] = Counter()
    waited = 0
    index = len(ordered) - 1
    while index >= 0:
        started, ended, state = ordered[index]
        spent[state] += ended - started
        # Only what comes before in the order: visits of no duration lead nowhere else.
        before = bisect_right(ends, started, hi=index) - 1
        if before >= 0:
            waited += started - ends[before]
        index = before
    return spent, waited


def _ranked(name: str, workflow: _Workflow) -> list[Bottleneck]:
    whole = sum(workflow.by_state.values()) + workflow.waited
    times = [at for at, _ in workflow.runs]
    newest = dict.fromkeys(run for _, run in sorted(workflow.runs, reverse=True))
    last = tuple(reversed(list(newest)[:RUNS]))
    return [
        Bottleneck(
            workflow_name=name,
            state=state,
            path_ms=spent,
            share=spent / whole if whole else 0.0,
            slowest_in=workflow.slowest[state],
            runs_counted=len(workflow.runs),
            waiting_share=workflow.waited / whole if whole else 0.0,
            runs=last,
            first_at=min(times),
            last_at=max(times),
        )
        for state, spent in sorted(workflow.by_state.items(), key=lambda one: (-one[1], one[0]))
    ]
