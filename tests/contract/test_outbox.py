"""The outbox: what is sealed waits there until the graph has it, and is not removed before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from flows import RUN, linear, seed
from test_gc import failed_run
from workers import put_away, run_to_end
from worlds import World

from control_plane import (
    Outbox,
    OutboxFull,
    Refusal,
    Store,
    keys,
    run_lists,
    script,
    sweep_outbox,
)


async def ended_run(world: World, workflow_id: str = RUN, **options: Any) -> Store:
    """A store with an outbox, and a run that ended and was put away through it."""
    store = world.store(outbox=True, **options)
    await seed(store, linear("A"), 1)
    await run_to_end(world, linear("A"))
    await put_away(store)
    return store


async def reader(world: World, name: str = "r1") -> Outbox:
    outbox = Outbox(world.backend, consumer=name)
    await outbox.open()
    return outbox


async def test_a_run_waits_from_the_moment_it_is_sealed(world: World) -> None:
    store = await failed_run(world)
    outbox = await reader(world)
    assert (await outbox.lag()).waiting == 0
    await put_away(world.store(outbox=True))
    assert (await store.run(RUN)).outbox == "waiting"
    assert [(entry.kind, entry.id) for entry in await outbox.read(9)] == [("run", RUN)]


async def test_a_store_without_an_outbox_puts_nothing_there(world: World) -> None:
    store = await failed_run(world)
    await put_away(store)
    assert (await store.run(RUN)).outbox is None
    assert (await (await reader(world)).lag()).waiting == 0


async def test_sealing_again_puts_nothing_there_a_second_time(world: World) -> None:
    store = await ended_run(world)
    await put_away(store)
    assert (await (await reader(world)).lag()).runs == 1


async def test_a_run_that_waits_is_not_removed(world: World) -> None:
    store = await ended_run(world)
    before = await world.dump()
    assert await store.remove(RUN) == Refusal("not_exported")
    assert await world.dump() == before
    assert await store.told(await store.run(RUN)) is True
    assert await store.remove(RUN) is None


async def test_a_run_that_waits_may_be_given_up(world: World) -> None:
    store = await ended_run(world)
    assert await store.remove(RUN, unexported=True) is None
    assert [key for key in await world.keys() if RUN in key] == []


async def test_a_redriven_run_waits_anew_and_its_old_end_settles_nothing(world: World) -> None:
    store = await failed_run(world)
    await put_away(world.store(outbox=True))
    old = await store.run(RUN)
    assert await store.redrive(RUN, again=[], resume=["M"]) is None
    assert (await store.run(RUN)).outbox is None
    await store.cancel(RUN, by="somebody")
    await put_away(world.store(outbox=True))
    assert await store.told(old) is False
    assert (await store.run(RUN)).outbox == "waiting"
    assert [entry.id for entry in await (await reader(world)).read(9)] == [RUN, RUN]


async def test_what_is_not_settled_is_taken_over(world: World) -> None:
    await ended_run(world)
    first, second = await reader(world), await reader(world, "r2")
    taken = await first.read(9)
    assert await second.read(9) == []
    assert await second.claim(9, idle_ms=30_000) == []
    await world.advance(30_000)
    # Real time decides how long an entry is pending on a real server.
    assert await second.claim(9, idle_ms=0) == taken
    await second.settle(taken)
    assert (await first.lag()).waiting == 0
    assert await first.claim(9, idle_ms=0) == []


async def test_records_come_back_as_they_were_put(world: World) -> None:
    outbox = await reader(world)
    data = {"text": 'é"\\', "list": [], "none": None, "number": 1.5}
    await outbox.put("insight", "i1", data)
    (entry,) = await outbox.read(9)
    assert (entry.kind, entry.id, entry.data) == ("insight", "i1", data)


async def test_one_record_too_many_is_refused_and_nothing_is_lost(world: World) -> None:
    outbox = await reader(world)
    for number in range(3):
        request = f'{{"kind":"insight","id":"i{number}","limit":2}}'
        names = [keys.OUTBOX_RECORDS, keys.OUTBOX_COUNTS]
        answer = await world.backend.run(script.load("tell"), names, [request, "{}"])
    assert answer == ["full", 2]
    assert [entry.id for entry in await outbox.read(9)] == ["i0", "i1"]


async def test_a_producer_is_told_that_the_outbox_is_full(world: World) -> None:
    class Full:
        async def run(self, *_: Any) -> list[Any]:
            return ["full", 100_000]

    with pytest.raises(OutboxFull, match="100000 records"):
        await Outbox(Full()).put("insight", "i", {})  # type: ignore[arg-type]


async def test_too_many_runs_drop_the_oldest_hints_visibly_and_a_sweep_finds_them(
    world: World,
) -> None:
    store = await ended_run(world)
    for number in range(2):
        request = f'{{"kind":"run","id":"other{number}","limit":2}}'
        names = [keys.OUTBOX_RUNS, keys.OUTBOX_COUNTS]
        await world.backend.run(script.load("tell"), names, [request])
    outbox = await reader(world)
    assert (await outbox.lag()).dropped == 1
    read = await outbox.read(9)
    assert [entry.id for entry in read] == ["other0", "other1"]
    await outbox.settle(read)
    # It lies longer back than any sweep would look without the drop.
    await world.advance(3_600_000)
    assert await sweep_outbox(store) == 1
    assert [entry.id for entry in await outbox.read(9)] == [RUN]
    assert await sweep_outbox(store) == 0


async def test_a_sweep_goes_by_time_and_misses_nobody_when_others_are_removed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await ended_run(world)
    await world.backend.command("DEL", keys.OUTBOX_RUNS)
    await reader(world)
    (_, at) = await world.backend.command("ZRANGE", keys.DONE, 0, -1, "WITHSCORES")
    # Ids that sort before RUN, and ended no later; they have no documents any more.
    for number in range(7):
        await world.backend.command("ZADD", keys.DONE, int(at) - number // 4, f"!gone{number}")
    monkeypatch.setattr(run_lists, "_SLICE", 2)
    looked_at: list[str] = []

    async def removing(ids: Sequence[str]) -> list[Any]:
        looked_at.extend(ids)
        await world.backend.command("ZREM", keys.DONE, *(name for name in ids if name != RUN))
        return await Store.run_many(store, ids)

    monkeypatch.setattr(store, "run_many", removing)
    assert await sweep_outbox(store, everything=True) == 1
    assert sorted(looked_at) == sorted([RUN, *(f"!gone{number}" for number in range(7))])


async def test_what_cannot_be_written_is_kept_aside_with_the_reason(world: World) -> None:
    outbox = await reader(world)
    await outbox.put("insight", "i1", {"x": 1})
    (entry,) = await outbox.read(9)
    await outbox.refuse(entry, "no such thing")
    lag = await outbox.lag()
    assert (lag.waiting, lag.refused) == (0, 1)
    ((_, fields),) = await world.backend.command("XRANGE", keys.OUTBOX_REFUSED, "-", "+")
    assert dict(zip(fields[::2], fields[1::2], strict=True)) == {
        "kind": "insight", "id": "i1", "reason": "no such thing", "data": '{"x":1}'
    }  # fmt: skip


@pytest.mark.parametrize("depth", [150, 100_000])
async def test_a_record_that_is_nested_too_deep_stops_no_reader(world: World, depth: int) -> None:
    outbox, deep = await reader(world), "[" * depth + "]" * depth
    await world.backend.command(
        "XADD", keys.OUTBOX_RECORDS, "*", "kind", "insight", "id", "deep", "data", deep
    )
    await outbox.put("insight", "next", [[{"a": [1]}]])
    found, following = await outbox.read(9)
    assert (found.kind, found.data == deep) == ("insight, nested too deep", True)
    assert (following.kind, following.data) == ("insight", [[{"a": [1]}]])
    await outbox.refuse(found, "nobody's")
    ((_, fields),) = await world.backend.command("XRANGE", keys.OUTBOX_REFUSED, "-", "+")
    assert json.loads(dict(zip(fields[::2], fields[1::2], strict=True))["data"]) == deep


async def test_runs_that_ended_while_nobody_wanted_them_are_found_by_a_full_sweep(
    world: World,
) -> None:
    store = await failed_run(world)
    await put_away(store)
    assert await sweep_outbox(store, everything=True) == 1
    assert await store.told(await store.run(RUN)) is True
    assert await sweep_outbox(store, everything=True) == 1


async def test_who_could_not_open_the_group_leaves_nothing(world: World) -> None:
    outbox = Outbox(world.backend, consumer="r1")
    await outbox.leave()
    assert await world.backend.command("KEYS", "cp:*") == []
