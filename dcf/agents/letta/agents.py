"""Agents that live on a Letta server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dcf.agents.assignment import JSON, Assignment
from dcf.agents.briefing import worker_prompt
from dcf.agents.letta.connection import Connection
from dcf.agents.letta.errors import LettaDenied, LettaFailed, LettaUnreachable
from dcf.agents.letta.files import export_document, import_file
from dcf.agents.letta.talks import Talks
from dcf.agents.messaging import Postman
from dcf.agents.messaging.postman import LEASE_S
from dcf.agents.messaging.waiting import ended_letter
from dcf.agents.performer import Observer, ToolCaller
from dcf.agents.reply import Receipt, Reply
from dcf.agents.report import Report
from dcf.agents.runtime import ToolUse, UseOf
from dcf.agents.streaming import streamed
from dcf.agents.task_error import TaskError
from dcf.agents.turn_event import TurnEvent
from dcf.agents.usage_limits import UsageLimits
from dcf.memory import SYSTEM, Actor, Clock, NewAgent, NewId, NewLetter, Usage, random_id

if TYPE_CHECKING:
    from dcf.agents.letta.server import LettaServer
    from dcf.memory import Agent, Letter, NewBlock

AGENT_UNAVAILABLE = "DCF.AgentUnavailable"
REPLY_TIMEOUT = "DCF.ReplyTimeout"
_DELIVERY = SYSTEM.because("delivering messages")
_SERVER_FAILURES = (LettaUnreachable, LettaDenied, LettaFailed)


class LettaAgents(Talks):
    """An AgentRuntime on a Letta server.

    The server asks the models; tools, those of the memory too, are called here. ``defaults`` are
    the blocks of an agent that is made without any; ``limits`` are for each turn. ``use_of`` says
    how attached tools are called in turns that are given no ``use``. ``clock`` counts ms since the
    epoch, ``new_id`` makes ids; ``lease_s`` is how long a message that was left stays with a
    process that has gone away.

    Turns of an agent follow each other within a process. docs/how-to/runtimes.md lists what the
    server cannot promise: comparing before writing across processes, a record of who changed what,
    undoing, what a turn costs.
    """

    def __init__(
        self,
        server: LettaServer,
        *,
        defaults: Sequence[NewBlock] = (),
        limits: UsageLimits | None = None,
        use_of: UseOf | None = None,
        clock: Clock = lambda: time.time_ns() // 1_000_000,
        new_id: NewId = random_id,
        lease_s: float = LEASE_S,
    ) -> None:
        super().__init__(
            Connection(server),
            defaults=defaults,
            limits=limits or UsageLimits(),
            use_of=use_of,
            clock=clock,
            new_id=new_id,
        )
        self._postman = Postman(self.letters, self._deliver, lease_s=lease_s)

    async def check(self) -> None:
        """Whether the server answers, takes this password and has the model that is set. Raises
        LettaMissing, LettaUnreachable, LettaDenied, LettaSettings, LettaFailed."""
        model = self.connection.server.model
        await self.check_models([] if model is None else [model])

    async def delete(self, agent_id: str, *, by: Actor) -> None:
        await super().delete(agent_id, by=by)
        await self.letters.forget(agent_id)

    async def send(
        self,
        agent_id: str,
        text: str,
        *,
        use: ToolUse | None = None,
        sender: str | None = None,
        correlation_id: str | None = None,
    ) -> Reply:
        return await self.talk(
            agent_id,
            text,
            use=use,
            observe=lambda _: None,
            sender=sender,
            correlation_id=correlation_id,
        )

    def stream(
        self,
        agent_id: str,
        text: str,
        *,
        use: ToolUse | None = None,
        sender: str | None = None,
        correlation_id: str | None = None,
    ) -> AsyncIterator[TurnEvent]:
        return streamed(
            lambda observe: self.talk(
                agent_id,
                text,
                use=use,
                observe=observe,
                sender=sender,
                correlation_id=correlation_id,
                streamed=True,
            )
        )

    async def send_async(
        self,
        agent_id: str,
        text: str,
        *,
        sender: str,
        timeout_s: float,
        correlation_id: str | None = None,
    ) -> Receipt:
        return await self.leave(
            NewLetter(
                agent_id=agent_id,
                sender=sender,
                text=text,
                correlation_id=correlation_id or self.new_id("correlation"),
                timeout_ms=round(timeout_s * 1000),
            )
        )

    async def reply_to(self, receipt: Receipt, timeout_s: float) -> Reply:
        letter = await ended_letter(
            self.letters, receipt, timeout_s, clock=time.monotonic, wake=self.deliver
        )
        if letter.reply is None:
            raise TaskError(letter.error or "", letter.cause or "")
        added = set(letter.reply["messages"])
        messages = await self.all_messages(letter.agent_id)
        return Reply(
            letter.agent_id,
            letter.reply["text"],
            tuple(one for one in messages if one.id in added),
            Usage(**letter.reply["usage"]),
            letter.correlation_id,
            letter.reply["model"],
        )

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
        try:
            if agent_id is not None:
                return await self.work(await self.get(agent_id), assignment, call_tool, observe)
            by = SYSTEM.because(f"task {assignment.state}")
            new = NewAgent(
                self.new_id("task"), role="worker", system=worker_prompt(), lifecycle="ephemeral"
            )
            agent = await self.create(new, [], by=by)
            try:
                return await self.work(agent, assignment, call_tool, observe)
            finally:
                await asyncio.shield(self.delete(agent.id, by=by))
        except _SERVER_FAILURES as failure:
            raise TaskError(AGENT_UNAVAILABLE, f"{failure}; {failure.hint}") from failure

    async def export_file(self, agent_id: str) -> dict[str, JSON]:
        await self.state(agent_id)
        return await export_document(self.connection, agent_id)

    async def import_file(self, document: Mapping[str, JSON], *, by: Actor) -> tuple[Agent, ...]:
        return await import_file(self, document)

    async def aclose(self) -> None:
        await self._postman.aclose()
        await self.connection.aclose()

    async def _deliver(self, letter: Letter) -> None:
        left = (letter.deadline - self.clock()) / 1000
        try:
            async with asyncio.timeout(left):
                reply = await self.talk(
                    letter.agent_id,
                    letter.text,
                    use=None,
                    observe=lambda _: None,
                    sender=letter.sender,
                    correlation_id=letter.correlation_id,
                    letter=letter,
                )
        except TimeoutError:
            cause = "the time for an answer was over"
            await self.letters.fail(letter, REPLY_TIMEOUT, cause, by=_DELIVERY)
        except TaskError as failure:
            await self.letters.fail(letter, failure.error, failure.cause, by=_DELIVERY)
        else:
            await self.letters.answer(letter, _kept(reply), by=_DELIVERY)


def _kept(reply: Reply) -> dict[str, Any]:
    """What of a reply is kept with its letter."""
    return {
        "text": reply.text,
        "model": reply.model,
        "usage": asdict(reply.usage),
        "messages": list(dict.fromkeys(one.id for one in reply.messages)),
    }
