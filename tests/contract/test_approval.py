"""Approvals: a question is decided once, while it is asked; the same try goes on afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from flows import RUN, Flow, end, linear, seed, step
from workers import TTL_MS, lease_of
from worlds import World

from control_plane import APPROVALS, Committed, Lease, Refusal, Store, history, timers

FLOW: Flow = {"start": "A", "states": {"A": {"task": "A", "asks": ["d1", "d2"]}}}
PATIENT: Flow = linear("A", asks=["d1"], patience=5_000)


async def decide(
    store: Store, decision: str = "approve", *, ask: int = 1, digest: str = "d1", try_: int = 1
) -> Refusal | None:
    """Answer the question with the number ``ask``."""
    told = {"type": "ApprovalDecided", "path": "A", "decision": decision, "by": "ada"}
    value = {"decision": decision, "by": "ada", "reason": "", "digest": digest, "ask": ask}
    return await store.signal(
        RUN, "A", visit=1, try_=try_, event="approval", value=value, ask=ask, recorded=told
    )


async def once(store: Store, flow: Flow, lease: Lease, number: int = 1) -> Committed:
    """Do the step of ``lease``."""
    answer = await store.commit(lease, await step(store, flow, lease), commit_id=f"c{number}")
    assert isinstance(answer, Committed), answer
    return answer


async def asked(world: World, flow: Flow = FLOW, *, cluster: bool = False) -> Store:
    """A run whose only state waits for approval."""
    store = world.store(cluster=cluster)
    await seed(store, flow)
    await once(store, flow, await lease_of(store, "A"))
    return store


async def events(store: Store) -> list[str]:
    return [event.event["type"] async for event in history.read(store, RUN)]


@pytest.mark.parametrize("cluster", [False, True])
async def test_an_approved_state_goes_on_in_the_same_try(world: World, cluster: bool) -> None:
    store = await asked(world, cluster=cluster)
    waiting = (await store.states(RUN, ["A"]))["A"]
    assert (waiting.status, waiting.wait, waiting.ask) == ("waiting", "approval", 1)
    assert waiting.approval is not None
    assert not waiting.answered
    assert await decide(store) is None
    lease = await lease_of(store, "A")
    assert (lease.event, lease.try_, lease.visit) == (None, 1, 1)
    assert lease.decision is not None
    assert lease.decision["decision"] == "approve"
    assert lease.approval is not None
    assert lease.approval["request"]["digest"] == "d1"


async def test_a_second_question_keeps_what_was_granted_before(world: World) -> None:
    store = await asked(world)
    await decide(store)
    await once(store, FLOW, await lease_of(store, "A"), 2)
    waiting = (await store.states(RUN, ["A"]))["A"]
    assert waiting.approval is not None
    assert [grant["digest"] for grant in waiting.approval["granted"]] == ["d1"]
    assert (waiting.ask, waiting.answered) == (2, False)
    assert await decide(store, ask=2, digest="d2") is None
    assert (await once(store, FLOW, await lease_of(store, "A"), 3)).run_status == "succeeded"


async def test_of_two_answers_the_first_counts(world: World) -> None:
    store = await asked(world)
    assert await decide(store, "reject") is None
    assert await decide(store, "approve") == Refusal("already_settled")
    lease = await lease_of(store, "A")
    assert lease.decision is not None
    assert lease.decision["decision"] == "reject"
    assert await decide(store, "approve") == Refusal("already_settled")
    assert (await events(store)).count("ApprovalDecided") == 1


async def test_an_answer_to_an_earlier_question_is_no_answer_to_the_next(world: World) -> None:
    store = await asked(world)
    await decide(store)
    await once(store, FLOW, await lease_of(store, "A"), 2)
    assert await decide(store, ask=1) == Refusal("already_settled")
    assert (await store.states(RUN, ["A"]))["A"].status == "waiting"


async def test_nobody_can_approve_before_it_is_asked(world: World) -> None:
    store = world.store()
    await seed(store, FLOW)
    before = await world.dump()
    assert await decide(store) == Refusal("already_settled")
    assert await store.signal(RUN, "A", visit=1, try_=1, event="approval", value=1) == Refusal(
        "not_waiting", ("ready",)
    )
    assert await world.dump() == before


async def test_the_time_of_who_is_asked_passes(world: World) -> None:
    store = await asked(world, PATIENT)
    await world.advance(4_999)
    await timers.tick(store, RUN)
    assert (await store.states(RUN, ["A"]))["A"].status == "waiting"
    await world.advance(1)
    assert await decide(store) == Refusal("expired")
    await timers.tick(store, RUN)
    assert await decide(store) == Refusal("expired")
    lease = await lease_of(store, "A")
    assert (lease.event, lease.decision) == ("timer", None)
    assert lease.approval is not None


async def test_without_a_limit_it_waits_for_ever(world: World) -> None:
    store = await asked(world)
    assert (await timers.tick(store, RUN)).next_due_ms is None
    await world.advance(400 * 86_400_000)
    await timers.tick(store, RUN)
    assert await decide(store) is None


async def test_the_limits_of_the_work_do_not_run_while_somebody_thinks(world: World) -> None:
    flow = linear("A", asks=["d1"], timeout_ms=10_000, heartbeat_ms=2_000)
    store = world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await world.advance(1_500)
    await once(store, flow, lease)
    await world.advance(1_000_000)
    await timers.tick(store, RUN)
    assert await decide(store) is None
    lease = await lease_of(store, "A")
    assert lease.event is None
    document = (await store.states(RUN, ["A"]))["A"]
    assert document.deadline == world.now_ms + 10_000
    assert document.heartbeat_due == world.now_ms + 2_000


async def test_after_the_decision_the_limits_count_as_ever(world: World) -> None:
    flow = linear("A", asks=["d1"], timeout_ms=10_000)
    store = await asked(world, flow)
    await decide(store)
    await lease_of(store, "A")
    await world.advance(10_000)
    await timers.tick(store, RUN)
    assert (await lease_of(store, "A")).event == "timeout"


async def test_a_takeover_keeps_the_decision(world: World) -> None:
    store = await asked(world)
    await decide(store)
    first = await lease_of(store, "A")
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    second = await lease_of(store, "A", owner="other")
    assert (second.try_, second.decision) == (first.try_, first.decision)
    assert second.fence > first.fence


async def test_workers_that_die_over_an_approved_call_are_counted_anew(world: World) -> None:
    store = world.store()
    await seed(store, FLOW)
    for number in range(2):
        await lease_of(store, "A", owner=f"w{number}")
        await world.advance(TTL_MS)
        await timers.tick(store, RUN)
    await once(store, FLOW, await lease_of(store, "A"))
    assert (await store.states(RUN, ["A"]))["A"].takeovers == 0
    await decide(store)
    for number in range(2):
        assert (await lease_of(store, "A", owner=f"v{number}")).event is None
        await world.advance(TTL_MS)
        await timers.tick(store, RUN)
    assert (await lease_of(store, "A")).event == "worker_lost"


async def test_a_new_try_asks_anew(world: World) -> None:
    flow = linear("A", asks=["d1"], retry=1, delay=10)
    store = await asked(world, flow)
    await decide(store)
    lease = await lease_of(store, "A")
    from control_plane import Failure

    await store.commit(lease, end(flow, lease, None, Failure("Flaky", "")), commit_id="c2")
    await world.advance(10)
    await timers.tick(store, RUN)
    lease = await lease_of(store, "A")
    assert (lease.try_, lease.approval, lease.decision) == (2, None, None)
    await once(store, flow, lease, 3)
    assert await decide(store) == Refusal("already_settled")
    assert await decide(store, try_=2) is None


async def test_a_redrive_asks_anew(world: World) -> None:
    store = await asked(world, linear("A", asks=["d1"]))
    await store.cancel(RUN, by="x")
    assert await decide(store) == Refusal("cancelled")
    await store.close(RUN)
    await store.redrive(RUN, again=["A"], resume=[])
    lease = await lease_of(store, "A")
    assert (lease.visit, lease.approval, lease.decision) == (2, None, None)


async def test_no_worker_of_before_takes_a_run_that_waits_for_approval(world: World) -> None:
    store = world.store()
    await seed(store, FLOW, protocol=1)
    await once(store, FLOW, await lease_of(store, "A"))
    assert (await store.run(RUN)).protocol == 3
    await decide(store)
    document = (await store.states(RUN, ["A"]))["A"]
    request = {"path": document.path, "token": "t", "owner": "old", "ttl": 1000}
    answer = await store.call("acquire", RUN, {**request, "protocols": 2, "pool": "default"})
    assert answer[0] == "unknown_protocol"


async def test_what_waits_stands_in_the_index(world: World) -> None:
    store = await asked(world)
    found = await world.backend.command("ZRANGE", APPROVALS, 0, -1, "WITHSCORES")
    assert [found[0], int(float(found[1]))] == [f"{RUN}\tA", world.now_ms]
    assert (await store.states(RUN, ["A"]))["A"].asked_at == world.now_ms


async def test_a_callback_may_come_while_somebody_is_asked(world: World) -> None:
    flow: Flow = {"start": "A", "states": {"A": {"task": "A", "callback": True, "asks": ["d1"]}}}
    store = world.store()
    await seed(store, flow)
    lease = await lease_of(store, "A")
    state: dict[str, Any] = {"start": "A", "states": {"A": {"task": "A", "asks": ["d1"]}}}
    await once(store, state, lease)
    assert await store.beat(RUN, "A", visit=1, try_=1) is None
    told = await store.signal(RUN, "A", visit=1, try_=1, event="callback", value={"result": 1})
    assert told is None
    assert (await lease_of(store, "A")).event == "callback"
