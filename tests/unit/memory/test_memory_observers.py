"""Observers hear of what was committed, of nothing else, and cannot spoil it."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import Actor, AgentExists, Event, Memory, NewAgent, NewBlock, Observer, Source

BY = Actor("user", "ada")


class Listener(Observer):
    """Writes down what it hears, and what the memory has at that moment."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []
        self.memory: Memory | None = None
        self.texts: list[str] = []

    async def agent_created(self, agent_id: str, event: Event) -> None:
        self.heard.append(("created", agent_id))

    async def agent_updated(self, agent_id: str, event: Event) -> None:
        self.heard.append(("updated", agent_id))

    async def agent_deleted(self, agent_id: str, event: Event) -> None:
        self.heard.append(("deleted", agent_id))

    async def block_written(self, block_id: str, event: Event) -> None:
        self.heard.append((event.operation, block_id))
        if self.memory is not None and "deleted" not in event.change:
            # From another connection: it is committed.
            self.texts.append((await self.memory.blocks.get(block_id)).value)


class Broken(Observer):
    async def agent_created(self, agent_id: str, event: Event) -> None:
        raise ValueError("I am broken")


def opened(path: Path, *observers: Observer) -> Memory:
    source = Source(path / "m.db")
    return Memory.open(source, clock=Ticking(), new_id=Numbered(), observers=observers)


async def test_each_change_is_told_in_its_order(tmp_path: Path) -> None:
    listener = Listener()
    async with opened(tmp_path, listener) as memory:
        await memory.agents.create(NewAgent("anna"), by=BY, blocks=[NewBlock("n")])
        await memory.agents.update("agent-1", by=BY, role="r")
        await memory.blocks.write("agent-1", "n", "x", by=BY)
        then = await memory.events.last()
        await memory.agents.delete("agent-1", by=BY)
        await memory.events.roll_back_agent("agent-1", then, by=BY)
    assert listener.heard == [
        ("created", "agent-1"),
        ("created", "block-1"),
        ("updated", "agent-1"),
        ("updated", "block-1"),
        ("deleted", "block-1"),
        ("deleted", "agent-1"),
        ("created", "agent-1"),
        ("rolled_back", "block-1"),
    ]


async def test_what_is_told_is_committed(tmp_path: Path) -> None:
    listener = Listener()
    async with opened(tmp_path, listener) as memory:
        listener.memory = memory
        await memory.agents.create(NewAgent("anna"), by=BY, blocks=[NewBlock("n", "one")])
        await memory.blocks.write("agent-1", "n", "two", by=BY)
    assert listener.texts == ["one", "two"]


async def test_of_a_change_that_failed_nobody_hears(tmp_path: Path) -> None:
    listener = Listener()
    async with opened(tmp_path, listener) as memory:
        await memory.agents.create(NewAgent("anna"), by=BY, blocks=[])
        with pytest.raises(AgentExists):
            await memory.agents.create(NewAgent("anna"), by=BY)
    assert listener.heard == [("created", "agent-1")]


async def test_an_observer_that_fails_spoils_nothing_and_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    listener = Listener()
    with caplog.at_level(logging.ERROR):
        async with opened(tmp_path, Broken(), listener) as memory:
            agent = await memory.agents.create(NewAgent("anna"), by=BY, blocks=[])
            assert await memory.agents.get(agent.id) == agent
    assert listener.heard == [("created", "agent-1")]
    assert "observer" in caplog.text
    assert "I am broken" in caplog.text


async def test_observers_hear_of_a_change_whose_caller_went_away(tmp_path: Path) -> None:
    listener = Listener()
    async with opened(tmp_path, listener) as memory:
        creating = asyncio.create_task(memory.agents.create(NewAgent("anna"), by=BY, blocks=[]))
        await asyncio.sleep(0)
        creating.cancel()
    assert listener.heard == [("created", "agent-1")]
    assert creating.cancelled()
