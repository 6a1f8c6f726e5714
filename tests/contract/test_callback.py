"""Callbacks: who may answer, when, and how the time limits count until then."""

from __future__ import annotations

import pytest
from flows import RUN, Flow, end, linear, seed, step
from test_signal import answer
from workers import TTL_MS, lease_of, run_to_end
from worlds import World

from control_plane import Committed, Failure, Lease, Refusal, Store, history, timers

LIMITS = {"timeout_ms": 20_000, "heartbeat_ms": 5_000}
FLOW: Flow = {"start": "A", "states": {"A": {"callback": True, **LIMITS}}}


async def waiting(world: World, flow: Flow = FLOW) -> Store:
    """A run that waits for its answer."""
    store = world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await store.commit(lease, await step(store, flow, lease), commit_id="c-wait")
    return store


async def beat(store: Store, *, visit: int = 1, try_: int = 1) -> Refusal | None:
    return await store.beat(RUN, "A", visit=visit, try_=try_)


async def after(world: World, store: Store, ms: int) -> str:
    """The status of the state ``ms`` milliseconds later."""
    await world.advance(ms)
    await timers.tick(store, RUN)
    return (await store.states(RUN, ["A"]))["A"].status


async def test_a_task_that_takes_no_callback_cannot_be_answered_while_it_runs(
    world: World,
) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await lease_of(store, "A")
    before = await world.dump()
    assert await answer(store) == Refusal("not_waiting", ("running",))
    assert await beat(store) == Refusal("not_waiting", ("running",))
    assert await world.dump() == before


async def test_its_timeout_still_counts_then(world: World) -> None:
    flow = linear("A", timeout_ms=1_000)
    store = world.store()
    await seed(store, flow)
    await lease_of(store, "A")
    await answer(store)
    assert await after(world, store, 1_000) == "ready"
    assert (await lease_of(store, "A")).event == "timeout"


async def test_a_missed_heartbeat_ends_the_waiting(world: World) -> None:
    store = await waiting(world)
    assert await after(world, store, 4_999) == "waiting"
    assert await after(world, store, 1) == "ready"
    assert await answer(store) == Refusal("expired")
    assert (await lease_of(store, "A")).event == "heartbeat"


async def test_a_heartbeat_that_is_due_refuses_answers_before_any_tick(world: World) -> None:
    store = await waiting(world)
    await world.advance(5_000)
    assert await answer(store) == Refusal("expired")
    assert await beat(store) == Refusal("expired")


async def test_a_heartbeat_counts_anew_from_each_beat(world: World) -> None:
    store = await waiting(world)
    for _ in range(3):
        assert await after(world, store, 4_000) == "waiting"
        assert await beat(store) is None
    assert await answer(store, "late but alive") is None


async def test_no_beat_extends_the_timeout(world: World) -> None:
    store = await waiting(world)
    for _ in range(4):
        assert await after(world, store, 4_500) == "waiting"
        await beat(store)
    assert await after(world, store, 2_000) == "ready"
    assert (await lease_of(store, "A")).event == "timeout"


async def test_a_beat_while_the_work_goes_on_counts_too(world: World) -> None:
    store = world.store()
    await seed(store, FLOW)
    lease = await lease_of(store, "A")
    await world.advance(4_000)
    assert await beat(store) is None
    await world.advance(4_000)
    assert isinstance(
        await store.commit(lease, await step(store, FLOW, lease), commit_id="c1"), Committed
    )


async def test_a_beat_without_a_heartbeat_limit_changes_nothing(world: World) -> None:
    store = await waiting(world, {"start": "A", "states": {"A": {"callback": True}}})
    before = await world.dump()
    assert await beat(store) is None
    assert await world.dump() == before


@pytest.mark.parametrize("visit, try_", [(2, 1), (1, 2)])
async def test_a_beat_of_another_visit_or_try_is_refused(
    world: World, visit: int, try_: int
) -> None:
    store = await waiting(world)
    assert await beat(store, visit=visit, try_=try_) == Refusal("already_settled")


async def test_a_beat_after_the_answer_or_the_end_is_refused(world: World) -> None:
    store = await waiting(world)
    await answer(store)
    assert await beat(store) == Refusal("already_settled")
    assert (await run_to_end(world, FLOW)).status == "succeeded"
    assert await beat(store) == Refusal("closed")


async def test_an_answer_ends_the_lease_of_the_work_that_goes_on(world: World) -> None:
    """Whoever was told that the answer counts must not be overruled, nor wait for who hangs."""
    store = world.store()
    await seed(store, FLOW)
    lease = await lease_of(store, "A")
    assert await answer(store, "done outside") is None
    assert (await store.states(RUN, ["A"]))["A"].status == "ready"
    failed = end(FLOW, lease, None, Failure("Boom"))
    wait = await step(store, FLOW, lease)
    assert await store.commit(lease, failed, commit_id="c1") == Refusal("lease_lost")
    assert await store.commit(lease, wait, commit_id="c2") == Refusal("lease_lost")
    assert await store.renew(lease) == Refusal("lease_lost")
    assert await store.release(lease) == Refusal("lease_lost")
    assert (await run_to_end(world, FLOW)).status == "succeeded"
    assert (await store.outputs(RUN, ["A"]))["A"]["data"] == "done outside"


