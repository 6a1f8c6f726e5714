"""A worker that dies at any boundary of a step, before or after it, loses and doubles nothing."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import pytest
from campaigns import CONTRACT, campaign, settled
from flows import RUN, Flow, TaskFailed, end, linear, seed
from interleaved import Breaking
from workers import Worker, drive, lease_of, put_away
from worlds import World, open_world

from control_plane import INDEX, Disconnected, Lease, history, timers

pytestmark = settled(*CONTRACT)

FLOW: Flow = {
    "start": "A",
    "states": {
        "A": {"task": "A", "next": "M", "retry": 1, "delay": 50},
        "M": {"map": linear("T", "U"), "window": 2, "next": "W"},
        "W": {"wait": 500, "next": "P"},
        "P": {"parallel": [linear("L"), linear("R")], "catch": "H"},
        "H": {"task": "H", "next": "C"},
        "C": {"choice": lambda value: "Z" if value == "R" else "A"},
        "Z": {"task": "Z"},
    },
}


SHARES = 8


async def work(lease: Lease) -> Any:
    """The first try of A fails, R always; one output is a blob."""
    if lease.path == "A":
        if lease.try_ == 1:
            raise TaskFailed("Flaky")
        return [1, 2]
    if lease.path.endswith("/R"):
        raise TaskFailed("R")
    if lease.path == "M[0]/T":
        return "x" * 300_000
    return lease.input


async def outcome(world: World) -> dict[str, Any]:
    """What must not depend on who died when."""
    store = world.store()
    paths = await store.paths(RUN)
    states = await store.states(RUN, paths)
    events = [event.event async for event in history.read(store, RUN)]
    steps = ("StateDone", "StateFailed", "Joined", "ChildFailed", "FannedOut", "RunEnded")
    steps += ("FrameOpened", "RetryScheduled", "WaitStarted")
    sibling = "P[0]"  # its fate after the failure of P[1] is a matter of time
    return {
        "status": (await store.run_status(RUN)),
        "states": {
            path: (state.status, state.visit, state.try_)
            for path, state in states.items()
            if not path.startswith(sibling)
        },
        "outputs": {
            path: (output["ok"], output["data"])
            for path, output in (await store.outputs(RUN, paths)).items()
            if not path.startswith(sibling)
        },
        "steps": Counter(
            (event["type"], event.get("path"))
            for event in events
            if event["type"] in steps and not str(event.get("path")).startswith(sibling)
        ),
    }


async def run_with_death(
    world: World, fatal: int | None, when: Literal["before", "after"], in_place: bool
) -> tuple[dict[str, Any], Breaking]:
    """The outcome of a run whose first worker dies at its call number ``fatal``."""
    await seed(world.store(), FLOW)
    mortal = Breaking(world.backend, fatal, when)
    first = Worker(
        world.store(mortal), world.queue("first"), FLOW, work, name="first", in_place=in_place
    )
    crew = [first]
    if fatal is not None:
        crew.append(
            Worker(
                world.store(), world.queue("second"), FLOW, work, name="second", in_place=in_place
            )
        )
        await first.queue.open()
        while not mortal.broken and await drive_once(first):
            pass
    await drive(world, crew)
    found = await outcome(world)
    assert await put_away(world.store()) is None
    return found, mortal


async def drive_once(worker: Worker) -> bool:
    """One turn of a worker that may die in it; whether it is to have another."""
    try:
        return await worker.take() > 0
    except Disconnected:
        return False


@campaign(SHARES)
@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_the_outcome_is_the_same_wherever_the_worker_died(
    share: int, backend_url: str | None, when: Literal["before", "after"], in_place: bool
) -> None:
    world = await open_world(backend_url)
    expected, whole = await run_with_death(world, None, when, in_place)
    assert expected["status"] == "succeeded"
    assert {"acquire", "commit", "blob"} <= set(whole.names)
    await world.close()
    # Another eighth in each of the eight ways: together they see all calls.
    way = 4 * (backend_url is not None) + 2 * in_place + (when == "after")
    first = 1 + (share + way) % SHARES
    for fatal in range(first, whole.calls + 1, SHARES):
        world = await open_world(backend_url)
        found, mortal = await run_with_death(world, fatal, when, in_place)
        assert found == expected, f"died {when} call {fatal}: {mortal.names[-1]}"
        await world.close()


async def test_a_death_after_the_blob_and_before_the_commit_leaves_the_state_as_it_was(
    world: World,
) -> None:
    flow = linear("A", "B")
    await seed(world.store(), flow)
    mortal = Breaking(world.backend, 2, "after")
    store = world.store(mortal)
    lease = await lease_of(store, "A")
    before = await world.dump()
    with pytest.raises(Disconnected):
        await store.commit(lease, end(flow, lease, "x" * 300_000), commit_id="c1")
    assert mortal.names == ["acquire", "blob"]
    after = await world.dump()
    assert {key: after[key] for key in before} == before
    assert {key.rpartition(":")[0] for key in after.keys() - before.keys()} == {
        f"cp:wf:{RUN}",
        f"dp:wf:{RUN}:blob",
    }


async def test_a_death_between_commit_and_hint_is_healed_by_the_sweep(
    world: World,
) -> None:
    """In a cluster the client sends the hints: it may die before it does."""
    flow = linear("A", "B")
    await seed(world.store(cluster=True), flow)
    mortal = Breaking(world.backend, 2, "after")
    store = world.store(mortal, cluster=True)
    lease = await lease_of(store, "A")
    with pytest.raises(Disconnected):
        await store.commit(lease, end(flow, lease, 1), commit_id="c1")
    assert mortal.names == ["acquire", "commit"]
    healer = world.store(cluster=True)
    assert (await healer.states(RUN, ["B"]))["B"].status == "ready"
    await world.backend.command("DEL", "cp:queue:default")
    await world.advance(60_000)
    swept = await timers.sweep(healer)
    assert swept.over == []
    queue = await world.backend.command("XRANGE", "cp:queue:default", "-", "+")
    assert [fields[3] for _, fields in queue] == ["B"]
    assert await world.backend.command("ZSCORE", INDEX, RUN) is not None
