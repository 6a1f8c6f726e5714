"""Decisions on tool calls: on record under the lease, taken from the budgets in the same step."""

from __future__ import annotations

from typing import Any

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, end, linear, seed
from workers import TTL_MS, lease_of, put_away
from worlds import World

from control_plane import (
    CALLS_LIMIT,
    Budget,
    Failure,
    Lease,
    Noted,
    OverBudget,
    Refusal,
    Store,
    ToolCall,
    history,
    timers,
)

pytestmark = settled(*CONTRACT)

ALLOWED = {"type": "ToolDecision", "path": "A", "verdict": "allow"}
REFUSED = {"type": "ToolDecision", "path": "A", "verdict": "deny"}


async def note(
    store: Store, lease: Lease, digest: str | None = None, call: Any = None, **options: Any
) -> Any:
    """Note a decision; with ``digest`` that of a call that is to be made."""
    to_make = None if digest is None else ToolCall(digest, **(call or {}))
    return await store.note(lease, ALLOWED, REFUSED, to_make=to_make, **options)


async def again(world: World, store: Store) -> Lease:
    """The lease of whoever takes over from a dead worker."""
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    return await lease_of(store, "A", owner="other")


async def decisions(store: Store) -> list[dict[str, Any]]:
    events = [event.event async for event in history.read(store, RUN)]
    return [event for event in events if event["type"] == "ToolDecision"]


async def begun(world: World, *, cluster: bool = False, **members: Any) -> tuple[Store, Lease]:
    store = world.store(cluster=cluster)
    await seed(store, linear("A", **members))
    return store, await lease_of(store, "A")


@pytest.mark.parametrize("cluster", [False, True])
async def test_a_decision_stands_in_the_history(world: World, cluster: bool) -> None:
    store, lease = await begun(world, cluster=cluster)
    assert await note(store, lease) == Noted(0, 0)
    assert await note(store, lease, "d") == Noted(1, 1, 0)
    assert await decisions(store) == [ALLOWED, {**ALLOWED, "call": 0}]


async def test_who_lost_the_lease_puts_nothing_on_record(world: World) -> None:
    store, lease = await begun(world)
    await world.advance(TTL_MS)
    assert await note(store, lease, "d") == Refusal("lease_expired")
    await timers.tick(store, RUN)
    await lease_of(store, "A", owner="other")
    assert await note(store, lease, "d") == Refusal("lease_lost")
    await store.cancel(RUN, by="x")
    assert await note(store, lease, "d") == Refusal("cancelled")
    assert await decisions(store) == []


async def test_after_its_time_limit_nothing_is_called_any_more(world: World) -> None:
    store, lease = await begun(world, timeout_ms=1_000)
    await world.advance(1_000)
    assert await note(store, lease, "d") == Refusal("timed_out")


async def test_a_call_beyond_the_budget_of_the_try_is_refused_on_record(world: World) -> None:
    store, lease = await begun(world)
    for number in range(2):
        noted = await note(store, lease, "d", try_budget=Budget(tool_calls=2))
        assert noted == Noted(number + 1, number + 1, number)
    over = await note(store, lease, "d", try_budget=Budget(tool_calls=2))
    assert over == OverBudget("try", "tool_calls", 2, 2)
    assert (await decisions(store))[-1] == {
        **REFUSED, "rule": "budget.tool_calls", "budget": "try", "used": 2, "limit": 2,
    }  # fmt: skip
    assert await note(store, lease) == Noted(2, 2), "a decision that calls nothing costs nothing"


async def test_who_takes_over_repeats_calls_under_their_numbers_and_others_are_charged(
    world: World,
) -> None:
    store, lease = await begun(world)
    for number, digest in enumerate("aba"):
        assert await note(store, lease, digest) == Noted(number + 1, number + 1, number)
    lease = await again(world, store)
    limit = {"try_budget": Budget(tool_calls=4), "run_budget": Budget(tool_calls=4)}
    # In another order, with one that is new between them.
    assert await note(store, lease, "b", **limit) == Noted(3, 3, 1)
    assert await note(store, lease, "a", **limit) == Noted(3, 3, 0)
    assert await note(store, lease, "c", **limit) == Noted(4, 4, 3)
    assert await note(store, lease, "a", **limit) == Noted(4, 4, 2)
    over = await note(store, lease, "a", **limit)
    assert over == OverBudget("try", "tool_calls", 4, 4)
    assert await note(store, lease, "a", run_budget=Budget(tool_calls=4)) == OverBudget(
        "run", "tool_calls", 4, 4
    )
    lease = await again(world, store)
    assert await note(store, lease, "a", **limit) == Noted(4, 4, 0), "refusals took no number"