async def test_an_answer_to_work_that_goes_on_is_hinted_and_told(world: World) -> None:
    store = world.store()
    await seed(store, FLOW)
    queue = world.queue()
    await queue.open()
    first = (await queue.read(10, block_ms=1))[0]
    taken = await store.acquire(RUN, "A", owner="worker-1", ttl_ms=TTL_MS, hint=first.key)
    assert isinstance(taken, Lease)
    await answer(store)
    assert [hint.path for hint in await queue.read(10, block_ms=1)] == ["A"]
    told = [entry.event async for entry in history.read(store, RUN)]
    assert [event["type"] for event in told[-2:]] == ["Signalled", "LeaseRevoked"]
    assert (told[-1]["owner"], told[-1]["event"]) == ("worker-1", "callback")


async def test_no_limit_counts_once_the_answer_was_taken(world: World) -> None:
    store = world.store()
    await seed(store, FLOW)
    await lease_of(store, "A")
    await answer(store, "in time")
    assert await after(world, store, 25_000) == "ready"
    lease = await lease_of(store, "A")
    assert (lease.event, lease.event_payload) == ("callback", "in time")
    await world.advance(10_000)
    last = end(FLOW, lease, lease.event_payload)
    assert isinstance(await store.commit(lease, last, commit_id="c1"), Committed)


async def lose_a_worker(world: World, store: Store) -> None:
    """A worker takes the state and dies over it."""
    await lease_of(store, "A")
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)


async def test_an_answer_outlives_the_workers_that_die_over_it(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True}}}
    store = world.store()
    await seed(store, flow)
    for _ in range(2):
        await lose_a_worker(world, store)
    assert await answer(store, "kept") is None
    assert (await store.states(RUN, ["A"]))["A"].takeovers == 0
    for _ in range(5):
        await lose_a_worker(world, store)
    told = [entry.event async for entry in history.read(store, RUN)]
    lost = [event for event in told if event["type"] in ("LeaseExpired", "LeaseRevoked")]
    assert [event["type"] for event in lost] == ["LeaseExpired"] * 7
    assert [event["event"] for event in lost] == [None] * 2 + ["callback"] * 5
    lease = await lease_of(store, "A")
    assert (lease.event, lease.event_payload) == ("callback", "kept")


async def test_an_answer_that_kills_every_worker_ends_the_run(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True}}}
    store = await waiting(world, flow)
    await answer(store)
    for _ in range(7):
        await lose_a_worker(world, store)
    run = await store.run(RUN)
    assert run.status == "failed"
    assert run.error is not None
    assert run.error.error == "DCF.WorkerLost"


async def test_a_heartbeat_does_not_count_while_nobody_holds_the_task(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True, "heartbeat_ms": 40_000}}}
    store = world.store()
    await seed(store, flow)
    await lease_of(store, "A")
    assert await after(world, store, TTL_MS) == "ready"
    await world.advance(20_000)
    assert await beat(store) is None
    await world.advance(50_000)
    assert await answer(store, "in between") is None
    assert (await lease_of(store, "A")).event_payload == "in between"


async def test_the_timeout_counts_while_nobody_holds_the_task(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True, "timeout_ms": 40_000}}}
    store = world.store()
    await seed(store, flow)
    await lease_of(store, "A")
    assert await after(world, store, TTL_MS) == "ready"
    await world.advance(10_000)
    assert await answer(store) == Refusal("expired")
    assert (await lease_of(store, "A")).event == "timeout"


async def test_an_answer_counts_while_the_task_is_to_be_taken_over(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True}}}
    store = world.store()
    await seed(store, flow)
    assert await answer(store) == Refusal("not_waiting", ("ready",))
    await lease_of(store, "A")
    assert await after(world, store, TTL_MS) == "ready"
    assert await answer(store, "in between") is None
    lease = await lease_of(store, "A", owner="worker-2")
    assert (lease.event, lease.event_payload) == ("callback", "in between")


async def test_the_worker_that_takes_over_waits_under_the_same_visit_and_try(
    world: World,
) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True}}}
    store = world.store()
    await seed(store, flow)
    first = await lease_of(store, "A")
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    second = await lease_of(store, "A", owner="worker-2")
    assert (second.visit, second.try_) == (first.visit, first.try_)
    await store.commit(second, await step(store, flow, second), commit_id="c1")
    assert await answer(store, visit=first.visit, try_=first.try_) is None
