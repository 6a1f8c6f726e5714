"""Closing and removing: nothing stays open, nothing stays behind, nothing alive is touched."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, Flow, TaskFailed, linear, seed
from interleaved import Breaking, FailingOver, Interleaved
from test_join import fanned
from workers import put_away, run_to_end
from worlds import World

from control_plane import (
    DONE,
    INDEX,
    Backend,
    Disconnected,
    Lease,
    Refusal,
    Script,
    Store,
    payload,
    run_transitions,
    timers,
)
from dcf.workflow import finalize

pytestmark = settled(*CONTRACT)


async def failed_run(world: World, n: int = 3) -> Store:
    """A failed run with documents of every kind and a blob."""
    flow: Flow = fanned(linear("T", "U"))

    async def work(lease: Lease) -> Any:
        if lease.path == "M[1]/U":
            raise TaskFailed("Boom")
        return "x" * 300_000

    await seed(world.store(), flow, list(range(n)))
    await run_to_end(world, flow, work, in_place=False)
    return world.store()


async def test_closing_leaves_nothing_open_and_changes_nothing_that_is_over(
    world: World,
) -> None:
    store = await failed_run(world)
    paths = await store.paths(RUN)
    before = await store.states(RUN, paths)
    open_ = {path for path, state in before.items() if state.is_open}
    assert await store.close(RUN) == len(open_)
    after = await store.states(RUN, paths)
    assert {path: after[path] for path in after if path not in open_} == {
        path: before[path] for path in before if path not in open_
    }
    for path in open_:
        expected = "skipped" if before[path].status == "pending" else "cancelled"
        assert (after[path].status, after[path].holder) == (expected, None)
        assert after[path].times["finished"] == world.now_ms
    assert await store.close(RUN) == 0


@pytest.mark.usefixtures("small_batches")
async def test_a_run_is_sealed_over_closed_documents_whatever_a_fail_over_lost(
    world: World,
) -> None:
    lost, over = 0, True
    while over:
        store, lost = await failed_run(world), lost + 1
        failing = FailingOver(world.backend, "close", lost)
        record = await finalize(world.store(failing), RUN, by="x")
        over = failing.over
        states = await store.states(RUN, await store.paths(RUN))
        assert record["states"]["open"] == 0, f"call {lost} was lost"
        assert [path for path, state in states.items() if state.is_open] == []
        await store.retire(RUN)
        assert await store.remove(RUN) is None
    assert lost > 4


class ClosedByAnother:
    """Another one closes the run's documents before each seal."""

    def __init__(self, inner: Backend, other: Store) -> None:
        self._inner = inner
        self._other = other

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        if script.name == "finalize":
            await self._other.close(RUN)
        return await self._inner.run(script, keys, args)

    async def command(self, *args: str | int) -> Any:
        return await self._inner.command(*args)

    async def close(self) -> None:
        await self._inner.close()


class Prepared(Interleaved):
    """A redrive is being prepared after the first close."""

    async def meanwhile(self) -> None:
        plan = {"again": ["M[1]/U"], "resume": [], "unseal": []}
        begun = {"call": "r", "first": True, "last": False, **plan}
        assert await Store(self._inner).call("redrive", RUN, begun, extra=[DONE])


@pytest.mark.parametrize("opened_by", ["a fail-over", "a redrive that is being prepared"])
async def test_what_was_open_when_it_was_counted_is_counted_anew(
    world: World, opened_by: str
) -> None:
    other = await failed_run(world)
    opening: Backend = Prepared(world.backend, "close")
    if opened_by == "a fail-over":
        opening = FailingOver(world.backend, "close", 1)
    record = await finalize(world.store(ClosedByAnother(opening, other)), RUN, by="x")
    assert record["states"]["open"] == 0


async def test_a_seal_that_a_fail_over_lost_is_made_again(world: World) -> None:
    store = await failed_run(world)
    audit_key = store.keys(RUN).audit

    class Unsealed(FailingOver):
        async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
            answer = await super().run(script, keys, args)
            if script.name == "finalize" and not self.forgotten:
                self.forgotten = True
                await self.command("DEL", audit_key)
            return answer

        forgotten = False

    record = await finalize(world.store(Unsealed(world.backend, "finalize", 1)), RUN, by="x")
    assert record["final_status"] == "failed"
    assert (await store.run(RUN)).finalized_at is not None


async def test_a_retired_run_is_among_the_done_and_needs_no_more_looks(world: World) -> None:
    store = await failed_run(world)
    await put_away(store)
    assert await world.backend.command("ZRANGE", INDEX, 0, -1) == []
    assert await world.backend.command("ZRANGE", DONE, 0, -1, "WITHSCORES") == [
        RUN, str(world.now_ms)
    ]  # fmt: skip
    await world.advance(3_600_000)
    assert (await timers.sweep(store)).over == []


async def test_a_removed_run_leaves_no_key(world: World) -> None:
    store = await failed_run(world)
    await put_away(store)
    assert await store.remove(RUN) is None
    # What belongs to workers stays: their queue, and their signs of life.
    assert set(await world.keys()) <= {"cp:queue:default", "cp:reader:reader"}
    assert await store.remove(RUN) is None


