"""A run from its seed to its end, on either backend."""

from __future__ import annotations

import pytest
from flows import RUN, TaskFailed, linear, seed
from workers import run_to_end, seal_off
from worlds import World

from control_plane import INDEX, Lease


@pytest.mark.parametrize("in_place", [True, False])
async def test_states_run_in_order_and_the_run_succeeds(world: World, in_place: bool) -> None:
    seen: list[str] = []

    async def work(lease: Lease) -> int:
        seen.append(lease.path)
        return int(lease.input) + 1

    flow = linear("A", "B", "C")
    await seed(world.store(), flow, 1)
    run = await run_to_end(world, flow, work, in_place=in_place)
    assert run.status == "succeeded"
    assert run.exit == "C"
    assert seen == ["A", "B", "C"]
    outputs = await world.store().outputs(RUN, ["A", "B", "C"])
    assert [outputs[path]["data"] for path in "ABC"] == [2, 3, 4]
    states = await world.store().states(RUN, ["A", "B", "C"])
    assert {state.status for state in states.values()} == {"done"}
    assert {state.attempts for state in states.values()} == {1}


async def test_map_gives_its_results_in_the_order_of_the_items(world: World) -> None:
    flow = {
        "start": "M",
        "states": {"M": {"map": linear("T"), "window": 2, "next": "Z"}, "Z": {"task": "Z"}},
    }
    await seed(world.store(), flow, [5, 6, 7])
    run = await run_to_end(world, flow)
    assert run.status == "succeeded"
    assert (await world.store().outputs(RUN, ["Z"]))["Z"]["data"] == [5, 6, 7]


async def test_a_failure_without_catch_fails_frame_join_and_run(world: World) -> None:
    async def work(lease: Lease) -> None:
        raise TaskFailed("Boom")

    flow = {"start": "M", "states": {"M": {"map": linear("T"), "next": "Z"}, "Z": {"task": "Z"}}}
    await seed(world.store(), flow, [1])
    run = await run_to_end(world, flow, work)
    assert run.status == "failed"
    assert run.error is not None
    assert run.error.error == "Boom"
    states = await world.store().states(RUN, ["M", "M[0]", "M[0]/T", "Z"])
    assert {path: state.status for path, state in states.items()} == {
        "M": "failed",
        "M[0]": "failed",
        "M[0]/T": "failed",
        "Z": "pending",
    }


async def test_a_run_stands_in_the_index_from_seed_to_retirement(world: World) -> None:
    flow, store = linear("A"), world.store()
    await seed(store, flow)
    assert await world.backend.command("ZRANGE", INDEX, 0, -1) == [RUN]
    await run_to_end(world, flow)
    assert await world.backend.command("ZRANGE", INDEX, 0, -1) == [RUN]
    assert await seal_off(store) is None
    assert await world.backend.command("ZRANGE", INDEX, 0, -1) == [RUN]
    await store.retire(RUN)
    assert await world.backend.command("ZRANGE", INDEX, 0, -1) == []
