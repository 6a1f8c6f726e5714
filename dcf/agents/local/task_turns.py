"""Tasks as turns of agents: begun, kept and ended in the memory, whatever does the work."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from dcf.agents.assignment import JSON, Assignment
from dcf.agents.briefing import task_prompt
from dcf.agents.local.keepable import keepable
from dcf.agents.local.kept_turn import text_of
from dcf.agents.local.overflow import CONTEXT_OVERFLOW
from dcf.agents.local.turn_lease import INTERRUPTED, LONGEST_S, begin_in_turn, kept
from dcf.agents.report import Report
from dcf.agents.task_error import TaskError
from dcf.memory import Actor, ContextTooSmall, MemoryProblem, NewMessage, TurnLost, Usage
from dcf.stopping import finish

if TYPE_CHECKING:
    from dcf.agents.performer import Observer, ToolCaller
    from dcf.agents.turn_event import TurnEvent
    from dcf.memory import Agent, Memory, TurnFence, TurnRecord
    from dcf.skills import SkillTool
    from dcf.tools import ToolResult


class TaskTurns:
    """Turns in which agents of ``memory`` do tasks. ``lease_s`` is how long a turn stays with a
    process that has gone away."""

    def __init__(self, memory: Memory, *, lease_s: float = LONGEST_S) -> None:
        self._memory = memory
        self._lease_s = lease_s

    async def perform(
        self,
        agent: Agent,
        assignment: Assignment,
        call_tool: ToolCaller,
        observe: Observer,
        work: Callable[[Assignment, ToolCaller, Observer], Awaitable[Report]],
    ) -> Report:
        """Have the agent do a task: ``work`` is given what it knows, the memory what came of it.
        Raises TurnFenced and TurnLost where another holder of the task has the agent: then nothing
        of this turn counts."""
        # What is remembered elsewhere is not kept a second time.
        words, task_input = task_prompt(replace(assignment, observed="", found=""))
        question = NewMessage(
            "user",
            keepable(f"{words}\n\n{task_input}"),
            correlation_id=self._memory.ledger.new_id("correlation"),
        )
        by = Actor("agent", agent.id, f"task {assignment.state}")
        turn = await begin_in_turn(
            self._memory,
            agent.id,
            question,
            by=by,
            lease_s=self._lease_s,
            fence=assignment.fence,
        )
        spent: dict[str, int | float | None] = {}
        shown = [assignment.observed, assignment.found]

        async def call(tool: SkillTool, arguments: dict[str, JSON]) -> ToolResult:
            result = await call_tool(tool, arguments)
            shown.append(text_of(result.data))
            return result

        def watch(event: TurnEvent) -> None:
            spent.update(event.metrics or {})
            observe(event)

        async with kept(self._memory, turn, lease_s=self._lease_s) as let_go:
            try:
                try:
                    known = await self._known(agent, assignment)
                    shown.append(known)
                    report = await work(replace(assignment, instructions=known), call, watch)
                finally:
                    let_go()
            except BaseException as error:
                await finish(self._failed(turn, error, by, _usage(spent)))
                raise
            try:
                return await self._told(turn, report, by, shown, assignment.fence)
            except TurnLost:
                raise
            except MemoryProblem as problem:
                await finish(self._failed(turn, problem, by, _usage(report.metrics)))
                raise

    async def _known(self, agent: Agent, assignment: Assignment) -> str:
        """What the agent goes by: its orders and blocks, and those of the task."""
        # A worker's own orders are those that every task is done under.
        system = "" if agent.role == "worker" else agent.system
        try:
            context = await self._memory.contexts.assemble(agent.id, system=system)
        except ContextTooSmall as problem:
            raise TaskError(CONTEXT_OVERFLOW, f"{problem}; {problem.hint}") from problem
        return "\n\n".join(part for part in (context.system, assignment.instructions) if part)

    async def _told(
        self,
        turn: TurnRecord,
        report: Report,
        by: Actor,
        shown: Sequence[str],
        fence: TurnFence | None,
    ) -> Report:
        said = json.dumps(keepable(report.data), ensure_ascii=False)
        text = f"{report.summary}\n\n{said}" if report.summary else said
        await self._memory.turns.answer(
            turn,
            NewMessage("assistant", keepable(text), correlation_id=turn.correlation_id),
            by=by,
            model=report.model,
            usage=_usage(report.metrics),
            shown=shown,
            part=fence.part if fence else "",
        )
        return report

    async def _failed(
        self, turn: TurnRecord, error: BaseException, by: Actor, usage: Usage
    ) -> None:
        """Nobody works on the turn any more. If that cannot be kept, it is over with its time."""
        failure = error if isinstance(error, TaskError) else None
        with suppress(MemoryProblem):
            await self._memory.turns.fail(
                turn,
                failure.error if failure else INTERRUPTED,
                failure.cause if failure else type(error).__name__,
                by=by,
                model="",
                usage=usage,
            )


def _usage(metrics: Mapping[str, int | float | None]) -> Usage:
    return Usage(
        requests=int(metrics.get("llm_calls") or 0),
        tool_calls=int(metrics.get("tool_calls") or 0),
        input_tokens=int(metrics.get("prompt_tokens") or 0),
        output_tokens=int(metrics.get("completion_tokens") or 0),
        cost_usd=metrics.get("estimated_cost_usd"),
        duration_ms=float(metrics.get("duration_ms") or 0),
    )
