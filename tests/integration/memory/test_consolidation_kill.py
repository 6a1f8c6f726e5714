"""Consolidations are killed at any moment, with and without a model: each is whole or not there."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from memory_world import Ticking, started

from dcf.memory import (
    SYSTEM,
    Memory,
    NewAgent,
    NewBlock,
    NewMessage,
    NewPassage,
    Source,
    random_id,
)
from dcf.memory.consolidation import Consolidator

DAY = 86_400_000
AGENTS = [f"agent-{number}" for number in range(4)]
SAME = [NewPassage("The harbour opens at 6."), NewPassage("The harbour opens at 6")]

NURSERY = """
# Reads "me die_at" and makes a process that consolidates; loads all that it needs only once.
import asyncio, os, signal, sys, time
from pathlib import Path
from dcf.memory import SYSTEM, Memory, Source, random_id
from dcf.memory.consolidation import (
    ConsolidationRunning, ConsolidationSettings, Consolidator, Written
)

def clock():
    return int(time.time() * 1000) + int(sys.argv[2])

async def write(prompt, tokens):
    await asyncio.sleep(0.002)
    return Written("A summary by a model.", 5)

def dying(die_at):
    left = [die_at]
    def follow(*_):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return follow

async def consolidate(me, die_at) -> None:
    source = Source(Path(sys.argv[1]))
    async with Memory.open(source, clock=clock, new_id=random_id, embedder="none") as memory:
        # Claims of those that were killed end soon, so that there is something to do.
        settings = ConsolidationSettings(claim_ms=200)
        ways = [Consolidator(memory, write=how, settings=settings) for how in (write, None)]
        # Called within the transaction, at each row that changes.
        memory.ledger.followers = (*memory.ledger.followers, dying(die_at))
        os.write(1, f"ready {os.getpid()}\\n".encode())
        number = 0
        while True:
            number += 1
            try:
                session = await ways[number % 2].run(f"agent-{(number + me) % 4}")
            except ConsolidationRunning:
                continue
            if session.status == "completed":
                os.write(1, f"{session.id}\\n".encode())
                await ways[0].rollback(session.id, by=SYSTEM)

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    if line == "mark\\n":
        os.write(1, b"mark\\n")
        continue
    pid = os.fork()
    if pid == 0:
        asyncio.run(consolidate(*map(int, line.split())))
    os.write(1, f"pid {pid}\\n".encode())
"""


class Nursery:
    """Makes processes that consolidate; ``said`` are the sessions that they called done."""

    def __init__(self, source: Source, later: int) -> None:
        self._process = started(NURSERY, source.path, later)
        self._ready: set[int] = set()
        self.said: set[str] = set()

    def make(self, me: int, die_at: int) -> int:
        """The id of a process that consolidates now."""
        self._tell(f"{me} {die_at}")
        return int(self._wait_for("pid").split()[1])

    def wait_until_ready(self, pid: int) -> None:
        while pid not in self._ready:
            self._hear()

    def wait_until_dead(self, pid: int) -> None:
        for _ in range(10_000):
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.001)
        else:
            raise AssertionError("it lives")

    def hear_all(self) -> None:
        """Take in all that was said by now."""
        self._tell("mark")
        self._wait_for("mark")

    def close(self) -> bytes:
        """End; what was said of errors."""
        try:
            return self._process.communicate(timeout=30)[1]
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    def _wait_for(self, word: str) -> str:
        while not (line := self._hear()).startswith(word):
            pass
        return line

    def _hear(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode()
        if not line:
            raise AssertionError("the nursery is gone")
        if line.startswith("ready"):
            self._ready.add(int(line.split()[1]))
        elif line.startswith("consolidation-"):
            self.said.add(line.strip())
        return line


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path / "m.db")


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def nursery(source: Source, clock: Ticking) -> Iterator[Nursery]:
    made = Nursery(source, 40 * DAY + clock.now - round(time.time() * 1000))
    yield made
    assert made.close() == b""


async def test_a_killed_consolidation_is_whole_or_not_there(
    source: Source, clock: Ticking, nursery: Nursery
) -> None:
    async with Memory.open(source, clock=clock, new_id=random_id, embedder="none") as memory:
        for agent_id in AGENTS:
            await _fill(memory, agent_id)
        before = {agent_id: await _content(memory, agent_id) for agent_id in AGENTS}
    chance = random.Random(7)
    # At each of the first rows that a session changes, and at some of later ones.
    for die_at in (*range(1, 8), 12, 20, 31, 45, 70, 110):
        pid = nursery.make(0, die_at)
        nursery.wait_until_dead(pid)
        await _are_whole(source, clock, before)
    for _ in range(6):
        both = [nursery.make(me, 0) for me in range(2)]
        for pid in both:
            nursery.wait_until_ready(pid)
        await asyncio.sleep(chance.uniform(0, 0.15))
        for pid in both:
            await asyncio.sleep(chance.uniform(0, 0.03))
            os.kill(pid, signal.SIGKILL)
        for pid in both:
            nursery.wait_until_dead(pid)
        await _are_whole(source, clock, before)
    nursery.hear_all()
    async with Memory.open(source, clock=clock, new_id=random_id, embedder="none") as memory:
        known = {session.id for session in await Consolidator(memory).history(limit=10_000)}
        assert nursery.said
        assert nursery.said <= known
        # Nobody holds an agent for ever.
        clock.now += 41 * DAY
        for agent_id in AGENTS:
            assert (await Consolidator(memory).run(agent_id)).status == "completed"


async def _fill(memory: Memory, agent_id: str) -> None:
    facts = "\n".join(f"The port of service s{number} is {number}." for number in range(60))
    twice = "Ada is in Oslo.\nBert reads a lot.\n- Ada is in Oslo."
    await memory.agents.create(
        NewAgent(agent_id),
        by=SYSTEM,
        agent_id=agent_id,
        blocks=[NewBlock("notes", facts, soft_limit=1000), NewBlock("human", twice)],
    )
    said = [NewMessage("user", f"The {number} is at 10:{number:02}.") for number in range(40)]
    await memory.messages.append(agent_id, *said, by=SYSTEM)
    await memory.passages.insert(agent_id, *SAME, by=SYSTEM)


async def _are_whole(source: Source, clock: Ticking, before: dict[str, object]) -> None:
    """The file is sound, and each agent as a completed session left it, or as it was before."""
    async with Memory.open(source, clock=clock, new_id=random_id, embedder="none") as memory:
        assert await memory.check() == ()
        consolidator = Consolidator(memory)
        for agent_id, content in before.items():
            (last, *_) = await consolidator.history(agent_id, limit=1) or [None]
            if last is None or last.status == "rolled_back":
                assert await _content(memory, agent_id) == content
                continue
            strategies = {change.strategy for change in last.changes}
            assert strategies >= {"merge", "summarize", "archive"}
            human = (await memory.blocks.read(agent_id, "human")).value
            assert human == "Ada is in Oslo.\nBert reads a lot."
            assert len((await memory.blocks.read(agent_id, "notes")).value) <= 1000
            messages = (await memory.contexts.assemble(agent_id)).messages
            assert messages[0].replaces == (1, 20)
            # And it can be undone, whoever did it.
            await consolidator.rollback(last.id, by=SYSTEM)
            assert await _content(memory, agent_id) == content


async def _content(memory: Memory, agent_id: str) -> object:
    blocks = [(one.id, one.label, one.value) for one in await memory.blocks.list(agent_id)]
    messages = await memory.messages.list(agent_id, limit=1000)
    return blocks, messages, await memory.passages.list(agent_id, limit=1000)
