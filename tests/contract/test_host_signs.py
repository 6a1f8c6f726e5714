"""Companion hosts are known by the signs of life that they give."""

from __future__ import annotations

from worlds import World

from control_plane import LivingHost, host_signs
from control_plane.host_signs import HOLDS_MS


async def test_a_host_lives_as_long_as_its_last_sign_holds(world: World) -> None:
    await host_signs.give_sign(world.backend, "h1", None)
    await host_signs.give_sign(world.backend, "h2", "desk-1")
    await world.advance(4_000)
    await host_signs.give_sign(world.backend, "h2", "desk-1")

    assert await host_signs.living_hosts(world.backend) == [
        LivingHost("h1", None, 4.0),
        LivingHost("h2", "desk-1", 0.0),
    ]
    await world.advance(HOLDS_MS - 4_000 + 1)
    assert [host.name for host in await host_signs.living_hosts(world.backend)] == ["h2"]


async def test_a_host_that_signs_off_is_gone_at_once(world: World) -> None:
    await host_signs.give_sign(world.backend, "h1", None)
    await host_signs.sign_off(world.backend, "h1", None)
    assert await host_signs.living_hosts(world.backend) == []


async def test_hosts_that_died_long_ago_leave_nothing(world: World) -> None:
    for number in range(20):
        await host_signs.give_sign(world.backend, f"h{number}", None)
    await world.advance(HOLDS_MS + 1)
    await host_signs.give_sign(world.backend, "new", None)
    assert int(await world.backend.command("ZCARD", "cp:companions:hosts")) == 1
