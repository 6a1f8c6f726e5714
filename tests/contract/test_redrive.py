"""Redrive: what failed runs once more; what is done stays done."""

from __future__ import annotations

from typing import Any

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, Flow, TaskFailed, end, linear, seed
from interleaved import FailingOver, Interleaved
from redis import Redis
from test_gc import ended_run
from test_join import fanned
from workers import Worker, audit, drive, lease_of, put_away, run_to_end
from worlds import RedisWorld, World

from control_plane import (
    INDEX,
    DamagedRun,
    Failure,
    Lease,
    Refusal,
    Store,
    history,
    run_transitions,
    timers,
)

pytestmark = settled(*CONTRACT)


class Flaky:
    """Work that fails at the given paths until they are mended, and counts what it did."""

    def __init__(self, *broken: str) -> None:
        self.broken = set(broken)
        self.performed: list[str] = []

    async def __call__(self, lease: Lease) -> Any:
        self.performed.append(lease.path)
        if lease.path in self.broken:
            raise TaskFailed("Boom")
        return lease.input


async def plan(store: Store) -> tuple[list[str], list[str]]:
    """(again, resume): current visits that broke, outermost first."""
    paths = [path for path in await store.paths(RUN) if "@" not in path]
    states = await store.states(RUN, paths)
    broken = {p: s for p, s in states.items() if s.status in ("failed", "cancelled")}
    holders = {p for p, s in broken.items() if s.join is not None}
    holders |= {p.rpartition("/")[0] for p in broken if "/" in p}
    resume = sorted((p for p in broken if p in holders), key=len)
    return sorted(p for p in broken if p not in holders), resume


async def redrive(store: Store, **options: Any) -> Refusal | None:
    await store.close(RUN)
    again, resume = await plan(store)
    return await store.redrive(RUN, again=again, resume=resume, **options)


async def test_what_failed_runs_again_as_a_new_visit_and_a_new_try(world: World) -> None:
    flow, store, work = linear("A", "B", "C"), world.store(), Flaky("B")
    await seed(store, flow, 5)
    assert (await run_to_end(world, flow, work)).status == "failed"
    work.broken.clear()
    assert await redrive(store) is None
    assert (await run_to_end(world, flow, work)).status == "succeeded"
    assert work.performed == ["A", "B", "B", "C"]
    states = await store.states(RUN, ["B@1", "B"])
    assert [(s.status, s.visit, s.try_) for s in states.values()] == [
        ("failed", 1, 1),
        ("done", 2, 2),
    ]
    assert states["B"].error is None
    outputs = await store.outputs(RUN, ["B@1", "B"])
    assert (outputs["B@1"]["ok"], outputs["B"]["data"]) == (False, 5)


async def test_a_redrive_opens_the_joins_above_with_what_is_done(world: World) -> None:
    inner: Flow = {"start": "P", "states": {"P": {"parallel": [linear("T"), linear("U")]}}}
    flow, store, work = fanned(inner), world.store(), Flaky("M[1]/P[1]/U")
    await seed(store, flow, [1, 2, 3])
    assert (await run_to_end(world, flow, work)).status == "failed"
    done = set(work.performed) - work.broken
    before = {p for p in done if (await store.states(RUN, [p]))[p].status == "done"}
    work.broken.clear()
    work.performed.clear()
    assert await redrive(store) is None
    assert (await run_to_end(world, flow, work)).status == "succeeded"
    assert not before & set(work.performed)
    assert "M[1]/P[1]/U" in work.performed
    assert (await store.outputs(RUN, ["Z"]))["Z"]["data"] == [[1, 1], [2, 2], [3, 3]]


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("window", [1, 2, 256])
async def test_frames_that_were_not_yet_opened_follow_after_a_redrive(
    world: World, window: int, in_place: bool
) -> None:
    flow, store, work = fanned(linear("T", "U"), window=window), world.store(), Flaky("M[1]/U")
    await seed(store, flow, list(range(5)))
    assert (await run_to_end(world, flow, work, in_place=in_place)).status == "failed"
    work.broken.clear()
    assert await redrive(store) is None
    assert (await run_to_end(world, flow, work, in_place=in_place)).status == "succeeded"
    assert (await store.outputs(RUN, ["Z"]))["Z"]["data"] == [0, 1, 2, 3, 4]
    join = (await store.states(RUN, ["M"]))["M"].join
    assert join is not None
    assert (join.n, join.spawned, join.finished, join.failed) == (5, 5, 5, 0)


