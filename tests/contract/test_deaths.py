"""Whom a death is charged to: the state that its worker held alone, and no neighbour of it."""

from __future__ import annotations

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, Flow, end, linear, seed
from workers import TTL_MS, lease_of
from worlds import World

from control_plane import Alone, Committed, Failure, Lease, Refusal, Store, history, timers

pytestmark = settled(*CONTRACT)

LIMIT = 3


async def lose(world: World, store: Store, path: str = "A", *, alone: Alone | None) -> None:
    """A worker takes the state, and nothing is heard of it any more."""
    await lease_of(store, path, alone=alone)
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)


async def deaths(store: Store, path: str = "A") -> int:
    return (await store.states(RUN, [path]))[path].deaths


async def test_after_a_death_a_state_is_leased_alone_only(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await lose(world, store, alone=None)
    refused = await store.acquire(RUN, "A", owner="w", ttl_ms=TTL_MS)
    assert refused == Refusal("suspect")
    assert (await lease_of(store, "A", alone="watched")).event is None


async def test_whoever_dies_with_its_neighbour_is_not_charged_for_it_again(world: World) -> None:
    """Its own process is killed again and again, together with the one that watches it."""
    store = world.store()
    await seed(store, linear("A"))
    await lose(world, store, alone=None)
    for _ in range(4 * LIMIT):
        await lose(world, store, alone="watched")
    state = (await store.states(RUN, ["A"]))["A"]
    assert (state.status, state.event, state.deaths) == ("ready", None, 1)
    assert state.takeovers == 4 * LIMIT + 1


async def test_who_leases_a_state_hears_how_many_leases_of_its_try_ended_without_a_word(
    world: World,
) -> None:
    """By this who watches a process that cannot run knows how often that was so already."""
    flow, store = linear("A", retry=1, delay=10), world.store()
    await seed(store, flow)
    for number in range(3):
        lease = await lease_of(store, "A", alone="watched")
        assert lease.takeovers == number
        held = await store.held(RUN, "A", lease.token)
        assert isinstance(held, Lease) and held.takeovers == number
        await world.advance(TTL_MS)
        await timers.tick(store, RUN)
    # What is given back, or told, ends with a word.
    assert await store.release(await lease_of(store, "A", alone="watched")) is None
    lease = await lease_of(store, "A", alone="watched")
    assert await store.release(lease, died="exit by signal 9") is None
    lease = await lease_of(store, "A", alone="watched")
    assert lease.takeovers == 3
    await store.commit(lease, end(flow, lease, None, Failure("E")), commit_id="c1")
    await world.advance(10)
    await timers.tick(store, RUN)
    assert (await lease_of(store, "A", alone="watched")).takeovers == 0


async def test_what_takes_the_whole_machine_along_is_stopped_too(world: World) -> None:
    """As where a container is killed with all its processes when one of them has no memory."""
    store = world.store()
    await seed(store, linear("A"), deaths=1)
    for _ in range(10):
        await lose(world, store, alone="watched")
    assert (await store.states(RUN, ["A"]))["A"].event is None
    await lose(world, store, alone="watched")
    assert (await lease_of(store, "A")).event == "worker_lost"


@pytest.mark.parametrize("told", [False, True], ids=["vanished", "told"])
async def test_deaths_alone_are_counted_up_to_the_limit(world: World, told: bool) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await lose(world, store, alone=None)
    for number in range(2, LIMIT + 1):
        assert (await store.states(RUN, ["A"]))["A"].event is None
        if told:
            lease = await lease_of(store, "A", alone="watched")
            assert await store.release(lease, died="exit by signal 9") is None
        else:
            await lose(world, store, alone="here")
        assert await deaths(store) == number
    assert (await lease_of(store, "A")).event == "worker_lost"


@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_the_limit_is_that_of_the_run(world: World, limit: int) -> None:
    store = world.store()
    await seed(store, linear("A"), deaths=limit)
    for _ in range(limit):
        assert (await store.states(RUN, ["A"]))["A"].event is None
        await lose(world, store, alone="here")
    assert (await lease_of(store, "A")).event == "worker_lost"


async def test_how_a_worker_died_is_on_record(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    lease = await lease_of(store, "A", alone="watched")
    await store.release(lease, died='exit by signal 9, last line "Killed"')
    told = [entry.event async for entry in history.read(store, RUN)][-1]
    assert told["type"] == "WorkerDied"
    assert told["how"] == 'exit by signal 9, last line "Killed"'
    assert (told["path"], told["fence"], told["event"]) == ("A", lease.fence, None)


async def test_a_death_that_is_told_twice_counts_once(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    lease = await lease_of(store, "A", alone="watched")
    for _ in range(2):
        assert await store.release(lease, died="exit with status 3") is None
    assert await deaths(store) == 1


async def test_a_death_is_told_after_the_lease_has_ended_too(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    lease = await lease_of(store, "A", alone="watched")
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    assert await deaths(store) == 0
    for _ in range(2):
        assert await store.release(lease, died="no answer") is None
    assert await deaths(store) == 1


async def test_a_death_that_is_told_late_ends_nobody_elses_lease(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    for number in range(LIMIT):
        lease = await lease_of(store, "A", alone="watched")
        await world.advance(TTL_MS)
        await timers.tick(store, RUN)
        holder = await lease_of(store, "A", alone="watched")
        assert await store.release(lease, died="no answer") is None
        assert await deaths(store) == number + 1
        assert isinstance(await store.renew(holder), int)
        assert await store.release(holder) is None
    # A release tells nothing; the next lease that ends without a word does.
    assert (await store.states(RUN, ["A"]))["A"].event is None
    await lose(world, store, alone="watched")
    assert (await lease_of(store, "A")).event == "worker_lost"


async def test_deaths_told_late_never_end_the_run_before_the_state_hears_of_them(
    world: World,
) -> None:
    store = world.store()
    await seed(store, linear("A"), deaths=1)
    lease = await lease_of(store, "A", alone="watched")
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    holder = await lease_of(store, "A", alone="watched")
    assert await store.release(lease, died="no answer") is None
    assert await store.release(holder) is None
    await lose(world, store, alone="watched")
    assert await store.run_status(RUN) == "running"
    assert (await lease_of(store, "A")).event == "worker_lost"


@pytest.mark.parametrize("limit", [1, LIMIT])
async def test_whole_machines_that_go_charge_nobody_who_was_a_suspect_before(
    world: World, limit: int
) -> None:
    store = world.store()
    flow = linear("A", retry=5, delay=10)
    await seed(store, flow, deaths=limit)
    await lose(world, store, alone=None)
    lease = await lease_of(store, "A", alone="watched")
    await store.commit(lease, end(flow, lease, None, Failure("E")), commit_id="c1")
    await world.advance(10)
    await timers.tick(store, RUN)
    for _ in range(2 * limit + 2):
        await lose(world, store, alone="watched")
    assert await deaths(store) == 1
    assert await store.run_status(RUN) == "running"


async def test_a_lease_that_was_kept_cannot_be_told_a_death_of_by_others(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    lease = await lease_of(store, "A", alone="watched")
    assert await store.release(lease) is None
    second = await lease_of(store, "A", alone="watched")
    await store.commit(second, end(linear("A"), second, None), commit_id="c1")
    assert isinstance(await store.release(second, died="exit with status 0"), Refusal)
    assert await deaths(store) == 0


async def test_an_orderly_end_leaves_a_suspect_what_it_was(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await lose(world, store, alone=None)
    for _ in range(2 * LIMIT):
        assert await store.release(await lease_of(store, "A", alone="watched")) is None
    assert await deaths(store) == 1
    assert await store.acquire(RUN, "A", owner="w", ttl_ms=TTL_MS) == Refusal("suspect")


async def give_back(store: Store, times: int, *, alone: Alone | None = None) -> None:
    """Workers take the state, and are told to end."""
    for _ in range(times):
        assert await store.release(await lease_of(store, "A", alone=alone)) is None


@pytest.mark.parametrize("limit", [None, 1])
async def test_what_is_given_back_again_and_again_is_worked_on_alone_and_charged_with_nothing(
    world: World, limit: int | None
) -> None:
    store = world.store()
    await seed(store, linear("A"), deaths=limit)
    await give_back(store, limit or LIMIT)
    assert await store.acquire(RUN, "A", owner="w", ttl_ms=TTL_MS) == Refusal("suspect")
    await give_back(store, 4 * LIMIT, alone="watched")
    assert (await lease_of(store, "A")).event is None
    assert await deaths(store) == 0


@pytest.mark.parametrize("times", [LIMIT - 1, LIMIT])
async def test_what_was_given_back_is_held_against_no_later_visit(world: World, times: int) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"next": "A"}}}
    store = world.store()
    await seed(store, flow)
    await give_back(store, times)
    lease = await lease_of(store, "A")
    await store.commit(lease, end(flow, lease, None), commit_id="c1")
    await give_back(store, 1)
    assert (await lease_of(store, "A", alone=None)).visit == 2


async def test_what_was_given_back_is_held_against_no_later_try(world: World) -> None:
    flow, store = linear("A", retry=1, delay=10), world.store()
    await seed(store, flow)
    await give_back(store, LIMIT - 1)
    lease = await lease_of(store, "A")
    await store.commit(lease, end(flow, lease, None, Failure("E")), commit_id="c1")
    await world.advance(10)
    await timers.tick(store, RUN)
    await give_back(store, 1)
    assert (await lease_of(store, "A", alone=None)).try_ == 2


async def test_a_suspect_is_not_entered_in_place(world: World) -> None:
    """A loop comes back to a state that workers died over."""
    flow: Flow = {"start": "A", "states": {"A": {"next": "B"}, "B": {"next": "A"}}}
    store = world.store()
    await seed(store, flow)
    await lose(world, store, alone=None)
    await lose(world, store, alone="here")
    first = await lease_of(store, "A")
    entered = await store.commit(first, end(flow, first, None), commit_id="c1", in_place=True)
    assert isinstance(entered, Committed) and isinstance(entered.lease, Lease)
    again = await store.commit(
        entered.lease, end(flow, entered.lease, None), commit_id="c2", in_place=True
    )
    assert isinstance(again, Committed) and again.lease is None
    state = (await store.states(RUN, ["A"]))["A"]
    assert (state.visit, state.status, state.deaths) == (2, "ready", 1)


async def test_who_did_its_work_without_another_death_is_no_suspect_the_next_time(
    world: World,
) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"next": "A"}}}
    store = world.store()
    await seed(store, flow)
    await lose(world, store, alone=None)
    lease = await lease_of(store, "A", alone="watched")
    await store.commit(lease, end(flow, lease, None), commit_id="c1")
    again = await lease_of(store, "A", alone=None)
    assert (again.visit, await deaths(store)) == (2, 0)


async def test_a_retry_after_lost_workers_begins_alone(world: World) -> None:
    flow, store = linear("A", retry=1, delay=10), world.store()
    await seed(store, flow)
    for _ in range(LIMIT):
        await lose(world, store, alone="here")
    lease = await lease_of(store, "A")
    assert lease.event == "worker_lost"
    await store.commit(lease, end(flow, lease, None, Failure("E")), commit_id="c1")
    await world.advance(10)
    await timers.tick(store, RUN)
    assert await store.acquire(RUN, "A", owner="w", ttl_ms=TTL_MS) == Refusal("suspect")
    assert await deaths(store) == 1


async def test_a_death_of_an_earlier_try_is_not_told_against_a_later_one(world: World) -> None:
    flow, store = linear("A", retry=1, delay=10), world.store()
    await seed(store, flow)
    await lose(world, store, alone=None)
    gone = await lease_of(store, "A", alone="watched")
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    lease = await lease_of(store, "A", alone="watched")
    await store.commit(lease, end(flow, lease, None, Failure("E")), commit_id="c1")
    assert await store.release(gone, died="no answer") == Refusal("lease_lost")
    assert await deaths(store) == 1


async def test_a_death_is_not_told_against_what_is_finished_by_now(world: World) -> None:
    flow, store = linear("A", "B"), world.store()
    await seed(store, flow)
    gone = await lease_of(store, "A", alone="watched")
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    lease = await lease_of(store, "A", alone="watched")
    await store.commit(lease, end(flow, lease, None), commit_id="c1")
    done = (await store.states(RUN, ["A"]))["A"]
    assert done.status == "done"
    assert await store.release(gone, died="no answer") == Refusal("lease_lost")
    assert (await store.states(RUN, ["A"]))["A"] == done


@pytest.mark.parametrize("alone", [None, "watched", "here"])
@pytest.mark.parametrize(("away_from", "away_to", "charged"), [
    (500, 0, False), (0, 0, False), (0, -2000, False),
    (500, 1, True), (-1, -2000, True),
])  # fmt: skip
async def test_a_lease_that_nobody_could_renew_is_nobodys_death(
    world: World, alone: Alone | None, away_from: int, away_to: int, charged: bool
) -> None:
    """It ended at this moment; the server was refusing from so long ago to so long ago (ms)."""
    store = world.store()
    await seed(store, linear("A"), deaths=1)
    await lease_of(store, "A", alone=alone)
    await world.advance(TTL_MS)
    await store.call("tick", RUN, {"away_from": away_from, "away_to": away_to})
    state = (await store.states(RUN, ["A"]))["A"]
    assert state.takeovers == 1
    told = "deaths" in state.raw["ctl"] or "unheard" in state.raw["ctl"]
    assert told is charged
    if not charged:
        assert (await store.acquire(RUN, "A", owner="w", ttl_ms=TTL_MS)) != Refusal("suspect")


async def test_what_is_never_renewed_is_stopped_whoever_is_away(world: World) -> None:
    """As where a state eats the memory of the machine, and Redis is killed for it each time."""
    store = world.store()
    await seed(store, linear("A"), deaths=1)
    for _ in range(11):
        assert (await store.states(RUN, ["A"]))["A"].event is None
        await lease_of(store, "A", alone="here")
        await world.advance(TTL_MS)
        await store.call("tick", RUN, {"away_from": 500, "away_to": 0})
    assert (await lease_of(store, "A")).event == "worker_lost"
