"""Failures of one kind, together."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from dcf.advisors.analysis.cause import pattern_of
from dcf.advisors.analysis.track import RUNS
from dcf.knowledge import Outcome

MOST_KINDS = 2_000
"""Of more kinds of causes only the error names are kept apart: causes written by models may never
be twice the same, and memory has its limit."""
_CAUSES = 20


@dataclass(frozen=True, slots=True)
class FailureCluster:
    """``n`` failures with the same ``error`` and the same ``pattern`` of causes; ``cause`` is the
    most frequent of them as it was written. Task types, states (``workflow/state``) and skills are
    the most frequent first."""

    error: str
    pattern: str
    cause: str
    n: int
    workflows: int
    runs: tuple[str, ...]
    task_types: tuple[str, ...]
    states: tuple[str, ...]
    skills: tuple[str, ...]
    first_at: int
    last_at: int


@dataclass(slots=True)
class _Cluster:
    first_at: int
    last_at: int
    n: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    workflows: set[str] = field(default_factory=set)
    runs: deque[str] = field(default_factory=lambda: deque(maxlen=RUNS))
    task_types: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    skills: Counter[str] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        self.n += 1
        self.first_at = min(self.first_at, outcome.ended_at)
        self.last_at = max(self.last_at, outcome.ended_at)
        cause = outcome.cause or ""
        if cause in self.causes or len(self.causes) < _CAUSES:
            self.causes[cause] += 1
        self.workflows.add(outcome.run)
        if outcome.workflow_id not in self.runs:
            self.runs.append(outcome.workflow_id)
        self.task_types[outcome.task_type] += 1
        self.states[f"{outcome.workflow_name}/{outcome.state}"] += 1
        self.skills.update(outcome.skills)


class Failures:
    """Takes in the outcomes of the period."""

    def __init__(self) -> None:
        self._clusters: dict[tuple[str, str], _Cluster] = {}

    def add(self, outcome: Outcome) -> None:
        if outcome.ok:
            return
        error = outcome.error or "States.TaskFailed"
        key = error, pattern_of(outcome.cause or "")
        if key not in self._clusters and len(self._clusters) >= MOST_KINDS:
            key = error, "…"
        cluster = self._clusters.get(key)
        if cluster is None:
            cluster = self._clusters[key] = _Cluster(outcome.ended_at, outcome.ended_at)
        cluster.add(outcome)

    def clusters(self) -> tuple[FailureCluster, ...]:
        """The largest first."""
        found = [
            FailureCluster(
                error=error,
                pattern=pattern,
                cause=_most(cluster.causes)[0],
                n=cluster.n,
                workflows=len(cluster.workflows),
                runs=tuple(cluster.runs),
                task_types=_most(cluster.task_types),
                states=_most(cluster.states),
                skills=_most(cluster.skills),
                first_at=cluster.first_at,
                last_at=cluster.last_at,
            )
            for (error, pattern), cluster in self._clusters.items()
        ]
        return tuple(sorted(found, key=lambda one: (-one.n, one.error, one.pattern)))


def _most(counts: Counter[str]) -> tuple[str, ...]:
    """The most frequent first, and among equals by name, so that the answer is always the same."""
    return tuple(sorted(counts, key=lambda name: (-counts[name], name)))
