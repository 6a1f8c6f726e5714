"""A client that did not hear the answer asks again: one effect, the same answer."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, Flow, end, linear, seed, step
from redis.connection import parse_url
from test_crash import FLOW, outcome, work
from workers import Worker, drive, lease_of, put_away
from worlds import VirtualRedis, World, open_world

from control_plane import Backend, Budget, Committed, Noted, OverBudget, ToolCall, timers
from control_plane.script import Script

pytestmark = settled(*CONTRACT)

# What these say counts what the call itself did, or hands out work: a repetition finds none left.
COUNTING = {"tick", "close", "gc", "claim"}


class Doubling:
    """Runs every script twice and sees to it that nothing shows."""

    def __init__(self, inner: Backend, world: World) -> None:
        self._inner = inner
        self._world = world
        self.doubled: set[str] = set()

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        first = await self._inner.run(script, keys, args)
        if script.name == "claim":
            return first
        before = await self._world.dump()
        second = await self._inner.run(script, keys, args)
        assert await self._world.dump() == before, script.name
        if script.name not in COUNTING:
            assert second[:-1] == first[:-1], script.name
        assert second[-1][1] == [], f"{script.name} hinted again"
        self.doubled.add(script.name)
        return first

    async def command(self, *args: str | int) -> Any:
        return await self._inner.command(*args)

    async def close(self) -> None:
        await self._inner.close()


@pytest.mark.parametrize("in_place", [True, False])
async def test_every_script_said_twice_has_one_effect_and_one_answer(
    world: World, in_place: bool
) -> None:
    doubling = Doubling(world.backend, world)
    store = world.store(doubling)
    await seed(store, FLOW)
    worker = Worker(store, world.queue(), FLOW, work, in_place=in_place)
    run = await drive(world, [worker])
    assert run.status == "succeeded"
    await timers.tick(store, RUN)
    await put_away(store)
    assert await store.remove(RUN) is None
    assert doubling.doubled == {
        "seed", "acquire", "blob", "commit", "tick", "close", "finalize", "gc"
    }  # fmt: skip


async def test_what_a_run_without_trouble_does_not_say_has_one_effect_and_one_answer(
    world: World,
) -> None:
    doubling = Doubling(world.backend, world)
    store = world.store(doubling)
    flow: Flow = {"start": "A", "states": {"A": {"callback": True}}}
    await seed(store, flow)
    lease = await lease_of(store, "A")
    assert isinstance(await store.renew(lease, beat=True), int)
    assert await store.release(lease) is None
    await lease_of(store, "A")
    assert await store.move(RUN, "gpu", turn=1, by="x", revoke=True) is None
    store = store.in_pool("gpu")
    lease = await lease_of(store, "A")
    await store.commit(lease, await step(store, flow, lease), commit_id="c1")
    assert await store.signal(RUN, "A", visit=1, try_=1, event="callback", value=1) is None
    assert await store.cancel(RUN, by="x") is None
    await store.close(RUN)
    assert await store.redrive(RUN, again=["A"], resume=[]) is None
    assert {"renew", "release", "move", "signal", "cancel", "redrive"} <= doubling.doubled


async def test_a_call_and_its_approval_said_twice_count_once(world: World) -> None:
    doubling = Doubling(world.backend, world)
    store = world.store(doubling)
    flow: Flow = linear("A", asks=["d1"])
    await seed(store, flow)
    lease = await lease_of(store, "A")
    limit = Budget(tool_calls=1)
    decision, to_make = ({"type": "D"}, {"type": "R"}), ToolCall("d")
    assert await store.note(lease, *decision, to_make=to_make) == Noted(1, 1, 0)
    over = await store.note(lease, *decision, to_make=to_make, run_budget=limit)
    assert over == OverBudget("run", "tool_calls", 1, 1)
    assert await store.recall(lease, ToolCall("d", known=(0,))) == 0
    assert await store.settle(lease, 0, "{}") is None
    await store.commit(lease, await step(store, flow, lease), commit_id="c1")
    decided = await store.signal(
        RUN, "A", visit=1, try_=1, event="approval", value={"decision": "reject"}, ask=1,
        recorded={"type": "ApprovalDecided"},
    )  # fmt: skip
    assert decided is None
    await lease_of(store, "A")
    assert {"note", "recall", "settle", "commit", "signal", "acquire"} <= doubling.doubled


async def test_an_answer_said_again_after_it_was_taken_is_still_the_first(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True, "next": "A"}}}
    store = world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await store.commit(lease, await step(store, flow, lease), commit_id="c1")
    said: list[tuple[Any, ...]] = []

    class Noting(Doubling):
        async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
            said.append((script, keys, args))
            return await self._inner.run(script, keys, args)

    noting = world.store(Noting(world.backend, world))
    assert await noting.signal(RUN, "A", visit=1, try_=1, event="callback", value=1) is None
    lease = await lease_of(store, "A")
    await store.commit(lease, end(flow, lease, 1), commit_id="c2")
    before = await world.dump()
    assert (await world.backend.run(*said[0]))[0] == "ok"
    assert await world.dump() == before


async def test_a_commit_said_again_much_later_gets_its_first_answer(world: World) -> None:
    """When the state came round again, was redriven, or the run is over."""
    flow: Flow = {"start": "A", "states": {"A": {"task": "A", "next": "A", "catch": None}}}
    store = world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    commit = end(flow, lease, 1)
    first = await store.commit(lease, commit, commit_id="c1", in_place=True)
    assert isinstance(first, Committed)
    assert first.lease is not None
    for number in range(2, 4):
        current = first.lease if number == 2 else await lease_of(store, "A")
        await store.commit(current, end(flow, current, number), commit_id=f"c{number}")
    await store.cancel(RUN, by="x")
    await store.close(RUN)
    await store.redrive(RUN, again=["A"], resume=[])
    before = await world.dump()
    again = await store.commit(lease, commit, commit_id="c1", in_place=True)
    assert isinstance(again, Committed)
    assert again.lease is not None
    assert (again.lease.path, again.lease.visit) == ("A", 2)
    assert again.lease.fence == first.lease.fence
    assert await world.dump() == before


@asynccontextmanager
async def deaf_proxy(url: str, socket: Path, seed_: int) -> AsyncIterator[list[int]]:
    """A proxy before the server at ``url`` that swallows one in eight replies and hangs up in its
    place; the list counts how often."""
    target = parse_url(url)
    swallowed, chance = [0], random.Random(seed_)
    pumps: set[asyncio.Task[Any]] = set()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_unix_connection(target["path"])
        task = asyncio.create_task(pump(reader, forth))
        pumps.add(task)
        while data := await back.read(1 << 20):
            if chance.random() < 1 / 8:
                swallowed[0] += 1
                break
            writer.write(data)
        writer.close()
        forth.close()
        task.cancel()

    server = await asyncio.start_unix_server(serve, str(socket))
    async with server:
        yield swallowed


@pytest.mark.parametrize("seed_", range(4))
async def test_a_client_that_reconnects_doubles_nothing(
    redis_url: str, short_dir: Path, seed_: int
) -> None:
    world = await open_world(redis_url)
    await seed(world.store(), FLOW)
    await drive(world, [Worker(world.store(), world.queue(), FLOW, work)])
    expected = await outcome(world)
    await world.backend.command("FLUSHALL")
    await world.advance(0)
    async with deaf_proxy(redis_url, short_dir / "p.sock", seed_) as swallowed:
        backend = VirtualRedis.from_url(f"unix://{short_dir / 'p.sock'}", retries=12)
        store = world.store(backend)
        assert await seed(store, FLOW) is True
        run = await drive(world, [Worker(store, world.queue(), FLOW, work)])
        await backend.close()
        assert swallowed[0] >= 3
    assert run.status == "succeeded"
    assert json.dumps((await outcome(world))["outputs"]) == json.dumps(expected["outputs"])
    assert await outcome(world) == expected
    await world.close()


async def test_a_chain_of_states_survives_a_deaf_connection_in_place(
    redis_url: str, short_dir: Path
) -> None:
    flow = linear(*(f"S{number}" for number in range(30)))
    world = await open_world(redis_url)
    async with deaf_proxy(redis_url, short_dir / "p.sock", 9) as swallowed:
        backend = VirtualRedis.from_url(f"unix://{short_dir / 'p.sock'}", retries=12)
        store = world.store(backend)
        await seed(store, flow)
        run = await drive(world, [Worker(store, world.queue(), flow)])
        await backend.close()
    assert run.status == "succeeded"
    assert swallowed[0] > 5
    states = await world.store().states(RUN, await world.store().paths(RUN))
    assert {(state.status, state.visit, state.attempts) for state in states.values()} == {
        ("done", 1, 1)
    }
    await world.close()
