"""Variables travel with the state that is entered: its document carries those of its frame."""

from __future__ import annotations

from typing import Any

import pytest
from flows import RUN, Flow, TaskFailed, enter, seed, step
from test_redrive import Flaky, redrive
from workers import TTL_MS, Worker, drive, lease_of, run_to_end
from worlds import World

from control_plane import (
    BadDocument,
    Commit,
    Committed,
    Lease,
    Output,
    ServerError,
    payload,
    timers,
)

FLOW: Flow = {
    "start": "A",
    "states": {
        "A": {"task": "A", "assign": {"x": 1}, "next": "B"},
        "B": {"task": "B", "assign": {"y": [2]}, "next": "C", "retry": 1, "delay": 10},
        "C": {"task": "C"},
    },
}


async def entered(world: World, value: Any = 1) -> Lease:
    """A run whose state B has just been leased by another worker than A's."""
    store = world.store()
    await seed(store, FLOW, value)
    lease = await lease_of(store, "A")
    answer = await store.commit(lease, await step(store, FLOW, lease), commit_id="c1")
    assert isinstance(answer, Committed)
    return await lease_of(store, "B", owner="worker-2")


async def test_a_run_starts_without_variables(world: World) -> None:
    store = world.store()
    await seed(store, FLOW, 1)
    assert (await lease_of(store, "A")).variables == {}
    assert "variables" not in (await store.states(RUN, ["A"]))["A"].raw


@pytest.mark.parametrize("in_place", [True, False])
async def test_a_state_is_leased_with_what_those_before_it_assigned(
    world: World, in_place: bool
) -> None:
    await seed(world.store(), FLOW, 1)
    seen = {}

    async def work(lease: Lease) -> Any:
        seen[lease.path] = lease.variables
        return lease.input

    assert (await run_to_end(world, FLOW, work, in_place=in_place)).status == "succeeded"
    assert seen == {"A": {}, "B": {"x": 1}, "C": {"x": 1, "y": [2]}}


async def test_the_lease_in_place_brings_them_without_a_read(world: World) -> None:
    store = world.store()
    await seed(store, FLOW, 1)
    lease = await lease_of(store, "A")
    commit = await step(store, FLOW, lease)
    answer = await store.commit(lease, commit, commit_id="c1", in_place=True)
    assert isinstance(answer, Committed)
    assert answer.lease is not None
    assert answer.lease.variables == {"x": 1}
    document = (await store.states(RUN, ["B"]))["B"]
    assert document.variables == answer.lease.variables


async def test_who_takes_a_state_over_sees_the_same(world: World) -> None:
    lost = await entered(world)
    store = world.store()
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    assert (await lease_of(store, "B", owner="worker-3")).variables == lost.variables == {"x": 1}


async def test_the_next_try_sees_the_same(world: World) -> None:
    lease, store = await entered(world), world.store()

    async def broken(_: Lease) -> None:
        raise TaskFailed("Boom")

    await store.commit(lease, await step(store, FLOW, lease, broken), commit_id="c2")
    await world.advance(10)
    await timers.tick(store, RUN)
    again = await lease_of(store, "B")
    assert (again.try_, again.variables) == (2, {"x": 1})


async def test_a_redriven_state_sees_the_same(world: World) -> None:
    flow: Flow = {"start": "A", "states": {**FLOW["states"], "B": {"task": "B", "next": "C"}}}
    work = Flaky("B")
    await seed(world.store(), flow, 1)
    assert (await run_to_end(world, flow, work)).status == "failed"
    assert await redrive(world.store()) is None
    assert (await lease_of(world.store(), "B")).variables == {"x": 1}


async def test_a_state_entered_again_has_the_variables_of_its_new_entry(world: World) -> None:
    rounds = iter(("B", "C"))
    flow: Flow = {
        "start": "A",
        "states": {
            "A": {"task": "A", "assign": {"n": 0}, "next": "B"},
            "B": {"choice": lambda _: next(rounds), "assign": {"n": 1}},
            "C": {"task": "C"},
        },
    }
    await seed(world.store(), flow, 1)
    assert (await run_to_end(world, flow)).status == "succeeded"
    states = await world.store().states(RUN, ["B@1", "B", "C"])
    assert [state.variables for state in states.values()] == [{"n": 0}, {"n": 1}, {"n": 1}]


async def test_large_variables_are_kept_as_a_blob(world: World) -> None:
    store = world.store()
    large = ["y" * 1000] * 400
    flow: Flow = {
        "start": "A",
        "states": {"A": {"task": "A", "assign": {"x": large}, "next": "B"}, "B": {"task": "B"}},
    }
    await seed(store, flow, 1)
    lease = await lease_of(store, "A")
    await store.commit(lease, await step(store, flow, lease), commit_id="c1")
    assert "$blob" in (await store.states(RUN, ["B"]))["B"].variables
    assert (await lease_of(store, "B")).variables == {"x": large}


async def test_a_frame_begins_without_variables_of_its_own(world: World) -> None:
    flow: Flow = {
        "start": "A",
        "states": {
            "A": {"task": "A", "assign": {"x": 1}, "next": "M"},
            "M": {"map": {"start": "T", "states": {"T": {"task": "T"}}}, "next": "Z"},
            "Z": {"task": "Z"},
        },
    }
    await seed(world.store(), flow, [1, 2])
    seen = {}

    async def work(lease: Lease) -> Any:
        seen[lease.path] = lease.variables
        return lease.input

    assert (await drive(world, [Worker(world.store(), world.queue(), flow, work)])).is_over
    assert seen == {"A": {}, "M[0]/T": {}, "M[1]/T": {}, "Z": {"x": 1}}


async def test_variables_that_the_server_refuses_change_nothing(world: World) -> None:
    store = world.store()
    await seed(store, FLOW, 1)
    lease = await lease_of(store, "A")
    before = await world.dump()
    entry = enter(FLOW, "A", "B", 1, {"x": 1})
    deep = payload.Payload("[" * 200 + "]" * 200, "0" * 64, 400)
    entry = type(entry)(entry.path, entry.type, entry.input, 1, variables=deep, own={"x": 1})
    output = Output(True, payload.encode(1))
    commit = Commit("done", {"type": "StateDone", "path": "A"}, output=output, enter=entry)
    with pytest.raises((BadDocument, ServerError)):
        await store.commit(lease, commit, commit_id="c1")
    assert await world.dump() == before