async def test_a_join_that_failed_after_all_children_were_done_repeats_only_its_own_part(
    world: World,
) -> None:
    """As a ResultSelector that cannot be evaluated."""
    flow, store, work = fanned(linear("T")), world.store(), Flaky()
    await seed(store, flow, [1, 2])
    worker = Worker(store, world.queue(), flow, work, in_place=False)
    await worker.queue.open()
    for _ in range(3):
        await worker.take()
        if (await store.states(RUN, ["M"]))["M"].event == "joined":
            break
    parent = await lease_of(store, "M")
    failed = end(flow, parent, None, Failure("States.ParameterPathFailure"))
    await store.commit(parent, failed, commit_id="c-bad")
    performed = len(work.performed)
    assert await redrive(store) is None
    parent = (await store.states(RUN, ["M"]))["M"]
    assert (parent.status, parent.event, parent.visit) == ("ready", "joined", 2)
    assert (await run_to_end(world, flow, work)).status == "succeeded"
    assert work.performed[performed:] == ["Z"]


async def test_a_run_can_be_redriven_again_and_again(world: World) -> None:
    flow, store, work = fanned(linear("T")), world.store(), Flaky("M[0]/T", "M[1]/T", "Z")
    await seed(store, flow, [1, 2])
    for mended in ("M[0]/T", "M[1]/T", "Z"):
        assert (await run_to_end(world, flow, work)).status == "failed"
        assert await put_away(store) is None
        work.broken.discard(mended)
        assert await redrive(store) is None
    assert (await run_to_end(world, flow, work)).status == "succeeded"
    assert await put_away(store) is None
    assert (await store.states(RUN, ["Z"]))["Z"].visit == 2


async def test_a_cancelled_run_goes_on_where_it_was_cut_off(world: World) -> None:
    flow, store, work = fanned(linear("T")), world.store(), Flaky()
    await seed(store, flow, [1, 2])
    worker = Worker(store, world.queue(), flow, work, in_place=False)
    await worker.queue.open()
    await worker.take()
    await worker.take(1)
    await store.cancel(RUN, by="test")
    assert await redrive(store) is None
    assert (await run_to_end(world, flow, work)).status == "succeeded"
    assert (await store.outputs(RUN, ["Z"]))["Z"]["data"] == [1, 2]


async def test_a_run_that_timed_out_goes_on_with_a_new_timeout(world: World) -> None:
    flow: Flow = {
        "start": "A",
        "states": {"A": {"task": "A", "next": "W"}, "W": {"wait": 10_000}},
    }
    store, work = world.store(), Flaky()
    await seed(store, flow, timeout_ms=5_000)
    run = await run_to_end(world, flow, work)
    assert (run.status, run.finished_at) == ("timed_out", (run.started_at or 0) + 5_000)
    await timers.sweep(store)
    assert await redrive(store, timeout_ms=20_000) is None
    assert (await run_to_end(world, flow, work)).status == "succeeded"
    assert work.performed == ["A"]


@pytest.mark.parametrize("ending", ["running", "succeeded"])
async def test_nothing_else_can_be_redriven(world: World, ending: str) -> None:
    flow, store = linear("A"), world.store()
    await seed(store, flow)
    if ending == "succeeded":
        await run_to_end(world, flow)
    before = await world.dump()
    assert await store.redrive(RUN, again=["A"], resume=[]) == Refusal("not_failed", (ending,))
    assert await world.dump() == before


async def test_a_redriven_run_is_in_the_index_and_no_longer_among_the_done(world: World) -> None:
    flow, store = linear("A"), world.store()
    await seed(store, flow)
    await run_to_end(world, flow, Flaky("A"))
    await put_away(store)
    assert await world.backend.command("ZRANGE", "cp:wf:done", 0, -1) == [RUN]
    assert await redrive(store) is None
    assert await world.backend.command("ZRANGE", INDEX, 0, -1) == [RUN]
    assert await world.backend.command("ZRANGE", "cp:wf:done", 0, -1) == []
    run = await store.run(RUN)
    assert (run.status, run.error, run.exit, run.finished_at, run.finalized_at) == (
        "running", None, None, None, None
    )  # fmt: skip


async def wide(world: World, n: int = 510) -> tuple[Store, Flow, Flaky]:
    """A failed run with more broken states than one call takes."""
    flow, store, work = fanned(linear("T"), window=n), world.store(), Flaky("M[0]/T")
    await seed(store, flow, list(range(n)))
    worker = Worker(store, world.queue(), flow, work)
    await worker.advance(await lease_of(store, "M"))  # in place as far as the broken frame
    assert (await store.run(RUN)).status == "failed"
    return store, flow, work


async def test_a_redrive_in_several_calls_lets_nothing_move_before_the_last(
    world: World,
) -> None:
    store, flow, work = await wide(world)
    await run_to_end(world, flow, work)
    await put_away(store)
    work.broken.clear()
    again, resume = await plan(store)
    assert len(again) > 500
    sweeper = world.store()

    class Between(Interleaved):
        async def meanwhile(self) -> None:
            await world.advance(60_000)
            assert (await timers.sweep(sweeper)).over == []
            assert (await timers.tick(sweeper, RUN)).moved == 0
            answer = await sweeper.acquire(RUN, again[0], owner="x")
            assert answer == Refusal("closed")

    redriver = world.store(Between(world.backend, "redrive"))
    assert await redriver.redrive(RUN, again=again, resume=resume) is None
    due = await world.backend.command("ZCARD", store.keys(RUN).due)
    assert due == len(again)
    worker = Worker(world.store(), world.queue(), flow, work)
    assert (await drive(world, [worker])).status == "succeeded"


