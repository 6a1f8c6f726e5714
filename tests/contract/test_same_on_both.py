"""The twin and a real server end with the same content, key by key."""

from __future__ import annotations

from typing import Any

import pytest
from flows import RUN, Flow, TaskFailed, linear, seed
from test_crash import FLOW, work
from test_redrive import Flaky, redrive
from workers import Worker, drive, put_away
from worlds import World

from control_plane import Lease

LOOP: Flow = {
    "start": "M",
    "states": {
        "M": {"map": linear("T", "U", retry=1, delay=100), "window": 2, "next": "D"},
        "D": {"task": "D", "next": "C"},
        "C": {"choice": lambda value: "M" if value else "E"},
        "E": {"task": "E"},
    },
}


async def shrink(lease: Lease) -> Any:
    if lease.path == "D":
        return lease.input[:-1]
    if lease.path.endswith("U") and lease.try_ == 1:
        raise TaskFailed("Flaky")
    return lease.input


async def _whole(world: World) -> None:
    await seed(world.store(), FLOW)
    await drive(world, [Worker(world.store(), world.queue(), FLOW, work)])
    await put_away(world.store())


async def _hinted(world: World) -> None:
    await seed(world.store(), FLOW, timeout_ms=3_600_000)
    await drive(world, [Worker(world.store(), world.queue(), FLOW, work, in_place=False)])


async def _loop(world: World) -> None:
    await seed(world.store(), LOOP, [1.5, "zwei", None])
    await drive(world, [Worker(world.store(), world.queue(), LOOP, shrink)])


async def _redriven(world: World) -> None:
    flow: Flow = {"start": "M", "states": {"M": {"map": linear("T", "U"), "window": 2}}}
    flaky = Flaky("M[1]/U")
    await seed(world.store(), flow, [1, 2, 3])
    await drive(world, [Worker(world.store(), world.queue(), flow, flaky)])
    await put_away(world.store())
    flaky.broken.clear()
    await redrive(world.store())
    await drive(world, [Worker(world.store(), world.queue(), flow, flaky)])
    await put_away(world.store())


async def _timed_out(world: World) -> None:
    flow: Flow = {"start": "W", "states": {"W": {"wait": 60_000}}}
    await seed(world.store(), flow, timeout_ms=5_000)
    await drive(world, [Worker(world.store(), world.queue(), flow)])
    await put_away(world.store())


async def _removed(world: World) -> None:
    await _whole(world)
    await world.store().remove(RUN)


SCENES = {
    scene.__name__[1:]: scene for scene in (_whole, _hinted, _loop, _redriven, _timed_out, _removed)
}


@pytest.mark.parametrize("scene", SCENES)
async def test_the_same_calls_leave_the_same_content(
    both_worlds: tuple[World, World], scene: str
) -> None:
    twin, server = both_worlds
    for world in both_worlds:
        await SCENES[scene](world)
    found, expected = await twin.dump(), await server.dump()
    assert found.keys() == expected.keys()
    for key, content in expected.items():
        assert found[key] == content, key
