"""A run goes to another pool: nothing is lost, nothing done twice, and who had it is refused."""

from __future__ import annotations

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, Flow, end, linear, seed
from interleaved import Breaking, Interleaved
from workers import TTL_MS, Worker, drive, lease_of
from worlds import World

from control_plane import (
    Committed,
    Disconnected,
    Refusal,
    Store,
    UnknownRun,
    history,
    timers,
)

pytestmark = settled(*CONTRACT)

LEASES = ("LeaseAcquired", "LeaseRevoked", "LeaseExpired", "RunMoved")


async def hinted(world: World, pool: str) -> list[str]:
    """The paths that are hinted in ``pool`` now."""
    entries = await world.backend.command("XRANGE", f"cp:queue:{pool}", "-", "+")
    return [dict(zip(fields[::2], fields[1::2], strict=True))["path"] for _, fields in entries]


async def told(store: Store, *types: str) -> list[dict[str, object]]:
    return [entry.event async for entry in history.read(store, RUN) if entry.event["type"] in types]


async def test_a_moved_run_is_done_by_workers_of_the_new_pool(world: World) -> None:
    store = world.store()
    await seed(store, linear("A", "B"))
    assert await store.move(RUN, "gpu", turn=1, by="me", reason="busy") is None
    assert await store.acquire(RUN, "A", owner="w") == Refusal("wrong_pool", ("gpu",))
    assert await hinted(world, "gpu") == ["A"]
    worker = Worker(world.store(pool="gpu"), world.queue(pool="gpu"), linear("A", "B"))
    run = await drive(world, [worker])
    assert (run.status, run.pool) == ("succeeded", "gpu")
    assert await told(store, "RunMoved") == [
        {"type": "RunMoved", "from": "default", "to": "gpu", "turn": 1, "by": "me",
         "reason": "busy"}
    ]  # fmt: skip


async def test_a_revoked_state_goes_on_in_the_same_try_and_its_holder_is_refused(
    world: World,
) -> None:
    store = world.store()
    flow = linear("A")
    await seed(store, flow)
    old = await lease_of(store, "A")
    assert await store.move(RUN, "gpu", turn=1, by="me", revoke=True) is None
    assert await store.renew(old) == Refusal("lease_lost")
    assert await store.commit(old, end(flow, old, 1), commit_id="c0") == Refusal("lease_lost")
    new = await lease_of(store.in_pool("gpu"), "A")
    assert new.idempotency_key == old.idempotency_key
    assert new.fence > old.fence
    assert await store.commit(old, end(flow, old, 1), commit_id="c0") == Refusal("lease_lost")
    assert isinstance(await store.commit(new, end(flow, new, 2), commit_id="c1"), Committed)
    events = await told(store, "LeaseRevoked", "LeaseExpired")
    assert [(event["type"], event["owner"], event["to"]) for event in events] == [
        ("LeaseRevoked", "worker-1", "gpu")
    ]


async def test_a_state_that_is_not_revoked_is_finished_by_its_holder_who_gets_no_other(
    world: World,
) -> None:
    store = world.store()
    flow = linear("A", "B")
    await seed(store, flow)
    lease = await lease_of(store, "A")
    assert await store.move(RUN, "gpu", turn=1, by="me") is None
    assert isinstance(await store.renew(lease), int)
    done = await store.commit(lease, end(flow, lease, 1), commit_id="c1", in_place=True)
    assert done == Committed(None, None)
    assert await hinted(world, "gpu") == ["B"]
    assert await store.acquire(RUN, "B", owner="w") == Refusal("wrong_pool", ("gpu",))


async def test_who_leases_after_the_move_goes_on_in_place(world: World) -> None:
    store = world.store()
    flow = linear("A", "B")
    await seed(store, flow)
    await store.move(RUN, "gpu", turn=1, by="me")
    lease = await lease_of(store.in_pool("gpu"), "A")
    done = await store.commit(lease, end(flow, lease, 1), commit_id="c1", in_place=True)
    assert isinstance(done, Committed)
    assert done.lease is not None
    assert done.lease.path == "B"


