"""Requests to models: taken from the budgets before they are sent, billed by what they used."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from flows import RUN, linear, seed, step
from workers import TTL_MS, lease_of
from worlds import World, open_world

from control_plane import Budget, Lease, OverBudget, Refusal, Store, history, timers

REFUSED = {"type": "ModelCallRefused", "path": "A"}
CALLED = {"type": "ModelCall", "path": "A"}
FAN = {"start": "A", "states": {"A": {"parallel": [linear("L"), linear("R")]}}}


async def begun(world: World, **members: Any) -> tuple[Store, Lease]:
    store = world.store()
    await seed(store, linear("A", **members))
    return store, await lease_of(store, "A")


async def reserve(
    store: Store, lease: Lease, tokens: int = 0, nano: int | None = 0, **options: Any
) -> str | OverBudget | Refusal:
    """The name of the reservation, or why there is none."""
    name = options.pop("call", None) or store.new_id()
    answer = await store.reserve(lease, name, REFUSED, tokens=tokens, nano_usd=nano, **options)
    return name if answer is None else answer


async def bill(store: Store, lease: Lease, call: Any, tokens: int, nano: int | None = 0) -> Any:
    return await store.bill(lease, call, CALLED, tokens=tokens, nano_usd=nano)


async def used(store: Store) -> list[int]:
    """Calls, tokens and billionths of a dollar of the run."""
    names = ("model_calls", "model_tokens", "model_nano")
    found = await store.backend.command("HMGET", store.keys(RUN).chain, *names)
    return [int(one or 0) for one in found]


async def events(store: Store, *kinds: str) -> list[dict[str, Any]]:
    told = [event.event async for event in history.read(store, RUN)]
    return [event for event in told if event["type"] in kinds]


async def test_a_request_is_reserved_and_then_billed_by_what_it_used(world: World) -> None:
    store, lease = await begun(world)
    call = await reserve(store, lease, 1000, 5_000_000)
    assert await used(store) == [1, 1000, 5_000_000]
    assert await bill(store, lease, call, 300, 1_000_000) is None
    assert await bill(store, lease, call, 300, 1_000_000) is None, "once, however often it is said"
    assert await used(store) == [1, 300, 1_000_000]
    assert await events(store, "ModelCall") == [CALLED]


@pytest.mark.parametrize("whose", ["try", "run"])
@pytest.mark.parametrize(
    ("limit", "spent", "what", "figures"),
    [
        (Budget(model_calls=2), (1, 1), "model_calls", (2, 2)),
        (Budget(tokens=250), (100, 1), "tokens", (200, 250)),
        (Budget(nano_usd=2_500_000_000), (1, 10**9), "cost_usd", (2.0, 2.5)),
    ],
)
async def test_what_does_not_fit_is_refused_before_it_is_sent(
    world: World, whose: str, limit: Budget, spent: tuple[int, int], what: str, figures: Any
) -> None:
    store, lease = await begun(world)
    budget: dict[str, Any] = {f"{whose}_budget": limit}
    for _ in range(2):
        assert isinstance(await reserve(store, lease, *spent, **budget), str)
    over = await reserve(store, lease, *spent, **budget)
    assert over == OverBudget(whose, what, *figures)  # type: ignore[arg-type]
    (refused,) = await events(store, "ModelCallRefused")
    assert (refused["rule"], refused["budget"]) == (f"budget.{what}", whose)
    assert (refused["used"], refused["limit"]) == figures
    assert (await used(store))[0] == 2


async def test_what_was_not_used_may_be_used_by_others(world: World) -> None:
    store, lease = await begun(world)
    budget = {"run_budget": Budget(tokens=1000)}
    call = await reserve(store, lease, 900, **budget)
    assert isinstance(await reserve(store, lease, 900, **budget), OverBudget)
    await bill(store, lease, call, 50)
    assert isinstance(await reserve(store, lease, 900, **budget), str)


async def test_time_that_is_over_lets_no_request_begin(world: World) -> None:
    store, lease = await begun(world)
    await world.advance(2_000)
    budget = {"run_budget": Budget(wall_ms=2_000)}
    assert await reserve(store, lease, **budget) == OverBudget("run", "wall_time_s", 2.0, 2.0)


async def test_an_unknown_price_is_not_nothing_where_money_is_limited(world: World) -> None:
    store, lease = await begun(world)
    for whose in ("try", "run"):
        money: dict[str, Any] = {f"{whose}_budget": Budget(nano_usd=10**9)}
        answer = await reserve(store, lease, 1, None, **money)
        assert answer == Refusal("price_unknown", (whose,))
    assert await used(store) == [0, 0, 0]
    call = await reserve(store, lease, 1, None, run_budget=Budget(tokens=9))
    assert await bill(store, lease, call, 1, None) is None
    assert await store.backend.command("HGET", store.keys(RUN).chain, "model_unpriced") == "1"


async def test_who_died_over_a_request_leaves_its_reservation(world: World) -> None:
    store, lease = await begun(world)
    budget = {"try_budget": Budget(tokens=1500), "run_budget": Budget(tokens=1500)}
    call = await reserve(store, lease, 1000, **budget)
    await world.advance(TTL_MS)
    await timers.tick(store, RUN)
    after = await lease_of(store, "A", owner="other")
    assert await bill(store, lease, call, 10) == Refusal("lease_lost")
    assert await used(store) == [1, 1000, 0]
    assert await reserve(store, after, 1000, **budget) == OverBudget("try", "tokens", 1000, 1500)
    assert isinstance(await reserve(store, after, 500, **budget), str)


async def test_who_lost_the_lease_reserves_nothing(world: World) -> None:
    store, lease = await begun(world)
    await world.advance(TTL_MS)
    assert await reserve(store, lease) == Refusal("lease_expired")
    await timers.tick(store, RUN)
    await lease_of(store, "A", owner="other")
    assert await reserve(store, lease) == Refusal("lease_lost")
    await store.cancel(RUN, by="x")
    assert await reserve(store, lease) == Refusal("cancelled")
    assert await used(store) == [0, 0, 0]


async def test_the_same_reservation_again_is_the_same(world: World) -> None:
    store, lease = await begun(world)
    for _ in range(2):
        assert await reserve(store, lease, 700, call="c1", run_budget=Budget(tokens=700)) == "c1"
    assert await used(store) == [1, 700, 0]


async def test_a_run_full_of_events_sends_nothing_more(world: World) -> None:
    store = world.store(events_limit=2)
    await seed(store, linear("A"))
    lease = await lease_of(store, "A")
    call = await reserve(store, lease, 10)
    while isinstance(call, str):
        await bill(store, lease, call, 10)
        call = await reserve(store, lease, 10)
    assert call == Refusal("limit_exceeded", ("events",))


@pytest.mark.parametrize("seed_", range(6))
async def test_however_many_spend_at_once_the_limit_is_never_exceeded(
    backend_url: str | None, seed_: int
) -> None:
    """Workers of two branches reserve, bill, forget to bill, and die, in any order."""
    world = await open_world(backend_url)
    rng = random.Random(seed_)
    limit = rng.randint(500, 3000)
    money = rng.randint(500, 3000)
    budget = {"run_budget": Budget(tokens=limit, nano_usd=money, model_calls=rng.randint(5, 40))}
    await seed(world.store(), FAN)
    stores = [world.store() for _ in range(4)]
    spent = {"tokens": 0, "nano": 0}

    async def spend(store: Store, lease: Lease) -> None:
        for _ in range(rng.randint(3, 12)):
            tokens, nano = rng.randint(1, 400), rng.randint(1, 400)
            call = await reserve(store, lease, tokens, nano, **budget)
            if not isinstance(call, str):
                continue
            fate = rng.random()
            if fate < 0.2:
                spent["tokens"] += tokens
                spent["nano"] += nano
                continue
            real = rng.randint(0, tokens), rng.randint(0, nano)
            spent["tokens"] += real[0]
            spent["nano"] += real[1]
            await asyncio.sleep(0)
            assert await bill(store, lease, call, *real) is None
            calls, all_tokens, all_nano = await used(store)
            assert all_tokens <= limit and all_nano <= money
            assert calls <= (budget["run_budget"].model_calls or 0)

    await lease_fan(stores[0])
    leases = [await lease_of(stores[0], f"A[{at}]/{name}") for at, name in ((0, "L"), (1, "R"))]
    await asyncio.gather(*(spend(store, leases[at % 2]) for at, store in enumerate(stores)))
    assert (await used(stores[0]))[1:] == [spent["tokens"], spent["nano"]]
    await world.close()


async def lease_fan(store: Store) -> None:
    """Open both branches of the flow, up to their tasks."""
    for path in ("A", "A[0]", "A[1]"):
        lease = await lease_of(store, path)
        await store.commit(lease, await step(store, FAN, lease), commit_id=store.new_id())