@pytest.mark.parametrize("calls", [["x", "y"], ["x", "x"]])
async def test_leases_that_are_given_back_buy_no_further_calls(
    world: World, calls: list[str]
) -> None:
    store, lease = await begun(world)
    numbers = set()
    for round_ in range(4):
        for name in calls:
            noted = await note(store, lease, f"{name}{round_}", try_budget=Budget(tool_calls=2))
            if isinstance(noted, Noted):
                numbers.add(noted.number)
        assert await store.release(lease) is None
        lease = await lease_of(store, "A")
    assert numbers == {0, 1}


async def test_an_answer_allows_one_number_whoever_uses_it(world: World) -> None:
    store, lease = await begun(world)
    await note(store, lease, "look")
    assert await note(store, lease, "pay", {"grant": 1}) == Noted(2, 2, 1)
    assert await note(store, lease, "pay", {"grant": 1}) == Refusal("grant_used", ("1",))
    assert await store.release(lease) is None
    lease = await lease_of(store, "A")
    assert await note(store, lease, "other") == Noted(3, 3, 2)
    assert await note(store, lease, "bill", {"grant": 1}) == Refusal("grant_used", ("1",))
    assert await note(store, lease, "pay", {"grant": 1}) == Noted(3, 3, 1), "again, under its key"
    assert await note(store, lease, "pay", {"grant": 1}) == Refusal("grant_used", ("1",))
    assert await note(store, lease, "pay", {"grant": 2}) == Noted(4, 4, 3)
    lease = await again(world, store)
    for number in (1, 3):
        assert await note(store, lease, "pay", {"grant": 2}) == Noted(4, 4, number)
    assert await note(store, lease, "pay", {"grant": 2}) == Refusal("grant_used", ("3",))


async def test_what_the_journal_answers_is_not_made_again(world: World) -> None:
    store, lease = await begun(world)
    for _ in range(3):
        await note(store, lease, "d")
    lease = await again(world, store)
    to_make = ToolCall("d", known=(0, 2))
    first = await store.recall(lease, to_make, call_id="r1")
    assert (first, await store.recall(lease, to_make, call_id="r1")) == (0, 0)
    assert await store.recall(lease, to_make) == 2
    assert await store.recall(lease, to_make) is None
    assert await note(store, lease, "d", {"known": (0, 2)}) == Noted(3, 3, 1), "was not answered"
    assert await note(store, lease, "d", {"known": (0, 2)}) == Noted(4, 4, 3)


async def test_a_name_is_one_call_under_a_lease(world: World) -> None:
    store, lease = await begun(world)
    named = {"name": "c1"}
    assert await store.recall(lease, ToolCall("d", name="c1")) is None
    assert await note(store, lease, "d", named) == Noted(1, 1, 0)
    assert await note(store, lease, "d", named) == Noted(1, 1, 0)
    assert await store.recall(lease, ToolCall("d", name="c1")) == 0
    assert await note(store, lease, "e", named) == Refusal("other_call")
    assert await store.recall(lease, ToolCall("e", name="c1")) == Refusal("other_call")
    assert await note(store, lease, "d", {"name": "c2"}) == Noted(2, 2, 1)
    lease = await again(world, store)
    assert await note(store, lease, "e", named) == Noted(3, 3, 2), "names are of a lease"


async def test_a_question_waits_for_open_calls_and_calls_for_the_question(world: World) -> None:
    store, lease = await begun(world)
    opened = {"open_ms": 5_000, "name": "c1"}
    assert await note(store, lease, "d", opened) == Noted(1, 1, 0)
    assert await note(store, lease, asks_ms=1_000) == Refusal("calls_open", ("1",))
    assert await store.recall(lease, ToolCall("d", name="c1")) == Refusal("call_open", ("0",))
    assert await store.settle(lease, 0, '{"n":0}') is None
    assert await store.recall(lease, ToolCall("d", name="c1")) == 0
    assert (await store.settled(lease, 0), await store.settled(lease, 1)) == ('{"n":0}', None)
    assert await note(store, lease, asks_ms=1_000) == Noted(1, 1)
    assert await note(store, lease, "e") == Refusal("calls_open", ("0",))
    await world.advance(1_000)
    assert await note(store, lease, "e", {"open_ms": 5_000}) == Noted(2, 2, 1)
    await world.advance(5_000)
    assert await note(store, lease, asks_ms=1_000) == Noted(2, 2), "its caller died"


