"""Hints of many pools, read together."""

from __future__ import annotations

import asyncio

import pytest
from flows import RUN, linear, seed
from worlds import World

from control_plane import HintQueues, signs_of_life


def queues(world: World, *pools: str, consumer: str = "host") -> HintQueues:
    return HintQueues(world.backend, consumer=consumer, pools=pools)


async def say(world: World, pool: str, path: str = "A") -> None:
    """A hint in ``pool``."""
    queue = f"cp:queue:{pool}"
    await world.backend.command("XADD", queue, "*", "workflow", RUN, "path", path)


async def test_each_hint_tells_its_pool(world: World) -> None:
    many = queues(world, "a", "b", "c")
    await many.open()
    await say(world, "c", "one")
    await say(world, "a", "two")
    found = await many.read(10, block_ms=1)
    assert sorted((hint.pool, hint.path) for hint in found) == [("a", "two"), ("c", "one")]
    assert await many.read(10, block_ms=1) == []


async def test_a_read_that_waits_ends_with_the_first_hint_of_any_pool(world: World) -> None:
    many = queues(world, *(f"p{number}" for number in range(50)))
    await many.open()
    waits = asyncio.create_task(many.read(10, block_ms=5_000))
    await asyncio.sleep(0.05)
    assert not waits.done()
    await say(world, "p31")
    async with asyncio.timeout(2):
        assert [hint.pool for hint in await waits] == ["p31"]


async def test_what_is_no_hint_is_dropped_and_the_others_are_read(world: World) -> None:
    many = queues(world, "a")
    await many.open()
    await say(world, "a", "one")
    await world.backend.command("XADD", "cp:queue:a", "*", "junk", "1")
    await say(world, "a", "two")
    assert [hint.path for hint in await many.read(10, block_ms=1)] == ["one", "two"]
    assert await world.backend.command("XLEN", "cp:queue:a") == 2
    assert (await world.backend.command("XPENDING", "cp:queue:a", "workers"))[0] == 2


async def test_pools_come_and_go_between_reads(world: World) -> None:
    many = queues(world)
    assert await many.read(10, block_ms=1) == []
    await many.add("a")
    await many.add("b")
    assert many.pools == ("a", "b")
    await say(world, "a")
    await say(world, "b")
    assert {hint.pool for hint in await many.read(10, block_ms=1)} == {"a", "b"}
    await many.remove("a")
    await many.remove("never")
    await say(world, "a")
    await say(world, "b")
    assert [hint.pool for hint in await many.read(10, block_ms=1)] == ["b"]
    assert await signs_of_life(world.backend, "a") == {}
    assert list(await signs_of_life(world.backend, "b")) == ["host"]
    other = queues(world, "a", consumer="other")
    assert len(await other.read(10, block_ms=1)) == 1, "what it never read is left for others"


async def test_reads_are_a_sign_of_life_in_every_pool(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("control_plane.queue._SAY_EVERY_S", 0.0)
    many = queues(world, "a", "b", "c")
    await many.open()
    await many.read(10, block_ms=1)
    await asyncio.sleep(0.06)
    await world.advance(60)
    for pool in "abc":
        assert (await signs_of_life(world.backend, pool))["host"] >= 50
    await say(world, "b")
    await many.read(10, block_ms=1)
    for pool in "abc":
        assert (await signs_of_life(world.backend, pool))["host"] < 50


async def test_who_died_before_the_server_loaded_its_log_gives_no_sign(world: World) -> None:
    """A log says that there is a consumer, and not when it read."""
    living = queues(world, "a", consumer="living")
    await living.open()
    for name in ("living", "dead"):
        await queues(world, "a", consumer=name).read(10, block_ms=1)
    await world.backend.command("DEL", "cp:reader:dead")
    assert list(await signs_of_life(world.backend, "a")) == ["living"]
    await living.leave()
    assert await world.backend.command("EXISTS", "cp:reader:living") == 0


async def test_hints_nobody_settled_are_dropped_in_each_pool(world: World) -> None:
    dead, living = queues(world, "a", "b", consumer="dead"), queues(world, "a", "b")
    await dead.open()
    for pool in "ab":
        await say(world, pool)
    for hint in await dead.read(10, block_ms=1):
        # As if it had been read two minutes ago.
        await world.backend.command(
            "XCLAIM", f"cp:queue:{hint.pool}", "workers", "dead", 0, hint.entry,
            "IDLE", 120_000, "JUSTID",
        )  # fmt: skip
    assert await living.drop_stale() == 2
    assert await living.drop_stale() == 0
    assert [await world.backend.command("XLEN", f"cp:queue:{pool}") for pool in "ab"] == [0, 0]


async def test_who_leaves_takes_along_what_it_never_settled(world: World) -> None:
    many = queues(world, "a", "b")
    await many.open()
    await say(world, "a")
    await say(world, "b", "read")
    await many.read(10, block_ms=1)
    await say(world, "b", "unread")
    await world.backend.command("DEL", "cp:queue:a")
    await many.leave()
    assert await signs_of_life(world.backend, "b") == {}
    other = queues(world, "b", consumer="other")
    assert [hint.path for hint in await other.read(10, block_ms=1)] == ["unread"]


async def test_streams_that_were_removed_are_opened_again(world: World) -> None:
    many = queues(world, "a", "b")
    await many.open()
    await world.backend.command("DEL", "cp:queue:a")
    assert await many.drop_stale() == 0
    assert await many.read(10, block_ms=1) == []
    await seed(world.store(pool="a"), linear("A"))
    assert [hint.pool for hint in await many.read(10, block_ms=1)] == ["a"]
