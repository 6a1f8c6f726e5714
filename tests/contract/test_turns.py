"""The turn to speak for a conductor: one process at a time, as long as it keeps it."""

from __future__ import annotations

from worlds import World

from control_plane import keys, turns
from control_plane.turns import TURN_MS


async def test_a_turn_is_one_process_s_until_it_leaves(world: World) -> None:
    backend = world.backend
    assert await turns.take(backend, "s1", "one")
    # Its answer was lost.
    assert await turns.take(backend, "s1", "one")
    assert not await turns.take(backend, "s1", "two")
    assert await turns.take(backend, "s2", "two")
    assert await turns.leave(backend, "s1", "one")
    assert await turns.take(backend, "s1", "two")


async def test_a_turn_that_is_kept_lasts(world: World) -> None:
    await turns.take(world.backend, "s1", "one")
    for _ in range(3):
        await world.advance(TURN_MS - 1)
        assert await turns.keep(world.backend, "s1", "one")
    assert not await turns.take(world.backend, "s1", "two")


async def test_who_was_too_slow_keeps_nothing_and_drops_nothing(world: World) -> None:
    backend = world.backend
    await turns.take(backend, "s1", "one")
    await world.advance(TURN_MS)
    # Another may have had it meanwhile.
    assert not await turns.keep(backend, "s1", "one")
    assert await turns.take(backend, "s1", "two")
    assert not await turns.keep(backend, "s1", "one")
    assert not await turns.leave(backend, "s1", "one")
    assert not await turns.take(backend, "s1", "three")
    assert await turns.keep(backend, "s1", "two")


async def test_nothing_is_left_of_a_turn(world: World) -> None:
    await turns.take(world.backend, "s1", "one")
    lasts = await world.backend.command("PTTL", keys.turn("s1"))
    assert TURN_MS < lasts <= 2 * TURN_MS
    await turns.leave(world.backend, "s1", "one")
    assert await world.backend.command("EXISTS", keys.turn("s1")) == 0
