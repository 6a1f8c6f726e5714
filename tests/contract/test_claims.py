"""What is due is claimed by one at a time; seats last as long as somebody keeps them."""

from __future__ import annotations

import asyncio

from flows import RUN, linear, seed
from worlds import World

from control_plane import CLAIM_MS, Claimed, claims, keys, timers

KEY = keys.COMPANIONS


async def test_what_is_due_is_claimed_by_one_and_is_due_again_later(world: World) -> None:
    for number, member in enumerate("abc"):
        await claims.put(world.backend, KEY, f"s/{member}", world.now_ms - 3 + number)
    await claims.put(world.backend, KEY, "s/later", world.now_ms + 1)
    first = await claims.claim(world.backend, KEY, 2)
    assert first == Claimed(("s/a", "s/b"), world.now_ms, world.now_ms - 1)
    second = await claims.claim(world.backend, KEY, 9)
    assert second == Claimed(("s/c",), world.now_ms, world.now_ms + 1)
    await world.advance(CLAIM_MS)
    assert set((await claims.claim(world.backend, KEY, 9)).members) == {
        "s/a", "s/b", "s/c", "s/later"
    }  # fmt: skip


async def test_what_is_offered_is_due_unless_it_is_there_already(world: World) -> None:
    await claims.offer(world.backend, KEY, "s/a", world.now_ms)
    await claims.claim(world.backend, KEY, 1)
    await claims.offer(world.backend, KEY, "s/a", world.now_ms)
    _, ends = await claims.ends(world.backend, KEY, ["s/a"])
    assert ends == {"s/a": world.now_ms + CLAIM_MS}


async def test_nothing_is_claimed_where_nothing_is(world: World) -> None:
    assert await claims.claim(world.backend, KEY, 9) == Claimed((), world.now_ms, None)


async def test_many_claimers_share_what_there_is(world: World) -> None:
    members = {f"s/{number}" for number in range(40)}
    for member in members:
        await claims.put(world.backend, KEY, member, world.now_ms)
    found = await asyncio.gather(*(claims.claim(world.backend, KEY, 7) for _ in range(9)))
    claimed = [member for one in found for member in one.members]
    assert sorted(claimed) == sorted(members)


async def test_a_seat_that_is_kept_ends_later_and_one_that_was_dropped_stays_away(
    world: World,
) -> None:
    await claims.put(world.backend, KEY, "s/a", world.now_ms)
    await claims.put(world.backend, KEY, "s/b", world.now_ms)
    assert await claims.drop(world.backend, KEY, ["s/b", "s/none"]) == 1
    await world.advance(10)
    kept = await claims.keep(world.backend, KEY, ["s/a", "s/b"], 5_000)
    assert kept == {"s/a": world.now_ms + 5_000}
    assert await claims.ends(world.backend, KEY, ["s/b", "s/a"]) == (world.now_ms, kept)
    assert (await claims.claim(world.backend, KEY, 9)).members == ()


async def test_a_look_comes_sooner_but_never_later_unless_it_is_put_there(world: World) -> None:
    async def due() -> int:
        return (await claims.ends(world.backend, keys.SESSIONS_DUE, ["s"]))[1]["s"]

    await claims.sooner(world.backend, keys.SESSIONS_DUE, "s", world.now_ms + 500)
    await claims.sooner(world.backend, keys.SESSIONS_DUE, "s", world.now_ms + 900)
    assert await due() == world.now_ms + 500
    await claims.sooner(world.backend, keys.SESSIONS_DUE, "s", world.now_ms + 100)
    assert await due() == world.now_ms + 100
    await claims.put(world.backend, keys.SESSIONS_DUE, "s", world.now_ms + 900)
    assert await due() == world.now_ms + 900


async def test_more_members_than_a_call_takes_are_kept_and_dropped(world: World) -> None:
    members = [f"s/{number}" for number in range(1_100)]
    flat = [part for member in members for part in (world.now_ms, member)]
    await world.backend.command("ZADD", KEY, *flat)
    assert len(await claims.keep(world.backend, KEY, members, 1_000)) == 1_100
    assert len((await claims.ends(world.backend, KEY, members))[1]) == 1_100
    assert await claims.drop(world.backend, KEY, members) == 1_100
    assert await claims.drop(world.backend, KEY, []) == 0
    assert await claims.keep(world.backend, KEY, [], 1_000) == {}


async def test_a_score_without_end_is_a_moment_too(world: World) -> None:
    store = world.store()
    await seed(store, linear("A", "B"))
    await world.backend.command("ZADD", store.keys(RUN).due, "inf", "A")
    assert (await timers.tick(store, RUN)).next_due_ms == 2**53
    await world.backend.command("ZADD", keys.INDEX, "inf", RUN)
    assert await store.look_time(RUN) == 2**53
    assert (await claims.claim(world.backend, keys.INDEX, 9)).next_ms == 2**53
    assert (await timers.sweep(store)).next_look_ms == 2**53
    await claims.put(world.backend, KEY, "s/a", world.now_ms)
    await world.backend.command("ZADD", KEY, "inf", "s/a")
    assert (await claims.ends(world.backend, KEY, ["s/a"]))[1] == {"s/a": 2**53}
