"""A run as the graph tells it: its ends, its states in order, and what is known besides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcf.knowledge.asking.errors import UnknownThing
from dcf.knowledge.asking.looking import look_fast
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.outcome import Outcome, RunFact
from dcf.knowledge.rows import OUTCOME_COLUMNS, RUN_COLUMNS, outcome_of, run_fact_of

_WHAT = "a run"


@dataclass(frozen=True, slots=True)
class Account:
    """``ends`` of the run, the last one holds; none while only states were told. ``outcomes`` in
    the order in which they ended."""

    workflow_id: str
    ends: tuple[RunFact, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def end(self) -> RunFact | None:
        return self.ends[-1] if self.ends else None

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The outcomes that failed, the last visit of each path alone."""
        last = {outcome.path: outcome for outcome in self.outcomes}
        return tuple(outcome for outcome in last.values() if not outcome.ok)

    def to_json(self) -> dict[str, Any]:
        return {
            "run": self.workflow_id,
            "ends": [end.to_json() for end in self.ends],
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
        }


async def account_of(graph: GraphConnection, workflow_id: str) -> Account:
    """The run with this id; of several that had it, the last. Raises UnknownThing, GraphAway,
    GraphRefused."""
    found = await look_fast(
        graph,
        _WHAT,
        f"MATCH (e:WorkflowRun {{workflow_id: $id}}) RETURN {', '.join(RUN_COLUMNS)}",
        id=workflow_id,
    )
    told = [end for end in map(run_fact_of, found) if end is not None]
    ends = sorted(told, key=lambda end: (end.started_at, end.redrives))
    rows = await look_fast(
        graph,
        _WHAT,
        f"MATCH (e:StateOutcome {{workflow_id: $id}}) RETURN {', '.join(OUTCOME_COLUMNS)}",
        id=workflow_id,
    )
    finished = [one for one in map(outcome_of, rows) if one is not None]
    outcomes = sorted(finished, key=lambda one: (one.ended_at, one.path, one.visit))
    if not ends and not outcomes:
        raise UnknownThing(
            kind="run", name=workflow_id,
            hint="runs are told when they end; `dcf runs` lists those of the control plane",
        )  # fmt: skip
    last = ends[-1].run if ends else outcomes[-1].run
    return Account(
        workflow_id,
        tuple(end for end in ends if end.run == last),
        tuple(outcome for outcome in outcomes if outcome.run == last),
    )
