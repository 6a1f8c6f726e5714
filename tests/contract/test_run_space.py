"""What runs take up, as the server sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from flows import RUN, linear, seed
from test_gc import ended_run
from worlds import World, open_world

from control_plane import RunsSpace, space_of, space_of_runs
from control_plane.run_space import names_of

DAY_MS = 86_400_000


@pytest.fixture
async def real(redis_server: str) -> AsyncIterator[World]:
    """A control plane on a real server: no other can say what a key takes."""
    world = await open_world(redis_server)
    yield world
    await world.close()


async def test_the_space_of_a_run_is_that_of_its_keys(real: World) -> None:
    store = await ended_run(real)
    sizes = [await real.backend.command("MEMORY", "USAGE", name) for name in await real.keys()]
    shared = await real.backend.command("MEMORY", "USAGE", "cp:queue:default") or 0
    # Two blobs of 300,000 characters; lists and the queue are no part of it.
    assert 600_000 < await space_of(store, RUN) < sum(size or 0 for size in sizes) - shared
    assert await space_of(store, "none") == 0


async def test_some_keys_stand_for_all(real: World) -> None:
    store = real.store()
    await seed(store, linear(*(f"S{number}" for number in range(300))))
    assert len(await names_of(store, RUN)) > 900
    whole = await space_of(store, RUN)
    assert 0.7 * whole < await space_of(store, RUN, most=100) < 1.3 * whole


async def test_all_runs_are_estimated_and_what_the_last_day_brought(real: World) -> None:
    store = real.store()
    assert await space_of_runs(store) == RunsSpace(0, 0, 0, 0)
    for number in range(8):
        await seed(store, linear("A"), run=f"r-{number}")
    await real.advance(DAY_MS + 1)
    await seed(store, linear("A"), run="young")
    whole = sum([await space_of(store, run) for run in ("young", *map("r-{}".format, range(8)))])
    found = await space_of_runs(store)
    assert (found.runs, found.day_runs) == (9, 1)
    assert 0.9 * whole < found.size < 1.1 * whole
    assert 0.9 * whole / 9 < found.day_size < 1.1 * whole / 9
