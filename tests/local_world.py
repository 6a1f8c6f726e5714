"""The local runtime on a new memory, with a scripted model of pydantic-ai."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from memory_world import Numbered, Ticking
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart
from pydantic_ai.messages import ToolCallPart as CallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from runtime_world import Calls, Says

from dcf.agents import LocalAgents
from dcf.memory import Memory, Source

Line: TypeAlias = "Says | Calls | Exception | Callable[[str], Awaitable[Says | Calls]]"
"""What the model does: also fail, or see what it is given and say something when it is time."""


class LocalWorld:
    """A world of one memory file."""

    def __init__(self, memory: Memory, **settings: Any) -> None:
        self._lines: list[Line] = []
        self._prompts: list[str] = []
        self.memory = memory
        self.model = FunctionModel(self._next, model_name="scripted")
        self.runtime = LocalAgents(memory, model=self.model, **settings)

    def script(self, *lines: Line) -> None:
        self._lines.extend(lines)

    def prompts(self) -> list[str]:
        return list(self._prompts)

    def forget(self) -> None:
        """Drop the lines that nobody asked for."""
        self._lines.clear()

    def left(self) -> int:
        """How many lines nobody asked for."""
        return len(self._lines)

    async def _next(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered = [tool.name for tool in info.function_tools]
        said = ModelMessagesTypeAdapter.dump_python(messages, mode="json")
        self._prompts.append(json.dumps([info.instructions, said, offered], ensure_ascii=False))
        line = self._lines.pop(0)
        if isinstance(line, Exception):
            raise line
        if callable(line):
            line = await line(self._prompts[-1])
        if isinstance(line, Says):
            return ModelResponse(parts=[TextPart(line.text)])
        number = f"call-{len(self._prompts)}"
        return ModelResponse(parts=[CallPart(line.tool, line.arguments, tool_call_id=number)])


@asynccontextmanager
async def local_world(folder: Path, **settings: Any) -> AsyncIterator[LocalWorld]:
    """A world in ``folder``; the file must be whole when the test is over. ``settings`` are those
    of LocalAgents."""
    source = Source(folder / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        world = LocalWorld(memory, **settings)
        try:
            yield world
        finally:
            await world.runtime.aclose()
        assert await memory.check() == ()