async def test_only_a_finalized_run_is_removed(world: World) -> None:
    store = await failed_run(world)
    assert await store.remove(RUN) == Refusal("not_finalized")
    assert (await store.run(RUN)).status == "failed"


async def test_a_running_run_is_not_removed(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    before = await world.dump()
    assert await store.remove(RUN) == Refusal("still_running", ("running",))
    assert await world.dump() == before


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few documents are as many calls as thousands are."""
    monkeypatch.setattr(run_transitions, "BATCH", 4)


async def ended_run(world: World) -> Store:
    """A failed run that is put away, of documents of every kind, two blobs and a state that asked
    for approval."""
    store = await failed_run(world)
    await store.put_blob(RUN, payload.encode("y" * 300_000))
    await put_away(store)
    await store.list_approval(RUN, "M[0]/T")
    return store


async def left(world: World) -> list[str]:
    """All keys that name the run or hold its name."""
    dump = await world.dump()
    dump.pop("cp:queue:default", None)
    return [key for key, value in dump.items() if RUN in key or RUN in str(value)]


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("by", ["the same call", "a sweep"])
async def test_wherever_a_remover_died_its_removal_is_continued_and_leaves_no_key(
    world: World, when: Literal["before", "after"], by: str
) -> None:
    fatal, broke = 0, True
    while broke:
        store, fatal = await ended_run(world), fatal + 1
        breaking = Breaking(world.backend, fatal, when)
        with suppress(Disconnected):
            await world.store(breaking).remove(RUN)
        broke = breaking.broken
        if by == "a sweep":
            await world.advance(60_000)
            for workflow_id in (await timers.sweep(store)).removing:
                await store.remove(workflow_id)
        if by == "the same call" or (await world.keys() and not begun(breaking, when)):
            assert await store.remove(RUN) is None
        assert await left(world) == [], f"died {when} {breaking.names}"
    assert fatal > 6


def begun(breaking: Breaking, when: str) -> bool:
    """Whether the remover came so far that the run is marked."""
    return "gc" in (breaking.names if when == "after" else breaking.names[:-1])


async def test_nobody_redrives_a_run_that_is_being_removed(world: World) -> None:
    store = await ended_run(world)
    breaking = Breaking(world.backend, 2, "after")
    with pytest.raises(Disconnected):
        await world.store(breaking).remove(RUN)
    assert breaking.names == ["JSON.GET", "gc"]
    assert (await store.run(RUN)).removing
    assert await store.redrive(RUN, again=["M"], resume=[]) == Refusal("not_failed", ("removing",))


class Meanwhile(Interleaved):
    """Something happens between two calls of a removal."""

    def __init__(self, inner: Backend, name: str, happens: Callable[[], Awaitable[object]]) -> None:
        super().__init__(inner, name)
        self._happens = happens

    async def meanwhile(self) -> None:
        await self._happens()


async def test_what_another_version_put_there_during_a_removal_goes_too(world: World) -> None:
    store = await failed_run(world)
    await put_away(store)

    class Late(Breaking):
        """After the blobs were read one more is put there, once."""

        async def command(self, *args: str | int) -> Any:
            answer = await super().command(*args)
            if args[0] == "SMEMBERS" and "blobs" in str(args[1]) and self.names.count(args[0]) == 2:
                await world.backend.command("SADD", store.keys(RUN).blobs, "0" * 64)
                await world.backend.command("SET", store.keys(RUN).blob("0" * 64), "1")
            return answer

    assert await world.store(Late(world.backend, None)).remove(RUN) is None
    assert await left(world) == []


async def test_a_late_worker_puts_nothing_where_a_run_was(world: World) -> None:
    store = await failed_run(world)
    await put_away(store)
    late = payload.encode("y" * 300_000)
    removing = Meanwhile(world.backend, "gc", lambda: store.put_blob(RUN, late))
    assert await world.store(removing).remove(RUN) is None
    await store.put_blob(RUN, late)
    assert await left(world) == []


async def test_a_removal_that_was_overtaken_leaves_a_new_run_of_that_id_alone(world: World) -> None:
    store = await failed_run(world)
    await put_away(store)

    async def replaced() -> None:
        await store.remove(RUN)
        await world.advance(1)
        await seed(store, linear("T"), 1)
        await run_to_end(world, linear("T"))
        await put_away(store)

    removing = Meanwhile(world.backend, "gc", replaced)
    assert await world.store(removing).remove(RUN) is None
    assert (await store.run(RUN)).status == "succeeded"
    assert await store.paths(RUN) == ["T"]


async def test_a_removed_id_may_be_used_again(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"), 1)
    await run_to_end(world, linear("A"))
    await put_away(store)
    await store.remove(RUN)
    assert await seed(store, linear("B"), 2, digest="d2") is True
    assert (await run_to_end(world, linear("B"))).status == "succeeded"


async def test_a_sweep_reports_a_run_that_is_over_until_it_is_retired(world: World) -> None:
    store = await failed_run(world)
    assert (await timers.sweep(store)).over == [RUN]
    await world.advance(15_000)
    assert (await timers.sweep(store)).over == [RUN]
    await put_away(store)
    await world.advance(15_000)
    assert (await timers.sweep(store)).over == []
