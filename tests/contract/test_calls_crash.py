"""Whoever dies around a tool call, and wherever: one approval pays once, no budget is exceeded."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Literal

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, linear, seed
from interleaved import Breaking
from workers import TTL_MS
from worlds import World, open_world

from control_plane import Budget, Disconnected, Lease, Noted, Refusal, Store, ToolCall, timers

pytestmark = settled(*CONTRACT)

DECISION = {"type": "ToolDecision"}, {"type": "ToolDecision"}
LIMITS = {"try_budget": Budget(tool_calls=3), "run_budget": Budget(tool_calls=3)}
# What each holder wants to call, in its order; "pay" rests on the one approval there is.
WANTED = [["look", "pay", "pay", "look"], ["pay", "new", "look", "pay"], ["other", "pay", "look"]]


class Tool:
    """Counts what reaches it: the numbers under which each digest was called."""

    def __init__(self) -> None:
        self.made: dict[str, set[int]] = defaultdict(set)

    @property
    def numbers(self) -> list[int]:
        return [number for numbers in self.made.values() for number in numbers]


async def work(store: Store, tool: Tool, wanted: list[str], end: str) -> None:
    """Hold the lease once and call what is wanted; then give the lease back, or vanish."""
    lease = await store.acquire(RUN, "A", owner="w", ttl_ms=TTL_MS, alone="here")
    if not isinstance(lease, Lease):
        return
    for digest in wanted:
        to_make = ToolCall(digest, 1 if digest == "pay" else None, open_ms=1_000)
        noted = await store.note(lease, *DECISION, to_make=to_make, **LIMITS)
        if isinstance(noted, Noted) and noted.number is not None:
            tool.made[digest].add(noted.number)
            await store.settle(lease, noted.number, "{}")
    if end == "release":
        assert not isinstance(await store.release(lease), Refusal)


async def passed(world: World, fatal: int | None, when: Any, end: str) -> tuple[Tool, Breaking]:
    """The calls made when the first holder died at its call number ``fatal``."""
    tool, breaking = Tool(), Breaking(world.backend, fatal, when)
    await seed(world.store(), linear("A"))
    for store, wanted in zip(
        [world.store(breaking), world.store(), world.store()], WANTED, strict=True
    ):
        try:
            await work(store, tool, wanted, end)
        except Disconnected:
            assert breaking.broken
        await world.advance(TTL_MS)
        await timers.tick(world.store(), RUN)
    return tool, breaking


@pytest.mark.parametrize("end", ["release", "expiry"])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_one_approval_and_one_budget_for_all_leases_wherever_somebody_died(
    backend_url: str | None, when: Literal["before", "after"], end: str
) -> None:
    calls = 1
    fatal: int | None = None
    while fatal is None or fatal <= calls:
        world = await open_world(backend_url)
        tool, breaking = await passed(world, fatal, when, end)
        at = f"died {when} call {fatal}: {breaking.names[-1]}"
        assert len(tool.made["pay"]) == 1, at
        assert len(set(tool.numbers)) == len(tool.numbers) <= 3, f"a number for two calls, {at}"
        document = (await world.store().states(RUN, ["A"]))["A"]
        assert document.raw["ctl"]["calls"] <= 3
        await world.close()
        calls, fatal = (breaking.calls, 1) if fatal is None else (calls, fatal + 1)
