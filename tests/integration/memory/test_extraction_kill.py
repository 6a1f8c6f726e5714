"""Extractors are killed at any moment, two at a time: each turn of a thread, an agent and a session
yields its observations once."""

from __future__ import annotations

import asyncio
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from campaigns import campaign
from extraction_world import World, agent_of, converse, is_whole, titles_by_turn, turn
from memory_world import started

from control_plane import RedisBackend, Store
from dcf.memory import SYSTEM, Memory, NewThread, NewTurn, Outline, Source, random_id
from dcf.sessions import Sessions

ROUNDS, TURNS = 5, 8
"""Of a share; in each round two extractors are killed."""
LEASE_MS = 300
STEPS = 2_000, 40_000
"""Calls and returns until an extractor has opened the memory, and until it has done what there is
in a round, about."""

NURSERY = """
# Reads numbers of steps, makes an extractor for each that is killed at this step of it, and says
# how they ended. Loads all that it needs only once.
import asyncio, os, signal, sys, threading, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from control_plane import RedisBackend, Store
from extraction_world import World
from dcf.memory import SYSTEM, Memory, Origin, Source, random_id
from dcf.memory.extraction import SourceEvent, prompt_for

# What the first event would compile is there before the first fork.
prompt_for(SourceEvent(Origin("amp", "t"), "message", said="first"))

def dying(last):
    count = 0
    def step(frame, event, _):
        nonlocal count
        if "/dcf/" in frame.f_code.co_filename:
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)
    return step

async def extract(last):
    step = dying(last)
    threading.setprofile(step)
    sys.setprofile(step)
    source = Source(Path(sys.argv[1]))
    clock = lambda: time.time_ns() // 10**6
    store = Store(RedisBackend.from_url(sys.argv[4]))
    async with Memory.open(source, clock=clock, new_id=random_id, embedder="none") as memory:
        world = World(memory, lease_ms=int(sys.argv[3]), store=store)
        await world.find()
        await world.extractor.run()

for line in sys.stdin:
    children = []
    for last in map(int, line.split()):
        pid = os.fork()
        if pid == 0:
            asyncio.run(extract(last))
            os._exit(0)
        children.append(pid)
    ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    print(*ends, flush=True)
"""


@contextmanager
def nursery(source: Source, redis_url: str) -> Iterator[subprocess.Popen[bytes]]:
    process = started(NURSERY, source.path, Path(__file__).parents[2], LEASE_MS, redis_url)
    try:
        yield process
        _, errors = process.communicate(timeout=60)
        assert errors == b""
    finally:
        process.kill()


def killed(process: subprocess.Popen[bytes], *steps: int) -> list[int]:
    """Have extractors work that are killed at these steps; their exit codes."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{' '.join(map(str, steps))}\n".encode())
    process.stdin.flush()
    return [int(code) for code in process.stdout.readline().split()]


async def talk(sessions: Sessions, text: str) -> None:
    """A turn of the session's conversation."""
    for role, said in (("user", text), ("conductor", "It is done.")):
        await sessions.say("s-1", "Said", role=role, text=said, request=text[:17])


def now() -> int:
    return time.time_ns() // 10**6


@campaign(shares=25)
async def test_extractors_that_are_killed_anywhere_leave_each_turn_done_once(
    share: int, tmp_path: Path, redis_url: str
) -> None:
    source, chance = Source(tmp_path / "m.db"), random.Random(share)
    backend = RedisBackend.from_url(redis_url)
    store = Store(backend)
    async with Memory.open(source, clock=now, new_id=random_id, embedder="none") as memory:
        agent_id = await agent_of(memory)
        await Sessions(store).create("s-1", "conductor-1", "help")
        with nursery(source, redis_url) as process:
            ends: list[int] = []
            for number in range(ROUNDS):
                texts = [turn(number * TURNS + at) for at in range(TURNS)]
                said = tuple(NewTurn("assistant", text) for text in texts[:4])
                thread = NewThread("amp", Outline(f"t-{number}", "/shop"), said)
                await memory.threads.sync(thread, by=SYSTEM)
                for text in texts[4:6]:
                    await converse(memory, agent_id, text)
                for text in texts[6:]:
                    await talk(Sessions(store), text)
                steps = [chance.randint(*STEPS) for _ in range(2)]
                ends += await asyncio.to_thread(killed, process, *steps)
                assert await memory.check() == ()
                assert all(map(is_whole, (await titles_by_turn(memory)).values()))
        assert set(ends) <= {0, -9}
        assert -9 in ends
        # Whoever comes next does the rest, as soon as the claims of the dead are over.
        world = World(memory, lease_ms=LEASE_MS, store=store)
        await world.find()
        while (counts := await world.queue.counts()).waiting or counts.claimed:
            await world.extractor.run()
            await asyncio.sleep(0.05)
        found = await titles_by_turn(memory)
        assert sorted(found) == [f"turn-{at:04}" for at in range(ROUNDS * TURNS)]
        assert all(map(is_whole, found.values())), found
        assert (counts.done, counts.found, counts.set_aside) == (
            ROUNDS * TURNS,
            2 * ROUNDS * TURNS,
            0,
        )
        assert await memory.check() == ()
    await backend.close()
