"""A process is killed while its agent answers a message: another one goes on with it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from memory_world import started
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from dcf.agents import LocalAgents
from dcf.memory import SYSTEM, Memory, NewAgent, NewBlock, Source, random_id

DYING = """
import asyncio, sys, time
from pathlib import Path
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from dcf.agents import LocalAgents
from dcf.memory import Memory, Source, random_id

async def answer(messages, info):
    if len(messages) > 1:
        # The note was made and its return is kept; the next answer never comes.
        print("asked again", flush=True)
        await asyncio.Event().wait()
    call = ToolCallPart("core_memory_append", {"label": "notes", "content": "asked once"})
    return ModelResponse(parts=[call])

async def main(path, agent_id):
    clock = lambda: int(time.time() * 1000)
    async with Memory.open(Source(Path(path)), clock=clock, new_id=random_id) as memory:
        agents = LocalAgents(memory, model=FunctionModel(answer), lease_s=0.5)
        await agents.send_async(agent_id, "How far?", sender="ada", timeout_s=60)
        await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


def _now_ms() -> int:
    return int(time.time() * 1000)


async def test_a_message_outlives_the_process_that_answers_it(tmp_path: Path) -> None:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=_now_ms, new_id=random_id) as memory:
        agent = await memory.agents.create(NewAgent("one"), by=SYSTEM, blocks=[NewBlock("notes")])
        dying = await asyncio.to_thread(started, DYING, source.path, agent.id)
        assert dying.stdout is not None
        assert await asyncio.to_thread(dying.stdout.readline) == b"asked again\n"
        dying.kill()
        await asyncio.to_thread(dying.communicate)
        assert await memory.check() == ()

        seen: list[int] = []

        def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            seen.append(len(messages))
            return ModelResponse(parts=[TextPart("Half way.")])

        agents = LocalAgents(memory, model=FunctionModel(answer), lease_s=0.5)
        (letter,) = await memory.letters.list(agent.id)
        assert letter.state == "taken"
        for _ in range(400):
            agents.deliver()
            letter = await memory.letters.get(letter.id)
            if letter.is_over:
                break
            await asyncio.sleep(0.02)
        assert (letter.state, letter.tries) == ("answered", 2)

        kept = await memory.messages.list(agent.id)
        assert [message.role for message in kept] == ["user", "assistant", "tool", "assistant"]
        assert seen == [3], "question, call and return: the turn went on where it stopped"
        assert (await memory.blocks.read(agent.id, "notes")).value == "asked once"
        await agents.aclose()
        assert await memory.check() == ()
