"""Seeding: a submission may stop anywhere and be said again; a run is whole before it moves."""

from __future__ import annotations

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, Flow, linear, meta, seed
from interleaved import Breaking
from workers import Worker, drive, lease_of, run_to_end
from worlds import World

from control_plane import (
    INDEX,
    BadDocument,
    BadName,
    Disconnected,
    FirstState,
    Refusal,
    RunExists,
    payload,
    timers,
)

pytestmark = settled(*CONTRACT)

WIDE: Flow = linear(*(f"S{number}" for number in range(1_010)))


async def test_a_seeded_run_has_its_first_state_ready_and_the_others_pending(
    world: World,
) -> None:
    store = world.store()
    assert await seed(store, linear("A", "B", "C"), {"n": 1}) is True
    run = await store.run(RUN)
    assert (run.status, run.input, run.pool) == ("running", {"n": 1}, "default")
    assert run.created_at == run.started_at == world.now_ms
    states = await store.states(RUN, ["A", "B", "C"])
    assert [state.status for state in states.values()] == ["ready", "pending", "pending"]
    assert [state.visit for state in states.values()] == [1, 0, 0]
    assert await store.paths(RUN) == ["A", "B", "C"]


async def test_the_same_submission_again_is_the_same_run(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await lease_of(store, "A")
    before = await world.dump()
    assert await seed(store, linear("A")) is False
    assert await world.dump() == before


async def test_another_submission_under_the_same_id_is_refused(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    before = await world.dump()
    with pytest.raises(RunExists):
        await seed(store, linear("B"), digest="d2")
    assert await world.dump() == before


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", [1, 2, 3])
async def test_a_submission_that_died_at_any_call_is_continued(
    world: World, call: int, when: str
) -> None:
    breaking = Breaking(world.backend, call, when)  # type: ignore[arg-type]
    with pytest.raises(Disconnected):
        await seed(world.store(breaking), WIDE, "in")
    store = world.store()
    if call < 3:
        assert await store.acquire(RUN, "S0", owner="x") in (
            Refusal("unknown_state"),
            Refusal("closed"),
        )
    assert await seed(store, WIDE, "in") is not (call == 3 and when == "after")
    assert len(await store.paths(RUN)) == 1_010
    lease = await lease_of(store, "S0")
    assert lease.input == "in"
    queue = await world.backend.command("XRANGE", "cp:queue:default", "-", "+")
    assert len(queue) == 1


async def test_an_interrupted_submission_is_reported_by_the_sweep_and_can_be_removed(
    world: World,
) -> None:
    with pytest.raises(Disconnected):
        await seed(world.store(Breaking(world.backend, 1, "after")), WIDE)
    await world.advance(60_000)
    store = world.store()
    swept = await timers.sweep(store)
    assert swept.unfinished == [RUN]
    assert await store.remove(RUN) == Refusal("still_running", ("pending",))
    assert await store.remove(RUN, abandoned=True) is None
    assert await world.keys() == []


async def test_a_submission_that_was_completed_is_not_removed_as_abandoned(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    before = await world.dump()
    answer = await store.remove(RUN, abandoned=True)
    assert answer == Refusal("still_running", ("running",))
    assert await world.dump() == before


async def test_two_submitters_at_once_make_one_run(world: World) -> None:
    first, second = world.store(), world.store()
    with pytest.raises(Disconnected):
        await seed(world.store(Breaking(world.backend, 2, "after")), WIDE)
    assert await seed(first, WIDE) is True
    assert await seed(second, WIDE) is False


async def test_a_meta_document_that_cannot_be_stored_leaves_nothing(world: World) -> None:
    store = world.store()
    deep: object = None
    for _ in range(140):
        deep = [deep]
    given = {**meta(linear("A"), None), "deps": {"A": {"upstream": deep}}}
    first = FirstState("A", "Task", payload.encode(None))
    with pytest.raises(BadDocument):
        await store.seed(RUN, digest="d", meta=given, states=[("A", "Task")], start=first)
    assert await world.keys() == []


@pytest.mark.parametrize("workflow_id", ["", "a b", "a:b", "{a}", "a" * 65, "a\n", "é", "../x"])
async def test_an_id_that_would_read_as_structure_is_refused(
    world: World, workflow_id: str
) -> None:
    with pytest.raises(BadName):
        await seed(world.store(), linear("A"), run=workflow_id)
    assert await world.keys() == []


async def test_a_run_that_was_cancelled_while_it_was_submitted_never_starts(world: World) -> None:
    with pytest.raises(Disconnected):
        await seed(world.store(Breaking(world.backend, 1, "after")), WIDE)
    store = world.store()
    assert await store.cancel(RUN, by="x") is None
    assert await seed(store, WIDE) is False
    assert (await store.run(RUN)).status == "cancelled"


async def test_the_first_state_may_be_one_that_is_entered_again(world: World) -> None:
    flow: Flow = {
        "start": "A",
        "states": {"A": {"task": "A", "next": "C"}, "C": {"choice": lambda v: "A" if v else "E"},
                   "E": {"task": "E"}},
    }  # fmt: skip
    await seed(world.store(), flow, 2)

    async def count_down(lease: object) -> int:
        return int(lease.input) - 1  # type: ignore[attr-defined]

    flow["states"]["E"] = {}
    run = await run_to_end(world, flow, count_down)
    assert run.status == "succeeded"
    assert len([p for p in await world.store().paths(RUN) if p.startswith("A")]) == 2


async def test_a_run_timeout_counts_from_its_start(world: World) -> None:
    flow: Flow = {"start": "W", "states": {"W": {"wait": 60_000}}}
    await seed(world.store(), flow, timeout_ms=7_000)
    run = await drive(world, [Worker(world.store(), world.queue(), flow)])
    assert run.status == "timed_out"
    assert run.error is not None
    assert run.error.error == "States.Timeout"
    assert run.finished_at == (run.started_at or 0) + 7_000
    assert await world.backend.command("ZCOUNT", INDEX, "-inf", world.now_ms + 15_000) == 1
