"""Failed frames that a join tolerates: it goes on, and knows which failed and why."""

from __future__ import annotations

from typing import Any

import pytest
from flows import RUN, Flow, TaskFailed, end, linear, seed, step
from test_join import events, fanned, finish, open_frames
from test_redrive import Flaky, redrive
from workers import lease_of, run_to_end, seal_off
from worlds import World

from control_plane import Failure, Lease, Results, UnknownState


@pytest.mark.parametrize("failing", [(0,), (2,), (0, 2), (1, 2)])
async def test_a_join_tells_results_from_failures(world: World, failing: tuple[int, ...]) -> None:
    flow = fanned(linear("T"), tolerate=2)
    store, leases = await open_frames(world, flow, [10, 11, 12])
    for number, lease in enumerate(leases):
        await finish(store, flow, lease, f"E{number}" if number in failing else "")
    parent = await lease_of(store, "M")
    assert (parent.event, parent.event_payload, parent.join_failed) == (
        "joined",
        None,
        len(failing),
    )
    found = await store.results(RUN, "M", parent.join_n, parent.join_failed)
    assert found == Results(
        [None if number in failing else 10 + number for number in range(3)],
        {number: Failure(f"E{number}") for number in failing},
    )


async def test_one_failure_more_than_the_limit_closes_the_join(world: World) -> None:
    flow = fanned(linear("T"), tolerate=1)
    store, leases = await open_frames(world, flow, [1, 2, 3])
    await finish(store, flow, leases[0], "First")
    await finish(store, flow, leases[1], "Second")
    parent = await lease_of(store, "M")
    assert (parent.event, parent.event_payload["error"]) == ("child_failed", "Second")
    assert await events(store, "Joined") == []


async def test_a_ticket_that_cannot_be_opened_counts_as_a_failure(world: World) -> None:
    flow = fanned(linear("T"), tolerate=1)
    store = world.store()
    await seed(store, flow, [1, 2])
    lease = await lease_of(store, "M")
    await store.commit(lease, await step(store, flow, lease), commit_id="c1")
    ticket = await lease_of(store, "M[0]")
    await store.commit(ticket, end(flow, ticket, None, Failure("Bad")), commit_id="c2")
    other = await lease_of(store, "M[1]")
    answer: Any = await store.commit(
        other, await step(store, flow, other), commit_id="c3", in_place=True
    )
    await finish(store, flow, answer.lease)
    parent = await lease_of(store, "M")
    found = await store.results(RUN, "M", 2, parent.join_failed)
    assert found == Results([None, 2], {0: Failure("Bad")})


async def test_results_that_are_missing_are_an_error(world: World) -> None:
    flow = fanned(linear("T"), tolerate=1)
    store, leases = await open_frames(world, flow, [1, 2])
    await finish(store, flow, leases[0], "Boom")
    with pytest.raises(UnknownState):
        await store.results(RUN, "M", 2, 1)


async def test_a_tolerated_failure_fails_no_run(world: World) -> None:
    flow = fanned(linear("T"), tolerate=1)
    await seed(world.store(), flow, [1, 2, 3])
    run = await run_to_end(world, flow, Flaky("M[1]/T"))
    assert (run.status, run.error) == ("succeeded", None)
    assert (await world.store().outputs(RUN, ["Z"]))["Z"]["data"] == [1, "Boom", 3]
    assert await seal_off(world.store()) is None


async def test_a_redrive_runs_every_failed_frame_of_a_join_that_failed(world: World) -> None:
    flow: Flow = fanned(linear("T"), tolerate=1)
    work = Flaky("M[0]/T", "M[2]/T")
    await seed(world.store(), flow, [1, 2, 3])
    assert (await run_to_end(world, flow, work)).status == "failed"
    work.broken.remove("M[2]/T")
    assert await redrive(world.store()) is None
    assert (await run_to_end(world, flow, work)).status == "succeeded"
    assert (await world.store().outputs(RUN, ["Z"]))["Z"]["data"] == ["Boom", 2, 3]
    assert work.performed.count("M[1]/T") == 1


async def test_a_redrive_leaves_what_a_join_tolerated(world: World) -> None:
    flow: Flow = fanned(linear("T"), tolerate=1)

    async def work(lease: Lease) -> Any:
        if lease.path in ("M[0]/T", "Z"):
            raise TaskFailed("Boom")
        return lease.input

    await seed(world.store(), flow, [1, 2])
    assert (await run_to_end(world, flow, work)).status == "failed"
    store = world.store()
    await store.close(RUN)
    assert await store.redrive(RUN, again=["Z"], resume=[]) is None
    assert (await run_to_end(world, flow)).status == "succeeded"
    assert (await store.outputs(RUN, ["Z"]))["Z"]["data"] == ["Boom", 2]
