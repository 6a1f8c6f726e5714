"""A conductor that is an agent with a model: it is talked to, and told what came of its tasks.

What was said stands in the session's history; the agent's memory is its own. A turn that was
interrupted is taken again under the same request: what it made by then has ids that follow from it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from weakref import WeakValueDictionary

from control_plane import NameTaken
from dcf.agents import AgentRuntime, TaskError
from dcf.agents.templates import Template, template_named
from dcf.mcp.agent_life import by_tool, make_agent
from dcf.mcp.conductor_prompt import AGAIN, told_of
from dcf.mcp.conductor_tools import TurnTools, spec_of, tools_of
from dcf.mcp.observation_view import told_in_sessions
from dcf.mcp.platform import Platform
from dcf.mcp.session_blocks import agent_id_of
from dcf.mcp.session_said import SessionSaid, say
from dcf.mcp.session_turn import Turn, TurnLost, turn_in
from dcf.sessions import SessionTask
from dcf.sessions.conductor import ConductorRules, Reply, row_of_task
from dcf.sessions.rendering import show_guidelines, show_observed, show_session

TEMPLATE = "conductor"
_BY = by_tool("send_session_message")
_SESSIONS_KEPT = 500
_MESSAGES_LOOKED_AT = 100


class ModelConductor:
    """Conducts sessions as the agent ``conductor_id``, which is made when it is needed. ``runtime``
    is where it lives; without it that of the platform."""

    def __init__(
        self, platform: Platform, conductor_id: str, *, runtime: AgentRuntime | None = None
    ) -> None:
        self.conductor_id = conductor_id
        self._platform = platform
        self._sessions = platform.sessions
        self._runtime = runtime
        self._every = ConductorRules.default().analysis.every
        self._heard: OrderedDict[str, SessionSaid] = OrderedDict()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def turn(self, session_id: str, text: str, *, request_id: str | None = None) -> Reply:
        """Say something to the agent; its answer, the same for the same ``request_id``.

        Raises UnknownSession, SessionProblem, and TaskError where its turn fails: then it may be
        said again. A turn that this process loses is waited for, and taken again where need be."""
        request = request_id or f"request-{self._platform.new_id()[:12]}"
        heard = await self._listen(session_id)
        while request not in heard.answers:
            with suppress(TurnLost):
                async with self._speaking(session_id, wait=True) as turn:
                    # Another process may have answered meanwhile.
                    heard = await self._listen(session_id)
                    if turn is not None and request not in heard.answers:
                        await self._answer_to(session_id, text, request, turn, heard)
        return await self._reply(session_id, request, heard)

    async def attend(self, session_id: str) -> list[Reply]:
        """Tell the agent what came of its tasks; what it says to that. Of tasks that serve the same
        request it is told together, unless one needs it sooner. Safe to repeat. Raises
        UnknownSession, TaskError."""
        await self._sessions.tick(session_id)
        if not await self._due(session_id, await self._listen(session_id)):
            return []
        replies: list[Reply] = []
        with suppress(TurnLost):
            async with self._speaking(session_id, wait=False) as turn:
                heard = await self._listen(session_id)
                while turn is not None and (due := await self._due(session_id, heard)):
                    replies.append(await self._tell(session_id, due, turn, heard))
        return replies

    async def answer(self, session_id: str, request_id: str) -> Reply | None:
        """The last word on a request; None while there is more to come. Raises UnknownSession."""
        heard = await self._listen(session_id)
        if request_id not in heard.answers:
            return None
        reply = await self._reply(session_id, request_id, heard)
        return reply if reply.is_last else None

    async def finalize(self, session_id: str, *, cancel: bool = False) -> Reply:
        """Begin to end the session, at once with ``cancel``; what the agent says of it. Raises
        UnknownSession, TaskError."""
        await self._sessions.end(session_id, by=self.conductor_id, cancel=cancel)
        return await self.turn(
            session_id,
            "The session is being ended. Say what was done, what was not, and what came of each "
            "task; begin nothing new.",
            request_id=_mark("end", session_id),
        )

    async def _answer_to(
        self, session_id: str, text: str, request: str, turn: Turn, heard: SessionSaid
    ) -> None:
        again = request in heard.asked
        if not again:
            await turn.demand()
            await say(self._sessions, session_id, "user", text, request)
        asked = f"{AGAIN}\n\n{text}" if again else text
        answer = await self._ask(session_id, asked, request, turn, for_request=request)
        await turn.demand()
        await say(self._sessions, session_id, "conductor", answer, request)
        await heard.follow(self._sessions, session_id)

    async def _tell(
        self, session_id: str, due: list[SessionTask], turn: Turn, heard: SessionSaid
    ) -> Reply:
        """Tell the agent of tasks that are over; what it says to that."""
        await turn.demand()
        await self._analyse(session_id)
        request, ids = due[0].request, [task.task_id for task in due]
        name = _mark("results", session_id, *ids)
        sender = f"session:{session_id}"
        text = told_of(due)
        answer = await self._ask(session_id, text, name, turn, for_request=request, sender=sender)
        await turn.demand()
        await say(self._sessions, session_id, "conductor", answer, request or "", ids)
        await heard.follow(self._sessions, session_id)
        return await self._reply(session_id, request or "", heard)

    async def _analyse(self, session_id: str) -> None:
        """Have the session analysed when it is time, whether or not the agent thinks of it."""
        head = (await self._sessions.get(session_id)).head
        if head.counts.closed - head.analysed >= self._every:
            await self._platform.guidance.analyse(
                session_id, self.conductor_id, by=self.conductor_id
            )

    async def _ask(
        self,
        session_id: str,
        text: str,
        name: str,
        turn: Turn,
        *,
        for_request: str | None,
        sender: str | None = None,
    ) -> str:
        """The turn called ``name`` of the agent, unless it took it before and only its answer was
        lost. What it delegates serves ``for_request``. Raises TurnLost, TaskError."""
        runtime = self._runtime or (await self._platform.home()).runtime
        template = template_named(TEMPLATE, self._platform.config.templates)
        agent_id = await self._agent(runtime, template)
        mark = _mark(session_id, name)
        kept = await _answer_kept(runtime, agent_id, mark)
        if kept is not None:
            return kept
        await turn.demand()
        await self._show(session_id, runtime, agent_id)
        tools = tools_of(template)
        specs = [spec_of(tool) for tool in tools.values()]
        known = {spec.name: spec for spec in await runtime.tools(agent_id)}
        if changed := [spec for spec in specs if known.get(spec.name) != spec]:
            await runtime.attach_tools(agent_id, changed, by=_BY)
        calls = TurnTools(
            self._platform,
            tools,
            session=session_id,
            conductor=self.conductor_id,
            turn=name,
            request=for_request,
            demand=turn.demand,
        )
        try:
            reply = await runtime.send(
                agent_id, text, use=calls.use, sender=sender, correlation_id=mark
            )
        except TaskError:
            # The agent may have been taken over with the turn.
            await turn.demand()
            raise
        return reply.text

    async def _agent(self, runtime: AgentRuntime, template: Template) -> str:
        """The id of the agent, which is made if there is none."""
        if self._runtime is not None:
            found = await runtime.find(self.conductor_id)
            agent_id = found.id if found is not None else None
        else:
            agent_id = await agent_id_of(self._platform, self.conductor_id)
        if agent_id is not None:
            return agent_id
        new = template.new_agent(self.conductor_id, tags=("role:conductor",))
        if self._runtime is not None:
            return (await runtime.create(new, list(template.blocks), by=_BY)).id
        try:
            agent, _ = await make_agent(
                self._platform, new, list(template.blocks), agent_id=None, by=_BY
            )
        except NameTaken as taken:
            # Another process made it at the same moment.
            return str(taken.fields["id"])
        return agent.id

    async def _show(self, session_id: str, runtime: AgentRuntime, agent_id: str) -> None:
        """Let the agent see the session, its guidelines, and what tasks of earlier sessions showed,
        as they are now."""
        await show_session(self._sessions, session_id, runtime, agent_id)
        guided = await self._platform.guidance.of(self.conductor_id)
        await show_guidelines(runtime, agent_id, guided.guidelines.to_json())
        told = await told_in_sessions(self._platform)
        await show_observed(self._sessions, session_id, runtime, agent_id, told)

    async def _due(self, session_id: str, heard: SessionSaid) -> list[SessionTask]:
        """Tasks of one request of which the agent is to be told now: all of them are over, or one
        did not succeed."""
        if not heard.results:
            return []
        session = await self._sessions.get(session_id)
        found = [await self._sessions.task(session_id, task_id) for task_id in heard.results]
        by_request: dict[str | None, list[SessionTask]] = {}
        for task in found:
            # What a broadcast comes to is said of the whole.
            if task.group is None or task.status != "succeeded":
                by_request.setdefault(task.request, []).append(task)
        waiting = {task.request for task in session.open_tasks}
        for request, tasks in by_request.items():
            if request not in waiting or any(task.status != "succeeded" for task in tasks):
                return [one for one in found if one.request == request]
        return []

    async def _reply(self, session_id: str, request: str, heard: SessionSaid) -> Reply:
        tasks = [
            task
            for task in await self._sessions.tasks(session_id)
            if task.request == request and request
        ]
        pending = [task for task in tasks if task.is_open or task.task_id in heard.results]
        return Reply(
            request,
            heard.answers.get(request, ""),
            tuple(task.task_id for task in tasks),
            tuple(row_of_task(task, number) for number, task in enumerate(tasks, start=1)),
            is_last=not pending,
        )

    async def _listen(self, session_id: str) -> SessionSaid:
        heard = self._heard.setdefault(session_id, SessionSaid())
        self._heard.move_to_end(session_id)
        while len(self._heard) > _SESSIONS_KEPT:
            self._heard.popitem(last=False)
        await heard.follow(self._sessions, session_id)
        return heard

    @asynccontextmanager
    async def _speaking(self, session_id: str, *, wait: bool) -> AsyncIterator[Turn | None]:
        """The turn to speak for the agent; None when somebody else has it. Raises TurnLost."""
        lock = self._turns.setdefault(session_id, asyncio.Lock())
        if lock.locked() and not wait:
            yield None
            return
        token = self._platform.new_id()
        async with lock, turn_in(self._sessions.backend, session_id, token, wait=wait) as turn:
            yield turn


async def _answer_kept(runtime: AgentRuntime, agent_id: str, mark: str) -> str | None:
    """The answer of a turn that ended, whose process died before it told anybody."""
    last = None
    for message in await runtime.messages(agent_id, limit=_MESSAGES_LOOKED_AT):
        if message.correlation_id == mark:
            last = message
    if last is None or last.role != "assistant":
        return None
    return None if any(part["kind"] == "call" for part in last.parts) else last.content


def _mark(*parts: str) -> str:
    """The same for the same parts, and for no others."""
    written = "\0".join(parts).encode("utf-8", "surrogatepass")
    return f"{parts[0][:16]}-{hashlib.sha256(written).hexdigest()[:16]}"
