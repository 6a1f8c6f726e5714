"""A loop comes back: each visit has a document of its own, and old rounds cannot disturb it."""

from __future__ import annotations

from typing import Any

import pytest
from flows import RUN, Flow, TaskFailed, end, linear, seed, step
from workers import TTL_MS, Worker, drive, lease_of, run_to_end
from worlds import World

from control_plane import Committed, Failure, Lease, Refusal


def loop(body: dict[str, Any], rounds: int) -> Flow:
    """``Body`` runs ``rounds`` times before the run ends; its value counts nothing."""
    visits = {"n": 0}

    def again(value: Any) -> str:
        visits["n"] += 1
        return "Body" if visits["n"] < rounds else "End"

    return {
        "start": "Body",
        "states": {
            "Body": {**body, "next": "C"},
            "C": {"choice": again},
            "End": {"task": "End"},
        },
    }


@pytest.mark.parametrize("in_place", [True, False])
async def test_each_visit_keeps_its_document_and_its_output(world: World, in_place: bool) -> None:
    flow = loop({"task": "Body"}, 3)
    await seed(world.store(), flow, 0)

    async def work(lease: Lease) -> int:
        return int(lease.input) + 1

    run = await run_to_end(world, flow, work, in_place=in_place)
    assert run.status == "succeeded"
    store = world.store()
    visits = ["Body@1", "Body@2", "Body"]
    states = await store.states(RUN, visits)
    outputs = await store.outputs(RUN, visits)
    assert [states[path].visit for path in visits] == [1, 2, 3]
    assert [states[path].status for path in visits] == ["done"] * 3
    assert [outputs[path]["data"] for path in visits] == [1, 2, 3]
    assert set(visits) <= set(await store.paths(RUN))


async def test_a_state_that_follows_itself_sets_itself_aside(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"task": "A", "next": "A"}}}
    store = world.store()
    await seed(store, flow, 0)
    lease = await lease_of(store, "A")
    answer = await store.commit(lease, end(flow, lease, 1), commit_id="c1", in_place=True)
    assert isinstance(answer, Committed)
    assert answer.lease is not None
    assert (answer.lease.visit, answer.lease.input) == (2, 1)
    again = await store.commit(lease, end(flow, lease, 1), commit_id="c1", in_place=True)
    assert again == answer
    states = await store.states(RUN, ["A", "A@1"])
    assert (states["A"].status, states["A@1"].status) == ("running", "done")
    assert (await store.outputs(RUN, ["A", "A@1"])) == {
        "A@1": {
            "ok": True, "data": 1, "summary": "A", "artifacts": [], "metrics": {}, "error": None
        }
    }  # fmt: skip


async def test_a_map_in_a_loop_opens_a_new_round_each_time(world: World) -> None:
    flow = loop({"map": linear("T", "U"), "window": 2}, 3)
    await seed(world.store(), flow, [1, 2, 3])
    run = await run_to_end(world, flow)
    assert run.status == "succeeded"
    assert (await world.store().outputs(RUN, ["End"]))["End"]["data"] == [1, 2, 3]
    rounds = await world.store().states(RUN, ["Body[0]@1", "Body[0]@2", "Body[0]"])
    first, second, third = (state.round for state in rounds.values())
    assert first < second < third


async def test_nested_maps_in_a_loop_with_fewer_items_each_time(world: World) -> None:
    inner: Flow = {"start": "I", "states": {"I": {"map": linear("T")}}}
    flow: Flow = {
        "start": "Body",
        "states": {
            "Body": {"map": inner, "next": "Drop"},
            "Drop": {"task": "Drop", "next": "C"},
            "C": {"choice": lambda value: "Body" if value else "End"},
            "End": {"task": "End"},
        },
    }

    async def work(lease: Lease) -> Any:
        return lease.input[:-1] if lease.path == "Drop" else lease.input

    await seed(world.store(), flow, [[1, 2], [3], [4, 5]])
    crew = [
        Worker(world.store(), world.queue(f"c{n}"), flow, work, name=f"w{n}", in_place=n == 0)
        for n in range(2)
    ]
    assert (await drive(world, crew)).status == "succeeded"
    outputs = await world.store().outputs(RUN, ["Body@1", "Body@2", "Body"])
    assert {path: output["data"] for path, output in outputs.items()} == {
        "Body@1": [[1, 2], [3], [4, 5]],
        "Body@2": [[1, 2], [3]],
        "Body": [[1, 2]],
    }


async def test_an_old_round_that_is_still_running_cannot_write_into_the_new_one(
    world: World,
) -> None:
    flow: Flow = {
        "start": "M",
        "states": {
            "M": {"map": linear("T"), "catch": "C"},
            "C": {"choice": lambda value: "M"},
        },
    }
    store = world.store()
    await seed(store, flow, [1, 2])

    async def open_all() -> list[Lease]:
        parent = await lease_of(store, "M")
        parent.input = [1, 2]
        await store.commit(parent, await step(store, flow, parent), commit_id=store.new_id())
        leases = []
        for number in range(2):
            ticket = await lease_of(store, f"M[{number}]")
            commit = await step(store, flow, ticket)
            answer = await store.commit(ticket, commit, commit_id=store.new_id(), in_place=True)
            assert isinstance(answer, Committed)
            assert answer.lease is not None
            leases.append(answer.lease)
        return leases

    slow, fast = await open_all()
    await store.commit(fast, end(flow, fast, None, Failure("Boom")), commit_id="c-boom")
    parent = await lease_of(store, "M")
    await store.commit(parent, end(flow, parent, None, Failure("Boom")), commit_id="c-caught")
    choice = await lease_of(store, "C")
    await store.commit(choice, end(flow, choice, [1, 2]), commit_id="c-choice")
    stale = end(flow, slow, "stale")
    assert await store.commit(slow, stale, commit_id="c-s1") == Refusal("closed")
    fresh, _ = await open_all()
    assert await store.commit(slow, stale, commit_id="c-s2") == Refusal("lease_lost")
    assert fresh.fence > slow.fence
    assert (fresh.path, fresh.visit) == (slow.path, slow.visit + 1)
    old = (await store.states(RUN, ["M[0]/T@1"]))["M[0]/T@1"]
    assert (old.status, old.holder) == ("cancelled", None)
    due = await world.backend.command("ZRANGE", store.keys(RUN).due, 0, -1)
    assert sorted(due) == ["M[0]/T", "M[1]/T"]


async def test_a_waiting_visit_in_a_dead_round_is_set_aside_with_its_timer(world: World) -> None:
    inner: Flow = {"start": "W", "states": {"W": {"wait": 3_600_000}}}
    flow: Flow = {
        "start": "P",
        "states": {"P": {"parallel": [inner, linear("T", retry=0)], "retry": 1, "delay": 10}},
    }
    store = world.store()
    await seed(store, flow)
    failed = False

    async def fail_once(lease: Lease) -> Any:
        nonlocal failed
        if not failed:
            failed = True
            raise TaskFailed("Boom")
        return lease.input

    run = await run_to_end(world, flow, fail_once)
    assert run.status == "succeeded"
    states = await store.states(RUN, ["P[0]/W", "P[0]/W@1"])
    assert [state.status for state in states.values()] == ["done", "cancelled"]
    finished = states["P[0]/W"].times["finished"]
    assert finished is not None
    assert TTL_MS < finished - (run.started_at or 0) < 2 * 3_600_000
