"""The scheme of keys for a cluster: every script stays in the slot of its run, and what lives in
other slots (index, queues) is sent by the client and may be lost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from campaigns import CONTRACT, settled
from checked_documents import check_documents
from cluster import ClusterWorld, cluster_server
from flows import RUN, Flow, linear, seed
from interleaved import Breaking
from redis.asyncio import Redis
from test_agents import OneSlot
from test_crash import FLOW, work
from test_redrive import Flaky, plan
from workers import Worker, drive, lease_of, put_away, seal_off
from worlds import World

from control_plane import (
    DONE,
    INDEX,
    ConductorStore,
    Disconnected,
    HintQueues,
    Outbox,
    RecordChange,
    RecordStore,
    RecordTail,
    RedisBackend,
    ServerError,
    SessionStore,
    Store,
    claims,
    history,
    read_record_history,
    sweep_outbox,
    timers,
)
from control_plane.keys import COMPANIONS
from control_plane.script import Script
from control_plane.twin import Twin

pytestmark = settled(*CONTRACT)


class StrictTwinWorld(World):
    """A twin that lets a script touch only keys of one slot."""

    def __init__(self) -> None:
        super().__init__()
        self.twin = Twin(lambda: self.now_ms * 1000, strict_keys=True)

    @property
    def backend(self) -> Twin:
        return self.twin


@pytest.fixture(scope="module")
def cluster_url() -> Iterator[str]:
    with (
        TemporaryDirectory(prefix="dcf-test-c", dir="/tmp") as folder,
        cluster_server(Path(folder)) as url,
    ):
        yield url


@pytest.fixture(params=["twin", "redis"])
async def world(request: pytest.FixtureRequest, cluster_url: str) -> AsyncIterator[World]:
    if request.param == "twin":
        created: World = StrictTwinWorld()
    else:
        async with Redis.from_url(cluster_url) as client:
            await client.flushall()
        created = ClusterWorld(cluster_url, [RUN, "outbox"])
        await created.advance(0)
    yield created
    check_documents(await created.dump())
    await created.close()


def store_of(world: World) -> Store:
    return world.store(cluster=True)


async def test_a_real_cluster_refuses_a_script_that_leaves_its_slot(cluster_url: str) -> None:
    """So that the other tests of this file prove something."""
    world = ClusterWorld(cluster_url, [RUN])
    await world.advance(0)
    stray = Script("stray", "local TIME = redis.call('TIME')\nreturn redis.call('GET', 'other')")
    with pytest.raises(ServerError, match="key"):
        await world.backend.run(stray, ["{run-1}:x"], [])
    await world.close()


@pytest.mark.parametrize("in_place", [True, False])
async def test_a_whole_run_stays_in_its_slot(world: World, in_place: bool) -> None:
    store = store_of(world)
    assert await seed(store, FLOW) is True
    run = await drive(world, [Worker(store, world.queue(), FLOW, work, in_place=in_place)])
    assert run.status == "succeeded"
    assert await put_away(store) is None
    assert await world.backend.command("ZRANGE", INDEX, 0, -1) == []
    assert await world.backend.command("ZRANGE", DONE, 0, -1) == [RUN]
    slots = {key: key for key in await world.keys() if RUN in key}
    assert all(f"{{{RUN}}}" in key for key in slots)
    assert await store.remove(RUN) is None
    # What belongs to workers stays: their queue, and their signs of life.
    assert set(await world.keys()) <= {"cp:queue:default", "cp:reader:reader"}


async def test_signal_cancel_and_redrive_stay_in_their_slot(world: World) -> None:
    flow: Flow = {
        "start": "A",
        "states": {"A": {"callback": True, "next": "B"}, "B": {"task": "B"}},
    }
    store, flaky = store_of(world), Flaky("B")
    await seed(store, flow)
    worker = Worker(store, world.queue(), flow, flaky)
    await worker.queue.open()
    await worker.take()
    assert await store.signal(RUN, "A", visit=1, try_=1, event="callback", value=1) is None
    assert (await drive(world, [worker])).status == "failed"
    await put_away(store)
    flaky.broken.clear()
    again, resume = await plan(store)
    assert await store.redrive(RUN, again=again, resume=resume) is None
    assert await world.backend.command("ZRANGE", INDEX, 0, -1) == [RUN]
    assert await world.backend.command("ZRANGE", DONE, 0, -1) == []
    lease = await lease_of(store, "B")
    assert isinstance(await store.renew(lease), int)
    assert await store.release(lease) is None
    assert await store.cancel(RUN, by="x") is None
    assert await put_away(store) is None


async def test_a_run_that_moves_takes_its_hints_along(world: World) -> None:
    flow, store = linear("A", "B"), store_of(world)
    await seed(store, flow)
    await lease_of(store, "A")
    assert await store.move(RUN, "gpu", turn=1, by="x", revoke=True) is None
    worker = Worker(store.in_pool("gpu"), world.queue(pool="gpu"), flow)
    assert (await drive(world, [worker])).status == "succeeded"


async def test_a_timer_is_looked_at_when_it_is_due_not_a_minute_later(world: World) -> None:
    flow: Flow = {"start": "W", "states": {"W": {"wait": 2_000}}}
    store = store_of(world)
    await seed(store, flow)
    run = await drive(world, [Worker(store, world.queue(), flow)])
    assert run.finished_at == (run.started_at or 0) + 2_000


async def test_a_run_timeout_is_looked_at_when_it_is_due(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True}}}
    store = store_of(world)
    await seed(store, flow, timeout_ms=3_000)
    run = await drive(world, [Worker(store, world.queue(), flow)])
    assert (run.status, run.finished_at) == ("timed_out", (run.started_at or 0) + 3_000)


async def test_look_times_never_lie_over_a_minute_ahead_while_something_is_ready(
    world: World,
) -> None:
    store = store_of(world)
    await seed(store, linear("A"))
    for _ in range(5):
        await timers.sweep(store)
        (look,) = [int(await store.look_time(RUN) or 0)]
        assert look <= world.now_ms + 60_000
        await world.advance(max(look - world.now_ms, 0))


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_submission_that_died_anywhere_is_continued(world: World, when: str) -> None:
    flow = linear("A", "B")
    whole = Breaking(world.backend, None)
    await seed(world.store(whole, cluster=True), flow)
    await drive(world, [Worker(store_of(world), world.queue(), flow)])
    await put_away(store_of(world))
    await store_of(world).remove(RUN)
    for fatal in range(1, whole.calls + 1):
        mortal = Breaking(world.backend, fatal, when)  # type: ignore[arg-type]
        with pytest.raises(Disconnected):
            await seed(world.store(mortal, cluster=True), flow)
        await world.advance(60_000)
        await timers.sweep(store_of(world))
        await seed(store_of(world), flow)
        run = await drive(world, [Worker(store_of(world), world.queue(), flow)])
        assert run.status == "succeeded", f"died {when} {mortal.names[-1]}"
        await put_away(store_of(world))
        assert await store_of(world).remove(RUN) is None


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_worker_that_died_anywhere_loses_and_doubles_nothing(
    world: World, when: str
) -> None:
    flow: Flow = {
        "start": "M",
        "states": {"M": {"map": linear("T"), "window": 1, "next": "Z"}, "Z": {"task": "Z"}},
    }
    fatal = 0
    while True:
        fatal += 1
        mortal = Breaking(world.backend, fatal, when)  # type: ignore[arg-type]
        await seed(store_of(world), flow, [1, 2])
        first = Worker(world.store(mortal, cluster=True), world.queue("a"), flow, in_place=False)
        second = Worker(store_of(world), world.queue("b"), flow, in_place=False)
        run = await drive(world, [first, second])
        assert run.status == "succeeded"
        events = [event.event async for event in history.read(store_of(world), RUN)]
        done = [event["path"] for event in events if event["type"] == "StateDone"]
        assert sorted(done) == ["M", "M[0]/T", "M[1]/T", "Z"], f"died {when} call {fatal}"
        await put_away(store_of(world))
        assert await store_of(world).remove(RUN) is None
        if not mortal.broken:
            return


async def test_a_ghost_in_the_index_leaves_it(world: World) -> None:
    await world.backend.command("ZADD", INDEX, 0, RUN)
    assert (await timers.sweep(store_of(world))).over == []
    assert await world.backend.command("ZRANGE", INDEX, 0, -1) == []


async def test_a_retirement_that_crosses_a_redrive_leaves_the_run_in_the_index(
    world: World,
) -> None:
    store, flaky = store_of(world), Flaky("A")
    await seed(store, linear("A"))
    await drive(world, [Worker(store, world.queue(), linear("A"), flaky)])
    assert await seal_off(store) is None
    redriver = store_of(world)

    class Crossing(Breaking):
        async def run(self, script: Script, keys: Any, args: Any) -> Any:
            if script.name == "leave":
                await world.advance(5)
                assert await redriver.redrive(RUN, again=["A"], resume=[]) is None
            return await super().run(script, keys, args)

    await world.store(Crossing(world.backend, None), cluster=True).retire(RUN)
    assert (await store.run(RUN)).status == "running"
    assert await world.backend.command("ZRANGE", INDEX, 0, -1) == [RUN]


async def test_a_client_that_dies_after_the_seal_loses_no_run_for_the_graph(world: World) -> None:
    store = store_of(world)
    await seed(store, linear("A"))
    await drive(world, [Worker(store, world.queue(), linear("A"), work)])
    await put_away(world.store(cluster=True, outbox=True))
    outbox = Outbox(world.backend, consumer="r")
    await outbox.open()
    (entry,) = await outbox.read(9)
    assert entry.id == RUN
    # As if the call that told it had never come.
    await outbox.settle([entry])
    assert (await store.run(RUN)).outbox == "waiting"
    assert await store.remove(RUN) is not None
    assert await sweep_outbox(store) == 1
    assert [found.id for found in await outbox.read(9)] == [RUN]
    assert await store.told(await store.run(RUN)) is True
    assert await store.remove(RUN) is None


@pytest.fixture
async def plain(cluster_url: str) -> AsyncIterator[RedisBackend]:
    """The cluster, empty, with its own clock."""
    async with Redis.from_url(cluster_url) as client:
        await client.flushall()
    backend = OneSlot(RedisBackend.from_url(cluster_url))
    yield backend  # type: ignore[misc]
    await backend.close()


@pytest.mark.parametrize("kind", [SessionStore, ConductorStore])
async def test_sessions_and_conductors_stay_in_the_slot_of_their_kind(
    plain: RedisBackend, kind: type[RecordStore[Any]]
) -> None:
    records = kind(plain, cluster=True)
    await records.create("s", "S", record={"x": 1})
    tail = RecordTail(records, "s", reads=plain)
    await tail.begin()
    changed = await records.update("s", lambda _: RecordChange([{"type": "X"}]))
    assert [event.event["type"] for event in await tail.read(block_ms=1)] == ["X"]
    assert [one.name for one in (await records.page()).records] == ["S"]
    await records.delete(changed)
    noun = kind.kind.noun.capitalize()
    events = [event.event["type"] async for event in read_record_history(records, "s")]
    assert events == [f"{noun}Created", "X", f"{noun}Deleted"]


async def test_seats_are_claimed_and_kept(plain: RedisBackend) -> None:
    await claims.put(plain, COMPANIONS, "s/a", 1)
    assert (await claims.claim(plain, COMPANIONS, 9)).members == ("s/a",)
    kept = await claims.keep(plain, COMPANIONS, ["s/a"], 60_000)
    now, ends = await claims.ends(plain, COMPANIONS, ["s/a"])
    assert ends == kept
    assert 0 < ends["s/a"] - now <= 60_000


async def test_pools_with_one_hash_tag_are_read_together(plain: RedisBackend) -> None:
    many = HintQueues(plain, consumer="host", pools=["{inbox}.1", "{inbox}.2"])
    await many.open()
    await plain.command("XADD", "cp:queue:{inbox}.2", "*", "workflow", RUN, "path", "A")
    assert [hint.pool for hint in await many.read(10, block_ms=1)] == ["{inbox}.2"]
    await many.leave()
