"""A run is removed with all keys that it has, or kept with its reason."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from desks import ID, ME, Desk
from flows import RUN, linear, seed
from interleaved import Breaking
from memory_world import Numbered, Ticking
from test_gc import ended_run, failed_run, left
from workers import put_away, run_to_end, seal_off
from worlds import World

from control_plane import (
    DONE,
    Backend,
    Disconnected,
    RefusedForGood,
    RunDocument,
    RunStatus,
    Store,
    UnknownRun,
    run_lists,
)
from control_plane.run_space import names_of
from dcf.knowledge import SESSION_PIN, GraphAway
from dcf.memory import SYSTEM, Memory, NewEntry, NodeStep, Source
from dcf.stopping import stop
from dcf.worker import RunMemory, remove_run, run_retention, why_kept
from dcf.worker.node_place import step_of_run
from dcf.worker.run_retention import apply_retention
from dcf.worker.sweeper import Sweeper
from dcf.workflow import NotRedrivable, finalize, redrive


async def test_the_names_of_a_run_are_all_keys_that_have_its_id(world: World) -> None:
    store = await ended_run(world)
    names = await names_of(store, RUN)
    assert len(names) == len(set(names))
    assert {key for key in await world.keys() if RUN in key} <= set(names)
    assert {key for key in await world.keys() if RUN not in key} & set(names) == set()


async def kept(store: Store, run: str = RUN) -> str:
    """Why the run is kept; it is as it was."""
    found = await remove_run(store, await store.run(run))
    assert found is not None
    assert found == await why_kept(store, await store.run(run))
    return found.code


async def test_what_is_not_over_or_not_sealed_is_kept(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    assert await kept(store) == "still_running"
    await run_to_end(world, linear("A"))
    assert await kept(store) == "not_finalized"
    assert await seal_off(store) is None
    assert await remove_run(store, await store.run(RUN)) is None
    assert await left(world) == []


async def test_what_the_graph_does_not_have_is_kept_where_there_is_one(world: World) -> None:
    store = world.store(outbox=True)
    await failed_run(world)
    await put_away(store)
    assert await kept(store) == "not_exported"
    assert await store.told(await store.run(RUN), refused=True)
    refused = await why_kept(store, await store.run(RUN))
    assert refused is not None and "refused" in refused.why
    assert await remove_run(world.store(), await store.run(RUN)) is None


async def test_what_ended_before_there_was_a_graph_is_kept_until_the_graph_has_it(
    world: World,
) -> None:
    await ended_run(world)
    store = world.store(outbox=True)
    assert await kept(store) == "not_exported"
    assert await store.told(await store.run(RUN))
    assert await remove_run(store, await store.run(RUN)) is None


async def test_the_work_of_a_task_is_kept_until_its_session_is_over(world: World) -> None:
    desk = Desk(world)
    await desk.begin("a")
    task = await desk.delegate()
    await desk.do(task)
    store = world.store()
    await finalize(store, task.task_id, by="test")
    assert await kept(store, task.task_id) == "in_session"
    await desk.sessions.end(ID, by=ME)
    await desk.sessions.tick(ID)
    assert (await desk.sessions.get(ID)).state == "completed"
    assert await remove_run(store, await store.run(task.task_id)) is None
    assert (await desk.sessions.task(ID, task.task_id)).status == "succeeded"


async def test_a_run_that_is_redriven_meanwhile_is_kept(world: World) -> None:
    store = await ended_run(world)
    read = await store.run(RUN)
    assert await store.redrive(RUN, again=["M"], resume=[]) is None
    found = await remove_run(store, read)
    assert found is not None and found.code == "still_running"


async def test_who_redrives_a_run_that_is_being_removed_is_told(world: World) -> None:
    store = await ended_run(world)
    with pytest.raises(Disconnected):
        await remove_run(world.store(Breaking(world.backend, 2, "after")), await store.run(RUN))
    with pytest.raises(NotRedrivable, match="is being removed"):
        await redrive(store, RUN)
    assert await remove_run(store, await store.run(RUN)) is None


async def test_the_nodes_of_a_run_go_with_it_and_no_others(world: World, tmp_path: Path) -> None:
    store = await ended_run(world)
    read = await store.run(RUN)
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        by = SYSTEM.because("a test")
        # The one before was of another run, which had the id.
        for born in ("1", read.born):
            _, run = step_of_run(RUN, born, None)
            way = [run, NodeStep("Fan[0]", f"{born}.1", "iteration")]
            node = await memory.nodes.reach("/lab", RUN, way, by=by)
            await memory.nodes.write(node.id, NewEntry("a plum"), by=by)
        root = await memory.nodes.named("/lab")

        async def names() -> set[str]:
            return {one.node.name for one in await memory.nodes.tree(root.id) if one.depth}

        whole = {"run", "Fan[0]", "run~2", "Fan[0]~2"}
        assert await names() == whole
        forgetting = RunMemory(memory, "/lab", by)
        # Who has redriven it meanwhile goes on with its nodes.
        assert await store.redrive(RUN, again=["M"], resume=[]) is None
        assert await remove_run(store, read, forgetting) is not None
        assert (await names(), forgetting.nodes) == (whole, 0)
        await store.cancel(RUN, by="x")
        await put_away(store)
        # Killed at any point: said again it removes the rest.
        for calls in (1, 2, 3):
            broken = world.store(Breaking(world.backend, calls, "after"))
            with suppress(Disconnected):
                await remove_run(broken, await store.run(RUN), forgetting)
        with suppress(UnknownRun):
            await remove_run(store, await store.run(RUN), forgetting)
        assert await left(world) == []
        assert await names() == {"run", "Fan[0]"}
        assert (forgetting.nodes, forgetting.entries) == (2, 1)
        assert await memory.check() == ()


class Looking:
    """A worker's sweeper at work on ``backend``, until the block ends."""

    def __init__(self, world: World, backend: Backend) -> None:
        self._sweeper = Sweeper(
            "w1", world.store(backend), world.queue(), now=time.monotonic, every_s=0.05
        )

    async def __aenter__(self) -> Looking:
        loops = self._sweeper.run, self._sweeper.seal, self._sweeper.remove
        self._tasks = [asyncio.create_task(loop()) for loop in loops]
        return self

    async def __aexit__(self, *_: object) -> None:
        await stop(*self._tasks)

    async def until(self, there: Callable[[], Awaitable[bool]]) -> None:
        """Wait for ``there``. Raises what ended a loop."""
        async with asyncio.timeout(20):
            while not await there():
                for task in self._tasks:
                    if task.done():
                        task.result()
                await asyncio.sleep(0.01)


