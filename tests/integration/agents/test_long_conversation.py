"""Two hundred turns in a small window: what is kept in blocks is not forgotten, nothing is over
budget, and the record says where each block's text comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from memory_world import Numbered, Ticking
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from dcf.agents import JSON, LocalAgents, ToolSpec
from dcf.memory import Actor, Memory, NewAgent, NewBlock, Source
from dcf.search import count_tokens

TURNS = 200
WINDOW = 4000
BY = Actor("user", "ada")
FACT = "The boat is called Quince and lies at pier 41."
LOOK_UP = ToolSpec("look_up", "Looks something up.")


class Skipper:
    """A model without memory of its own: it keeps the fact when it is told, and uses only what it
    is shown. Everything it is given is measured."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.summaries = 0
        self.knew: list[bool] = []
        self.model = FunctionModel(self._next, model_name="skipper")

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sizes.append(_size(messages, info))
        last = messages[-1]
        assert isinstance(last, ModelRequest)
        part = last.parts[-1]
        if isinstance(part, ToolReturnPart):
            return _says("Noted, thank you for that.")
        assert isinstance(part, UserPromptPart) and isinstance(part.content, str)
        asked = part.content
        if asked.startswith("Below is the older part of a conversation"):
            self.summaries += 1
            return _says("They spoke of the weather, turn by turn.")
        if "remember" in asked:
            arguments = {"label": "human", "content": FACT}
            return _calls("core_memory_append", arguments)
        if "look it up" in asked:
            return _calls("look_up", {})
        if "Where does my boat lie" in asked:
            self.knew.append(FACT in (info.instructions or ""))
            return _says("At pier 41." if self.knew[-1] else "I do not know.")
        return _says("The wind is fair, " * 12 + "all is well.")


def _says(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])


def _calls(tool: str, arguments: dict[str, JSON]) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart(tool, arguments)])


def _size(messages: list[ModelMessage], info: AgentInfo) -> int:
    """Tokens of everything that the model is given, counted from what arrived."""
    texts = [info.instructions or ""]
    for message in messages:
        for part in message.parts:
            content: Any = getattr(part, "content", None) or getattr(part, "args", None)
            texts.append(content if isinstance(content, str) else json.dumps(content))
    texts += [
        json.dumps([tool.name, tool.description, tool.parameters_json_schema])
        for tool in info.function_tools
    ]
    return sum(map(count_tokens, texts))


@pytest.mark.parametrize("summaries", ["rule", "model"])
async def test_a_fact_of_turn_5_is_used_at_turn_195(
    tmp_path: Path, summaries: Literal["rule", "model"]
) -> None:
    skipper = Skipper()
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        agents = LocalAgents(memory, model=skipper.model, summaries=summaries)
        blocks = [NewBlock("human", "Ada.", hard_limit=4000), NewBlock("style", "Be brief.")]
        agent = await agents.create(NewAgent("mate", context_window=WINDOW), blocks, by=BY)
        await agents.attach_tools(agent.id, [LOOK_UP], by=BY)

        async def use(name: str, arguments: dict[str, JSON]) -> JSON:
            return {"log": "calm sea, light breeze; " * 120}

        for turn in range(1, TURNS + 1):
            reply = await agents.send(agent.id, _asked(turn), use=use)
            if turn == 195:
                assert reply.text == "At pier 41."

        assert skipper.knew == [True]
        assert max(skipper.sizes) <= WINDOW
        messages = await agents.messages(agent.id, limit=5000)
        made = [message for message in messages if message.role == "summary"]
        _check_nothing_is_dropped(messages, await memory.contexts.assemble(agent.id))
        assert len(made) > 3
        assert (skipper.summaries > 0) == (summaries == "model")
        assert len(made) < TURNS / 4, "one summary makes room for several turns"
        turns = await memory.turns.list(agent.id, limit=TURNS + 1)
        assert [turn.state for turn in turns] == ["answered"] * TURNS
        await _check_the_record_explains(memory, agent.id)
        assert await memory.check() == ()
        await agents.aclose()


def _asked(turn: int) -> str:
    if turn == 5:
        return f"Please remember this: {FACT}"
    if turn == 195:
        return "Where does my boat lie?"
    if turn % 10 == 0:
        return f"What does log page {turn} say? Please look it up."
    return f"Turn {turn}: " + "what do you make of the weather today? " * (turn % 7 + 1)


def _check_nothing_is_dropped(messages: Any, context: Any) -> None:
    """Each message stands in the context itself, or a summary there stands for it."""
    shown = set()
    for message in context.messages:
        first, last = message.replaces or (message.seq, message.seq)
        shown |= {message.seq, *range(first, last + 1)}
    older = {message.seq for message in messages if message.role == "summary"}
    assert {message.seq for message in messages} - older <= shown
    assert context.overflow == () and context.unfinished == ()


async def _check_the_record_explains(memory: Memory, agent_id: str) -> None:
    """From its events alone, each block's text follows, with who wrote it and in which turn."""
    known = {turn.id: turn for turn in await memory.turns.list(agent_id, limit=TURNS + 1)}
    for block in await memory.blocks.list(agent_id):
        events = (await memory.events.list(block_id=block.id))[::-1]
        assert events[0].operation == "created" and events[0].by == BY
        assert await memory.events.text(block.id, events[-1].seq) == block.value
        texts = [await memory.events.text(block.id, event.seq) for event in events]
        if block.label == "style":
            assert texts == ["Be brief."]
            continue
        assert texts == ["Ada.", f"Ada.\n{FACT}"]
        by = events[1].by
        assert (by.kind, by.name) == ("agent", agent_id)
        tool, _, turn_id = by.reason.partition(" in ")
        assert tool == "core_memory_append"
        question = await memory.messages.get(agent_id, known[turn_id].first)
        assert FACT in question.content
