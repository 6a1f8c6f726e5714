"""Deadlines, heartbeats and clocks: only Redis's time counts."""

from __future__ import annotations

import time

import pytest
from flows import RUN, TaskFailed, end, linear, seed
from workers import TTL_MS, Worker, drive, lease_of, run_to_end
from worlds import World

from control_plane import (
    Committed,
    ControlPlaneError,
    Failure,
    Lease,
    Limits,
    Refusal,
    timers,
)


async def test_a_deadline_survives_takeovers(world: World) -> None:
    store = world.store()
    await seed(store, linear("A", timeout_ms=50_000))
    await lease_of(store, "A")
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    lease = await lease_of(store, "A")
    await world.advance(19_999)
    assert await store.renew(lease) == TTL_MS
    await world.advance(1)
    assert await store.renew(lease) == Refusal("timed_out")
    await timers.tick(store, RUN)
    state = (await store.states(RUN, ["A"]))["A"]
    assert (state.status, state.event, state.takeovers) == ("ready", "timeout", 1)


async def test_nothing_is_committed_at_or_after_the_deadline(world: World) -> None:
    flow, store = linear("A", timeout_ms=5_000), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await world.advance(5_000)
    answer = await store.commit(lease, end(flow, lease, 1), commit_id="c1")
    assert answer == Refusal("timed_out")


async def test_who_leases_a_state_after_its_deadline_learns_of_the_timeout(world: World) -> None:
    """Nobody held it when the deadline passed: the work must not begin again."""
    flow, store = linear("A", timeout_ms=40_000), world.store()
    await seed(store, flow)
    await lease_of(store, "A")
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    await world.advance(10_000)
    lease = await lease_of(store, "A")
    assert lease.event == "timeout"
    commit = end(flow, lease, "handled")
    assert isinstance(await store.commit(lease, commit, commit_id="c1"), Committed)


async def test_a_retry_gets_a_deadline_of_its_own(world: World) -> None:
    flow, store = linear("A", timeout_ms=5_000, retry=1, delay=60_000), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await store.commit(lease, end(flow, lease, None, Failure("Flaky")), commit_id="c1")
    await world.advance(60_000)
    await timers.tick(store, RUN)
    lease = await lease_of(store, "A")
    assert lease.event is None
    await world.advance(4_999)
    assert isinstance(await store.renew(lease), int)


async def test_limits_that_the_work_begins_with_count_from_the_first_lease(world: World) -> None:
    flow, store = linear("A", timeout_ms=5_000), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    assert lease.limits == Limits(5_000, None)
    await world.advance(4_000)
    assert await store.renew(lease, limits=Limits(50_000, 20_000)) == TTL_MS
    await world.advance(19_999)
    assert await store.renew(lease, beat=True) == TTL_MS
    state = (await store.states(RUN, ["A"]))["A"]
    begun = state.times["started"] or 0
    assert (state.deadline, state.limits) == (begun + 50_000, Limits(50_000, 20_000))
    await world.advance(20_000)
    assert await store.renew(lease) == Refusal("timed_out")


async def test_limits_of_the_work_hold_for_who_takes_it_over(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await store.renew(await lease_of(store, "A"), limits=Limits(50_000))
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    lease = await lease_of(store, "A")
    assert lease.limits == Limits(50_000)
    await world.advance(19_999)
    assert await store.renew(lease, limits=Limits(50_000)) == TTL_MS
    await world.advance(1)
    assert await store.renew(lease) == Refusal("timed_out")


async def test_limits_of_the_work_that_have_passed_refuse_it(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    lease = await lease_of(store, "A")
    await world.advance(6_000)
    assert await store.renew(lease, limits=Limits(5_000)) == Refusal("timed_out")
    await timers.tick(store, RUN)
    assert (await store.states(RUN, ["A"]))["A"].event == "timeout"


async def test_limits_of_the_work_may_be_none(world: World) -> None:
    store = world.store()
    await seed(store, linear("A", timeout_ms=5_000, heartbeat_ms=2_000))
    lease = await lease_of(store, "A")
    assert await store.renew(lease, limits=Limits()) == TTL_MS
    await world.advance(20_000)
    assert await store.renew(lease) == TTL_MS


async def test_a_task_without_heartbeat_loses_its_lease(world: World) -> None:
    store = world.store()
    await seed(store, linear("A", heartbeat_ms=2_000))
    lease = await lease_of(store, "A")
    await world.advance(1_999)
    assert await store.renew(lease, beat=True) == TTL_MS
    await world.advance(1_999)
    assert await store.renew(lease) == TTL_MS  # the worker lives, the task does not speak
    await world.advance(1)
    assert await store.renew(lease, beat=True) == Refusal("timed_out")
    await timers.tick(store, RUN)
    assert (await store.states(RUN, ["A"]))["A"].event == "heartbeat"


async def test_at_the_same_moment_timeout_precedes_heartbeat_precedes_lease_end(
    world: World,
) -> None:
    store = world.store()
    for run, members, event in (
        ("r1", {"timeout_ms": TTL_MS, "heartbeat_ms": TTL_MS}, "timeout"),
        ("r2", {"heartbeat_ms": TTL_MS}, "heartbeat"),
        ("r3", {}, None),
    ):
        flow = linear("A", **members)
        await seed(store, flow, run=run)
        await lease_of(store, "A", run=run)
        await world.advance(TTL_MS)
        await timers.tick(store, run)
        assert (await store.states(run, ["A"]))["A"].event == event


async def test_the_limits_of_time_fail_a_task_that_never_ends(world: World) -> None:
    flow = linear("A", timeout_ms=5_000)
    await seed(world.store(), flow)

    async def hang(lease: Lease) -> None:
        await world.advance(60_000)

    run = await run_to_end(world, flow, hang)
    assert run.status == "failed"
    assert run.error is not None
    assert run.error.error == "E.timeout"


async def test_a_task_whose_workers_all_die_fails_the_run(world: World) -> None:
    flow = linear("A")
    await seed(world.store(), flow)
    performed = 0

    async def die(lease: Lease) -> None:
        nonlocal performed
        performed += 1
        raise ControlPlaneError("the worker dies")

    run = await drive(world, [Worker(world.store(), world.queue(), flow, die)])
    assert run.error is not None
    assert run.error.error == "E.worker_lost"
    assert performed == 3


async def test_clocks_of_workers_that_are_hours_wrong_change_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = linear("A", "B", retry=2, delay=5_000)
    failed: set[str] = set()

    async def flaky(lease: Lease) -> str:
        hours = 5 if lease.path == "A" else -7
        monkeypatch.setattr(time, "time", lambda: world.now_ms / 1000 + hours * 3600)
        if lease.path not in failed:
            failed.add(lease.path)
            raise TaskFailed("Flaky")
        return lease.path

    begun = world.now_ms
    await seed(world.store(), flow)
    run = await run_to_end(world, flow, flaky)
    assert run.status == "succeeded"
    states = await world.store().states(RUN, ["A", "B"])
    assert states["A"].times["finished"] == begun + 5_000
    assert states["B"].times["finished"] == begun + 10_000
