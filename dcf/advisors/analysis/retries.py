"""What trying again is good for."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from dcf.advisors.analysis.track import RUNS
from dcf.evidence import Counts
from dcf.knowledge import Outcome


@dataclass(frozen=True, slots=True)
class Retries:
    """Of the ``outcomes`` of a state in the period, ``retried`` took more than one try: ``rescued``
    counts those that ended well, and those that did not. ``tries`` are all tries together."""

    workflow_name: str
    state: str
    outcomes: int
    rescued: Counts
    tries: int
    workflows: int
    runs: tuple[str, ...]
    first_at: int
    last_at: int

    @property
    def retried(self) -> int:
        return self.rescued.n


@dataclass(slots=True)
class _State:
    counts: Counter[str] = field(default_factory=Counter)
    workflows: set[str] = field(default_factory=set)
    runs: deque[str] = field(default_factory=lambda: deque(maxlen=RUNS))
    times: list[int] = field(default_factory=list)


class RetryCount:
    """Takes in the outcomes of the period."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, str], _State] = {}

    def add(self, outcome: Outcome) -> None:
        state = self._states.setdefault((outcome.workflow_name, outcome.state), _State())
        state.counts["outcomes"] += 1
        state.counts["tries"] += outcome.tries
        if outcome.tries < 2:
            return
        state.counts["rescued" if outcome.ok else "lost"] += 1
        state.workflows.add(outcome.run)
        if outcome.workflow_id not in state.runs:
            state.runs.append(outcome.workflow_id)
        times = [*state.times, outcome.ended_at]
        state.times = [min(times), max(times)]

    def retries(self) -> tuple[Retries, ...]:
        """The states in which anything was tried again, those with most retries first."""
        found = [
            Retries(
                workflow_name=workflow,
                state=name,
                outcomes=state.counts["outcomes"],
                rescued=Counts(state.counts["rescued"], state.counts["lost"]),
                tries=state.counts["tries"],
                workflows=len(state.workflows),
                runs=tuple(state.runs),
                first_at=state.times[0],
                last_at=state.times[1],
            )
            for (workflow, name), state in self._states.items()
            if state.times
        ]
        return tuple(sorted(found, key=lambda one: (-one.retried, one.workflow_name, one.state)))
