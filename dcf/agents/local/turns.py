"""Taking turns: which model, begun and ended in the memory. Loads pydantic-ai."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from dcf.agents.assignment import Assignment
from dcf.agents.briefing import task_prompt
from dcf.agents.local.chat_rehearsal import chat_rehearsal
from dcf.agents.local.conversation import Conversation
from dcf.agents.local.keepable import keepable
from dcf.agents.local.kept_turn import reply_of
from dcf.agents.local.overflow import CONTEXT_OVERFLOW
from dcf.agents.local.setting import Setting
from dcf.agents.local.turn_lease import INTERRUPTED, begin_in_turn, kept
from dcf.agents.models import REHEARSAL, Models, Tally, named_model
from dcf.agents.report import Report
from dcf.agents.task_error import TaskError
from dcf.memory import (
    Actor,
    ContextTooSmall,
    MemoryProblem,
    NewMessage,
    TurnLost,
    UnknownLetter,
    Usage,
)

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from dcf.agents.models import Allowance
    from dcf.agents.performer import Observer
    from dcf.agents.reply import Receipt, Reply
    from dcf.agents.runtime import ToolUse
    from dcf.agents.turn_event import TurnEvent
    from dcf.agents.usage_limits import UsageLimits
    from dcf.memory import Agent, Letter, Letters, Memory, TurnRecord


LeaveAmong: TypeAlias = "Callable[[Letters, str, str, str, str], Awaitable[Receipt]]"
"""A Leave that puts its message among these letters."""


class Turns:
    """The turns of the agents of one memory. Arguments as in LocalAgents."""

    def __init__(
        self,
        memory: Memory,
        *,
        model: Model | str | None,
        models: Models,
        environment: Mapping[str, str],
        allowance_of: Callable[[Agent], Allowance] | None,
        leave: LeaveAmong,
        limits: UsageLimits,
        clock: Callable[[], float],
        by_model: bool,
        lease_s: float,
    ) -> None:
        self._memory = memory
        self._lease_s = lease_s
        self._given = model
        self._models = models
        self._environment = environment
        self._allowance_of = allowance_of
        self._rehearsal = chat_rehearsal()
        self._setting = Setting(
            memory,
            self._model_of,
            self._tally_of,
            partial(leave, memory.letters),
            limits,
            clock,
            by_model,
        )
        self._leave = leave

    async def answer(
        self,
        agent_id: str,
        question: NewMessage,
        *,
        use: ToolUse | None,
        observe: Observer,
        streamed: bool,
        letter: Letter | None,
    ) -> Reply:
        """One turn. Raises TaskError, UnknownAgent, and for a letter LetterLost."""
        memory = self._memory
        agent = await memory.agents.get(agent_id)
        by = Actor("user" if letter is None else "agent", question.sender or "user")
        try:
            turn = await begin_in_turn(
                memory, agent_id, question, by=by, letter=letter, lease_s=self._lease_s
            )
            return await self._converse(agent, turn, letter, use, observe, streamed)
        except TurnLost as lost:
            raise TaskError(INTERRUPTED, str(lost)) from lost

    async def _converse(
        self,
        agent: Agent,
        turn: TurnRecord,
        letter: Letter | None,
        use: ToolUse | None,
        observe: Observer,
        streamed: bool,
    ) -> Reply:
        within = self._memory.within(turn)
        setting = replace(self._setting, memory=within, leave=partial(self._leave, within.letters))
        async with kept(self._memory, turn, lease_s=self._lease_s) as let_go:
            conversation = Conversation(
                setting=setting,
                agent=agent,
                turn=turn,
                letter=letter,
                use=use,
                observe=observe,
                streamed=streamed,
                tally=self._tally_of(agent),
                began=setting.clock(),
                let_go=let_go,
            )
            return await conversation.answer()

    async def reply_to(self, letter: Letter) -> Reply:
        """The reply with which a letter was answered."""
        reply = letter.reply or {}
        turn = await self._memory.turns.get(reply["turn"])
        if turn is None:
            raise UnknownLetter(letter_id=letter.id)
        return await reply_of(self._memory, turn, reply["text"])

    async def perform(
        self,
        agent: Agent,
        assignment: Assignment,
        observe: Observer,
        work: Callable[[Assignment, Observer], Awaitable[Report]],
    ) -> Report:
        """Have the agent do a task: ``work`` is given what it knows, the memory what came of it.
        Raises TurnFenced and TurnLost where another holder of the task has the agent: then nothing
        of this turn counts."""
        words, task_input = task_prompt(assignment)
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

        def watch(event: TurnEvent) -> None:
            spent.update(event.metrics or {})
            observe(event)

        async with kept(self._memory, turn, lease_s=self._lease_s) as let_go:
            try:
                try:
                    known = await self._known(agent, assignment)
                    report = await work(replace(assignment, instructions=known), watch)
                finally:
                    let_go()
            except BaseException as error:
                await self._failed(turn, error, by, _usage(spent))
                raise
            try:
                return await self._told(turn, report, by)
            except TurnLost:
                raise
            except MemoryProblem as problem:
                await self._failed(turn, problem, by, _usage(report.metrics))
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

    async def _told(self, turn: TurnRecord, report: Report, by: Actor) -> Report:
        said = json.dumps(keepable(report.data), ensure_ascii=False)
        text = f"{report.summary}\n\n{said}" if report.summary else said
        await self._memory.turns.answer(
            turn,
            NewMessage("assistant", keepable(text), correlation_id=turn.correlation_id),
            by=by,
            model=report.model,
            usage=_usage(report.metrics),
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

    def _model_of(self, agent: Agent, tally: Tally) -> Model:
        given = self._given
        if given is not None and not isinstance(given, str):
            return self._models.metered(given, given.model_id, tally)
        role = agent.role or "worker"
        name = given or agent.model or named_model(self._environment, role=role).name
        # The rehearsal of tasks reads a task's input; a conversation has none.
        return self._rehearsal if name == REHEARSAL else self._models.of(name, tally)

    def _tally_of(self, agent: Agent) -> Tally:
        return Tally(None if self._allowance_of is None else self._allowance_of(agent))


def _usage(metrics: Mapping[str, int | float | None]) -> Usage:
    return Usage(
        requests=int(metrics.get("llm_calls") or 0),
        tool_calls=int(metrics.get("tool_calls") or 0),
        input_tokens=int(metrics.get("prompt_tokens") or 0),
        output_tokens=int(metrics.get("completion_tokens") or 0),
        cost_usd=metrics.get("estimated_cost_usd"),
        duration_ms=float(metrics.get("duration_ms") or 0),
    )
