"""Guarantee 2: who lost its lease can change nothing, whatever it does later."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, Flow, end, linear, seed
from workers import TTL_MS, lease_of, put_away, run_to_end
from worlds import World

from control_plane import Committed, Lease, Refusal, Store, timers

pytestmark = settled(*CONTRACT)

Write = Callable[[Store, Lease, Flow], Awaitable[object]]
Lose = Callable[[World, Store, Lease, Flow], Awaitable[None]]


async def _commit(store: Store, lease: Lease, flow: Flow) -> object:
    return await store.commit(lease, end(flow, lease, "stale"), commit_id=store.new_id())


async def _commit_in_place(store: Store, lease: Lease, flow: Flow) -> object:
    commit = end(flow, lease, "stale")
    return await store.commit(lease, commit, commit_id=store.new_id(), in_place=True)


async def _renew(store: Store, lease: Lease, flow: Flow) -> object:
    return await store.renew(lease, beat=True)


async def _release(store: Store, lease: Lease, flow: Flow) -> object:
    return await store.release(lease)


WRITES = {
    "commit": _commit,
    "commit in place": _commit_in_place,
    "renew": _renew,
    "release": _release,
}


async def _expire(world: World, store: Store, lease: Lease, flow: Flow) -> None:
    await world.advance(TTL_MS)


async def _expire_and_tick(world: World, store: Store, lease: Lease, flow: Flow) -> None:
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)


async def _take_over(world: World, store: Store, lease: Lease, flow: Flow) -> None:
    await _expire_and_tick(world, store, lease, flow)
    await lease_of(store, lease.path, owner="successor")


async def _take_over_by_same_name(world: World, store: Store, lease: Lease, flow: Flow) -> None:
    await _expire_and_tick(world, store, lease, flow)
    await lease_of(store, lease.path, owner=lease.owner)


async def _finish(world: World, store: Store, lease: Lease, flow: Flow) -> None:
    await store.commit(lease, end(flow, lease, "first"), commit_id=store.new_id())


async def _give_back(world: World, store: Store, lease: Lease, flow: Flow) -> None:
    assert await store.release(lease) is None


async def _give_back_and_lose(world: World, store: Store, lease: Lease, flow: Flow) -> None:
    assert await store.release(lease) is None
    await lease_of(store, lease.path, owner="successor")


async def _cancel(world: World, store: Store, lease: Lease, flow: Flow) -> None:
    assert await store.cancel(RUN, by="test") is None


async def _cancel_and_close(world: World, store: Store, lease: Lease, flow: Flow) -> None:
    await _cancel(world, store, lease, flow)
    await store.close(RUN)


async def _redrive(world: World, store: Store, lease: Lease, flow: Flow) -> None:
    await _cancel_and_close(world, store, lease, flow)
    assert await store.redrive(RUN, again=[lease.path], resume=[]) is None


async def _remove(world: World, store: Store, lease: Lease, flow: Flow) -> None:
    await _cancel(world, store, lease, flow)
    await put_away(store)
    assert await store.remove(RUN) is None


LOSSES = {
    "it expired": (_expire, "lease_expired"),
    "it expired and a tick saw it": (_expire_and_tick, "lease_lost"),
    "somebody took over": (_take_over, "lease_lost"),
    "a worker of the same name took over": (_take_over_by_same_name, "lease_lost"),
    "the state was finished": (_finish, "lease_lost"),
    "it was given back": (_give_back, "lease_lost"),
    "it was given back and leased again": (_give_back_and_lose, "lease_lost"),
    "the run was cancelled": (_cancel, "cancelled"),
    "the run was cancelled and closed": (_cancel_and_close, "cancelled"),
    "the run was redriven": (_redrive, "lease_lost"),
    "the run was removed": (_remove, "unknown_state"),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("loss", LOSSES)
async def test_a_stale_write_is_refused_and_changes_nothing(
    world: World, loss: str, write: str
) -> None:
    flow, store = linear("A", "B"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    lose, code = LOSSES[loss]
    await lose(world, store, lease, flow)
    before = await world.dump()
    answer = await WRITES[write](store, lease, flow)
    if write == "release" and loss.startswith("it was given back"):
        # Said twice: the first answer, and no effect.
        assert answer is None
    else:
        assert answer == Refusal(code)
    assert await world.dump() == before


@pytest.mark.parametrize("write", WRITES)
async def test_the_right_token_with_another_fence_is_refused(world: World, write: str) -> None:
    flow, store = linear("A", "B"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    for fence in (lease.fence - 1, lease.fence + 1):
        lease.fence = fence
        assert await WRITES[write](store, lease, flow) == Refusal("lease_lost")


@pytest.mark.parametrize("write", WRITES)
async def test_the_right_fence_with_another_token_is_refused(world: World, write: str) -> None:
    flow, store = linear("A", "B"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    lease.token = "0" * 31 + "f"
    assert await WRITES[write](store, lease, flow) == Refusal("lease_lost")


async def test_a_write_in_the_last_millisecond_counts(world: World) -> None:
    flow, store = linear("A"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await world.advance(TTL_MS - 1)
    assert isinstance(await _commit(store, lease, flow), Committed)


async def test_a_renewed_lease_lasts_from_its_renewal(world: World) -> None:
    flow, store = linear("A"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await world.advance(TTL_MS - 1)
    assert await store.renew(lease) == TTL_MS
    await world.advance(TTL_MS - 1)
    assert isinstance(await _commit(store, lease, flow), Committed)


async def test_the_fence_grows_with_every_lease_of_a_path(world: World) -> None:
    """Over takeovers, release, retry, re-entry and redrive, without time passing in between."""
    flow: Flow = {
        "start": "A",
        "states": {
            "A": {"task": "A", "next": "C", "retry": 1, "delay": 0},
            "C": {"choice": lambda value: "A", "task": "C"},
        },
    }
    store = world.store()
    await seed(store, flow)
    fences = []

    async def take() -> Lease:
        lease = await lease_of(store, "A")
        fences.append(lease.fence)
        return lease

    await store.release(await take())
    lease = await take()
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    lease = await take()
    await _commit(store, lease, flow)
    await _commit(store, await lease_of(store, "C"), flow)
    await store.release(await take())
    await store.cancel(RUN, by="test")
    await store.close(RUN)
    await store.redrive(RUN, again=["A"], resume=[])
    await take()
    assert fences == sorted(set(fences))
    assert len(fences) == 5


async def test_a_fence_starts_at_the_servers_clock(world: World) -> None:
    """So that it grows even across a document that was lost with an unsynced write."""
    store = world.store()
    await seed(store, linear("A"))
    assert (await lease_of(store, "A")).fence == world.now_ms


async def test_a_write_of_an_earlier_visit_is_refused_in_the_next_one(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"task": "A", "next": "A"}}}
    store = world.store()
    await seed(store, flow)
    first = await lease_of(store, "A")
    assert isinstance(await _commit(store, first, flow), Committed)
    second = await lease_of(store, "A")
    assert second.visit == 2
    before = await world.dump()
    assert await _commit(store, first, flow) == Refusal("lease_lost")
    assert await store.renew(first) == Refusal("lease_lost")
    assert await world.dump() == before


async def test_a_stale_holder_cannot_disturb_its_successors_result(world: World) -> None:
    flow, store = linear("A"), world.store()
    await seed(store, flow)
    stale = await lease_of(store, "A")
    await _take_over(world, store, stale, flow)
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    run = await run_to_end(world, flow)
    await _commit(store, stale, flow)
    assert run.status == "succeeded"
    assert (await store.outputs(RUN, ["A"]))["A"]["data"] is None
