"""Turns of conversations. Importing this module loads pydantic-ai."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import ModelRequest, ModelResponse, UserPromptPart

from dcf.agents.local.asking import ask
from dcf.agents.local.calling import Answered, answer_call, read_arguments
from dcf.agents.local.keepable import keepable
from dcf.agents.local.kept_turn import INTERRUPTED, call_part, reply_of, shown_in
from dcf.agents.local.large_answer import shortened
from dcf.agents.local.memory_tools import OWN_TOOLS, Desk, use_memory
from dcf.agents.local.orders import orders_of
from dcf.agents.local.overflow import fitted
from dcf.agents.local.room import room_in
from dcf.agents.local.setting import Setting
from dcf.agents.local.summarising import Write, summarised
from dcf.agents.local.wire import model_messages
from dcf.agents.models import REHEARSAL, Tally
from dcf.agents.reply import Reply
from dcf.agents.task_error import LIMIT_EXCEEDED, MODEL_ERROR, TaskError
from dcf.agents.turn_event import TurnEvent, TurnEventKind
from dcf.memory import Actor, LetterLost, MemoryProblem, NewMessage, NewPassage, TurnLost, Usage
from dcf.stopping import finish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic_ai.models import Model

    from dcf.agents.performer import Observer
    from dcf.agents.runtime import ToolUse
    from dcf.memory import Agent, Letter, Message, ToolSpec, TurnRecord

REPLY_TIMEOUT = "DCF.ReplyTimeout"
_MALFORMED_CALLS = 3
_EMPTY_ANSWERS = 2
_LARGEST_ANSWER = 4
"""An answer of a tool may take a quarter of the room."""


@dataclass(slots=True)
class Conversation:
    """One turn. All it knows stands in the memory before the next step, so that what a turn leaves
    behind when it ends half way can be gone on with. ``let_go`` is called before its end is kept.
    """

    setting: Setting
    agent: Agent
    turn: TurnRecord
    letter: Letter | None
    use: ToolUse | None
    observe: Observer
    streamed: bool
    tally: Tally
    began: float
    let_go: Callable[[], object]
    model_name: str = ""
    requests: int = 0
    tool_calls: int = 0
    malformed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    offered: dict[str, ToolSpec] = field(default_factory=dict)
    shown: dict[int | None, str] = field(default_factory=dict)
    """What the model was shown, by the numbers of the messages."""

    async def answer(self) -> Reply:
        """Work until the model answers. Raises TaskError; then the turn is kept as failed."""
        try:
            try:
                text = await self._work()
            except TimeoutError as late:
                raise TaskError(REPLY_TIMEOUT, "the time for an answer was over") from late
            finally:
                self.let_go()
        except TaskError as failure:
            await self._fail(failure.error, failure.cause, self.letter)
            raise
        except BaseException as stopped:
            await finish(self._let_be(stopped))
            raise
        try:
            turn, _ = await self.setting.memory.turns.answer(
                self.turn,
                self._message("assistant", text),
                by=self._by(),
                model=self.model_name,
                usage=self.usage(),
                letter=self.letter,
                shown=list(self.shown.values()),
            )
        except (TurnLost, LetterLost):
            raise
        except MemoryProblem as problem:
            await self._let_be(problem)
            raise
        return await reply_of(self.setting.memory, turn, text)

    async def _let_be(self, stopped: BaseException) -> None:
        """Nobody works on the turn any more. If that cannot be kept, it is over with its time."""
        with suppress(MemoryProblem):
            if self.letter is None:
                await self._fail("DCF.Interrupted", type(stopped).__name__, None)
            else:
                # It is given back by whoever took it, and its turn goes on then.
                await self.setting.memory.turns.leave(self.turn, by=self._by())

    def usage(self) -> Usage:
        """What was used so far."""
        return Usage(
            requests=self.requests,
            tool_calls=self.tool_calls,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=self.tally.cost_usd,
            duration_ms=self._elapsed_ms(),
        )

    async def _work(self) -> str:
        setting = self.setting
        await self._close_open_calls()
        attached = await setting.memory.attached_tools.list(self.agent.id) if self.use else ()
        # DCF's own come last: nobody takes their names.
        self.offered = {tool.name: tool for tool in attached} | OWN_TOOLS
        model = setting.model_of(self.agent, self.tally)
        left = 0
        if self.letter is not None:
            left = self.letter.deadline - setting.memory.ledger.clock()
        async with asyncio.timeout(None if self.letter is None else left / 1000):
            empty = 0
            while True:
                response = await self._asked(model)
                if response.tool_calls:
                    await self._call_all(response)
                elif (response.text or "").strip():
                    # As it is kept, so that whoever has the reply has what the memory has.
                    return str(keepable(response.text))
                else:
                    empty += 1
                    if empty >= _EMPTY_ANSWERS:
                        raise TaskError(MODEL_ERROR, f"{self.model_name} answered nothing")

    async def _asked(self, model: Model) -> ModelResponse:
        if self.requests >= self.setting.limits.max_requests:
            raise TaskError(LIMIT_EXCEEDED, self._limit_cause())
        tools = list(self.offered.values())
        orders = orders_of(self.agent)
        room = self._room()
        write = self._writes(model) if self.setting.by_model else None

        async def summarise(messages: Sequence[Message], tokens: int) -> str:
            return await summarised(messages, tokens, window=room, write=write)

        context = await fitted(
            self.setting.memory,
            self.agent,
            orders,
            room,
            self.turn.first,
            summarise,
            task=self.turn.id,
        )
        self.shown |= shown_in(context)
        self._tell("model_request")
        response = await ask(
            model,
            model_messages(context.messages, context.system),
            tools,
            parallel=self.agent.parallel_tool_calls,
            say=self._say if self.streamed else None,
        )
        self._count(response, model)
        self._tell("model_response")
        return response

    def _writes(self, model: Model) -> Write | None:
        if model.model_name == REHEARSAL:
            return None

        async def write(asked: str) -> str:
            response = await ask(model, [ModelRequest(parts=[UserPromptPart(asked)])], ())
            self._count(response, model)
            return response.text or ""

        return write

    async def _call_all(self, response: ModelResponse) -> None:
        """Keep what the model calls, call it in order, and keep each answer as it comes."""
        memory = self.setting.memory
        calls = [(memory.ledger.new_id("call"), call) for call in response.tool_calls]
        parts = [call_part(call_id, call) for call_id, call in calls]
        said = self._message("assistant", response.text or "", *parts)
        await memory.messages.append(self.agent.id, said, by=self._by())
        desk = Desk(
            memory,
            self.agent.id,
            self.turn.id,
            self.turn.correlation_id,
            self.setting.leave,
            self._largest_answer(),
        )
        for call_id, call in calls:
            if self.tool_calls >= self.setting.limits.max_tool_calls:
                raise TaskError(LIMIT_EXCEEDED, self._limit_cause())
            self.tool_calls += 1
            self._tell("tool_call", call.tool_name)
            arguments = read_arguments(call.args)
            caller = partial(use_memory, desk) if call.tool_name in OWN_TOOLS else self.use
            answered = await answer_call(self.offered, call.tool_name, arguments, caller)
            await self._keep(call_id, call.tool_name, answered)
            self._tell("tool_result", call.tool_name, answered.error)
            self.malformed = self.malformed + 1 if answered.malformed else 0
            if self.malformed >= _MALFORMED_CALLS:
                cause = answered.content["error"]["message"]
                raise TaskError(
                    MODEL_ERROR,
                    f"{self.model_name} called tools wrongly {self.malformed} times in a row; "
                    f"last: {cause}",
                )

    async def _keep(self, call_id: str, tool: str, answered: Answered) -> None:
        content = await shortened(
            keepable(answered.content), tool, self._largest_answer(), self._archive
        )
        part = {
            "kind": "return",
            "id": call_id,
            "tool": keepable(tool),
            "content": content,
            "is_error": answered.error is not None,
        }
        kept = self._message("tool", "", part)
        await self.setting.memory.messages.append(self.agent.id, kept, by=self._by())

    async def _archive(self, text: str, tool: str) -> str:
        by = self._by()
        new = NewPassage(text, tags=("tool-answer", tool), source=by.reason)
        (passage,) = await self.setting.memory.passages.insert(self.agent.id, new, by=by)
        return passage.id

    def _largest_answer(self) -> int:
        return max(self._room() // _LARGEST_ANSWER, 1)

    def _room(self) -> int:
        return room_in(self.agent.context_window, list(self.offered.values()))

    async def _close_open_calls(self) -> None:
        """Calls that were under way when a process or a turn ended get an answer: nobody knows."""
        recent = await self.setting.memory.messages.list(self.agent.id, newest=True, limit=50)
        parts = [part for message in recent for part in message.parts]
        returned = {part["id"] for part in parts if part["kind"] == "return"}
        for part in parts:
            if part["kind"] == "call" and part["id"] not in returned:
                await self._keep(part["id"], part["tool"], INTERRUPTED)

    async def _fail(self, error: str, cause: str, letter: Letter | None) -> None:
        await self.setting.memory.turns.fail(
            self.turn,
            error,
            cause,
            by=self._by(),
            model=self.model_name,
            usage=self.usage(),
            letter=letter,
        )

    def _message(self, role: Any, text: str, *parts: dict[str, Any]) -> NewMessage:
        return NewMessage(role, keepable(text), parts, correlation_id=self.turn.correlation_id)

    def _by(self) -> Actor:
        return Actor("agent", self.agent.id, self.turn.id)

    def _count(self, response: ModelResponse, model: Model) -> None:
        self.requests += 1
        self.input_tokens += response.usage.input_tokens
        self.output_tokens += response.usage.output_tokens
        self.model_name = response.model_name or model.model_name

    def _say(self, text: str) -> None:
        if text:
            self.observe(TurnEvent("text", self._elapsed_ms(), text=text))

    def _tell(self, kind: TurnEventKind, tool: str | None = None, error: str | None = None) -> None:
        self.observe(TurnEvent(kind, self._elapsed_ms(), tool, error))

    def _elapsed_ms(self) -> float:
        return round((self.setting.clock() - self.began) * 1000, 3)

    def _limit_cause(self) -> str:
        limits = self.setting.limits
        return (
            f"the turn did not end within {limits.max_requests} model requests and "
            f"{limits.max_tool_calls} tool calls ({self.tool_calls} tool calls were made)"
        )
