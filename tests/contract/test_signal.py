"""Answers from outside: the first one counts, whenever it comes."""

from __future__ import annotations

import pytest
from flows import RUN, Flow, seed, step
from workers import TTL_MS, lease_of, run_to_end
from worlds import World

from control_plane import BadDocument, Committed, Lease, Refusal, Store, timers

FLOW: Flow = {"start": "A", "states": {"A": {"callback": True, "retry": 1, "delay": 10}}}


async def answer(
    store: Store, value: object = "yes", *, event: str = "callback", visit: int = 1, try_: int = 1
) -> Refusal | None:
    return await store.signal(RUN, "A", visit=visit, try_=try_, event=event, value=value)


async def waiting(world: World, flow: Flow = FLOW) -> Store:
    """A run that waits for its answer."""
    store = world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await store.commit(lease, await step(store, flow, lease), commit_id="c-wait")
    return store


async def test_an_answer_wakes_the_state_that_waits_for_it(world: World) -> None:
    store = await waiting(world)
    assert await answer(store, {"approved": True}) is None
    lease = await lease_of(store, "A")
    assert (lease.event, lease.event_payload) == ("callback", {"approved": True})
    assert lease.try_ == 1


async def test_an_answer_before_the_wait_commit_is_kept(world: World) -> None:
    store = world.store()
    await seed(store, FLOW)
    lease = await lease_of(store, "A")
    assert await answer(store, 1) is None
    wait = await step(store, FLOW, lease)
    assert await store.commit(lease, wait, commit_id="c-wait") == Refusal("lease_lost")
    lease = await lease_of(store, "A")
    assert (lease.event, lease.event_payload) == ("callback", 1)


async def test_an_answer_survives_the_death_of_the_worker_that_asked(world: World) -> None:
    store = world.store()
    await seed(store, FLOW)
    await lease_of(store, "A")
    assert await answer(store, 1) is None
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    lease = await lease_of(store, "A")
    assert (lease.event, lease.event_payload) == ("callback", 1)


async def test_only_the_first_of_two_answers_counts(world: World) -> None:
    store = await waiting(world)
    assert await answer(store, "first") is None
    assert await answer(store, "second") == Refusal("already_settled")
    assert await answer(store, "third", event="approval") == Refusal("already_settled")
    assert (await lease_of(store, "A")).event_payload == "first"


@pytest.mark.parametrize("visit, try_", [(2, 1), (1, 2), (0, 1)])
async def test_an_answer_to_another_visit_or_try_is_refused(
    world: World, visit: int, try_: int
) -> None:
    store = await waiting(world)
    before = await world.dump()
    assert await answer(store, visit=visit, try_=try_) == Refusal("already_settled")
    assert await world.dump() == before


async def test_an_answer_to_a_state_that_is_ready_is_refused(world: World) -> None:
    store = world.store()
    await seed(store, FLOW)
    assert await answer(store) == Refusal("not_waiting", ("ready",))


async def test_an_answer_after_the_deadline_is_refused_before_any_tick(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True, "timeout_ms": 5_000}}}
    store = await waiting(world, flow)
    await world.advance(5_000)
    assert await answer(store) == Refusal("expired")
    await timers.tick(store, RUN)
    assert await answer(store) == Refusal("expired")
    assert (await lease_of(store, "A")).event == "timeout"


async def test_an_answer_before_the_deadline_beats_it(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True, "timeout_ms": 5_000}}}
    store = await waiting(world, flow)
    await world.advance(4_999)
    assert await answer(store, "in time") is None
    await world.advance(1)
    await timers.tick(store, RUN)
    run = await run_to_end(world, flow)
    assert run.status == "succeeded"
    assert (await store.outputs(RUN, ["A"]))["A"]["data"] == "in time"


async def test_a_waiting_state_times_out(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"callback": True, "timeout_ms": 5_000}}}
    store = await waiting(world, flow)
    run = await run_to_end(world, flow)
    assert run.error is not None
    assert run.error.error == "E.timeout"
    assert (run.finished_at or 0) - (run.started_at or 0) == 5_000
    assert await answer(store) == Refusal("closed")


async def test_an_answer_to_a_timer_is_refused(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"wait": 1_000}}}
    store = await waiting(world, flow)
    assert await answer(store) == Refusal("not_waiting", ("waiting",))


async def test_an_answer_to_a_cancelled_run_is_refused(world: World) -> None:
    store = await waiting(world)
    await store.cancel(RUN, by="test")
    assert await answer(store) == Refusal("cancelled")


async def test_a_large_answer_is_kept_as_a_blob(world: World) -> None:
    store = await waiting(world)
    value = ["y" * 1000] * 400
    assert await answer(store, value) is None
    lease = await lease_of(store, "A")
    assert lease.event_payload == value


async def test_an_answer_that_is_no_json_is_refused_before_it_is_sent(world: World) -> None:
    store = await waiting(world)
    before = await world.dump()
    with pytest.raises(BadDocument):
        await answer(store, float("nan"))
    assert await world.dump() == before


async def test_the_next_try_waits_for_an_answer_of_its_own(world: World) -> None:
    flow: Flow = {
        "start": "A",
        "states": {"A": {"callback": True, "timeout_ms": 5_000, "retry": 1, "delay": 10}},
    }
    store = await waiting(world, flow)
    await world.advance(5_000)
    await timers.tick(store, RUN)
    lease = await lease_of(store, "A")
    await store.commit(lease, await step(store, flow, lease), commit_id="c-retry")
    await world.advance(10)
    await timers.tick(store, RUN)
    lease = await lease_of(store, "A")
    assert (lease.event, lease.try_) == (None, 2)
    committed = await store.commit(lease, await step(store, flow, lease), commit_id="c-wait2")
    assert isinstance(committed, Committed)
    assert await answer(store, "late", try_=1) == Refusal("already_settled")
    assert await answer(store, "now", try_=2) is None
    again = await lease_of(store, "A")
    assert isinstance(again, Lease)
    assert (again.event, again.event_payload) == ("callback", "now")