async def test_answers_are_of_one_lease_and_go_with_the_run(world: World) -> None:
    store, lease = await begun(world)
    await note(store, lease, "d")
    await note(store, lease, "e")
    for number in (1, 0):
        assert await store.settle(lease, number, f'{{"n":{number}}}') is None
    assert await store.all_settled(lease) == {0: '{"n":0}', 1: '{"n":1}'}
    later = await again(world, store)
    assert await store.settle(lease, 0, "{}") == Refusal("lease_lost")
    assert await store.all_settled(later) == {}
    await note(store, later, "d")
    assert await store.settle(later, 0, '{"n":9}') is None
    assert await store.all_settled(later) == {0: '{"n":9}'}
    await store.cancel(RUN, by="x")
    assert await put_away(store) is None
    assert f"dp:wf:{RUN}:calls:A" in await world.keys()
    assert await store.remove(RUN) is None
    assert [key for key in await world.keys() if RUN in key] == []


async def test_a_try_has_no_more_numbers_than_its_document_can_hold(world: World) -> None:
    store, lease = await begun(world)
    for number in range(CALLS_LIMIT):
        if number % 200 == 0:
            await store.renew(lease)
        await note(store, lease, "d")
    assert await note(store, lease, "d") == Refusal("limit_exceeded", ("calls",))
    lease = await again(world, store)
    assert await note(store, lease, "d") == Noted(CALLS_LIMIT, CALLS_LIMIT, 0)
    assert await note(store, lease, "e") == Refusal("limit_exceeded", ("calls",))


async def test_a_new_try_has_its_own_budget_and_shares_that_of_the_run(world: World) -> None:
    store, lease = await begun(world, retry=1, delay=10)
    await note(store, lease, "d", try_budget=Budget(tool_calls=1))
    flow = linear("A", retry=1, delay=10)
    await store.commit(lease, end(flow, lease, None, Failure("Flaky", "")), commit_id="c1")
    await world.advance(10)
    await timers.tick(store, RUN)
    lease = await lease_of(store, "A")
    assert await note(store, lease, "d", try_budget=Budget(tool_calls=1)) == Noted(2, 1, 0)
    over = await note(store, lease, "d", run_budget=Budget(tool_calls=2))
    assert over == OverBudget("run", "tool_calls", 2, 2)


async def test_time_is_a_budget_too(world: World) -> None:
    store, lease = await begun(world)
    await world.advance(999)
    assert await note(store, lease, "d", try_budget=Budget(wall_ms=1_000)) == Noted(1, 1, 0)
    await world.advance(1)
    over = await note(store, lease, "d", try_budget=Budget(wall_ms=1_000))
    assert over == OverBudget("try", "wall_time_s", 1.0, 1.0)
    over = await note(store, lease, "d", run_budget=Budget(wall_ms=500))
    assert over == OverBudget("run", "wall_time_s", 1.0, 0.5)
    assert (await decisions(store))[-1]["used"] == 1.0


async def test_a_redrive_begins_the_budget_of_the_run_anew(world: World) -> None:
    store, lease = await begun(world)
    await note(store, lease, "d")
    await world.advance(5_000)
    await store.cancel(RUN, by="x")
    await store.close(RUN)
    await world.advance(5_000)
    await store.redrive(RUN, again=["A"], resume=[])
    lease = await lease_of(store, "A")
    limits = Budget(tool_calls=1, wall_ms=1_000)
    assert await note(store, lease, "d", try_budget=limits, run_budget=limits) == Noted(1, 1, 0)


async def test_a_history_that_is_full_takes_no_call_either(world: World) -> None:
    store, lease = await begun(world)
    full = world.store(events_limit=2)
    assert await note(full, lease, "d") == Refusal("limit_exceeded", ("events",))
    assert await note(store, lease, "d") == Noted(1, 1, 0)
