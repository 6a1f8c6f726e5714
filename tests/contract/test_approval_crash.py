"""Whoever dies around an approval, and wherever: nothing is lost and nothing counts twice."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import pytest
from campaigns import CONTRACT, campaign, settled
from flows import RUN, Flow, seed
from interleaved import Breaking
from workers import Worker, drive, lease_of, put_away
from worlds import World, open_world

from control_plane import Disconnected, HintQueue, Store, history

pytestmark = settled(*CONTRACT)

FLOW: Flow = {
    "start": "A",
    "states": {
        "A": {"task": "A", "asks": ["d1", "d2"], "next": "P"},
        "P": {
            "parallel": [
                {"start": "L", "states": {"L": {"task": "L", "asks": ["d3"]}}},
                {"start": "R", "states": {"R": {"task": "R"}}},
            ],
            "next": "Z",
        },
        "Z": {"task": "Z", "asks": ["d4"], "patience": 500, "catch": "E"},
        "E": {"task": "E"},
    },
}
SHARES = 4
COUNTED = ("StateDone", "StateFailed", "Joined", "RunEnded", "ApprovalRequested", "ApprovalDecided")


class Person:
    """Approves all but d4, on which the person is silent."""

    def __init__(self, store: Store, queue: HintQueue) -> None:
        self.store = store
        self.queue = queue

    async def take(self) -> int:
        """Answer what is asked; how much that was."""
        answered = 0
        paths = await self.store.paths(RUN)
        for path, document in (await self.store.states(RUN, paths)).items():
            if document.wait != "approval" or document.approval is None:
                continue
            digest = document.approval["request"]["digest"]
            if digest == "d4":
                continue
            value = {"decision": "approve", "by": "ada", "digest": digest, "ask": document.ask}
            refusal = await self.store.signal(
                RUN, path, visit=document.visit, try_=document.try_, event="approval",
                value=value, ask=document.ask,
                recorded={"type": "ApprovalDecided", "path": path, "digest": digest},
            )  # fmt: skip
            answered += refusal is None
        return answered


async def outcome(world: World) -> dict[str, Any]:
    """What must not depend on who died when."""
    store = world.store()
    paths = await store.paths(RUN)
    states = await store.states(RUN, paths)
    events = [event.event async for event in history.read(store, RUN)]
    return {
        "status": await store.run_status(RUN),
        "states": {path: (s.status, s.visit, s.try_, s.ask) for path, s in states.items()},
        "outputs": {path: out["data"] for path, out in (await store.outputs(RUN, paths)).items()},
        "events": Counter(
            (event["type"], event.get("path"), event.get("digest"))
            for event in events
            if event["type"] in COUNTED
        ),
    }


async def run_with_death(
    world: World, mortal: Literal["worker", "person"], fatal: int | None, when: Any
) -> tuple[dict[str, Any], Breaking]:
    """The outcome of a run in which one of the two dies at its call number ``fatal``."""
    await seed(world.store(), FLOW)
    breaking = Breaking(world.backend, fatal, when)

    def store(who: str) -> Store:
        return world.store(breaking if who == mortal else None)

    crew: list[Any] = [
        Worker(store("worker"), world.queue("first"), FLOW, name="first"),
        Person(store("person"), world.queue("ada")),
    ]
    if fatal is not None:
        crew.append(Worker(world.store(), world.queue("second"), FLOW, name="second"))
        crew.append(Person(world.store(), world.queue("grace")))
    await drive(world, crew)
    found = await outcome(world)
    assert await put_away(world.store()) is None
    return found, breaking


@campaign(SHARES)
@pytest.mark.parametrize("mortal", ["worker", "person"])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_the_outcome_is_the_same_wherever_somebody_died(
    share: int, backend_url: str | None, mortal: Literal["worker", "person"], when: Any
) -> None:
    world = await open_world(backend_url)
    expected, whole = await run_with_death(world, mortal, None, when)
    assert expected["status"] == "succeeded"
    assert expected["events"]["ApprovalDecided", "A", "d2"] == 1
    assert expected["states"]["Z"][0] == "done"
    assert expected["states"]["E"][0] == "done", "silence is no approval"
    await world.close()
    # Another quarter in each of the four ways: together they see all calls.
    first = 1 + (share + 2 * (mortal == "person") + (when == "after")) % SHARES
    for fatal in range(first, whole.calls + 1, SHARES):
        world = await open_world(backend_url)
        found, broken = await run_with_death(world, mortal, fatal, when)
        assert found == expected, f"{mortal} died {when} call {fatal}: {broken.names[-1]}"
        await world.close()


async def test_a_worker_that_dies_before_its_question_leaves_the_state_as_it_was(
    world: World,
) -> None:
    await seed(world.store(), FLOW)
    breaking = Breaking(world.backend, 4, "before")
    dying = Worker(world.store(breaking), world.queue(), FLOW)
    lease = await lease_of(dying.store, "A")
    with pytest.raises(Disconnected):
        await dying.once(lease)
    assert breaking.names == ["acquire", "TIME", "ZADD", "commit"]
    assert (await world.store().states(RUN, ["A"]))["A"].status == "running"
