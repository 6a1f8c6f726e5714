"""Turns of the agents of a Letta server: conversations and tasks."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dcf.agents.assignment import JSON, Assignment
from dcf.agents.letta.agent_state import handle_of, tools_of
from dcf.agents.letta.conversations import Conversations
from dcf.agents.letta.letters import ServerLetters
from dcf.agents.letta.memory_desk import ServerDesk
from dcf.agents.letta.message_state import question
from dcf.agents.letta.tasks import Task, metrics_of
from dcf.agents.letta.turns import Turn
from dcf.agents.local.memory_tools import MEMORY_TOOLS
from dcf.agents.performer import Observer, ToolCaller
from dcf.agents.reply import Receipt, Reply
from dcf.agents.report import Report
from dcf.agents.runtime import ToolUse, UseOf
from dcf.agents.turn_event import TurnEvent
from dcf.agents.usage_limits import UsageLimits
from dcf.memory import Actor, Clock, NewId, NewLetter, Usage

if TYPE_CHECKING:
    from dcf.agents.letta.connection import Connection
    from dcf.memory import Agent, Letter, Message, NewBlock

_AGENTS_WAIT_S = 600.0


class Talks(Conversations, ABC):
    """The agents of a server at work. Arguments as in LettaAgents."""

    def __init__(
        self,
        connection: Connection,
        *,
        defaults: Sequence[NewBlock],
        limits: UsageLimits,
        use_of: UseOf | None,
        clock: Clock,
        new_id: NewId,
    ) -> None:
        super().__init__(connection, defaults=defaults, clock=clock)
        self.new_id = new_id
        self.letters = ServerLetters(self, new_id)
        self._limits = limits
        self._use_of = use_of

    @abstractmethod
    def deliver(self) -> None:
        """Have messages that wait delivered, in the background."""

    async def leave(self, new: NewLetter) -> Receipt:
        """Leave a message. Raises InvalidEntry, UnknownAgent, CircularMessage."""
        letter = await self.letters.leave(new, by=Actor("agent", new.sender, "a message"))
        self.deliver()
        return Receipt(
            letter.id, letter.correlation_id, letter.agent_id, letter.sender, letter.deadline
        )

    async def talk(
        self,
        agent_id: str,
        text: str,
        *,
        use: ToolUse | None,
        observe: Observer,
        sender: str | None,
        correlation_id: str | None,
        streamed: bool = False,
        letter: Letter | None = None,
    ) -> Reply:
        """One turn of a conversation, ``letter`` being what it answers. Raises TaskError."""
        correlation_id = correlation_id or self.new_id("correlation")
        async with self.lock(f"turn of {agent_id}"):
            state = await self.state(agent_id, "agent.pending_approval")
            if letter is not None and letter.tries > 1:
                done = _answered(await self.all_messages(agent_id), letter)
                if done:
                    usage = Usage(cost_usd=None)
                    said = done[-1].content
                    return Reply(agent_id, said, done, usage, correlation_id, state.model or "")
            if use is None and self._use_of is not None:
                use = await self._use_of(agent_id)
            turn = self._turn(
                agent_id,
                self._caller(agent_id, correlation_id, use),
                observe,
                # DCF's own come last: nobody takes their names.
                offered={tool.name: tool for tool in (tools_of(state) if use else ())}
                | MEMORY_TOOLS,
                streamed=streamed,
            )
            answers = await self.letters.answers_for(agent_id)
            key = self.new_id("question") if letter is None else letter.id
            asked = question(text, sender, correlation_id, key)
            said = await turn.answer(state, [*map(_answer, answers), asked])
            for answer in answers:
                await self.letters.told(answer)
            added = _since_question(await self.all_messages(agent_id))
        return Reply(agent_id, said, added, turn.usage(), correlation_id, turn.model or "")

    async def work(
        self, agent: Agent, assignment: Assignment, call_tool: ToolCaller, observe: Observer
    ) -> Report:
        """One task. Raises TaskError."""
        task = Task(assignment, call_tool)
        correlation_id = self.new_id("correlation")
        turn = self._turn(
            agent.id,
            self._caller(agent.id, correlation_id, task.use, frozenset(task.offered())),
            observe,
            offered=MEMORY_TOOLS | task.offered(),
            is_over=lambda: task.answer is not None,
            names=task.names(),
            model=handle_of(assignment.model),
        )
        async with self.lock(f"turn of {agent.id}"):
            state = await self.state(agent.id, "agent.pending_approval")
            asked = question(task.words(agent), None, correlation_id, self.new_id("question"))
            try:
                said = await turn.answer(state, [asked])
            except BaseException:
                used = turn.usage()
                observe(TurnEvent("stopped", used.duration_ms, metrics=metrics_of(used)))
                raise
        return task.report(said, turn.usage(), turn.model or "")

    def _turn(self, agent_id: str, use: ToolUse, observe: Observer, **more: Any) -> Turn:
        more = {"streamed": False, **more}
        return Turn(
            runtime=self,
            agent_id=agent_id,
            use=use,
            observe=observe,
            limits=self._limits,
            clock=time.monotonic,
            **more,
        )

    def _caller(
        self,
        agent_id: str,
        correlation_id: str,
        use: ToolUse | None,
        theirs: frozenset[str] = frozenset(),
    ) -> ToolUse:
        """Calls tools of the memory, and all others (and ``theirs``) with ``use``."""
        desk = ServerDesk(self, agent_id, correlation_id, self._leave)

        async def call(name: str, arguments: dict[str, JSON]) -> JSON:
            if name in MEMORY_TOOLS and name not in theirs:
                return await desk.use(name, arguments)
            assert use is not None, "tools of others are offered only with `use`"
            return await use(name, arguments)

        return call

    async def _leave(self, to: str, text: str, sender: str, correlation_id: str) -> Receipt:
        """Leave a message that an agent writes; ``to`` is an id or a name."""
        found = await self.find(to)
        return await self.leave(
            NewLetter(
                agent_id=to if found is None else found.id,
                sender=sender,
                text=text,
                correlation_id=correlation_id,
                timeout_ms=round(_AGENTS_WAIT_S * 1000),
            )
        )


def _answer(letter: Letter) -> dict[str, Any]:
    """What an agent asked for, at the head of its next turn: the server takes no message that
    begins none."""
    said = str((letter.reply or {}).get("text", ""))
    return question(said, letter.agent_id, letter.correlation_id, f"answer-{letter.id}")


def _since_question(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The last question, and what came of it."""
    asked = [at for at, one in enumerate(messages) if one.role == "user"]
    return tuple(messages[asked[-1] :]) if asked else ()


def _answered(messages: Sequence[Message], letter: Letter) -> tuple[Message, ...]:
    """The letter's question with its answer, if whoever took it before came as far as that."""
    last = _since_question(messages)
    said = bool(last) and (last[0].sender, last[0].content, last[0].correlation_id) == (
        letter.sender,
        letter.text,
        letter.correlation_id,
    )
    return last if said and last[-1].role == "assistant" and last[-1].content else ()
