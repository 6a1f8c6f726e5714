"""Agents that live in a memory of this machine and take their turns in this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal
from weakref import WeakValueDictionary

from dcf.agents.assignment import Assignment
from dcf.agents.library_lock import LOADING
from dcf.agents.local.remembered_agents import RememberedAgents
from dcf.agents.local.task_turns import TaskTurns
from dcf.agents.local.tasks import LocalRuntime
from dcf.agents.local.turn_lease import LONGEST_S
from dcf.agents.messaging import Postman
from dcf.agents.messaging.postman import LEASE_S
from dcf.agents.messaging.waiting import ended_letter
from dcf.agents.models import Models
from dcf.agents.performer import Observer, ToolCaller
from dcf.agents.reply import Receipt, Reply
from dcf.agents.report import Report
from dcf.agents.runtime import ToolUse, UseOf
from dcf.agents.streaming import streamed
from dcf.agents.task_error import TaskError
from dcf.agents.turn_event import TurnEvent
from dcf.agents.usage_limits import UsageLimits
from dcf.memory import Actor, Memory, NewLetter, NewMessage

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from dcf.agents.local.turns import Turns
    from dcf.agents.models import Allowance
    from dcf.memory import (
        Agent,
        Letter,
        Letters,
    )


class LocalAgents(RememberedAgents):
    """An AgentRuntime on a Memory and the models of pydantic-ai.

    ``model`` takes all turns when it is given: a model of pydantic-ai, or the name of one. Without
    it an agent has its own, or the one that ``environment`` names for its role, or the rehearsal.
    ``models`` are those that can be named; ``allowance_of`` says what an agent's turn may spend;
    ``limits`` are for each turn. ``use_of`` says how attached tools are called in turns that are
    not told ``use``, so in those that answer messages which were left. ``summaries`` of what no
    longer fits are made by the model or by rule. ``clock`` counts seconds and never goes back.
    ``lease_s`` is how long a message that was left, or a turn, stays with a process that has gone
    away (a turn: at most ten seconds).

    Turns of an agent follow each other, in whichever processes they are.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        model: Model | str | None = None,
        models: Models | None = None,
        environment: Mapping[str, str] | None = None,
        allowance_of: Callable[[Agent], Allowance] | None = None,
        limits: UsageLimits | None = None,
        use_of: UseOf | None = None,
        summaries: Literal["model", "rule"] = "model",
        clock: Callable[[], float] = time.monotonic,
        lease_s: float = LEASE_S,
    ) -> None:
        super().__init__(memory)
        self._model = model
        self._models = models or Models(environment)
        self._environment = dict(environment or {})
        self._allowance_of = allowance_of
        self._limits = limits or UsageLimits()
        self._use_of = use_of
        self._lease_s = lease_s
        self._summaries = summaries
        self._clock = clock
        self._tasks = LocalRuntime(model, models=self._models, limits=self._limits, clock=clock)
        self._postman = Postman(memory.letters, self._deliver, lease_s=lease_s)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._turns: Turns | None = None
        self._task_turns = TaskTurns(memory, lease_s=min(lease_s, LONGEST_S))

    async def send(
        self,
        agent_id: str,
        text: str,
        *,
        use: ToolUse | None = None,
        sender: str | None = None,
        correlation_id: str | None = None,
    ) -> Reply:
        question = self._question(text, sender, correlation_id)
        return await self._turn(agent_id, question, use, lambda _: None)

    def stream(
        self,
        agent_id: str,
        text: str,
        *,
        use: ToolUse | None = None,
        sender: str | None = None,
        correlation_id: str | None = None,
    ) -> AsyncIterator[TurnEvent]:
        question = self._question(text, sender, correlation_id)
        return streamed(lambda observe: self._turn(agent_id, question, use, observe, streamed=True))

    async def send_async(
        self,
        agent_id: str,
        text: str,
        *,
        sender: str,
        timeout_s: float,
        correlation_id: str | None = None,
    ) -> Receipt:
        new = NewLetter(
            agent_id=agent_id,
            sender=sender,
            text=text,
            correlation_id=correlation_id or self._new_id("correlation"),
            timeout_ms=round(timeout_s * 1000),
        )
        return await self._left(self.memory.letters, new)

    async def reply_to(self, receipt: Receipt, timeout_s: float) -> Reply:
        letter = await ended_letter(
            self.memory.letters, receipt, timeout_s, clock=self._clock, wake=self._postman.wake
        )
        if letter.reply is None:
            raise TaskError(letter.error or "", letter.cause or "")
        turns = await self._ready()
        return await turns.reply_to(letter)

    def deliver(self) -> None:
        """Deliver messages that wait, in the background: those that a process left which has gone
        away, too."""
        self._postman.wake()

    async def deliver_for_ever(self, every_s: float = 5.0) -> None:
        """``deliver``, again and again."""
        while True:
            self.deliver()
            await asyncio.sleep(every_s)

    async def perform(
        self,
        assignment: Assignment,
        call_tool: ToolCaller,
        observe: Observer,
        *,
        agent_id: str | None = None,
    ) -> Report:
        if agent_id is None:
            return await self._tasks.perform(assignment, call_tool, observe)
        async with self._lock(agent_id):
            await self._ready()
            agent = await self.get(agent_id)
            asked = replace(assignment, model=assignment.model or agent.model)
            return await self._task_turns.perform(
                agent,
                asked,
                call_tool,
                observe,
                self._tasks.perform,
            )

    async def prepare(self) -> None:
        """Load the library now, so that the first task does not wait for it."""
        await self._tasks.prepare()
        await self._ready()

    async def aclose(self) -> None:
        await self._postman.aclose()

    async def _deliver(self, letter: Letter) -> None:
        question = NewMessage(
            "user", letter.text, sender=letter.sender, correlation_id=letter.correlation_id
        )
        await self._turn(letter.agent_id, question, None, lambda _: None, letter=letter)

    async def _turn(
        self,
        agent_id: str,
        question: NewMessage,
        use: ToolUse | None,
        observe: Observer,
        *,
        streamed: bool = False,
        letter: Letter | None = None,
    ) -> Reply:
        # First come, first served, from the first turn on, for which the library is loaded.
        async with self._lock(agent_id):
            turns = await self._ready()
            if use is None and self._use_of is not None:
                use = await self._use_of(agent_id)
            return await turns.answer(
                agent_id, question, use=use, observe=observe, streamed=streamed, letter=letter
            )

    async def _leave(
        self, letters: Letters, to: str, text: str, sender: str, correlation_id: str
    ) -> Receipt:
        """Leave a message that an agent writes, among ``letters``; ``to`` is an id or a name."""
        found = await self.find(to)
        new = NewLetter(
            agent_id=to if found is None else found.id,
            sender=sender,
            text=text,
            correlation_id=correlation_id,
            timeout_ms=round(_AGENTS_WAIT_S * 1000),
        )
        return await self._left(letters, new)

    async def _left(self, letters: Letters, new: NewLetter) -> Receipt:
        letter = await letters.leave(new, by=Actor("agent", new.sender, "a message"))
        self._postman.wake()
        return _receipt(letter)

    async def _ready(self) -> Turns:
        """What takes turns; its library is loaded by the first one, in a thread."""
        if self._turns is None:
            loaded = await asyncio.to_thread(self._load)
            self._turns = self._turns or loaded
        return self._turns

    def _load(self) -> Turns:
        with LOADING:
            from dcf.agents.local.turns import Turns

        return Turns(
            self.memory,
            model=self._model,
            models=self._models,
            environment=self._environment,
            allowance_of=self._allowance_of,
            leave=self._leave,
            limits=self._limits,
            clock=self._clock,
            by_model=self._summaries == "model",
            lease_s=min(self._lease_s, LONGEST_S),
        )

    def _question(self, text: str, sender: str | None, correlation_id: str | None) -> NewMessage:
        correlation_id = correlation_id or self._new_id("correlation")
        return NewMessage("user", text, sender=sender, correlation_id=correlation_id)

    def _lock(self, agent_id: str) -> asyncio.Lock:
        return self._locks.setdefault(agent_id, asyncio.Lock())

    def _new_id(self, kind: str) -> str:
        return self.memory.ledger.new_id(kind)


_AGENTS_WAIT_S = 600.0


def _receipt(letter: Letter) -> Receipt:
    return Receipt(
        letter.id, letter.correlation_id, letter.agent_id, letter.sender, letter.deadline
    )
