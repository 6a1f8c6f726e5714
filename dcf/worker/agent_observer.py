"""What agents leave to be known of what they do outside of runs: tools that failed again and again
or contradicted themselves, and calls that a person refused.

It is made without a model, of names of tools and errors. What was called for, what a tool said and
why somebody refused stands in the note, which no agent is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from control_plane import AgentDocument, AgentStore, CorruptHistory, read_agent_history
from dcf.memory import SYSTEM, Memory, NewObservation, Origin, OwnTurn, UnknownAgent
from dcf.memory.extraction import AGENT, trimmed
from dcf.worker.run_observer import MARGIN_MS
from dcf.workflow import plain_error

_BY = SYSTEM.because("observations of agents outside of runs")
_TURNS, _REFUSALS = "turn of an agent", "call that a person refused"
_AGAIN = 3
"""Failures in a row of which something is told."""
_PAGE = 100
_LOOKED_AT = 100
"""Turns in which a refused call is looked for."""


class AgentObserver:
    """Keeps the observations of the turns and approvals of the agents in ``memory`` that are not
    work for a run: each exactly once, however many processes look. ``records`` are those of their
    tool calls."""

    def __init__(self, records: AgentStore, memory: Memory) -> None:
        self._records = records
        self._memory = memory

    async def sweep(self) -> int:
        """Look at what happened since the last sweep, of whichever process; how much of it left
        something. Raises ControlPlaneError, MemoryProblem."""
        return await self._sweep_turns() + await self._sweep_refusals()

    async def _sweep_turns(self) -> int:
        now_ms, found = self._memory.ledger.clock(), 0
        since = await self._memory.observations.observed_until(_TURNS, now_ms)
        for turn in await self._memory.turns.own_since(since):
            new = observations_of_turn(turn)
            found += await self._keep(turn.agent_id, f"turn {turn.first}", *new)
        until = now_ms - MARGIN_MS
        await self._memory.observations.observe_until(_TURNS, until, now_ms, by=_BY)
        return found

    async def _sweep_refusals(self) -> int:
        now_ms, found, after = await self._records.now_ms(), 0, None
        since = await self._memory.observations.observed_until(_REFUSALS, now_ms)
        while True:
            page = await self._records.page(after=after, limit=_PAGE)
            for record in page.records:
                if record.updated_at >= since:
                    found += await self._refused(record, since)
            after = page.after
            if after is None:
                break
        until = now_ms - MARGIN_MS
        await self._memory.observations.observe_until(_REFUSALS, until, now_ms, by=_BY)
        return found

    async def _refused(self, record: AgentDocument, since: int) -> int:
        found = 0
        try:
            async for one in read_agent_history(self._records, record.agent_id):
                event = one.event
                # What nobody answered in time, nobody refused.
                if one.at < since or event.get("decision") != "reject" or not event.get("by"):
                    continue
                origin = await self._turn_at(record.agent_id, one.at)
                if origin is not None:
                    project = await self._memory.projects.of_agent(record.agent_id)
                    new = _refusal(event, origin, project.path if project else "", one.at)
                    found += await self._keep(record.agent_id, f"refused {event['id']}", new)
        except (CorruptHistory, UnknownAgent):
            # Nothing that can be believed; or the agent is gone.
            return found
        return found

    async def _turn_at(self, agent_id: str, at: int) -> Origin | None:
        """The turn that the agent was in, or had last, then. Raises UnknownAgent."""
        turns = await self._memory.turns.list(agent_id, limit=_LOOKED_AT)
        before = [turn for turn in turns if turn.created_at <= at] or turns[:1]
        return Origin(AGENT, agent_id, before[-1].first) if before else None

    async def _keep(self, agent_id: str, event: str, *new: NewObservation) -> bool:
        if not new:
            return False
        kept = await self._memory.observations.observe(Origin(AGENT, agent_id), event, *new, by=_BY)
        return bool(kept)


def observations_of_turn(turn: OwnTurn) -> tuple[NewObservation, ...]:
    """What the calls in a turn of an agent leave to be known; most leave nothing."""
    origin = Origin(AGENT, turn.agent_id, turn.first)
    found = [
        *_failures(turn, origin),
        *_contradictions(turn, origin),
    ]
    return tuple(trimmed(one) for one in found)


def _failures(turn: OwnTurn, origin: Origin) -> Iterator[NewObservation]:
    by_tool = {
        call.tool: [one for one in turn.calls if one.tool == call.tool] for call in turn.calls
    }
    for tool, calls in by_tool.items():
        rows = [list(some) for failed, some in groupby(calls, lambda one: one.is_error) if failed]
        row = next((one for one in rows if len(one) >= _AGAIN), None)
        if row is None:
            continue
        errors = dict.fromkeys(_code(one.content) for one in row)
        got_over = not calls[-1].is_error
        yield NewObservation(
            "bugfix" if got_over else "discovery",
            f"{tool} failed again and again{', and answered at last' if got_over else ''}",
            origin,
            project=turn.project,
            subtitle=f"In one turn of an agent it failed {_AGAIN} times in a row or more.",
            facts=tuple(f"It failed with {error}." for error in errors),
            concepts=("problem-solution",) if got_over else ("gotcha",),
            note="\n".join(_text(one.content) for one in row),
            at=turn.at,
        )


def _contradictions(turn: OwnTurn, origin: Origin) -> Iterator[NewObservation]:
    """The same call, twice in a row as far as other tools are concerned: what one of those did in
    between would explain another answer."""
    told = set[str]()
    for tool, some in groupby(turn.calls, lambda one: one.tool):
        answers: dict[str, str] = {}
        for call in some:
            if call.is_error:
                continue
            asked, answer = json.dumps(call.arguments, sort_keys=True), _text(call.content)
            before = answers.setdefault(asked, answer)
            if before != answer and tool not in told:
                told.add(tool)
                yield NewObservation(
                    "discovery",
                    f"{tool} answered the same call differently",
                    origin,
                    project=turn.project,
                    subtitle="An agent made the same call twice in one turn.",
                    concepts=("gotcha",),
                    note=f"{asked}\n{before}\n{answer}",
                    at=turn.at,
                )


def _refusal(event: dict[str, Any], origin: Origin, project: str, at: int) -> NewObservation:
    why = f": {event['reason']}" if event.get("reason") else ""
    return trimmed(
        NewObservation(
            "decision",
            f"A person refused an agent {event['tool']}",
            origin,
            project=project,
            subtitle="The call waited for an approval outside of runs, and was rejected.",
            concepts=("gotcha",),
            note=f"{event['by']}{why}",
            at=at,
        )
    )


def _code(content: Any) -> str:
    """The name of an error, as far as it may be told."""
    error = content.get("error") if isinstance(content, dict) else None
    return plain_error(str(error.get("code")) if isinstance(error, dict) else "")


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, sort_keys=True)
