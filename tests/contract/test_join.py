"""Joins: fan-out, windows, one join for all branches, failure that propagates."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, Flow, TaskFailed, linear, seed, step
from workers import TTL_MS, Worker, drive, lease_of, run_to_end
from worlds import World

from control_plane import Committed, Lease, Refusal, Store, history, timers

pytestmark = settled(*CONTRACT)


def fanned(inner: Flow, **members: Any) -> Flow:
    """A Map over ``inner`` with a state after it."""
    return {
        "start": "M",
        "states": {"M": {"map": inner, "next": "Z", **members}, "Z": {"task": "Z"}},
    }


async def open_frames(world: World, flow: Flow, value: Any) -> tuple[Store, list[Lease]]:
    """A run whose Map has opened, with the first state of every frame leased."""
    store = world.store()
    await seed(store, flow, value)
    lease = await lease_of(store, "M")
    await store.commit(lease, await step(store, flow, lease), commit_id=store.new_id())
    leases = []
    for path in await store.paths(RUN):
        if path.startswith("M["):
            ticket = await lease_of(store, path)
            commit = await step(store, flow, ticket)
            answer = await store.commit(ticket, commit, commit_id=store.new_id(), in_place=True)
            assert isinstance(answer, Committed)
            assert answer.lease is not None
            leases.append(answer.lease)
    return store, leases


async def finish(store: Store, flow: Flow, lease: Lease, error: str = "") -> object:
    """Commit the end of ``lease``."""

    async def work(lease: Lease) -> Any:
        if error:
            raise TaskFailed(error)
        return lease.input

    commit = await step(store, flow, lease, work)
    return await store.commit(lease, commit, commit_id=store.new_id())


async def events(store: Store, kind: str) -> list[dict[str, Any]]:
    return [e.event async for e in history.read(store, RUN) if e.event["type"] == kind]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_branches_that_finish_in_any_order_join_once(
    world: World, order: tuple[int, ...]
) -> None:
    flow = fanned(linear("T"))
    store, leases = await open_frames(world, flow, [10, 11, 12])
    for count, number in enumerate(order, start=1):
        before = (await store.states(RUN, ["M"]))["M"]
        assert before.status == "waiting"
        await finish(store, flow, leases[number])
        join = (await store.states(RUN, ["M"]))["M"].join
        assert join is not None
        assert (join.finished, join.open) == (count, count < 3)
    parent = await lease_of(store, "M")
    assert parent.event == "joined"
    assert (await store.results(RUN, "M", parent.join_n)).values == [10, 11, 12]
    assert len(await events(store, "Joined")) == 1


async def test_branches_that_finish_at_once_join_once(world: World) -> None:
    flow = fanned(linear("T"))
    store, leases = await open_frames(world, flow, list(range(8)))
    await asyncio.gather(*(finish(store, flow, lease) for lease in leases))
    assert len(await events(store, "Joined")) == 1
    queue = await world.backend.command("XRANGE", "cp:queue:default", "-", "+")
    assert [fields[3] for _, fields in queue].count("M") == 2  # at its entry and at its join


async def test_never_more_frames_than_the_window_are_in_flight(world: World) -> None:
    flow = fanned(linear("T"), window=2)
    await seed(world.store(), flow, list(range(6)))
    most = 0

    async def work(lease: Lease) -> Any:
        nonlocal most
        tickets = [p for p in await world.store().paths(RUN) if p.endswith("]")]
        states = await world.store().states(RUN, tickets)
        most = max(most, sum(state.is_open for state in states.values()))
        return lease.input

    workers = [
        Worker(world.store(), world.queue(f"c{n}"), flow, work, in_place=False) for n in range(3)
    ]
    assert (await drive(world, workers)).status == "succeeded"
    assert most == 2


async def test_a_frame_evaluates_nothing_before_its_ticket_is_leased(world: World) -> None:
    flow, store = fanned(linear("T")), world.store()
    await seed(store, flow, ["a", "b"])
    lease = await lease_of(store, "M")
    await store.commit(lease, await step(store, flow, lease), commit_id="c1")
    assert await store.paths(RUN) == ["M", "M[0]", "M[1]", "Z"]
    ticket = (await store.states(RUN, ["M[1]"]))["M[1]"]
    assert (ticket.kind, ticket.status, ticket.input) == ("frame", "ready", None)


async def test_the_first_failure_wakes_the_parent_and_closes_its_siblings(world: World) -> None:
    flow = fanned(linear("T"))
    store, leases = await open_frames(world, flow, [1, 2, 3])
    await finish(store, flow, leases[0])
    assert await finish(store, flow, leases[1], "Boom") == Committed(None, None)
    before = await world.dump()
    assert await finish(store, flow, leases[2]) == Refusal("closed")
    assert await store.renew(leases[2]) == Refusal("closed")
    assert await store.release(leases[2]) == Refusal("closed")
    assert await world.dump() == before
    parent = await lease_of(store, "M")
    assert parent.event == "child_failed"
    assert parent.event_payload["error"] == "Boom"
    assert len(await events(store, "ChildFailed")) == 1


async def test_a_sibling_that_commits_just_before_the_failure_is_counted(world: World) -> None:
    flow = fanned(linear("T"))
    store, leases = await open_frames(world, flow, [1, 2])
    answers = await asyncio.gather(
        finish(store, flow, leases[0]), finish(store, flow, leases[1], "Boom")
    )
    assert answers == [Committed(None, None)] * 2
    join = (await store.states(RUN, ["M"]))["M"].join
    assert join is not None
    assert (join.finished, join.failed, join.open) == (2, 1, False)
    assert await events(store, "Joined") == []


async def test_a_deadlocked_sibling_of_a_failure_is_not_taken_over(world: World) -> None:
    flow = fanned(linear("T"))
    store, leases = await open_frames(world, flow, [1, 2])
    await finish(store, flow, leases[0], "Boom")
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    sibling = (await store.states(RUN, ["M[1]/T"]))["M[1]/T"]
    assert (sibling.status, sibling.takeovers) == ("running", 0)
    assert await store.acquire(RUN, "M[1]/T", owner="x") == Refusal("closed")
    due = await world.backend.command("ZRANGE", store.keys(RUN).due, 0, -1)
    assert due == ["M"]


async def test_failures_up_to_the_limit_are_tolerated(world: World) -> None:
    flow = fanned(linear("T"), tolerate=1)
    store, leases = await open_frames(world, flow, [1, 2, 3])
    await finish(store, flow, leases[0], "Boom")
    await finish(store, flow, leases[1])
    await finish(store, flow, leases[2])
    assert (await lease_of(store, "M")).event == "joined"


async def test_a_handler_starts_only_when_its_failure_is_caught(world: World) -> None:
    async def work(lease: Lease) -> Any:
        if lease.path.endswith("Bad"):
            raise TaskFailed("Boom")
        return lease.path

    def flow(first: str) -> Flow:
        return {
            "start": first,
            "states": {
                first: {"task": first, "next": "End", "catch": "Handler"},
                "Handler": {"task": "Handler"},
                "End": {"task": "End"},
            },
        }

    for run, first, handled in (("r1", "Good", "pending"), ("r2", "Bad", "done")):
        await seed(world.store(), flow(first), run=run)
        await run_to_end(world, flow(first), work, run=run)
        states = await world.store().states(run, ["Handler", "End"])
        ended = {"pending": "done", "done": "pending"}[handled]
        assert (states["Handler"].status, states["End"].status) == (handled, ended)


async def test_an_uncaught_failure_climbs_through_every_join_to_the_run(world: World) -> None:
    async def work(lease: Lease) -> Any:
        if lease.path == "M[1]/P[0]/T":
            raise TaskFailed("Boom")
        return lease.input

    inner: Flow = {"start": "P", "states": {"P": {"parallel": [linear("T"), linear("U")]}}}
    flow = fanned(inner)
    await seed(world.store(), flow, [1, 2])
    run = await run_to_end(world, flow, work)
    assert run.status == "failed"
    assert run.error is not None
    assert (run.error.error, run.exit) == ("Boom", "M")
    failed = ["M", "M[1]", "M[1]/P", "M[1]/P[0]", "M[1]/P[0]/T"]
    states = await world.store().states(RUN, failed)
    assert [states[path].status for path in failed] == ["failed"] * 5


async def test_a_catch_at_any_level_stops_the_failure_there(world: World) -> None:
    async def work(lease: Lease) -> Any:
        if lease.path.startswith("M[1]/P[0]"):
            raise TaskFailed("Boom")
        return lease.input

    inner: Flow = {
        "start": "P",
        "states": {
            "P": {"parallel": [linear("T"), linear("U")], "catch": "H"},
            "H": {"task": "H"},
        },
    }
    flow = fanned(inner)
    await seed(world.store(), flow, [1, 2])
    run = await run_to_end(world, flow, work)
    assert run.status == "succeeded"
    results = (await world.store().outputs(RUN, ["M"]))["M"]["data"]
    assert results == [[1, 1], "Boom"]


async def test_a_join_behind_a_choice_does_not_wait_for_the_branch_not_taken(
    world: World,
) -> None:
    branch: Flow = {
        "start": "C",
        "states": {
            "C": {"choice": lambda value: "Left" if value else "Right"},
            "Left": {"task": "Left", "next": "End"},
            "Right": {"task": "Right", "next": "End"},
            "End": {"task": "End"},
        },
    }
    flow: Flow = {"start": "P", "states": {"P": {"parallel": [branch, linear("T")]}}}
    await seed(world.store(), flow, True)
    assert (await run_to_end(world, flow)).status == "succeeded"
    states = await world.store().states(RUN, ["P[0]/Left", "P[0]/Right"])
    assert list(states) == ["P[0]/Left"]


async def test_a_state_named_like_a_frame_never_meets_it(world: World) -> None:
    flow: Flow = {
        "start": "Fan",
        "states": {
            "Fan": {"map": linear("Fetch"), "next": "Fan[0]/Fetch"},
            "Fan[0]/Fetch": {"task": "x"},
        },
    }
    await seed(world.store(), flow, ["a"])
    assert (await run_to_end(world, flow)).status == "succeeded"
    states = await world.store().states(RUN, ["Fan[0]/Fetch", "Fan%5B0%5D%2FFetch"])
    assert {path: state.visit for path, state in states.items()} == {
        "Fan[0]/Fetch": 1,
        "Fan%5B0%5D%2FFetch": 1,
    }


async def test_a_retried_map_opens_a_new_round_that_the_old_one_cannot_disturb(
    world: World,
) -> None:
    flow = fanned(linear("T"), retry=1, delay=100)
    store, old = await open_frames(world, flow, [1, 2])
    await finish(store, flow, old[0], "Boom")
    parent = await lease_of(store, "M")
    await store.commit(parent, await step(store, flow, parent), commit_id="c-retry")
    await world.advance(100)
    await timers.tick(store, RUN)
    parent = await lease_of(store, "M")
    assert (parent.event, parent.try_) == (None, 2)
    assert await finish(store, flow, old[1]) == Refusal("closed")
    await store.commit(parent, await step(store, flow, parent), commit_id="c-again")
    assert await finish(store, flow, old[1]) == Refusal("closed")
    run = await run_to_end(world, flow)
    assert run.status == "succeeded"
    assert (await store.outputs(RUN, ["Z"]))["Z"]["data"] == [1, 2]
    earlier = await store.states(RUN, ["M[0]@1", "M[1]@1", "M[1]/T@1"])
    assert [state.status for state in earlier.values()] == ["failed", "cancelled", "cancelled"]
    [old_round] = {state.round for state in earlier.values()}
    assert old_round < (await store.states(RUN, ["M[0]"]))["M[0]"].round


async def test_ten_thousand_items_need_no_more_documents_than_have_begun(world: World) -> None:
    flow, store = fanned(linear("T"), window=3), world.store()
    await seed(store, flow, list(range(10_000)))
    lease = await lease_of(store, "M")
    await store.commit(lease, await step(store, flow, lease), commit_id="c1")
    assert len([key for key in await world.keys() if ":state:" in key]) == 5  # M, Z, 3 tickets
