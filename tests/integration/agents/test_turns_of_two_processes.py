"""Two processes talk to one agent at once: their turns follow each other, and one that is killed is
waited for no longer than its lease."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from memory_world import started
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from dcf.agents import LocalAgents, TaskError
from dcf.memory import SYSTEM, Memory, NewAgent, NewMessage, Source, random_id

DYING = """
import asyncio, sys, time
from pathlib import Path
from pydantic_ai.models.function import FunctionModel
from dcf.agents import LocalAgents
from dcf.memory import Memory, Source, random_id

async def answer(messages, info):
    print("asked", flush=True)
    await asyncio.Event().wait()

async def main(path, agent_id):
    clock = lambda: int(time.time() * 1000)
    async with Memory.open(Source(Path(path)), clock=clock, new_id=random_id) as memory:
        agents = LocalAgents(memory, model=FunctionModel(answer), lease_s=0.6)
        await agents.send(agent_id, "First.")

asyncio.run(main(*sys.argv[1:]))
"""


def _now_ms() -> int:
    return int(time.time() * 1000)


async def test_turns_of_two_that_share_a_memory_follow_each_other(tmp_path: Path) -> None:
    source = Source(tmp_path / "memory.db")
    at_once: list[int] = []
    inside = 0

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        nonlocal inside
        inside += 1
        at_once.append(inside)
        await asyncio.sleep(0.05)
        inside -= 1
        return ModelResponse(parts=[TextPart("Yes.")])

    async with (
        Memory.open(source, clock=_now_ms, new_id=random_id) as one,
        Memory.open(source, clock=_now_ms, new_id=random_id) as two,
    ):
        agent = await one.agents.create(NewAgent("shared"), by=SYSTEM)
        homes = [LocalAgents(memory, model=FunctionModel(answer)) for memory in (one, two)]
        sent = [home.send(agent.id, f"Number {n}.") for n in range(3) for home in homes]
        await asyncio.gather(*sent)
        roles = [message.role for message in await one.messages.list(agent.id)]
        for home in homes:
            await home.aclose()
    assert set(at_once) == {1}
    assert roles == ["user", "assistant"] * 6


async def test_who_was_killed_in_a_turn_is_waited_for_only_so_long(tmp_path: Path) -> None:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=_now_ms, new_id=random_id) as memory:
        agent = await memory.agents.create(NewAgent("one"), by=SYSTEM)
        dying = await asyncio.to_thread(started, DYING, source.path, agent.id)
        assert dying.stdout is not None
        assert await asyncio.to_thread(dying.stdout.readline) == b"asked\n"
        dying.kill()
        await asyncio.to_thread(dying.communicate)

        def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            return ModelResponse(parts=[TextPart("Here.")])

        agents = LocalAgents(memory, model=FunctionModel(answer), lease_s=0.6)
        async with asyncio.timeout(10):
            assert (await agents.send(agent.id, "Second.")).text == "Here."
        first, second = await memory.turns.list(agent.id)
        assert (first.state, first.error) == ("failed", "DCF.Interrupted")
        assert second.state == "answered"
        await agents.aclose()
        assert await memory.check() == ()


async def test_who_was_taken_for_dead_stops(tmp_path: Path) -> None:
    source = Source(tmp_path / "memory.db")
    asked = asyncio.Event()

    async def never(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with Memory.open(source, clock=_now_ms, new_id=random_id) as memory:
        agent = await memory.agents.create(NewAgent("one"), by=SYSTEM)
        agents = LocalAgents(memory, model=FunctionModel(never), lease_s=0.3)
        sending = asyncio.create_task(agents.send(agent.id, "First."))
        await asked.wait()
        # As whoever has heard nothing of it for as long as a turn may be silent.
        await memory.turns.begin(agent.id, NewMessage("user", "Mine."), by=SYSTEM, lease_ms=0)
        try:
            await sending
        except TaskError as lost:
            assert lost.error == "DCF.Interrupted"
        else:
            raise AssertionError("it went on")
        await agents.aclose()