async def half_removed(world: World, names: Sequence[str]) -> Store:
    """Runs whose remover died, and that a sweep looks at now."""
    store = world.store()
    for name in names:
        await seed(store, linear("A"), run=name)
        await run_to_end(world, linear("A"), run=name)
        await put_away(store, run=name)
        dying = world.store(Breaking(world.backend, 2, "after"))
        with pytest.raises(Disconnected):
            await dying.remove(name)
    await world.advance(60_000)
    return store


async def test_a_run_that_cannot_be_removed_keeps_no_other_from_going(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    store = await half_removed(world, ["bad", "r-1"])
    await world.backend.command("SET", store.keys("bad").blobs, "a text")
    # A submission that stopped half way, long ago, and is damaged as well.
    await seed(store, linear("A"), run="bad-2")
    await world.backend.command("JSON.SET", store.keys("bad-2").meta, "$.ctl.status", '"pending"')
    await world.backend.command("SET", store.keys("bad-2").blobs, "a text")
    # And one whose document is broken.
    await seed(store, linear("A"), run="a-bad-3")
    broken_key = store.keys("a-bad-3").meta
    await world.backend.command("JSON.SET", broken_key, "$.ctl.status", '"pending"')
    await world.backend.command("JSON.SET", broken_key, "$.states", "5")
    await world.advance(600_001)

    async def done() -> bool:
        names = ("bad", "bad-2", "a-bad-3")
        told = [f"w1: {name} cannot be removed: " in caplog.text for name in names]
        return all(told) and not await store.run_many(["r-1"])

    async with Looking(world, world.backend) as looking:
        await looking.until(done)
        assert len(await store.run_many(["bad", "bad-2"])) == 2
        await world.backend.command("DEL", broken_key)
        # Once it can be, it goes.
        await world.backend.command("DEL", store.keys("bad").blobs, store.keys("bad-2").blobs)
        await world.advance(60_000)

        async def gone() -> bool:
            return not await store.run_many(["bad", "bad-2"])

        await looking.until(gone)


async def test_a_server_that_refuses_for_good_ends_who_removes(world: World) -> None:
    await half_removed(world, ["r-1"])

    class Refusing(Breaking):
        async def command(self, *args: str | int) -> Any:
            if args[0] == "SMEMBERS":
                raise RefusedForGood("may not")
            return await super().command(*args)

    async def never() -> bool:
        return False

    async with Looking(world, Refusing(world.backend, None)) as looking:
        with pytest.raises(RefusedForGood):
            await looking.until(never)


async def chosen(store: Store, at: int, statuses: Sequence[RunStatus]) -> list[str]:
    """The ids of the runs that ended at ``at`` or earlier."""
    found: list[RunDocument] = []
    async for page in run_lists.ended_runs(store, at, statuses):
        found += page
    return [run.workflow_id for run in found]


async def test_runs_are_found_by_when_they_ended_whenever_they_were_sealed(world: World) -> None:
    store = world.store()
    for name in ("r-1", "r-2", "r-3"):
        await seed(store, linear("A"), run=name)
        if name == "r-2":
            await store.cancel(name, by="x")
        else:
            await run_to_end(world, linear("A"), run=name)
        await world.advance(1_000)
    ended = [(await store.run(name)).finished_at or 0 for name in ("r-1", "r-2", "r-3")]
    for name in ("r-3", "r-1", "r-2"):
        await put_away(store, run=name)
        await world.advance(1)
    both: list[Any] = ["succeeded", "cancelled"]
    assert sorted(await chosen(store, ended[1], both)) == ["r-1", "r-2"]
    assert await chosen(store, ended[2], ["succeeded"]) == ["r-3", "r-1"]
    assert await chosen(store, ended[0] - 1, both) == []
    # A ghost, as a client of a cluster may leave behind, is no run.
    await world.backend.command("ZADD", DONE, 1, "ghost")
    assert "ghost" not in await chosen(store, ended[2], both)


async def test_a_retention_removes_what_is_older_than_its_status_is_kept(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"), run="old")
    await run_to_end(world, linear("A"), run="old")
    await seed(store, linear("A"), run="old-cancelled")
    await store.cancel("old-cancelled", by="x")
    await world.advance(60_000)
    await seed(store, linear("A"), run="young")
    await run_to_end(world, linear("A"), run="young")
    await world.advance(60_000)
    for name in ("old", "old-cancelled", "young"):
        await put_away(store, run=name)
    await seed(store, linear("A"), run="runs")

    async def there() -> set[str]:
        page = await run_lists.list_runs(store, 10)
        return {run.workflow_id for run in page.runs}

    assert await apply_retention(store, {"succeeded": 120_001, "cancelled": 999_999}) == 0
    assert await apply_retention(store, {"succeeded": 90_000, "failed": 1}) == 1
    assert await there() == {"old-cancelled", "young", "runs"}
    assert await apply_retention(store, {"succeeded": 0, "cancelled": 120_000}) == 2
    assert await there() == {"runs"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.ctl", "{}"),
        ("$.ctl", "7"),
        ("$.finished_at", '"today"'),
        ("$.pins", f'{{"{SESSION_PIN}":7}}'),
        ("$.pins", "7"),
    ],
)
async def test_one_run_with_a_broken_document_keeps_no_other_from_going(
    world: World, caplog: pytest.LogCaptureFixture, path: str, value: str
) -> None:
    store = world.store()
    names = [f"r-{number}" for number in range(5)]
    for name in names:
        await seed(store, linear("A"), run=name)
        await run_to_end(world, linear("A"), run=name)
        await put_away(store, run=name)
    await world.backend.command("JSON.SET", store.keys("r-2").meta, path, value)
    assert await apply_retention(store, {"succeeded": 0}) == 4
    assert await world.backend.command("ZRANGE", DONE, 0, -1) == ["r-2"]
    told = {record.message for record in caplog.records if record.levelno >= logging.WARNING}
    assert told and all(re.match("run r-2 (cannot be|is left out)", line) for line in told)
    # All other documents have to be whole at the end.
    await world.backend.command("DEL", store.keys("r-2").meta)


async def test_a_redis_that_goes_away_is_no_broken_run(world: World) -> None:
    store = await ended_run(world)
    for call in range(1, 6):
        with pytest.raises(Disconnected):
            await apply_retention(
                world.store(Breaking(world.backend, call, "before")), {"succeeded": 0}
            )
    assert (await store.run(RUN)).is_over


async def two_ended(world: World) -> Store:
    """A store with an outbox, in which two runs wait for the graph."""
    store = world.store(outbox=True)
    for name in ("r-1", "r-2"):
        await seed(store, linear("A"), run=name)
        await run_to_end(world, linear("A"), run=name)
        await put_away(store, run=name)
    return store


async def test_what_only_waits_for_the_graph_is_written_there_and_removed(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    store = await two_ended(world)
    delivered = 0

    async def deliver() -> None:
        nonlocal delivered
        delivered += 1
        # The graph refuses one of them, which is kept then.
        await store.told(await store.run("r-1"))
        await store.told(await store.run("r-2"), refused=True)

    assert await apply_retention(store, {"succeeded": 0}, deliver) == 1
    assert [run.workflow_id for run in await store.run_many(["r-1", "r-2"])] == ["r-2"]
    assert "1 runs that ended long enough ago are kept, one of them: run r-2 is not" in caplog.text
    assert await apply_retention(store, {"succeeded": 0}, deliver) == 0
    assert delivered == 1


async def test_a_graph_that_is_away_keeps_runs_and_the_log_says_so(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    store = await two_ended(world)

    async def deliver() -> None:
        raise GraphAway(server="here", reason="it sleeps")

    assert await apply_retention(store, {"succeeded": 0}, deliver) == 0
    assert "it sleeps" in caplog.text
    assert "2 runs that ended long enough ago are kept, one of them: run r-" in caplog.text
    assert await apply_retention(store, {"succeeded": 0}) == 0


async def test_one_process_an_hour_looks_for_runs_to_remove(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    class Enough(Exception):
        """So many looks are enough."""

    async def look(store: Store, ages: object, *_: object) -> int:
        looks.append(ages)
        return 0

    async def sleep(_seconds: float) -> None:
        raise Enough

    monkeypatch.setattr(run_retention, "apply_retention", look)
    monkeypatch.setattr(run_retention.asyncio, "sleep", sleep)
    for _ in range(2):
        with pytest.raises(Enough):
            await run_retention.retain_for_ever(world.store(), {"failed": 5})
    assert looks == [{"failed": 5}]
