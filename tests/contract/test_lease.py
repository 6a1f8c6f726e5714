"""Leases: who gets one, what others learn of it, and what time does to it."""

from __future__ import annotations

import hashlib
import json

import pytest
from flows import RUN, end, linear, seed
from workers import TTL_MS, lease_of, run_to_end
from worlds import World

from control_plane import (
    Failure,
    Lease,
    Refusal,
    Store,
    payload,
    script,
    timers,
)
from control_plane.documents import PROTOCOL


async def _acquire(store: Store, path: str = "A", owner: str = "other") -> Lease | Refusal:
    return await store.acquire(RUN, path, owner=owner, ttl_ms=TTL_MS)


async def test_only_one_of_many_gets_the_lease(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    answers = [await _acquire(store, owner=f"w{number}") for number in range(5)]
    assert isinstance(answers[0], Lease)
    held = Refusal("lease_held", ("w0", str(world.now_ms + TTL_MS)))
    assert answers[1:] == [held] * 4


async def test_no_reply_and_no_document_shows_a_token(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    secret = "5ec2e700000000000000000000000000"
    answer = await store.acquire(RUN, "A", owner="holder", ttl_ms=TTL_MS, token=secret)
    assert isinstance(answer, Lease)
    request = {"run": RUN, "path": "A", "token": "f" * 32, "owner": "loser", "ttl": TTL_MS}
    names = [store.keys(RUN).meta, "cp:wf:index", "cp:queue:default"]
    texts = [payload.to_text({**request, "protocols": 1, "pool": "default"})]
    reply = await world.backend.run(script.load("acquire"), names, texts)
    assert reply[0] == "lease_held"
    assert secret not in json.dumps(reply)
    assert secret not in json.dumps(await world.dump())
    assert secret not in repr(answer)


async def test_the_public_lease_holds_a_digest_of_the_token(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    lease = await lease_of(store, "A")
    document = (await store.states(RUN, ["A"]))["A"].raw
    assert document["lease"] == {
        "token": hashlib.sha1(lease.token.encode()).hexdigest(),
        "owner_agent_id": "worker-1",
        "ts": world.now_ms,
        "ttl_s": 30,
    }
    await store.release(lease)
    document = (await store.states(RUN, ["A"]))["A"].raw
    empty = {"token": None, "owner_agent_id": None, "ts": None, "ttl_s": None}
    assert document["lease"] == empty


async def test_a_finished_state_cannot_be_leased(world: World) -> None:
    flow, store = linear("A", "B"), world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await store.commit(lease, end(flow, lease, 1), commit_id="c1")
    assert await _acquire(store) == Refusal("not_ready", ("done",))


async def test_a_state_that_was_not_entered_cannot_be_leased(world: World) -> None:
    store = world.store()
    await seed(store, linear("A", "B"))
    assert await _acquire(store, "B") == Refusal("not_ready", ("pending",))


async def test_nothing_of_a_finished_run_can_be_leased(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await run_to_end(world, linear("A"))
    before = await world.dump()
    assert await _acquire(store) == Refusal("closed")
    assert await world.dump() == before


async def test_nothing_of_a_cancelled_run_can_be_leased(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await store.cancel(RUN, by="test")
    assert await _acquire(store) == Refusal("cancelled")


@pytest.mark.parametrize("path", ["Nope", "A[0]", "A@1"])
async def test_a_path_without_document_cannot_be_leased(world: World, path: str) -> None:
    store = world.store()
    await seed(store, linear("A"))
    assert await _acquire(store, path) == Refusal("unknown_state")


async def test_a_worker_leases_only_protocols_it_knows(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    meta = store.keys(RUN).meta
    await world.backend.command("JSON.SET", meta, "$.ctl.protocol", PROTOCOL + 1)
    assert await _acquire(store) == Refusal("unknown_protocol")


async def test_a_run_is_leased_under_each_protocol_that_is_known(world: World) -> None:
    store = world.store()
    for protocol in range(1, PROTOCOL + 1):
        run = f"r{protocol}"
        await seed(store, linear("A"), run=run, protocol=protocol)
        assert (await store.run(run)).protocol == protocol
        assert (await lease_of(store, "A", run=run)).path == "A"


async def test_an_ended_lease_makes_the_state_ready_and_counts_a_takeover(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    await lease_of(store, "A")
    await world.advance(TTL_MS - 1)
    assert (await timers.tick(store, RUN)).moved == 0
    await world.advance(1)
    assert (await timers.tick(store, RUN)).moved == 1
    state = (await store.states(RUN, ["A"]))["A"]
    assert (state.status, state.takeovers, state.attempts) == ("ready", 1, 1)
    assert state.event is None


async def test_a_release_counts_no_takeover(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    for _ in range(10):
        assert await store.release(await lease_of(store, "A")) is None
    state = (await store.states(RUN, ["A"]))["A"]
    assert (state.takeovers, state.attempts, state.event) == (0, 10, None)


async def test_the_third_lost_worker_in_a_row_is_an_event(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    events = []
    for _ in range(3):
        await lease_of(store, "A")
        await world.advance(TTL_MS)
        await timers.tick(store, RUN)
        events.append((await store.states(RUN, ["A"]))["A"].event)
    assert events == [None, None, "worker_lost"]


async def test_a_retry_counts_lost_workers_anew(world: World) -> None:
    flow, store = linear("A", retry=1, delay=10), world.store()
    await seed(store, flow)
    for _ in range(2):
        await lease_of(store, "A")
        await world.advance(TTL_MS)
        await timers.tick(store, RUN)
    lease = await lease_of(store, "A")
    assert lease.try_ == 1
    commit = end(flow, lease, None, Failure("Flaky"))
    await store.commit(lease, commit, commit_id="c1")
    await world.advance(10)
    await timers.tick(store, RUN)
    state = (await store.states(RUN, ["A"]))["A"]
    # It stays a suspect, so that it costs its neighbours no more.
    assert (state.try_, state.takeovers, state.deaths, state.retries) == (2, 0, 1, {0: 1})


async def test_the_idempotency_key_survives_takeover_and_release_but_not_retry(
    world: World,
) -> None:
    flow, store = linear("A", retry=1, delay=10), world.store()
    await seed(store, flow)
    keys = []
    lease = await lease_of(store, "A")
    keys.append(lease.idempotency_key)
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    lease = await lease_of(store, "A")
    keys.append(lease.idempotency_key)
    await store.release(lease)
    lease = await lease_of(store, "A")
    keys.append(lease.idempotency_key)
    commit = end(flow, lease, None, Failure("Flaky"))
    await store.commit(lease, commit, commit_id="c1")
    await world.advance(10)
    await timers.tick(store, RUN)
    keys.append((await lease_of(store, "A")).idempotency_key)
    assert keys == [f"{RUN}/A/1/1"] * 3 + [f"{RUN}/A/1/2"]


async def test_a_state_whose_workers_go_on_dying_with_that_event_fails_the_run(
    world: World,
) -> None:
    store = world.store()
    await seed(store, linear("A"))
    for _ in range(7):
        assert await store.run_status(RUN) == "running"
        await lease_of(store, "A")
        await world.advance(TTL_MS)
        await timers.tick(store, RUN)
    run = await store.run(RUN)
    assert run.status == "failed"
    assert run.error is not None
    assert run.error.error == "DCF.WorkerLost"
