"""Closing and removing: nothing stays open, nothing stays behind, nothing alive is touched."""

from __future__ import annotations

from typing import Any

import pytest
from flows import RUN, Flow, TaskFailed, linear, seed
from interleaved import Breaking
from test_join import fanned
from workers import put_away, run_to_end
from worlds import World

from control_plane import DONE, INDEX, Disconnected, Lease, Refusal, Store, timers


async def failed_run(world: World, n: int = 3) -> Store:
    """A failed run with documents of every kind and a blob."""
    flow: Flow = fanned(linear("T", "U"))

    async def work(lease: Lease) -> Any:
        if lease.path == "M[1]/U":
            raise TaskFailed("Boom")
        return "x" * 300_000

    await seed(world.store(), flow, list(range(n)))
    await run_to_end(world, flow, work, in_place=False)
    return world.store()


async def test_closing_leaves_nothing_open_and_changes_nothing_that_is_over(
    world: World,
) -> None:
    store = await failed_run(world)
    paths = await store.paths(RUN)
    before = await store.states(RUN, paths)
    open_ = {path for path, state in before.items() if state.is_open}
    assert await store.close(RUN) == len(open_)
    after = await store.states(RUN, paths)
    assert {path: after[path] for path in after if path not in open_} == {
        path: before[path] for path in before if path not in open_
    }
    for path in open_:
        expected = "skipped" if before[path].status == "pending" else "cancelled"
        assert (after[path].status, after[path].holder) == (expected, None)
        assert after[path].times["finished"] == world.now_ms
    assert await store.close(RUN) == 0


async def test_a_retired_run_is_among_the_done_and_needs_no_more_looks(world: World) -> None:
    store = await failed_run(world)
    await put_away(store)
    assert await world.backend.command("ZRANGE", INDEX, 0, -1) == []
    assert await world.backend.command("ZRANGE", DONE, 0, -1, "WITHSCORES") == [
        RUN, str(world.now_ms)
    ]  # fmt: skip
    await world.advance(3_600_000)
    assert (await timers.sweep(store)).over == []


async def test_a_removed_run_leaves_no_key(world: World) -> None:
    store = await failed_run(world)
    await put_away(store)
    assert await store.remove(RUN) is None
    assert await world.keys() == ["cp:queue:default"] or await world.keys() == []
    assert await store.remove(RUN) is None


async def test_only_a_finalized_run_is_removed(world: World) -> None:
    store = await failed_run(world)
    assert await store.remove(RUN) == Refusal("not_finalized")
    assert (await store.run(RUN)).status == "failed"


async def test_a_running_run_is_not_removed(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    before = await world.dump()
    assert await store.remove(RUN) == Refusal("still_running", ("running",))
    assert await world.dump() == before


async def test_a_removal_that_died_is_continued(world: World) -> None:
    store = await failed_run(world, 400)
    await put_away(store)
    assert len(await store.paths(RUN)) > 500
    breaking = Breaking(world.backend, 3, "after")
    with pytest.raises(Disconnected):
        await world.store(breaking).remove(RUN)
    assert breaking.names == ["SMEMBERS", "SMEMBERS", "gc"]
    assert await store.redrive(RUN, again=["M"], resume=[]) == Refusal("not_failed", ("removing",))
    assert await store.remove(RUN) is None
    assert [key for key in await world.keys() if RUN in key] == []


async def test_a_removed_id_may_be_used_again(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"), 1)
    await run_to_end(world, linear("A"))
    await put_away(store)
    await store.remove(RUN)
    assert await seed(store, linear("B"), 2, digest="d2") is True
    assert (await run_to_end(world, linear("B"))).status == "succeeded"


async def test_a_sweep_reports_a_run_that_is_over_until_it_is_retired(world: World) -> None:
    store = await failed_run(world)
    assert (await timers.sweep(store)).over == [RUN]
    await world.advance(15_000)
    assert (await timers.sweep(store)).over == [RUN]
    await put_away(store)
    await world.advance(15_000)
    assert (await timers.sweep(store)).over == []
