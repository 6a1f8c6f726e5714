"""One turn of an agent on a Letta server.

The server asks the model. When the model calls a tool of ours, the server stops and waits for what
the tool answered; what nobody answers it, because the turn ended there, it is told at the head of
the next turn: until then it takes no other message.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dcf.agents.letta.connection import told
from dcf.agents.letta.message_state import calls_of, text_of
from dcf.agents.local.calling import Answered, answer_call, read_arguments
from dcf.agents.local.keepable import keepable
from dcf.agents.local.large_answer import shortened
from dcf.agents.offer import REPORT_FAILURE, REPORT_RESULT
from dcf.agents.task_error import LIMIT_EXCEEDED, MODEL_ERROR, TaskError
from dcf.agents.turn_event import TurnEvent, TurnEventKind
from dcf.memory import Actor, NewPassage, Usage

if TYPE_CHECKING:
    from letta_client.types import AgentState

    from dcf.agents.letta.conversations import Conversations
    from dcf.agents.performer import Observer
    from dcf.agents.runtime import ToolUse
    from dcf.agents.usage_limits import UsageLimits
    from dcf.memory import ToolSpec

_MALFORMED_CALLS = 3
_LARGEST_ANSWER = 4
"""An answer of a tool may take a quarter of the window."""
INTERRUPTED = "the call was interrupted; it may or may not have been done"


@dataclass(slots=True)
class Turn:
    """One turn. ``offered`` are the tools by the name that the model calls, each called by ``use``;
    ``names`` says what they are called elsewhere, where that differs. After a call the turn is over
    once ``is_over`` says so. ``clock`` counts seconds, monotonic; ``model`` is a handle, None is
    the agent's."""

    runtime: Conversations
    agent_id: str
    offered: Mapping[str, ToolSpec]
    use: ToolUse
    observe: Observer
    streamed: bool
    limits: UsageLimits
    clock: Callable[[], float]
    is_over: Callable[[], bool] = lambda: False
    names: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    began: float = 0.0
    requests: int = 0
    tool_calls: int = 0
    malformed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    run_id: str | None = None
    _said: dict[str, str] = field(default_factory=dict)
    _theirs: dict[str, str] = field(default_factory=dict)
    _stop: str = ""

    async def answer(self, state: AgentState, messages: list[Any]) -> str:
        """Give the agent ``messages`` and work until it answers; empty if a tool ended the turn.
        ``state`` is the agent with its pending approval. Raises TaskError, and a Letta… error."""
        self.began = self.clock()
        self.model = self.model or state.model
        asked = [*_closed(state), *messages]
        while True:
            await self._step(asked)
            if self._stop == "requires_approval":
                state = await self.runtime.state(self.agent_id, "agent.pending_approval")
                asked = [_approval(await self._call_all(state))]
                if self.is_over():
                    return ""
            elif self._stop == "max_steps":
                raise TaskError(LIMIT_EXCEEDED, self._limit_cause())
            elif self._stop in ("end_turn", "tool_rule", "no_tool_call"):
                return self._last_words()
            else:
                raise TaskError(MODEL_ERROR, f"the Letta server ended the turn: {self._stop}")

    def usage(self) -> Usage:
        """What was used so far. The server does not say what it cost."""
        return Usage(
            requests=self.requests,
            tool_calls=self.tool_calls,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=None,
            duration_ms=self._elapsed_ms(),
        )

    async def _step(self, messages: list[Any]) -> None:
        """Requests of the model until it answers or calls a tool of ours."""
        import letta_client

        left = self.limits.max_requests - self.requests
        if left < 1:
            raise TaskError(LIMIT_EXCEEDED, self._limit_cause())
        # To hear what a tool answered is a step of the server, in which no model is asked.
        steps = left + (messages[0].get("type") == "approval")
        self._said.clear()
        self._stop = ""
        self._tell("model_request")
        client = await self.runtime.connection.client()
        patient = client.with_options(timeout=letta_client.Timeout(None, connect=10.0))
        try:
            with self.runtime.connection.asking():
                stream = await patient.agents.messages.create(
                    self.agent_id,
                    messages=messages,
                    client_tools=[_offer(tool) for tool in self.offered.values()],
                    override_model=self.model,
                    max_steps=steps,
                    streaming=True,
                    stream_tokens=self.streamed,
                    include_pings=True,
                )
                try:
                    async for event in stream:
                        self._hear(event)
                except letta_client.APIStatusError as error:
                    # What goes wrong once it answers comes with the status of success.
                    if error.status_code != 200:
                        raise
                    raise TaskError(MODEL_ERROR, told(error)) from error
                finally:
                    await stream.close()
        except BaseException:
            if not self._stop:
                await self._cancel()
            raise
        self._tell("model_response")

    def _hear(self, event: Any) -> None:
        self.run_id = getattr(event, "run_id", None) or self.run_id
        match event.message_type:
            case "assistant_message":
                piece = text_of(event.content)
                self._said[event.id] = self._said.get(event.id, "") + piece
                if self.streamed and piece:
                    self.observe(TurnEvent("text", self._elapsed_ms(), text=piece))
            case "tool_call_message":
                for call in calls_of(event):
                    if call.tool_call_id and call.tool_call_id not in self._theirs:
                        self._theirs[call.tool_call_id] = call.name or ""
                        self.tool_calls += 1
                        self._tell("tool_call", call.name)
            case "tool_return_message":
                tool = self._theirs.get(event.tool_call_id)
                if tool is not None:
                    failed = "DCF.ToolError" if event.status == "error" else None
                    self._tell("tool_result", tool, failed)
            case "stop_reason":
                self._stop = str(event.stop_reason)
            case "usage_statistics":
                self.requests += event.step_count or 0
                self.input_tokens += event.prompt_tokens or 0
                self.output_tokens += event.completion_tokens or 0

    async def _call_all(self, state: AgentState) -> list[dict[str, Any]]:
        room = (state.llm_config.context_window if state.llm_config else 0) // _LARGEST_ANSWER
        returned = []
        for call in pending_calls(state):
            if self.tool_calls >= self.limits.max_tool_calls:
                raise TaskError(LIMIT_EXCEEDED, self._limit_cause())
            self.tool_calls += 1
            self._tell("tool_call", self.names.get(call.name, call.name))
            arguments = read_arguments(call.arguments)
            answered = await answer_call(self.offered, call.name, arguments, self.use)
            content = keepable(answered.content)
            content = await shortened(content, call.name, max(room, 1), self._archive)
            returned.append(_returned(call.tool_call_id, content, answered))
            self._tell("tool_result", self.names.get(call.name, call.name), answered.error)
            self._count_malformed(answered)
        return returned

    def _count_malformed(self, answered: Answered) -> None:
        self.malformed = self.malformed + 1 if answered.malformed else 0
        if self.malformed >= _MALFORMED_CALLS:
            cause = answered.content["error"]["message"]
            raise TaskError(
                MODEL_ERROR,
                f"{self.model} called tools wrongly {self.malformed} times in a row; last: {cause}",
            )

    async def _archive(self, text: str, tool: str) -> str:
        new = NewPassage(text, tags=("tool-answer", tool))
        by = Actor("agent", self.agent_id)
        return (await self.runtime.insert_passage(self.agent_id, new, by=by)).id

    async def _cancel(self) -> None:
        """Have the server stop too. It may have ended by itself, or not have begun."""
        import letta_client

        client = await self.runtime.connection.client()
        if self.run_id is not None:
            try:
                await client.agents.messages.cancel(self.agent_id, run_ids=[self.run_id])
            except letta_client.APIError:
                return

    def _last_words(self) -> str:
        text = list(self._said.values())[-1] if self._said else ""
        if not text.strip():
            raise TaskError(MODEL_ERROR, f"{self.model} answered nothing")
        return text

    def _tell(self, kind: TurnEventKind, tool: str | None = None, error: str | None = None) -> None:
        self.observe(TurnEvent(kind, self._elapsed_ms(), tool, error))

    def _elapsed_ms(self) -> float:
        return round((self.clock() - self.began) * 1000, 3)

    def _limit_cause(self) -> str:
        return (
            f"the turn did not end within {self.limits.max_requests} model requests and "
            f"{self.limits.max_tool_calls} tool calls ({self.tool_calls} tool calls were made)"
        )


def pending_calls(state: AgentState) -> list[Any]:
    """The calls that the agent waits for."""
    return [] if state.pending_approval is None else calls_of(state.pending_approval)


def _closed(state: AgentState) -> list[dict[str, Any]]:
    """What tells an agent that an earlier turn left waiting that nobody will answer."""
    calls = pending_calls(state)
    said = [
        _told(call.tool_call_id, "reported", "success")
        if call.name in (REPORT_RESULT, REPORT_FAILURE)
        else _told(call.tool_call_id, INTERRUPTED, "error")
        for call in calls
    ]
    return [_approval(said)] if said else []


def _approval(returned: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "approval", "approvals": returned}


def _returned(call_id: str, content: Any, answered: Answered) -> dict[str, Any]:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return _told(call_id, text, "error" if answered.error else "success")


def _told(call_id: str, text: str, status: str) -> dict[str, Any]:
    return {"type": "tool", "tool_call_id": call_id, "tool_return": text, "status": status}


def _offer(tool: ToolSpec) -> Any:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.input_schema),
    }