async def test_a_finalization_between_the_calls_of_a_redrive_interrupts_it(
    world: World,
) -> None:
    store, flow, work = await wide(world)
    await run_to_end(world, flow, work)
    await store.close(RUN)
    work.broken.clear()
    again, resume = await plan(store)
    finalizer = world.store()

    class Between(Interleaved):
        async def meanwhile(self) -> None:
            assert await put_away(finalizer) is None

    redriver = world.store(Between(world.backend, "redrive"))
    answer = await redriver.redrive(RUN, again=again, resume=resume)
    assert answer == Refusal("interrupted")
    assert (await store.run(RUN)).status == "failed"
    assert await redrive(store) is None
    assert (await run_to_end(world, flow, work)).status == "succeeded"


async def test_a_redrive_whose_client_died_is_begun_anew(world: World) -> None:
    store, flow, work = await wide(world)
    await run_to_end(world, flow, work)
    await store.close(RUN)
    work.broken.clear()
    again, resume = await plan(store)

    class Dying(Interleaved):
        async def meanwhile(self) -> None:
            raise ConnectionAbortedError

    dying = world.store(Dying(world.backend, "redrive"))
    with pytest.raises(ConnectionAbortedError):
        await dying.redrive(RUN, again=again, resume=resume)
    await timers.sweep(world.store())
    assert await redrive(store) is None
    assert (await run_to_end(world, flow, work)).status == "succeeded"
    assert (await store.outputs(RUN, ["Z"]))["Z"]["data"] == list(range(510))


async def test_states_that_were_never_entered_are_pending_again(world: World) -> None:
    flow, store, work = linear("A", "B", "C"), world.store(), Flaky("B")
    await seed(store, flow, 5)
    await run_to_end(world, flow, work)
    await store.close(RUN)
    assert (await store.states(RUN, ["C"]))["C"].status == "skipped"
    assert await redrive(store, unseal=["C", "A"]) is None
    states = await store.states(RUN, ["A", "C"])
    assert [state.status for state in states.values()] == ["done", "pending"]


async def test_a_redrive_of_which_a_fail_over_lost_a_call_is_planned_anew(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_transitions, "BATCH", 2)
    flow, work = fanned(linear("T")), Flaky("M[0]/T", "M[1]/T", "M[2]/T", "M[3]/T")
    store = world.store()
    await seed(store, flow, list(range(4)))
    await run_to_end(world, flow, work)
    await store.close(RUN)
    again, resume = await plan(store)
    calls = -(-(len(again) + len(resume)) // 2)
    assert calls > 2
    for lost in range(1, calls):
        redriver = world.store(FailingOver(world.backend, "redrive", lost))
        answer = await redriver.redrive(RUN, again=again, resume=resume)
        assert answer == Refusal("interrupted"), f"call {lost} was lost"
        await store.close(RUN)
    work.broken.clear()
    assert await redrive(store) is None
    assert (await run_to_end(world, flow, work)).status == "succeeded"


async def test_a_redrive_that_broke_off_leaves_no_run_to_be_sealed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody has closed and counted its documents; one of them is open again since."""
    monkeypatch.setattr(run_transitions, "BATCH", 1)
    store, flow, work = world.store(), fanned(linear("T")), Flaky("M[0]/T")
    await seed(store, flow, [1])
    await run_to_end(world, flow, work)
    sealed = await history.seal(store, RUN)
    await store.close(RUN)
    count = len(await store.paths(RUN))
    again, resume = await plan(store)
    due = store.keys(RUN).due

    class Between(Interleaved):
        async def meanwhile(self) -> None:
            # A strange hand makes the second call fail.
            await world.backend.command("DEL", due)
            await world.backend.command("SET", due, "x")

    with pytest.raises(DamagedRun):
        redriver = world.store(Between(world.backend, "redrive"))
        await redriver.redrive(RUN, again=again, resume=resume)
    await world.backend.command("DEL", due)
    assert (await store.states(RUN, [resume[0]]))[resume[0]].status == "waiting"
    refused = await store.finalize(
        RUN, digest=sealed.head, paths=count, by="x", audit=audit("failed"), cost={}
    )
    assert refused is not None and refused.code == "not_closed"


async def test_a_run_is_retired_while_redis_has_no_memory(redis_url: str) -> None:
    world = RedisWorld(redis_url)
    await world.open()
    store = await ended_run(world)
    with Redis.from_url(redis_url) as client:
        client.config_set("maxmemory", 1)
        try:
            await store.retire(RUN)
        finally:
            client.config_set("maxmemory", 0)
    assert await world.backend.command("ZSCORE", INDEX, RUN) is None
    await world.close()