async def test_a_move_said_again_late_or_out_of_turn_moves_nothing(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    assert await store.move(RUN, "one", turn=1, by="x", revoke=True) is None
    assert await store.move(RUN, "two", turn=3, by="x", revoke=True) is None
    await lease_of(store.in_pool("two"), "A")
    before = await world.dump()
    assert await store.move(RUN, "two", turn=3, by="x", revoke=True) is None
    for pool, turn in (("one", 1), ("other", 3), ("other", 2)):
        refused = await store.move(RUN, pool, turn=turn, by="x", revoke=True)
        assert refused == Refusal("late", ("3", "two"))
    assert await world.dump() == before


async def test_a_move_is_no_takeover_and_forgives_none(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    for turn in range(1, 7):
        await lease_of(store, "A")
        if turn % 2:
            await world.advance(TTL_MS)
            await timers.sweep(store)
        else:
            assert await store.move(RUN, f"p{turn}", turn=turn, by="x", revoke=True) is None
            store = store.in_pool(f"p{turn}")
    state = (await store.states(RUN, ["A"]))["A"]
    assert (state.takeovers, state.event, state.try_) == (3, "worker_lost", 1)


async def test_a_lease_that_ended_by_itself_is_counted_by_the_sweep(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await lease_of(store, "A")
    await world.advance(TTL_MS)
    assert await store.move(RUN, "gpu", turn=1, by="x", revoke=True) is None
    await timers.sweep(store)
    assert (await store.states(RUN, ["A"]))["A"].takeovers == 1
    assert await hinted(world, "gpu") == ["A"]


async def test_a_deadline_runs_on_across_a_move(world: World) -> None:
    store = world.store()
    await seed(store, linear("A", timeout_ms=5_000))
    await lease_of(store, "A")
    await world.advance(3_000)
    await store.move(RUN, "gpu", turn=1, by="x", revoke=True)
    await world.advance(2_000)
    assert (await lease_of(store.in_pool("gpu"), "A")).event == "timeout"


async def test_what_waits_goes_on_in_the_new_pool(world: World) -> None:
    flow: Flow = {"start": "W", "states": {"W": {"wait": 2_000}}}
    store = world.store()
    await seed(store, flow)
    worker = Worker(store, world.queue(), flow)
    await worker.queue.open()
    await worker.take()
    await store.move(RUN, "gpu", turn=1, by="x", revoke=True)
    await world.advance(2_000)
    await timers.sweep(store)
    assert await hinted(world, "gpu") == ["W"]


async def test_a_run_that_is_over_or_unknown_is_refused(world: World) -> None:
    store = world.store()
    with pytest.raises(UnknownRun):
        await store.move(RUN, "gpu", turn=1, by="x")
    await seed(store, linear("A"))
    await store.move(RUN, "gpu", turn=1, by="x")
    await store.cancel(RUN, by="x")
    before = await world.dump()
    assert await store.move(RUN, "gpu", turn=1, by="x") is None
    assert await store.move(RUN, "cpu", turn=2, by="x") == Refusal("not_running", ("cancelled",))
    assert await world.dump() == before


async def test_a_submission_that_is_not_complete_starts_in_the_new_pool(world: World) -> None:
    names = [f"S{number}" for number in range(501)]
    mortal = Breaking(world.backend, 2, "before")
    with pytest.raises(Disconnected):
        await seed(world.store(mortal), linear(*names))
    store = world.store()
    assert await store.run_status(RUN) == "pending"
    assert await store.move(RUN, "gpu", turn=1, by="x") is None
    assert await seed(store, linear(*names)) is True
    assert await hinted(world, "gpu") == ["S0"]
    assert (await store.run(RUN)).pool == "gpu"


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_run_of_many_states_moves_whole_whoever_dies_over_it(
    world: World, when: str
) -> None:
    """More than a call moves: 520 held and 10 ready."""
    store = world.store()
    flow: Flow = {"start": "M", "states": {"M": {"map": linear("T"), "window": 530}}}
    await seed(store, flow, list(range(530)))
    worker = Worker(store, world.queue(), flow, in_place=False)
    await worker.once(await lease_of(store, "M"))
    for number in range(520):
        await lease_of(store, f"M[{number}]")
    mortal = world.store(Breaking(world.backend, 3, when))  # type: ignore[arg-type]
    with pytest.raises(Disconnected):
        await mortal.move(RUN, "gpu", turn=1, by="x", revoke=True)
    late = await lease_of(store.in_pool("gpu"), "M[0]")
    assert await store.move(RUN, "gpu", turn=1, by="x", revoke=True) is None
    assert isinstance(await store.renew(late), int)
    states = await store.states(RUN, [f"M[{number}]" for number in range(530)])
    assert [path for path, state in states.items() if state.status == "running"] == ["M[0]"]
    assert sorted(set(await hinted(world, "gpu"))) == sorted(states)
    assert len(await told(store, "RunMoved")) == 1
    assert len(await told(store, "LeaseRevoked")) == 520


@pytest.mark.parametrize("script", ["acquire", "commit"])
async def test_a_move_between_two_calls_of_a_worker_doubles_nothing(
    world: World, script: str
) -> None:
    performed: list[str] = []

    async def work(lease: object) -> None:
        performed.append("done")

    class Moved(Interleaved):
        async def meanwhile(self) -> None:
            await world.store().move(RUN, "gpu", turn=1, by="x", revoke=True)

    flow = linear("A", "B")
    await seed(world.store(), flow)
    old = Worker(world.store(Moved(world.backend, script)), world.queue(), flow, work)
    new = Worker(world.store(pool="gpu"), world.queue(pool="gpu"), flow, work, name="new")
    run = await drive(world, [old, new])
    assert run.status == "succeeded"
    ended = await told(world.store(), "StateDone")
    assert [event["path"] for event in ended] == ["A", "B"]


async def test_a_store_of_another_pool_leases_and_settles_its_hints(world: World) -> None:
    store, hints = world.store(), world.queue(pool="gpu")
    await hints.open()
    await seed(store.in_pool("gpu"), linear("A"))
    (hint,) = await hints.read(10, block_ms=1)
    assert hint.pool == "gpu"
    lease = await store.acquire(RUN, "A", owner="w", hint=hint.key, pool=hint.pool)
    assert not isinstance(lease, Refusal)
    assert (await world.backend.command("XPENDING", "cp:queue:gpu", "workers"))[0] == 0
    assert await world.backend.command("XLEN", "cp:queue:gpu") == 0
    assert store.pool == "default"
