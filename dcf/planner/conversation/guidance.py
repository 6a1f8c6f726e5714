"""What earlier runs taught, as a planner reads it: guidelines, measures, runs like this one."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Protocol

from control_plane import ControlPlaneError
from dcf.evidence import Record
from dcf.guidelines import Guidelines, item_json
from dcf.knowledge import KnowledgeError, RunFact

MOST_RUNS = 500
"""The newest that are summed up."""
DAYS_90_MS = 90 * 86_400_000


class History(Protocol):
    """What is known of earlier runs; ``dcf.knowledge.Knowledge`` is one."""

    def runs(
        self, *, workflow: str | None = None, since: int | None = None
    ) -> AsyncIterator[RunFact]:
        """Ends of runs of the workflow of this name, since a time (ms), in their order."""
        ...

    async def records(
        self, task_type: str, since: int | None = None, *, now: int
    ) -> Mapping[str, Record]:
        """What was measured of each manifest id for tasks of this kind."""
        ...


OpenHistory = Callable[[], AbstractAsyncContextManager[History]]
ReadGuidelines = Callable[[], Awaitable[tuple[Guidelines, str]]]
"""The guidelines that count, and where they are from, or why there are none."""


@dataclass(slots=True)
class Guidance:
    """``measured`` grows as kinds of tasks are asked for: ``records`` answers with what is known
    and keeps in ``missing`` what has to be read first. ``notes`` say what was not there. With a
    ``seed`` versions are explored: the same seed and measures choose the same."""

    guidelines: Guidelines = field(default_factory=Guidelines)
    source: str = ""
    measured: dict[str, Mapping[str, Record]] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    seed: str | None = None

    def records(self, task_type: str) -> Mapping[str, Record]:
        """What a compiler asks of its market."""
        if task_type not in self.measured:
            self.missing.add(task_type)
        return self.measured.get(task_type, {})

    def to_json(self) -> dict[str, Any]:
        """``{revision, source, items, measured, explores, notes}``."""
        lists = ("skill_recommendations", "workflow_patterns", "user_intent_tips", "warnings")
        return {
            "revision": self.guidelines.revision,
            "source": self.source,
            "items": {
                name: [item_json(one) for one in getattr(self.guidelines, name)]
                for name in lists
                if getattr(self.guidelines, name)
            },
            "measured": {
                kind: {id_: {"n": one.n, "rate": one.rate} for id_, one in records.items()}
                for kind, records in self.measured.items()
                if records
            },
            "explores": self.seed is not None,
            "notes": list(self.notes),
        }


class Guide:
    """Asks for advice; none is not fatal, and always said. ``open_history`` is None where there is
    to be no graph."""

    def __init__(
        self,
        guidelines: ReadGuidelines,
        open_history: OpenHistory | None,
        *,
        clock: Callable[[], int],
    ) -> None:
        self._guidelines = guidelines
        self._open = open_history
        self._clock = clock

    async def consult(self, seed: str | None = None) -> Guidance:
        """The guidelines; measures come with ``learn``. ``seed`` is that of ``Guidance``."""
        guidelines, source = await self._guidelines()
        guidance = Guidance(guidelines, source, seed=seed)
        if self._open is None:
            guidance.notes.append("no graph is asked: nothing measured is used")
        return guidance

    async def learn(self, guidance: Guidance) -> bool:
        """Read what ``guidance`` misses; whether anything came."""
        kinds, guidance.missing = sorted(guidance.missing), set()
        guidance.measured.update({kind: {} for kind in kinds})
        if not kinds or self._open is None:
            return False
        try:
            async with self._open() as history:
                for kind in kinds:
                    guidance.measured[kind] = await history.records(kind, now=self._clock())
        except (KnowledgeError, ControlPlaneError) as away:
            self._away(guidance, away)
            return False
        return any(guidance.measured[kind] for kind in kinds)

    async def past(self, workflow: str, guidance: Guidance) -> dict[str, Any] | None:
        """What became of the runs of the workflow in the last 90 days: ``{runs, succeeded,
        median_duration_ms, mean_cost_usd, errors}``; None where nothing is known."""
        if self._open is None:
            return None
        found: deque[RunFact] = deque(maxlen=MOST_RUNS)
        try:
            async with self._open() as history:
                runs = history.runs(workflow=workflow, since=self._clock() - DAYS_90_MS)
                async for run in runs:
                    found.append(run)
        except (KnowledgeError, ControlPlaneError) as away:
            self._away(guidance, away)
            return None
        return _summary(found)

    def _away(self, guidance: Guidance, error: Exception) -> None:
        note = f"the graph is away, so nothing measured is used: {error}"
        if not any(one.startswith("the graph is away") for one in guidance.notes):
            guidance.notes.append(note)
        # Not asked again for this planning: each try may wait for its timeout.
        self._open = None


def no_guide(clock: Callable[[], int]) -> Guide:
    """One that knows nothing."""

    async def none() -> tuple[Guidelines, str]:
        return Guidelines(), "no guidelines are there"

    return Guide(none, None, clock=clock)


def history_of(history: History) -> OpenHistory:
    """An open one, as something to be opened."""
    return lambda: nullcontext(history)


def _summary(runs: Collection[RunFact]) -> dict[str, Any] | None:
    if not runs:
        return None
    errors: dict[str, int] = {}
    for run in runs:
        if run.error:
            errors[run.error] = errors.get(run.error, 0) + 1
    return {
        "runs": len(runs),
        "succeeded": sum(run.status == "succeeded" for run in runs),
        "median_duration_ms": round(median(run.duration_ms for run in runs)),
        "mean_cost_usd": sum(run.cost_usd for run in runs) / len(runs),
        "errors": dict(sorted(errors.items(), key=lambda one: (-one[1], one[0]))[:5]),
    }
